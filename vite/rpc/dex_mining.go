package rpc

import (
	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/node"
)

// minedShown contains the members that both generations of names have in common. Amounts are VX in
// smallest units.
type minedShown struct {
	HistoryMinedSum string            `json:"historyMinedSum"`
	Total           string            `json:"total"`
	FeeMineTotal    string            `json:"feeMineTotal"`
	FeeMineDetail   map[string]string `json:"feeMineDetail"` // by quote token type, 1 to 4
	MakerMine       string            `json:"makerMine"`
}

type miningInfo struct {
	minedShown
	StakingMine string `json:"stakingMine"`
}

type v1MiningInfo struct {
	minedShown
	PledgeMine string `json:"pledgeMine"`
}

// nothing is the reward of market making on this chain.
const nothing = "0"

func showMined(m *node.Mining) minedShown {
	shown := minedShown{
		HistoryMinedSum: m.Mined.Dec(), Total: m.Total.Dec(), FeeMineDetail: map[string]string{}, MakerMine: nothing,
	}
	var sum uint256.Int
	for _, q := range dex.QuoteTypes() {
		shown.FeeMineDetail[q.String()] = m.Shares.Trade.Dec()
		sum.Add(&sum, &m.Shares.Trade)
	}
	shown.FeeMineTotal = sum.Dec()
	return shown
}

func (e *exchangeAPI) mining() node.Mining {
	return read(e.node, func(v *node.View) node.Mining { return v.Exchange().Mining() })
}

// GetCurrentMiningInfo is the VX that the running cycle gives to traders, by the type of the quote
// token, and to others.
func (d *dexAPI) GetCurrentMiningInfo() *miningInfo {
	m := d.mining()
	return &miningInfo{showMined(&m), m.Shares.Staking.Dec()}
}

// GetCurrentMiningAmountInfo is an older name of dex_getCurrentMiningInfo.
func (d *dexAPI) GetCurrentMiningAmountInfo() *miningInfo { return d.GetCurrentMiningInfo() }

// GetMiningInfo is dex_getCurrentMiningInfo for a cycle, past ones as they were.
func (d *dexAPI) GetMiningInfo(cycle heightArg) (*miningInfo, error) {
	period, err := cycle.cycle()
	if err != nil {
		return nil, err
	}
	m := read(d.node, func(v *node.View) node.Mining { return v.Exchange().MiningOf(period) })
	return &miningInfo{showMined(&m), m.Shares.Staking.Dec()}, nil
}

// GetPeriodIdByTimestamp is the cycle that a time in Unix seconds is in.
func (d *dexAPI) GetPeriodIdByTimestamp(seconds int64) (uint64, error) {
	if seconds < dex.FirstPeriod {
		return 0, errCycleTime
	}
	return uint64(dex.PeriodOf(seconds)), nil
}

// GetCurrentVxMineInfo is dex_getCurrentMiningInfo under older names.
func (d *dexfundAPI) GetCurrentVxMineInfo() *v1MiningInfo {
	m := d.mining()
	return &v1MiningInfo{showMined(&m), m.Shares.Staking.Dec()}
}

func (e *exchangeAPI) staked() string {
	m := e.mining()
	return m.Staked.Dec()
}

// GetCurrentStakingValidForMining is the VITE that is staked to mine.
func (d *dexAPI) GetCurrentStakingValidForMining() string { return d.staked() }

// GetCurrentPledgeForVxSum is dex_getCurrentStakingValidForMining.
func (d *dexfundAPI) GetCurrentPledgeForVxSum() string { return d.staked() }

// miningFees returns the fees paid in the markets that mine, in the decimals of the quote token
// type.
func (e *exchangeAPI) miningFees() map[string]string {
	m, shown := e.mining(), map[string]string{}
	for q, f := range m.Fees {
		shown[q.String()] = f.Dec()
	}
	return shown
}

// GetCurrentFeesValidForMining are the fees of the running cycle that mine, without what listings
// and invitations add.
func (d *dexAPI) GetCurrentFeesValidForMining() map[string]string { return d.miningFees() }

// GetCurrentFeesForMine is dex_getCurrentFeesValidForMining.
func (d *dexfundAPI) GetCurrentFeesForMine() map[string]string { return d.miningFees() }

type dividendPool struct {
	Amount         string    `json:"amount"`
	QuoteTokenType uint8     `json:"quoteTokenType"`
	TokenInfo      *dexToken `json:"tokenInfo"`
}

func (e *exchangeAPI) dividendPools() map[core.TokenID]dividendPool {
	shown := map[core.TokenID]dividendPool{}
	readInMemory(e.node, func(v *node.View) {
		for id, amount := range v.Exchange().DividendPools() {
			if t := v.Exchange().Token(id); t != nil {
				shown[id] = dividendPool{amount.Dec(), uint8(t.QuoteType), showDexToken(t)}
			}
		}
	})
	return shown
}

// GetDividendPoolsInfo are the fees that dividends are paid from, by token.
func (d *dexAPI) GetDividendPoolsInfo() map[core.TokenID]dividendPool { return d.dividendPools() }

// GetCurrentDividendPools is dex_getDividendPoolsInfo.
func (d *dexfundAPI) GetCurrentDividendPools() map[core.TokenID]dividendPool {
	return d.dividendPools()
}

func (e *exchangeAPI) inviteCode(a addressArg) uint32 {
	return read(e.node, func(v *node.View) uint32 { return v.Exchange().InviteCode(a.Address) })
}

func (e *exchangeAPI) invitedBy(a addressArg) uint32 {
	return read(e.node, func(v *node.View) uint32 { return v.Exchange().InvitedBy(a.Address) })
}

// GetInviteCode is the code that an account invites with, 0 for none.
func (d *dexAPI) GetInviteCode(a addressArg) uint32 { return d.inviteCode(a) }

// GetInviterCode is dex_getInviteCode.
func (d *dexfundAPI) GetInviterCode(a addressArg) uint32 { return d.inviteCode(a) }

// GetInviteCodeBinding is the code that an account was invited with, 0 for none.
func (d *dexAPI) GetInviteCodeBinding(a addressArg) uint32 { return d.invitedBy(a) }

// GetInviteeCode is dex_getInviteCodeBinding.
func (d *dexfundAPI) GetInviteeCode(a addressArg) uint32 { return d.invitedBy(a) }

// GetInviter gives the inviters of the accounts that were invited; others are left out.
func (d *dexAPI) GetInviter(invited []addressArg) (map[core.Address]core.Address, error) {
	if len(invited) > maxCount {
		return nil, errCount
	}
	inviters := map[core.Address]core.Address{}
	readInMemory(d.node, func(v *node.View) {
		for _, a := range invited {
			if inviter, ok := v.Exchange().Inviter(a.Address); ok {
				inviters[a.Address] = inviter
			}
		}
	})
	return inviters, nil
}

// IsInviteCodeValid reports whether an account invites with the code.
func (d *dexAPI) IsInviteCodeValid(code uint32) bool {
	return read(d.node, func(v *node.View) bool { return v.Exchange().InviteCodeKnown(code) })
}

// IsAutoLockMinedVx reports whether VX that the account mines is locked for dividends at once.
func (d *dexAPI) IsAutoLockMinedVx(a addressArg) bool {
	return read(d.node, func(v *node.View) bool { return v.Exchange().AutoLocksVX(a.Address) })
}

func (e *exchangeAPI) feeTier(a addressArg) dex.FeeTier {
	return read(e.node, func(v *node.View) dex.FeeTier { return v.Exchange().FeeTier(a.Address) })
}

// HasStakedForVIP reports whether the account pays half the base fee.
func (d *dexAPI) HasStakedForVIP(a addressArg) bool { return d.feeTier(a).VIP }

// IsPledgeVip is dex_hasStakedForVIP.
func (d *dexfundAPI) IsPledgeVip(a addressArg) bool { return d.feeTier(a).VIP }

// HasStakedForSVIP reports whether the account pays no base fee, by its own stake or another's.
func (d *dexAPI) HasStakedForSVIP(a addressArg) bool { return d.feeTier(a).SVIP }
