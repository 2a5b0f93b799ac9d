package node

import (
	"encoding/binary"
	"errors"

	"github.com/holiman/uint256"
	"golang.org/x/crypto/blake2b"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// inviteFee is what a code to invite others with costs, in whole VITE.
const inviteFee = 1000

// Reasons for which an invitation is refused.
var (
	errInviter = errors.New("account has an invite code already")
	errInvitee = errors.New("account has been invited already")
	errCode    = errors.New("invalid invite code")
)

// createInviter gives the sender a code that others can take, for ever.
func createInviter(x *execution, _ []any) error {
	s, e := x.state, &x.state.exchange
	if e.codes[x.send.Address] != 0 {
		return errInviter
	}
	code, found := e.freeCode(x.send.Address)
	if !found {
		return errCode
	}
	if err := s.pay(x.send.Address, core.VITE, *vite(inviteFee)); err != nil {
		return err
	}
	s.take(core.VITE, new(uint256.Int), new(uint256.Int), vite(inviteFee))
	put(&s.journal, e.codes, x.send.Address, code)
	put(&s.journal, e.owners, code, x.send.Address)
	return nil
}

// freeCode derives a code from the address; it does not look like its neighbours', so that a typing mistake finds none.
func (e *exchange) freeCode(a core.Address) (uint32, bool) {
	const attempts = 16
	for i := range byte(attempts) {
		sum := blake2b.Sum256(append(a[:len(a):len(a)], i))
		code := binary.BigEndian.Uint32(sum[:])
		if _, taken := e.owners[code]; code != 0 && !taken {
			return code, true
		}
	}
	return 0, false
}

// bindInvite makes the sender the invited account of the code's owner.
func bindInvite(x *execution, args []any) error {
	code, e, me := args[0].(uint32), &x.state.exchange, x.send.Address
	inviter, known := e.owners[code]
	switch {
	case !known, inviter == me:
		return errCode
	case e.inviters[me] != (core.Address{}):
		return errInvitee
	}
	put(&x.state.journal, e.inviters, me, inviter)
	event := dex.Invitation{Inviter: inviter, Invitee: me, Code: code}
	x.announce(dex.InviteEvent, event.Encode())
	return nil
}
