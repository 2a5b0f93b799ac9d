package node

import (
	"errors"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// unlock is VX on its way from a lock back to its owner's balance.
type unlock struct {
	owner  core.Address
	amount uint256.Int
	due    int64 // of the exchange's clock
}

var errVXLock = errors.New("less VX is locked, or less than the minimum would be")

func checkLockVX(b *core.AccountBlock, args []any) error {
	if amount := args[1].(uint256.Int); amount.IsZero() {
		return ErrDexParam
	}
	return checkVIP(b, args)
}

// lockVX locks VX of the sender's balance for dividends, or unlocks it.
func lockVX(x *execution, args []any) error {
	action, amount := args[0].(uint8), args[1].(uint256.Int)
	if action == actionAdd {
		return x.lock(amount)
	}
	return x.unlock(amount)
}

func (x *execution) lock(amount uint256.Int) error {
	s, e := x.state, &x.state.exchange
	if err := s.pay(x.send.Address, dex.VX, amount); err != nil {
		return err
	}
	c, _ := e.locks.Get(credit{address: x.send.Address})
	c.address = x.send.Address
	c.weight.Add(&c.weight, &amount)
	if least := dex.MinVXLock(); c.weight.Lt(&least) {
		return errVXLock
	}
	var sum uint256.Int
	sum.Add(&e.lockedVX, &amount)
	set(&s.journal, &e.lockedVX, sum)
	s.setCredit(e.locks, c)
	return nil
}

// unlock takes VX out of the lock; it comes to the balance when its time is over. All or a lawful rest may stay.
func (x *execution) unlock(amount uint256.Int) error {
	s, e := x.state, &x.state.exchange
	c, locked := e.locks.Get(credit{address: x.send.Address})
	if _, under := c.weight.SubOverflow(&c.weight, &amount); under || !locked {
		return errVXLock
	}
	if least := dex.MinVXLock(); c.weight.Lt(&least) && !c.weight.IsZero() {
		return errVXLock
	}
	var sum uint256.Int
	sum.Sub(&e.lockedVX, &amount)
	set(&s.journal, &e.lockedVX, sum)
	s.setCredit(e.locks, c)
	waiting := append(e.unlocking[:len(e.unlocking):len(e.unlocking)], unlock{c.address, amount, e.clock + dex.VXUnlockTime})
	set(&s.journal, &e.unlocking, waiting)
	return nil
}

// releaseVX gives at most n owners their unlocked VX back, the oldest first, and tells how many.
func (s *state) releaseVX(n int) (done int) {
	e := &s.exchange
	for done < n && len(e.unlocking) > 0 && e.unlocking[0].due <= e.clock {
		next := e.unlocking[0]
		set(&s.journal, &e.unlocking, e.unlocking[1:])
		s.give(next.owner, dex.VX, next.amount)
		done++
	}
	return done
}
