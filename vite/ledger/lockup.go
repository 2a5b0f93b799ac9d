package ledger

import (
	"errors"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// lockup contains the accounts' locked amounts of a token, which entitle them to a share.
type lockup struct {
	_       struct{} `cbor:",toarray"`
	Sum     uint256.Int
	Credits credits
}

// unlock is an amount on its way from a lockup back to its owner's balance.
type unlock struct {
	_      struct{} `cbor:",toarray"`
	Owner  core.Address
	Token  core.TokenID
	Amount uint256.Int
	Due    int64 // of the exchange's clock
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
	locks, amount := &x.state.Exchange.Locks, args[1].(uint256.Int)
	if args[0].(uint8) == ActionAdd {
		return x.lock(locks, dex.VX, amount, dex.MinVXLock())
	}
	return x.unlock(locks, dex.VX, amount, dex.MinVXLock())
}

// SwitchAutoLock is the one thing that an account can switch: that VX which it mines is locked for
// dividends at once.
const SwitchAutoLock = 1

func checkSwitch(b *core.AccountBlock, args []any) error {
	if args[0].(uint8) != SwitchAutoLock {
		return ErrDexParam
	}
	return checkNoAmount(b, args)
}

func switchConfig(x *execution, args []any) error {
	s, me := x.state, x.send.Address
	if args[1].(bool) {
		put(&s.journal, s.Exchange.AutoLocks, me, struct{}{})
	} else {
		del(&s.journal, s.Exchange.AutoLocks, me)
	}
	return nil
}

// GiveMined gives mined VX to the account's balance, or into its lock if it wants that and the
// minimum is reached.
func (s *State) GiveMined(a core.Address, amount uint256.Int) {
	locks := &s.Exchange.Locks
	c, _ := locks.Credits.Get(Credit{Address: a})
	c.Address = a
	c.Weight.Add(&c.Weight, &amount)
	least := dex.MinVXLock()
	if _, auto := s.Exchange.AutoLocks[a]; !auto || c.Weight.Lt(&least) {
		s.creditExchange(a, dex.VX, amount)
		return
	}
	var sum uint256.Int
	sum.Add(&locks.Sum, &amount)
	s.setLock(locks, c, sum)
}

// stakeForMining stakes VITE of the sender's balance to mine VX, or takes it back when the time of
// the latest stake is over.
func stakeForMining(x *execution, args []any) error {
	s, m, amount := x.state, &x.state.Exchange.Mining, args[1].(uint256.Int)
	if args[0].(uint8) == ActionAdd {
		put(&s.journal, m.Until, x.send.Address, s.Height()+s.Rules.stakeLock)
		return x.lock(&m.Stakes, core.VITE, amount, dex.MinMiningStake())
	}
	if s.Height() < m.Until[x.send.Address] {
		return errLocked
	}
	if err := x.unlock(&m.Stakes, core.VITE, amount, dex.MinMiningStake()); err != nil {
		return err
	}
	if _, rest := m.Stakes.Credits.Get(Credit{Address: x.send.Address}); !rest {
		del(&s.journal, m.Until, x.send.Address)
	}
	return nil
}

// lock moves from the sender's balance into a lockup.
func (x *execution) lock(in *lockup, token core.TokenID, amount, least uint256.Int) error {
	if err := x.state.debitExchange(x.send.Address, token, amount); err != nil {
		return err
	}
	c, _ := in.Credits.Get(Credit{Address: x.send.Address})
	c.Address = x.send.Address
	c.Weight.Add(&c.Weight, &amount)
	if c.Weight.Lt(&least) {
		return errLeast
	}
	var sum uint256.Int
	sum.Add(&in.Sum, &amount)
	x.state.setLock(in, c, sum)
	return nil
}

// unlock takes out of a lockup; the amount comes to the balance after a while. All or a lawful rest
// may stay.
func (x *execution) unlock(in *lockup, token core.TokenID, amount, least uint256.Int) error {
	s, e := x.state, &x.state.Exchange
	c, locked := in.Credits.Get(Credit{Address: x.send.Address})
	if _, under := c.Weight.SubOverflow(&c.Weight, &amount); under || !locked {
		return errLocked
	}
	if c.Weight.Lt(&least) && !c.Weight.IsZero() {
		return errLeast
	}
	var sum uint256.Int
	sum.Sub(&in.Sum, &amount)
	s.setLock(in, c, sum)
	waiting := append(e.Unlocking[:len(e.Unlocking):len(e.Unlocking)], unlock{Owner: c.Address, Token: token, Amount: amount, Due: e.Clock + dex.UnlockTime})
	set(&s.journal, &e.Unlocking, waiting)
	return nil
}

func (s *State) setLock(in *lockup, c Credit, sum uint256.Int) {
	set(&s.journal, &in.Sum, sum)
	s.setCredit(in.Credits, c)
}

// release returns the unlocked amounts of at most n owners, the oldest first, and reports how many.
func (s *State) release(n int) (done int) {
	e := &s.Exchange
	for done < n && len(e.Unlocking) > 0 && e.Unlocking[0].Due <= e.Clock {
		next := e.Unlocking[0]
		set(&s.journal, &e.Unlocking, e.Unlocking[1:])
		s.creditExchange(next.Owner, next.Token, next.Amount)
		done++
	}
	return done
}
