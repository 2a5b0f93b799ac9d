package node

import (
	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
)

// sponsorship is a stake that gives another account the lowest fees. It belongs to who has staked.
type sponsorship struct {
	principal, staker core.Address
	until             uint64 // snapshot height from which it may be cancelled
}

func checkSponsor(b *core.AccountBlock, args []any) error {
	if !isUser(args[0].(core.Address)) {
		return ErrDexParam
	}
	return checkNoAmount(b, args)
}

// stakeForPrincipal stakes for another account's lower fees; the block's hash is the stake's id. An account has at most one
// such stake.
func stakeForPrincipal(x *execution, args []any) error {
	s, e, principal := x.state, &x.state.exchange, args[0].(core.Address)
	if e.standing(principal).SVIP {
		return errVIP
	}
	if err := s.pay(x.send.Address, core.VITE, *vite(svipStake)); err != nil {
		return err
	}
	k := sponsorship{principal: principal, staker: x.send.Address, until: s.height() + s.rules.stakeLock}
	put(&s.journal, e.sponsors, x.send.Hash, k)
	put(&s.journal, e.sponsored, principal, x.send.Hash)
	return nil
}

// cancelStake gives back the stake of the id, when its time is over.
func cancelStake(x *execution, args []any) error {
	s, e, id := x.state, &x.state.exchange, args[0].(core.Hash)
	k, found := e.sponsors[id]
	if !found || k.staker != x.send.Address || s.height() < k.until {
		return errVIP
	}
	del(&s.journal, e.sponsors, id)
	del(&s.journal, e.sponsored, k.principal)
	s.give(k.staker, core.VITE, *vite(svipStake))
	return nil
}

// stakesHeld is the VITE that the exchange holds for lower fees.
func (e *exchange) stakesHeld() (sum uint256.Int) {
	for key := range e.vips {
		stake := stakeOf(key.super)
		sum.Add(&sum, &stake)
	}
	for range e.sponsors {
		sum.Add(&sum, vite(svipStake))
	}
	return sum
}
