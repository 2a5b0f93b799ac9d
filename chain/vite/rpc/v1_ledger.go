package rpc

import (
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/node"
)

// The first generation of the ledger module's methods. A block has both generations of names in either; an account has not.

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
func (l *ledgerAPI) GetBlocksByHash(a addressArg, origin *hashArg, count int) ([]*shownBlock, error) {
	return l.GetAccountBlocks(a, origin, nil, count)
}

// GetBlocksByHashInToken is ledger_getAccountBlocks.
func (l *ledgerAPI) GetBlocksByHashInToken(a addressArg, origin *hashArg, token *tokenArg, count int) ([]*shownBlock, error) {
	return l.GetAccountBlocks(a, origin, token, count)
}

// GetVmLogList is ledger_getVmLogs.
func (l *ledgerAPI) GetVmLogList(h hashArg) ([]*vmLog, error) { return l.GetVmLogs(h) }

// GetAccountByAccAddr gives received balances.
func (l *ledgerAPI) GetAccountByAccAddr(a addressArg) v1Account {
	return showV1Account(read(l.node, func(v *node.View) node.AccountInfo { return v.AccountInfo(a.Address) }))
}

// GetRawBlockByHash is a block with what it says itself; null for an unknown hash.
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
