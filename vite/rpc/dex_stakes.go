package rpc

import (
	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/node"
)

// exchangeStake is a stake that dexFund holds; bid is its purpose.
type exchangeStake struct {
	stakeInfo
	Principal *core.Address `json:"principal,omitempty"`
}

type exchangeStakes struct {
	TotalStakeAmount string          `json:"totalStakeAmount"`
	TotalStakeCount  int             `json:"totalStakeCount"`
	StakeList        []exchangeStake `json:"stakeList"`
}

func showExchangeStake(k *node.ExchangeStake) exchangeStake {
	shown := exchangeStake{stakeInfo: stakeInfo{
		StakeAmount: k.Amount.Dec(), Beneficiary: core.DexFundContract, ExpirationHeight: decimal(k.ExpirationHeight),
		ExpirationTime: k.ExpirationTime.Unix(), IsDelegated: true, DelegateAddress: core.DexFundContract, StakeAddress: k.Staker,
		Bid: uint8(k.Purpose),
	}}
	if !k.ID.IsZero() {
		shown.ID = &k.ID
	}
	if k.Purpose == node.StakeForPrincipal {
		shown.Principal = &k.Principal
	}
	return shown
}

// exchangeStakes shows one page of stakes.
func (e *exchangeAPI) exchangeStakes(index, size int, list func(v *node.View, page, size int) node.ExchangeStakes) (*exchangeStakes, error) {
	if size > maxCount {
		return nil, errCount
	}
	found := read(e.node, func(v *node.View) node.ExchangeStakes { return list(v, index, size) })
	shown := &exchangeStakes{found.Total.Dec(), found.Count, []exchangeStake{}}
	for i := range found.List {
		shown.StakeList = append(shown.StakeList, showExchangeStake(&found.List[i]))
	}
	return shown, nil
}

// GetVIPStakeInfoList is one page of what an account staked for lower fees, its own or another's.
func (d *dexAPI) GetVIPStakeInfoList(a addressArg, index, size int) (*exchangeStakes, error) {
	return d.exchangeStakes(index, size, func(v *node.View, page, size int) node.ExchangeStakes {
		return v.Exchange().VIPStakes(a.Address, page, size)
	})
}

// GetMiningStakeInfoList lists an account's stakes for mining.
func (d *dexAPI) GetMiningStakeInfoList(a addressArg, index, size int) (*exchangeStakes, error) {
	return d.exchangeStakes(index, size, func(v *node.View, page, size int) node.ExchangeStakes {
		return v.Exchange().MiningStakes(a.Address, page, size)
	})
}

// GetStakedForVIP is the stake that halves the account's base fee; null without one.
func (d *dexAPI) GetStakedForVIP(a addressArg) *exchangeStake {
	k := read(d.node, func(v *node.View) *node.ExchangeStake { return v.Exchange().VIPStake(a.Address) })
	if k == nil {
		return nil
	}
	shown := showExchangeStake(k)
	return &shown
}

// releasing is an amount on its way back to its owner's balance.
type releasing struct {
	Amount           string `json:"amount"`
	ExpirationTime   int64  `json:"expirationTime"`
	ExpirationPeriod uint64 `json:"expirationPeriod"`
}

func (e *exchangeAPI) releasing(a addressArg, token core.TokenID, index, size int) (total uint256.Int, count int, list []releasing, err error) {
	if size > maxCount {
		return total, 0, nil, errCount
	}
	found := read(e.node, func(v *node.View) node.Unlocks { return v.Exchange().Unlocks(a.Address, token, index, size) })
	list = []releasing{}
	for i := range found.List {
		u := &found.List[i]
		list = append(list, releasing{u.Amount.Dec(), u.Due, uint64(max(u.Period, 0))})
	}
	return found.Total, found.Count, list, nil
}

type vxUnlocks struct {
	UnlockingAmount string      `json:"unlockingAmount"`
	Count           int         `json:"count"`
	Unlocks         []releasing `json:"unlocks"`
}

// GetVxUnlockList is one page of the VX that an account unlocked and did not get back yet.
func (d *dexAPI) GetVxUnlockList(a addressArg, index, size int) (*vxUnlocks, error) {
	total, count, list, err := d.releasing(a, dex.VX, index, size)
	if err != nil {
		return nil, err
	}
	return &vxUnlocks{total.Dec(), count, list}, nil
}

type cancelledStakes struct {
	CancellingAmount string      `json:"cancellingAmount"`
	Count            int         `json:"count"`
	Cancels          []releasing `json:"cancels"`
}

// GetCancelStakeList is one page of the VITE that an account staked to mine, took back, and did not
// get back yet.
func (d *dexAPI) GetCancelStakeList(a addressArg, index, size int) (*cancelledStakes, error) {
	total, count, list, err := d.releasing(a, core.VITE, index, size)
	if err != nil {
		return nil, err
	}
	return &cancelledStakes{total.Dec(), count, list}, nil
}

// IsDexStopped reports whether the exchange takes no orders.
func (d *dexAPI) IsDexStopped() bool {
	return read(d.node, func(v *node.View) bool { return v.Exchange().Roles().Stopped })
}
