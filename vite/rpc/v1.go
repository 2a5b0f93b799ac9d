package rpc

import (
	"context"
	"math/big"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// The modules tx, pledge, onroad, mintage and pow are the first generation of names; clients still
// call these methods.

type txAPI struct{ ledger *ledgerAPI }

// SendRawTx is ledger_sendRawTransaction.
func (t *txAPI) SendRawTx(ctx context.Context, b *AccountBlock) error {
	return t.ledger.SendRawTransaction(ctx, b)
}

type v1Intent struct {
	SelfAddr       addressArg  `json:"selfAddr"`
	PrevHash       hashArg     `json:"prevHash"`
	BlockType      uint8       `json:"blockType"`
	ToAddr         *addressArg `json:"toAddr"`
	Data           []byte      `json:"data"`
	UsePledgeQuota bool        `json:"usePledgeQuota"`
}

type v1Difficulty struct {
	Quota         uint64 `json:"quota"`
	QuotaRequired string `json:"quotaRequired"`
	Difficulty    string `json:"difficulty"`
	UTRequired    string `json:"utRequired"`
	QC            string `json:"qc"`
	IsCongestion  bool   `json:"isCongestion"`
}

// CalcPoWDifficulty is ledger_getPoWDifficulty, except that the caller may ask to pay by work
// alone.
func (t *txAPI) CalcPoWDifficulty(i v1Intent) (*v1Difficulty, error) {
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
		readInMemory(t.ledger.node, func(v *node.View) { full, err = v.Work(quota) })
		if err != nil {
			return nil, onWire(ledger.ErrBlockLimit)
		}
		need.Difficulty = difficultyText(full)
	}
	return &v1Difficulty{quota, need.RequiredQuota, need.Difficulty, units(quota, 4), need.QC, need.IsCongestion}, nil
}

type v1RequiredQuota struct {
	QuotaRequired string `json:"quotaRequired"`
	UTRequired    string `json:"utRequired"`
}

// CalcQuotaRequired is ledger_getRequiredQuota.
func (t *txAPI) CalcQuotaRequired(i v1Intent) (*v1RequiredQuota, error) {
	need, err := t.ledger.GetRequiredQuota(intent{i.SelfAddr, i.PrevHash, i.BlockType, i.ToAddr, i.Data})
	if err != nil {
		return nil, err
	}
	quota, err := heightArg(need.RequiredQuota).height()
	if err != nil {
		return nil, err
	}
	return &v1RequiredQuota{need.RequiredQuota, units(quota, 4)}, nil
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

// GetPledgeQuota returns the quota in units of one transfer. As on a real node utps is the
// spendable quota, not the rate.
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

type agentPledgeQuery struct {
	PledgeAddr     addressArg `json:"pledgeAddr"`
	AgentAddr      addressArg `json:"agentAddr"`
	BeneficialAddr addressArg `json:"beneficialAddr"`
	Bid            uint8      `json:"bid"`
}

// GetAgentPledgeInfo is contract_getDelegatedStakeInfo.
func (p *pledgeAPI) GetAgentPledgeInfo(agentPledgeQuery) *pledgeInfo { return nil }

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
func (o *onroadAPI) GetOnroadInfoInBatch(ctx context.Context, accounts []addressArg) ([]v1Account, error) {
	return summaries(ctx, o.ledger.node, accounts, showV1Account)
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

// The first generation of the ledger module's methods. A block has both generations of names in
// either; an account has not.

// GetLatestSnapshotChainHash is ledger_getLatestSnapshotHash.
func (l *ledgerAPI) GetLatestSnapshotChainHash() core.Hash { return l.GetLatestSnapshotHash() }

// GetLatestBlock is ledger_getLatestAccountBlock.
func (l *ledgerAPI) GetLatestBlock(a addressArg) (*shownBlock, error) {
	return l.GetLatestAccountBlock(a)
}

// GetBlockByHash is ledger_getAccountBlockByHash.
func (l *ledgerAPI) GetBlockByHash(h hashArg) (*shownBlock, error) { return l.GetAccountBlockByHash(h) }

// GetBlockByHeight is ledger_getAccountBlockByHeight.
func (l *ledgerAPI) GetBlockByHeight(a addressArg, at heightArg) (*shownBlock, error) {
	return l.GetAccountBlockByHeight(a, at)
}

// GetBlocksByAccAddr is ledger_getAccountBlocksByAddress.
func (l *ledgerAPI) GetBlocksByAccAddr(a addressArg, index, size int) ([]*shownBlock, error) {
	return l.GetAccountBlocksByAddress(a, index, size)
}

// GetBlocksByHash is ledger_getAccountBlocks of any token.
func (l *ledgerAPI) GetBlocksByHash(ctx context.Context, a addressArg, origin *hashArg, count int) ([]*shownBlock, error) {
	return l.GetAccountBlocks(ctx, a, origin, nil, count)
}

// GetBlocksByHashInToken is ledger_getAccountBlocks.
func (l *ledgerAPI) GetBlocksByHashInToken(
	ctx context.Context, a addressArg, origin *hashArg, token *tokenArg, count int,
) ([]*shownBlock, error) {
	return l.GetAccountBlocks(ctx, a, origin, token, count)
}

// GetVmLogList is ledger_getVmLogs.
func (l *ledgerAPI) GetVmLogList(h hashArg) ([]*vmLog, error) { return l.GetVmLogs(h) }

// GetAccountByAccAddr gives received balances.
func (l *ledgerAPI) GetAccountByAccAddr(a addressArg) v1Account {
	return showV1Account(read(l.node, func(v *node.View) node.AccountInfo { return v.AccountInfo(a.Address) }))
}

// GetRawBlockByHash returns a block with its own fields only; null for an unknown hash.
func (l *ledgerAPI) GetRawBlockByHash(h hashArg) (*rawBlock, error) {
	b, err := recall(l.node, func(v *node.View) *node.Block { return v.BlockByHash(h.Hash) })
	return showRawBlock(b), err
}

// GetCompleteBlockByHash is the block of a hash, for a contract's send the receive that made it.
func (l *ledgerAPI) GetCompleteBlockByHash(h hashArg) (*shownBlock, error) {
	return recallBlock(l.node, func(v *node.View) *node.Block { return v.HostByHash(h.Hash) })
}

// GetAccountBlocksByHeightRange lists blocks newest first, both heights included; null without any.
func (l *ledgerAPI) GetAccountBlocksByHeightRange(a addressArg, start, end heightArg) ([]*shownBlock, error) {
	from, to, err := heightRangeOf(start, end)
	if err != nil {
		return nil, err
	}
	return recallBlocks(l.node, func(v *node.View) []*node.Block { return v.BlocksBetween(a.Address, from, to) })
}

// v1Account shows balances, or what waits to be received; the map is left out when empty.
type v1Account struct {
	AccountAddress core.Address               `json:"accountAddress"`
	TotalNumber    string                     `json:"totalNumber"`
	Balances       map[core.TokenID]v1Balance `json:"tokenBalanceInfoMap,omitempty"`
}

type v1Balance struct {
	TokenInfo   *tokenInfo `json:"tokenInfo"`
	TotalAmount string     `json:"totalAmount"`
	Number      *string    `json:"number"` // of unreceived sends
}

func showV1Account(i node.AccountInfo) v1Account {
	newer := showAccount(i)
	shown := v1Account{AccountAddress: newer.Address, TotalNumber: newer.BlockCount}
	for id, b := range newer.Balances {
		if shown.Balances == nil {
			shown.Balances = make(map[core.TokenID]v1Balance, len(newer.Balances))
		}
		balance := v1Balance{TokenInfo: b.TokenInfo, TotalAmount: b.Balance}
		if b.TransactionCount != "" {
			balance.Number = &b.TransactionCount
		}
		shown.Balances[id] = balance
	}
	return shown
}
