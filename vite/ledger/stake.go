package ledger

import (
	"slices"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// quotaMethods lock VITE for quota (docs/exchange-chain-wire.md 6.3). StakeForQuota makes a
// separate stake with an ID; the older Stake and Pledge add to one stake per beneficiary, which has
// none.
var quotaMethods = []method{
	{core.StakeForQuota, checkStake, stakeWithID},
	{core.Stake, checkStake, stakeMerged},
	{core.Pledge, checkStake, stakeMerged},
	{core.CancelQuotaStaking, checkNoAmount, cancelByID},
	{core.CancelStake, checkCancel, cancelMerged},
}

const (
	// defaultStakeLock is three days of snapshot blocks.
	defaultStakeLock = 259200
	// minStake is in VITE.
	minStake = 134
)

func checkStake(b *core.AccountBlock, _ []any) error {
	if b.TokenID != core.VITE || b.Amount.Lt(vite(minStake)) {
		return ErrMethodParam
	}
	return nil
}

func stakeWithID(x *execution, args []any) error {
	x.state.addStake(x.stake(args[0].(core.Address), x.send.Hash))
	return nil
}

// stakeMerged adds to the beneficiary's stake and restarts the lock of its total.
func stakeMerged(x *execution, args []any) error {
	added := x.stake(args[0].(core.Address), core.Hash{})
	if at := x.state.findStake(added.Staker, added.ID, added.Beneficiary); at >= 0 {
		old := x.state.Stakes[added.Staker][at]
		added.Amount.Add(&added.Amount, &old.Amount)
		x.state.replaceStake(old, &added)
		return nil
	}
	x.state.addStake(added)
	return nil
}

// stake is the sender's stake of what the call brought.
func (x *execution) stake(beneficiary core.Address, id core.Hash) Stake {
	return Stake{
		ID: id, Staker: x.send.Address, Beneficiary: beneficiary, Amount: x.send.Amount,
		ExpirationHeight: x.state.Height() + x.state.Rules.stakeLock,
	}
}

func cancelByID(x *execution, args []any) error {
	return x.cancel(args[0].(core.Hash), core.Address{}, nil)
}

func checkCancel(b *core.AccountBlock, args []any) error {
	if amount := args[1].(uint256.Int); amount.Lt(vite(minStake)) {
		return ErrMethodParam
	}
	return checkNoAmount(b, args)
}

func cancelMerged(x *execution, args []any) error {
	amount := args[1].(uint256.Int)
	return x.cancel(core.Hash{}, args[0].(core.Address), &amount)
}

// cancel gives back an expired stake of the sender: all of it, or amount where a lawful rest stays.
func (x *execution) cancel(id core.Hash, beneficiary core.Address, amount *uint256.Int) error {
	at := x.state.findStake(x.send.Address, id, beneficiary)
	if at < 0 {
		return errNoStake
	}
	old := x.state.Stakes[x.send.Address][at]
	if old.ExpirationHeight > x.state.Height() {
		return errStakeLocked
	}
	if amount == nil {
		amount = &old.Amount
	}
	rest := old
	if _, under := rest.Amount.SubOverflow(&old.Amount, amount); under {
		return errNoStake
	}
	switch {
	case rest.Amount.IsZero():
		x.state.replaceStake(old, nil)
	case rest.Amount.Lt(vite(minStake)):
		return errStakeRest
	default:
		x.state.replaceStake(old, &rest)
	}
	x.transfer(x.send.Address, core.VITE, *amount)
	return nil
}

// findStake is the place of a stake in its staker's list, -1 if there is none. A zero id asks for
// the beneficiary's.
func (s *State) findStake(staker core.Address, id core.Hash, beneficiary core.Address) int {
	return slices.IndexFunc(s.Stakes[staker], func(k Stake) bool {
		return k.ID == id && (!id.IsZero() || k.Beneficiary == beneficiary)
	})
}

func (s *State) addStake(k Stake) {
	list := s.Stakes[k.Staker]
	put(&s.journal, s.Stakes, k.Staker, append(list[:len(list):len(list)], k))
	s.moveStake(k.Beneficiary, uint256.Int{}, k.Amount)
}

// replaceStake changes a stake's amount and expiry, or removes it (nil).
func (s *State) replaceStake(old Stake, changed *Stake) {
	list := slices.Clone(s.Stakes[old.Staker])
	at := s.findStake(old.Staker, old.ID, old.Beneficiary)
	var amount uint256.Int
	if changed == nil {
		list = slices.Delete(list, at, at+1)
	} else {
		list[at], amount = *changed, changed.Amount
	}
	put(&s.journal, s.Stakes, old.Staker, list)
	s.moveStake(old.Beneficiary, old.Amount, amount)
}

// moveStake changes what is staked for an account by the change of one stake.
func (s *State) moveStake(beneficiary core.Address, from, to uint256.Int) {
	acc := s.account(beneficiary)
	sum := acc.Staked
	sum.Sub(&sum, &from)
	sum.Add(&sum, &to)
	set(&s.journal, &acc.Staked, sum)
}

// Expiration guesses when a height will be reached, at one snapshot block per second.
func (s *State) Expiration(height uint64) time.Time {
	last := s.Latest()
	return last.Time.Add(time.Duration(int64(height)-int64(last.Height)) * time.Second)
}
