package node

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
)

// StakePurpose is the purpose of an account's stake on the exchange.
type StakePurpose uint8

// The purposes, by the numbers that wallets know them by.
const (
	StakeToMine       StakePurpose = 1
	StakeForVIP       StakePurpose = 2
	StakeForSVIP      StakePurpose = 3
	StakeForPrincipal StakePurpose = 4 // another account's SVIP
)

// ExchangeStake is VITE that dexFund holds for an account's stake.
type ExchangeStake struct {
	ID               core.Hash // zero for a stake to mine
	Purpose          StakePurpose
	Staker           core.Address
	Principal        core.Address // of StakeForPrincipal
	Amount           uint256.Int
	ExpirationHeight uint64
	ExpirationTime   time.Time
}

// ExchangeStakes is one page of stakes with the sums of all.
type ExchangeStakes struct {
	Total uint256.Int
	Count int
	List  []ExchangeStake
}

// VIPStakes lists one page (from 0) of what the account staked for lower fees, the first to
// expire first.
func (v ExchangeView) VIPStakes(staker core.Address, page, size int) ExchangeStakes {
	var all []ExchangeStake
	for id, k := range v.s.Exchange.FeeStakes {
		if k.Staker == staker {
			all = append(all, v.vipStake(id))
		}
	}
	slices.SortFunc(all, func(a, b ExchangeStake) int {
		return cmp.Or(cmp.Compare(a.ExpirationHeight, b.ExpirationHeight), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return stakesOn(all, page, size)
}

// VIPStake is the stake that gives the account half the base fee; nil without one.
func (v ExchangeView) VIPStake(a core.Address) *ExchangeStake {
	id, staked := v.s.Exchange.VIPStake(a)
	if !staked {
		return nil
	}
	k := v.vipStake(id)
	return &k
}

func (v ExchangeView) vipStake(id core.Hash) ExchangeStake {
	k := v.s.Exchange.FeeStakes[id]
	stake := ExchangeStake{
		ID: id, Purpose: StakeForVIP, Staker: k.Staker, Amount: ledger.StakeOf(k.Vip.Super),
		ExpirationHeight: k.Until, ExpirationTime: v.s.Expiration(k.Until),
	}
	switch {
	case k.Vip.Super && k.Vip.Account != k.Staker:
		stake.Purpose, stake.Principal = StakeForPrincipal, k.Vip.Account
	case k.Vip.Super:
		stake.Purpose = StakeForSVIP
	}
	return stake
}

// MiningStakes lists one page (from 0) of what the account staked to mine. It is one stake at most.
func (v ExchangeView) MiningStakes(staker core.Address, page, size int) ExchangeStakes {
	m := &v.s.Exchange.Mining
	c, staked := m.Stakes.Credits.Get(ledger.Credit{Address: staker})
	if !staked {
		return ExchangeStakes{}
	}
	until := m.Until[staker]
	return stakesOn([]ExchangeStake{{
		Purpose: StakeToMine, Staker: staker, Amount: c.Weight, ExpirationHeight: until, ExpirationTime: v.s.Expiration(until),
	}}, page, size)
}

func stakesOn(all []ExchangeStake, page, size int) ExchangeStakes {
	found := ExchangeStakes{Count: len(all)}
	for i := range all {
		found.Total.Add(&found.Total, &all[i].Amount)
	}
	from, to := pageOf(page, size, len(all))
	found.List = all[from:to]
	return found
}

// Unlock is an amount on its way back to an account's exchange balance.
type Unlock struct {
	Amount uint256.Int
	Due    int64 // of the exchange's clock
	Period int64 // of Due
}

// Unlocks is one page of an account's unlocks with the sums of all.
type Unlocks struct {
	Total uint256.Int
	Count int
	List  []Unlock
}

// Unlocks lists one page (from 0) of what an account unlocked of a token, the first due first.
func (v ExchangeView) Unlocks(a core.Address, token core.TokenID, page, size int) Unlocks {
	found := Unlocks{}
	var all []Unlock
	for _, u := range v.s.Exchange.Unlocking {
		if u.Owner == a && u.Token == token {
			all = append(all, Unlock{u.Amount, u.Due, dex.PeriodOf(u.Due)})
			found.Total.Add(&found.Total, &u.Amount)
		}
	}
	found.Count = len(all)
	from, to := pageOf(page, size, len(all))
	found.List = all[from:to]
	return found
}
