package rpc

import (
	"context"
	"math/big"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/node"
)

// The modules tx, pledge, onroad, mintage and pow are the first generation of names; clients still call these methods.

type txAPI struct{ ledger *ledgerAPI }

// SendRawTx is ledger_sendRawTransaction.
func (t *txAPI) SendRawTx(ctx context.Context, b *AccountBlock) error {
	return t.ledger.SendRawTransaction(ctx, b)
}

type olderIntent struct {
	SelfAddr       addressArg  `json:"selfAddr"`
	PrevHash       hashArg     `json:"prevHash"`
	BlockType      uint8       `json:"blockType"`
	ToAddr         *addressArg `json:"toAddr"`
	Data           []byte      `json:"data"`
	UsePledgeQuota bool        `json:"usePledgeQuota"`
}

type olderDifficulty struct {
	Quota         uint64 `json:"quota"`
	QuotaRequired string `json:"quotaRequired"`
	Difficulty    string `json:"difficulty"`
	UTRequired    string `json:"utRequired"`
	QC            string `json:"qc"`
	IsCongestion  bool   `json:"isCongestion"`
}

// CalcPoWDifficulty is ledger_getPoWDifficulty, except that the caller may ask to pay by work alone.
func (t *txAPI) CalcPoWDifficulty(i olderIntent) (*olderDifficulty, error) {
	need, err := t.ledger.GetPoWDifficulty(intent{i.SelfAddr, i.PrevHash, i.BlockType, i.ToAddr, i.Data})
	if err != nil {
		return nil, err
	}
	quota, err := heightArg(need.RequiredQuota).height()
	if err != nil {
		return nil, err
	}
	if !i.UsePledgeQuota {
		var full *big.Int
		look(t.ledger.node, func(v *node.View) { full, err = v.Work(quota) })
		if err != nil {
			return nil, onWire(node.ErrBlockLimit)
		}
		need.Difficulty = difficultyText(full)
	}
	return &olderDifficulty{quota, need.RequiredQuota, need.Difficulty, units(quota, 4), need.QC, need.IsCongestion}, nil
}

type pledgeAPI struct{ node *node.Node }

type pledgeQuota struct {
	QuotaPerSnapshotBlock string `json:"quotaPerSnapshotBlock"`
	Current               string `json:"current"`
	UTPS                  string `json:"utps"`
	CurrentUT             string `json:"currentUt"`
	UTPE                  string `json:"utpe"`
	PledgeAmount          string `json:"pledgeAmount"`
}

// GetPledgeQuota is the quota in units of one transfer. As on a real node utps is what can be spent now, not the rate.
func (p *pledgeAPI) GetPledgeQuota(a addressArg) pledgeQuota {
	q := read(p.node, func(v *node.View) node.QuotaInfo { return v.Quota(a.Address) })
	return pledgeQuota{
		QuotaPerSnapshotBlock: decimal(core.QuotaForStake(q.Stake)), Current: decimal(q.Current), UTPS: units(q.Current, 4),
		CurrentUT: units(q.Current, 4), UTPE: units(q.Max, 4), PledgeAmount: q.Stake.Dec(),
	}
}

type pledgeList struct {
	TotalPledgeAmount string       `json:"totalPledgeAmount"`
	TotalCount        int          `json:"totalCount"`
	PledgeInfoList    []pledgeInfo `json:"pledgeInfoList"`
}

type pledgeInfo struct {
	Amount         string       `json:"amount"`
	BeneficialAddr core.Address `json:"beneficialAddr"`
	WithdrawHeight string       `json:"withdrawHeight"`
	WithdrawTime   int64        `json:"withdrawTime"`
	Agent          bool         `json:"agent"`
	AgentAddress   core.Address `json:"agentAddress"`
	Bid            uint8        `json:"bid"`
}

// GetPledgeList is contract_getStakeList.
func (p *pledgeAPI) GetPledgeList(a addressArg, index, size int) (*pledgeList, error) {
	list, err := (&contractAPI{p.node}).GetStakeList(a, index, size)
	if err != nil {
		return nil, err
	}
	shown := &pledgeList{list.TotalStakeAmount, list.TotalStakeCount, []pledgeInfo{}}
	for _, s := range list.StakeList {
		shown.PledgeInfoList = append(shown.PledgeInfoList, pledgeInfo{
			s.StakeAmount, s.Beneficiary, s.ExpirationHeight, s.ExpirationTime, s.IsDelegated, s.DelegateAddress, s.Bid,
		})
	}
	return shown, nil
}

type onroadAPI struct{ ledger *ledgerAPI }

// GetOnroadBlocksByAddress is ledger_getUnreceivedBlocksByAddress.
func (o *onroadAPI) GetOnroadBlocksByAddress(a addressArg, index, size int) ([]*shownBlock, error) {
	return o.ledger.GetUnreceivedBlocksByAddress(a, index, size)
}

// GetOnroadInfoByAddress sums the unreceived sends per token.
func (o *onroadAPI) GetOnroadInfoByAddress(a addressArg) v1Account {
	return showV1Account(read(o.ledger.node, func(v *node.View) node.AccountInfo { return v.UnreceivedSummary(a.Address) }))
}

// onroadPage asks for one page of one account.
type onroadPage struct {
	Addr      addressArg `json:"addr"`
	PageNum   int        `json:"pageNum"`
	PageCount int        `json:"pageCount"`
}

// GetOnroadBlocksInBatch is ledger_getUnreceivedBlocksInBatch.
func (o *onroadAPI) GetOnroadBlocksInBatch(pages []onroadPage) (map[core.Address][]*shownBlock, error) {
	newer := make([]unreceivedPage, len(pages))
	for i, p := range pages {
		newer[i] = unreceivedPage{p.Addr, p.PageNum, p.PageCount}
	}
	return o.ledger.GetUnreceivedBlocksInBatch(newer)
}

// GetOnroadInfoInBatch answers in the order of the accounts.
func (o *onroadAPI) GetOnroadInfoInBatch(accounts []addressArg) ([]v1Account, error) {
	if len(accounts) > maxCount {
		return nil, errCount
	}
	var shown []v1Account
	look(o.ledger.node, func(v *node.View) {
		for _, a := range accounts {
			shown = append(shown, showV1Account(v.UnreceivedSummary(a.Address)))
		}
	})
	return shown, nil
}

type mintageAPI struct{ contract *contractAPI }

// GetTokenInfoById is contract_getTokenInfoById.
func (m *mintageAPI) GetTokenInfoById(id tokenArg) *tokenInfo { return m.contract.GetTokenInfoById(id) }

// GetTokenInfoList is one page of all tokens by name.
func (m *mintageAPI) GetTokenInfoList(index, size int) ([]*tokenInfo, error) {
	list, err := m.contract.GetTokenInfoList(index, size)
	if err != nil {
		return nil, err
	}
	return list.TokenInfoList, nil
}

// GetTokenInfoListByOwner is contract_getTokenInfoListByOwner.
func (m *mintageAPI) GetTokenInfoListByOwner(a addressArg) []*tokenInfo {
	return m.contract.GetTokenInfoListByOwner(a)
}

type powAPI struct{ util *utilAPI }

// GetPowNonce is util_getPoWNonce.
func (p *powAPI) GetPowNonce(ctx context.Context, difficulty string, h hashArg) (string, error) {
	return p.util.GetPoWNonce(ctx, difficulty, h)
}
