package node

import (
	"errors"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// lockup is what accounts have locked of a token, to share in something by it.
type lockup struct {
	sum     uint256.Int
	credits *credits
}

// unlock is an amount on its way from a lockup back to its owner's balance.
type unlock struct {
	owner  core.Address
	token  core.TokenID
	amount uint256.Int
	due    int64 // of the exchange's clock
}

// Reasons for which a lockup does not change.
var (
	errLeast  = errors.New("an account has nothing locked or the minimum and more")
	errLocked = errors.New("less is locked, or not long enough")
)

func checkLockup(b *core.AccountBlock, args []any) error {
	if amount := args[1].(uint256.Int); amount.IsZero() {
		return ErrDexParam
	}
	return checkVIP(b, args)
}

// lockVX locks VX of the sender's balance for dividends, or unlocks it.
func lockVX(x *execution, args []any) error {
	locks, amount := &x.state.exchange.locks, args[1].(uint256.Int)
	if args[0].(uint8) == actionAdd {
		return x.lock(locks, dex.VX, amount, dex.MinVXLock())
	}
	return x.unlock(locks, dex.VX, amount, dex.MinVXLock())
}

// switchAutoLock is the one thing that an account can switch: that VX which it mines is locked for dividends at once.
const switchAutoLock = 1

func checkSwitch(b *core.AccountBlock, args []any) error {
	if args[0].(uint8) != switchAutoLock {
		return ErrDexParam
	}
	return checkNoAmount(b, args)
}

func switchConfig(x *execution, args []any) error {
	s, me := x.state, x.send.Address
	if args[1].(bool) {
		put(&s.journal, s.exchange.autoLocks, me, struct{}{})
	} else {
		del(&s.journal, s.exchange.autoLocks, me)
	}
	return nil
}

// giveMined gives mined VX to the account's balance, or into its lock if it wants that and the minimum is reached.
func (s *state) giveMined(a core.Address, amount uint256.Int) {
	locks := &s.exchange.locks
	c, _ := locks.credits.Get(credit{address: a})
	c.address = a
	c.weight.Add(&c.weight, &amount)
	least := dex.MinVXLock()
	if _, auto := s.exchange.autoLocks[a]; !auto || c.weight.Lt(&least) {
		s.give(a, dex.VX, amount)
		return
	}
	var sum uint256.Int
	sum.Add(&locks.sum, &amount)
	s.setLock(locks, c, sum)
}

// stakeForMining stakes VITE of the sender's balance to mine VX, or takes it back when the time of the latest stake is over.
func stakeForMining(x *execution, args []any) error {
	s, m, amount := x.state, &x.state.exchange.mining, args[1].(uint256.Int)
	if args[0].(uint8) == actionAdd {
		put(&s.journal, m.until, x.send.Address, s.height()+s.rules.stakeLock)
		return x.lock(&m.stakes, core.VITE, amount, dex.MinMiningStake())
	}
	if s.height() < m.until[x.send.Address] {
		return errLocked
	}
	if err := x.unlock(&m.stakes, core.VITE, amount, dex.MinMiningStake()); err != nil {
		return err
	}
	if _, rest := m.stakes.credits.Get(credit{address: x.send.Address}); !rest {
		del(&s.journal, m.until, x.send.Address)
	}
	return nil
}

// lock moves from the sender's balance into a lockup.
func (x *execution) lock(in *lockup, token core.TokenID, amount, least uint256.Int) error {
	if err := x.state.pay(x.send.Address, token, amount); err != nil {
		return err
	}
	c, _ := in.credits.Get(credit{address: x.send.Address})
	c.address = x.send.Address
	c.weight.Add(&c.weight, &amount)
	if c.weight.Lt(&least) {
		return errLeast
	}
	var sum uint256.Int
	sum.Add(&in.sum, &amount)
	x.state.setLock(in, c, sum)
	return nil
}

// unlock takes out of a lockup; the amount comes to the balance after a while. All or a lawful rest may stay.
func (x *execution) unlock(in *lockup, token core.TokenID, amount, least uint256.Int) error {
	s, e := x.state, &x.state.exchange
	c, locked := in.credits.Get(credit{address: x.send.Address})
	if _, under := c.weight.SubOverflow(&c.weight, &amount); under || !locked {
		return errLocked
	}
	if c.weight.Lt(&least) && !c.weight.IsZero() {
		return errLeast
	}
	var sum uint256.Int
	sum.Sub(&in.sum, &amount)
	s.setLock(in, c, sum)
	waiting := append(e.unlocking[:len(e.unlocking):len(e.unlocking)], unlock{c.address, token, amount, e.clock + dex.UnlockTime})
	set(&s.journal, &e.unlocking, waiting)
	return nil
}

func (s *state) setLock(in *lockup, c credit, sum uint256.Int) {
	set(&s.journal, &in.sum, sum)
	s.setCredit(in.credits, c)
}

// release gives at most n owners back what they have unlocked, the oldest first, and tells how many.
func (s *state) release(n int) (done int) {
	e := &s.exchange
	for done < n && len(e.unlocking) > 0 && e.unlocking[0].due <= e.clock {
		next := e.unlocking[0]
		set(&s.journal, &e.unlocking, e.unlocking[1:])
		s.give(next.owner, next.token, next.amount)
		done++
	}
	return done
}
