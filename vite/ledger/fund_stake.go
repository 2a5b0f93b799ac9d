package ledger

import (
	"encoding/binary"
	"errors"

	"github.com/holiman/uint256"
	"golang.org/x/crypto/blake2b"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// inviteFee is the cost of an invitation code, in VITE.
const inviteFee = 1000

// Reasons for which an invitation is refused.
var (
	errInviter = errors.New("account has an invite code already")
	errInvitee = errors.New("account has been invited already")
	errCode    = errors.New("invalid invite code")
)

// createInviter gives the sender a code that others can take, for ever.
func createInviter(x *execution, _ []any) error {
	s, e := x.state, &x.state.Exchange
	if e.Codes[x.send.Address] != 0 {
		return errInviter
	}
	code, found := e.freeCode(x.send.Address)
	if !found {
		return errCode
	}
	if err := s.debitExchange(x.send.Address, core.VITE, *vite(inviteFee)); err != nil {
		return err
	}
	s.bookFees(core.VITE, new(uint256.Int), new(uint256.Int), vite(inviteFee))
	put(&s.journal, e.Codes, x.send.Address, code)
	put(&s.journal, e.owners, code, x.send.Address)
	return nil
}

// freeCode derives a code from the address. Codes of neighbouring addresses differ widely, so that
// a typing mistake finds none.
func (e *Exchange) freeCode(a core.Address) (uint32, bool) {
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

// HasCode reports whether an account invites with the code.
func (e *Exchange) HasCode(code uint32) bool {
	_, known := e.owners[code]
	return known
}

// bindInvite makes the sender the invited account of the code's owner.
func bindInvite(x *execution, args []any) error {
	code, e, me := args[0].(uint32), &x.state.Exchange, x.send.Address
	inviter, known := e.owners[code]
	switch {
	case !known, inviter == me:
		return errCode
	case e.Inviters[me] != (core.Address{}):
		return errInvitee
	}
	put(&x.state.journal, e.Inviters, me, inviter)
	event := dex.Invitation{Inviter: inviter, Invitee: me, Code: code}
	x.announce(dex.InviteEvent, event.Encode())
	return nil
}

// vip names what a stake gives: lower fees for an account, or, for a hundred times as much, the
// lowest.
type vip struct {
	Account core.Address
	Super   bool
}

// feeStake is VITE that dexFund holds for lower fees. An account has at most one of each kind, its
// own or another's for it.
type feeStake struct {
	Staker core.Address // who gets it back
	Vip    vip
	Until  uint64 // snapshot height from which it may be cancelled
}

var errVIP = errors.New("no such stake, staked already, or not expired")

// The stakes for lower fees in VITE (docs/exchange-rules.md 2.5).
const (
	vipStake  = 10_000
	SvipStake = 1_000_000
)

// Actions of a stake or a permission.
const (
	ActionAdd    = 1
	ActionRemove = 2
)

func StakeOf(super bool) uint256.Int {
	if super {
		return *vite(SvipStake)
	}
	return *vite(vipStake)
}

func checkVIP(b *core.AccountBlock, args []any) error {
	if action := args[0].(uint8); action != ActionAdd && action != ActionRemove {
		return ErrDexParam
	}
	return checkNoAmount(b, nil)
}

// stakeForVIP moves VITE from the exchange balance into a stake, or back when its time is over.
func stakeForVIP(super bool) func(*execution, []any) error {
	return func(x *execution, args []any) error {
		key := vip{x.send.Address, super}
		if args[0].(uint8) == ActionAdd {
			return x.stakeFor(key)
		}
		return x.cancelFeeStake(x.state.Exchange.Vips[key])
	}
}

func checkPrincipal(b *core.AccountBlock, args []any) error {
	if !isUser(args[0].(core.Address)) {
		return ErrDexParam
	}
	return checkNoAmount(b, args)
}

// stakeForPrincipal stakes for another account's lowest fees.
func stakeForPrincipal(x *execution, args []any) error {
	return x.stakeFor(vip{args[0].(core.Address), true})
}

// stakeFor makes a stake of the sender; the block's hash is its id.
func (x *execution) stakeFor(key vip) error {
	s, e := x.state, &x.state.Exchange
	if _, staked := e.Vips[key]; staked {
		return errVIP
	}
	put(&s.journal, e.Vips, key, x.send.Hash)
	put(&s.journal, e.FeeStakes, x.send.Hash, feeStake{x.send.Address, key, s.Height() + s.Rules.stakeLock})
	return s.debitExchange(x.send.Address, core.VITE, StakeOf(key.Super))
}

func cancelStake(x *execution, args []any) error { return x.cancelFeeStake(args[0].(core.Hash)) }

// cancelFeeStake gives the sender back a stake of his, when its time is over.
func (x *execution) cancelFeeStake(id core.Hash) error {
	s, e := x.state, &x.state.Exchange
	k, found := e.FeeStakes[id]
	if !found || k.Staker != x.send.Address || s.Height() < k.Until {
		return errVIP
	}
	del(&s.journal, e.FeeStakes, id)
	del(&s.journal, e.Vips, k.Vip)
	s.creditExchange(k.Staker, core.VITE, StakeOf(k.Vip.Super))
	return nil
}
