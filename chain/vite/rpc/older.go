package rpc

import (
	"context"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/node"
)

// The modules tx, pledge, onroad and mintage are the first generation of names; clients still call these methods.

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
		full, err := core.RequiredDifficulty(quota)
		if err != nil {
			return nil, onWire(node.ErrBlockLimit)
		}
		need.Difficulty = difficultyText(full)
	}
	return &olderDifficulty{quota, need.RequiredQuota, need.Difficulty, units(quota), need.QC, need.IsCongestion}, nil
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
		QuotaPerSnapshotBlock: decimal(core.QuotaForStake(q.Stake)), Current: decimal(q.Current), UTPS: units(q.Current),
		CurrentUT: units(q.Current), UTPE: units(q.Max), PledgeAmount: q.Stake.Dec(),
	}
}

type onroadAPI struct{ ledger *ledgerAPI }

// GetOnroadBlocksByAddress is ledger_getUnreceivedBlocksByAddress.
func (o *onroadAPI) GetOnroadBlocksByAddress(a addressArg, index, size int) ([]*shownBlock, error) {
	return o.ledger.GetUnreceivedBlocksByAddress(a, index, size)
}

type mintageAPI struct{ contract *contractAPI }

// GetTokenInfoById is contract_getTokenInfoById.
func (m *mintageAPI) GetTokenInfoById(id tokenArg) *tokenInfo { return m.contract.GetTokenInfoById(id) }
