package node

import (
	"errors"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
)

// vip names what a stake gives: lower fees for an account, or, for a hundred times as much, the lowest.
type vip struct {
	account core.Address
	super   bool
}

// feeStake is VITE that dexFund holds for lower fees. An account has at most one of each kind, its own or another's for it.
type feeStake struct {
	staker core.Address // who gets it back
	vip    vip
	until  uint64 // snapshot height from which it may be cancelled
}

var errVIP = errors.New("no such stake, staked already, or not expired")

// The stakes for lower fees in whole VITE (docs/exchange-rules.md 2.5).
const (
	vipStake  = 10_000
	svipStake = 1_000_000
)

// Actions of a stake or a permission.
const (
	actionAdd    = 1
	actionRemove = 2
)

func stakeOf(super bool) uint256.Int {
	if super {
		return *vite(svipStake)
	}
	return *vite(vipStake)
}

func checkVIP(b *core.AccountBlock, args []any) error {
	if action := args[0].(uint8); action != actionAdd && action != actionRemove {
		return ErrDexParam
	}
	return checkNoAmount(b, nil)
}

// stakeForVIP moves VITE from the exchange balance into a stake, or back when its time is over.
func stakeForVIP(super bool) func(*execution, []any) error {
	return func(x *execution, args []any) error {
		key := vip{x.send.Address, super}
		if args[0].(uint8) == actionAdd {
			return x.stakeFor(key)
		}
		return x.cancelFeeStake(x.state.exchange.vips[key])
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
	s, e := x.state, &x.state.exchange
	if _, staked := e.vips[key]; staked {
		return errVIP
	}
	put(&s.journal, e.vips, key, x.send.Hash)
	put(&s.journal, e.feeStakes, x.send.Hash, feeStake{x.send.Address, key, s.height() + s.rules.stakeLock})
	return s.pay(x.send.Address, core.VITE, stakeOf(key.super))
}

func cancelStake(x *execution, args []any) error { return x.cancelFeeStake(args[0].(core.Hash)) }

// cancelFeeStake gives the sender back a stake of his, when its time is over.
func (x *execution) cancelFeeStake(id core.Hash) error {
	s, e := x.state, &x.state.exchange
	k, found := e.feeStakes[id]
	if !found || k.staker != x.send.Address || s.height() < k.until {
		return errVIP
	}
	del(&s.journal, e.feeStakes, id)
	del(&s.journal, e.vips, k.vip)
	s.give(k.staker, core.VITE, stakeOf(k.vip.super))
	return nil
}
