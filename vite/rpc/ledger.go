package rpc

import (
	"context"
	"errors"
	"math/big"
	"time"

	"golang.org/x/sync/semaphore"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// ledgerAPI is the module ledger (docs/exchange-chain-rpc.md 5.5).
type ledgerAPI struct {
	node     *node.Node
	searches *semaphore.Weighted
	patience time.Duration // with one search
}

// Bounds of calls that may scan all blocks of an account.
const (
	maxSearches = 4
	searchTime  = 10 * time.Second
)

var errSearch = jsonrpc.Other("the search took too long: ask for fewer heights")

func newLedgerAPI(n *node.Node) *ledgerAPI {
	return &ledgerAPI{n, semaphore.NewWeighted(maxSearches), searchTime}
}

// readInMemory reads what every node has in memory, so that it cannot fail. What a view gives is
// complete only after the view has closed, so it is shown by the caller.
func readInMemory(n *node.Node, f func(v *node.View)) { _ = n.Read(f) }

// read is readInMemory for one value.
func read[T any](n *node.Node, f func(v *node.View) T) T {
	var result T
	readInMemory(n, func(v *node.View) { result = f(v) })
	return result
}

// recall is read for blocks, of which the old ones are on the disk.
func recall[T any](n *node.Node, f func(v *node.View) T) (T, error) {
	var result T
	err := n.Read(func(v *node.View) { result = f(v) })
	return result, onWire(err)
}

// search is recall for scans of all blocks of an account: few at a time, each with a timeout.
func search[T any](ctx context.Context, l *ledgerAPI, f func(ctx context.Context, v *node.View) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	var result T
	var refused error
	err := l.searches.Acquire(limited, 1)
	if err == nil {
		defer l.searches.Release(1)
		err = l.node.Read(func(v *node.View) { result, refused = f(limited, v) })
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return result, errSearch
	}
	if err == nil {
		err = refused
	}
	return result, onWire(err)
}

// recallBlock shows one block, or null.
func recallBlock(n *node.Node, f func(v *node.View) *node.Block) (*shownBlock, error) {
	b, err := recall(n, f)
	return showBlock(b), err
}

// recallBlocks shows a list of blocks.
func recallBlocks(n *node.Node, f func(v *node.View) []*node.Block) ([]*shownBlock, error) {
	list, err := recall(n, f)
	return showBlocks(list), err
}

// recallSnapshot shows one snapshot block, or null.
func recallSnapshot(n *node.Node, f func(v *node.View) *node.SnapshotBlock) (*shownSnapshot, error) {
	b, err := recall(n, f)
	return showSnapshot(b), err
}

// GetLatestAccountBlock includes blocks that are in no snapshot yet; null without any block. The
// block is on disk: who follows an account up to here reads nothing that the end of this process
// could take back.
func (l *ledgerAPI) GetLatestAccountBlock(a addressArg) (*shownBlock, error) {
	b, err := recallBlock(l.node, func(v *node.View) *node.Block { return v.AccountHead(a.Address) })
	if err != nil {
		return nil, err
	}
	return b, onWire(l.node.Flush())
}

// GetAccountBlockByHash is null for an unknown hash.
func (l *ledgerAPI) GetAccountBlockByHash(h hashArg) (*shownBlock, error) {
	return recallBlock(l.node, func(v *node.View) *node.Block { return v.BlockByHash(h.Hash) })
}

// GetAccountBlockByHeight is null beyond the end.
func (l *ledgerAPI) GetAccountBlockByHeight(a addressArg, at heightArg) (*shownBlock, error) {
	height, err := at.height()
	if err != nil {
		return nil, err
	}
	return recallBlock(l.node, func(v *node.View) *node.Block { return v.BlockByHeight(a.Address, height) })
}

// GetAccountBlocks lists blocks from the origin (included; null: the newest) towards older ones.
func (l *ledgerAPI) GetAccountBlocks(
	ctx context.Context, a addressArg, origin *hashArg, token *tokenArg, count int,
) ([]*shownBlock, error) {
	if ok, err := page(0, count); !ok {
		return nil, err
	}
	var id *core.TokenID
	if token != nil {
		id = &token.TokenID
	}
	list, err := search(ctx, l, func(ctx context.Context, v *node.View) ([]*node.Block, error) {
		return v.Blocks(ctx, a.Address, origin.hashOf(), id, count)
	})
	return showBlocks(list), err
}

// GetAccountBlocksByAddress lists blocks newest first; null beyond the end.
func (l *ledgerAPI) GetAccountBlocksByAddress(a addressArg, index, size int) ([]*shownBlock, error) {
	if ok, err := page(index, size); !ok {
		return nil, err
	}
	return recallBlocks(l.node, func(v *node.View) []*node.Block { return v.BlockPage(a.Address, index, size) })
}

// GetUnreceivedBlocksByAddress lists sends by hash; an empty list, not null, without any.
func (l *ledgerAPI) GetUnreceivedBlocksByAddress(a addressArg, index, size int) ([]*shownBlock, error) {
	shown := []*shownBlock{}
	if ok, err := page(index, size); !ok {
		return shown, err
	}
	blocks := read(l.node, func(v *node.View) []*node.Block { return v.Unreceived(a.Address, index, size) })
	return append(shown, showBlocks(blocks)...), nil
}

// unreceivedPage asks for one page of one account.
type unreceivedPage struct {
	Address    addressArg `json:"address"`
	PageNumber int        `json:"pageNumber"`
	PageCount  int        `json:"pageCount"`
}

// maxBatchPages bounds the work of one batched query.
const maxBatchPages = 10

// GetUnreceivedBlocksInBatch leaves accounts without unreceived sends out.
func (l *ledgerAPI) GetUnreceivedBlocksInBatch(pages []unreceivedPage) (map[core.Address][]*shownBlock, error) {
	total := 0
	for _, p := range pages {
		if total += max(p.PageCount, 1); p.PageCount > maxCount || total > maxBatchPages*maxCount {
			return nil, errCount
		}
	}
	found := make(map[core.Address][]*node.Block)
	readInMemory(l.node, func(v *node.View) {
		for _, p := range pages {
			if p.PageNumber < 0 || p.PageCount <= 0 {
				continue
			}
			if blocks := v.Unreceived(p.Address.Address, p.PageNumber, p.PageCount); len(blocks) > 0 {
				found[p.Address.Address] = blocks
			}
		}
	})
	shown := make(map[core.Address][]*shownBlock, len(found))
	for account, blocks := range found {
		shown[account] = showBlocks(blocks)
	}
	return shown, nil
}

// GetUnreceivedTransactionSummaryByAddress sums the unreceived sends per token.
func (l *ledgerAPI) GetUnreceivedTransactionSummaryByAddress(a addressArg) accountInfo {
	return showAccount(read(l.node, func(v *node.View) node.AccountInfo { return v.UnreceivedSummary(a.Address) }))
}

// GetUnreceivedTransactionSummaryInBatch answers in the order of the accounts.
func (l *ledgerAPI) GetUnreceivedTransactionSummaryInBatch(ctx context.Context, accounts []addressArg) ([]accountInfo, error) {
	return summaries(ctx, l.node, accounts, showAccount)
}

// summaries sums the unreceived sends of accounts, of each once even if it is named repeatedly. The
// chain continues between two accounts.
func summaries[T any](ctx context.Context, n *node.Node, accounts []addressArg, show func(node.AccountInfo) T) ([]T, error) {
	if len(accounts) > maxCount {
		return nil, errCount
	}
	var shown []T
	known := make(map[core.Address]T, len(accounts))
	for _, a := range accounts {
		if err := ctx.Err(); err != nil {
			return nil, onWire(err)
		}
		one, ok := known[a.Address]
		if !ok {
			one = show(read(n, func(v *node.View) node.AccountInfo { return v.UnreceivedSummary(a.Address) }))
			known[a.Address] = one
		}
		shown = append(shown, one)
	}
	return shown, nil
}

// GetAccountInfoByAddress gives received balances.
func (l *ledgerAPI) GetAccountInfoByAddress(a addressArg) accountInfo {
	return showAccount(read(l.node, func(v *node.View) node.AccountInfo { return v.AccountInfo(a.Address) }))
}

// SendRawTransaction answers null once the block is accepted and durable.
func (l *ledgerAPI) SendRawTransaction(ctx context.Context, b *AccountBlock) error {
	if b == nil {
		return onWire(ledger.ErrEmptyBlock)
	}
	block, err := b.block()
	if err != nil {
		return onWire(err)
	}
	return onWire(l.node.Submit(ctx, block))
}

// intent describes a block that is to be priced.
type intent struct {
	Address      addressArg  `json:"address"`
	PreviousHash hashArg     `json:"previousHash"`
	BlockType    uint8       `json:"blockType"`
	ToAddress    *addressArg `json:"toAddress"`
	Data         []byte      `json:"data"`
}

func (i *intent) call() (node.Call, error) {
	c := node.Call{Address: i.Address.Address, BlockType: i.BlockType, Data: i.Data}
	if i.ToAddress != nil {
		c.To = i.ToAddress.Address
	} else if core.BlockType(i.BlockType) == core.SendCall {
		return c, ledger.ErrNoTo
	}
	return c, nil
}

type requiredQuota struct {
	RequiredQuota string `json:"requiredQuota"`
}

// GetRequiredQuota prices a block.
func (l *ledgerAPI) GetRequiredQuota(i intent) (*requiredQuota, error) {
	c, err := i.call()
	if err != nil {
		return nil, onWire(err)
	}
	var quota uint64
	readInMemory(l.node, func(v *node.View) { quota, err = v.RequiredQuota(c) })
	if err != nil {
		return nil, onWire(err)
	}
	return &requiredQuota{decimal(quota)}, nil
}

// congestionFree is the qc of a chain that is not congested.
const congestionFree = "1000000000000000000"

type powDifficulty struct {
	RequiredQuota string `json:"requiredQuota"`
	Difficulty    string `json:"difficulty"` // "": the stake suffices
	QC            string `json:"qc"`
	IsCongestion  bool   `json:"isCongestion"`
}

// GetPoWDifficulty returns the proof of work that a block needs.
func (l *ledgerAPI) GetPoWDifficulty(i intent) (*powDifficulty, error) {
	c, err := i.call()
	if err != nil {
		return nil, onWire(err)
	}
	var need node.PoWNeed
	readInMemory(l.node, func(v *node.View) { need, err = v.PoWDifficulty(c, i.PreviousHash.Hash) })
	if err != nil {
		return nil, onWire(err)
	}
	return &powDifficulty{decimal(need.RequiredQuota), difficultyText(need.Difficulty), congestionFree, false}, nil
}

func difficultyText(d *big.Int) string {
	if d == nil || d.Sign() == 0 {
		return ""
	}
	return d.String()
}
