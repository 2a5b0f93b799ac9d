package index

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// span is how many blocks of a contract are read and stored at a time.
const span = 200

// maxLogPages bounds what one range of blocks may have of logs: a block has at most 1 + 2*100 of them.
const maxLogPages = 1 + span*(1+2*dex.MaxFills)/client.MaxPage

// errMoved marks answers that do not fit together because the chain moved between them: read again.
var errMoved = errors.New("the chain moved while it was read")

// ledger is what the index reads of account chains; *client.Client is one.
type ledger interface {
	// LatestAccountBlock is nil for an account without a block.
	LatestAccountBlock(context.Context, core.Address) (*client.AccountBlock, error)
	// AccountBlockByHeight is nil beyond the newest.
	AccountBlockByHeight(context.Context, core.Address, uint64) (*client.AccountBlock, error)
	// AccountBlocks lists blocks from the origin towards older ones.
	AccountBlocks(context.Context, core.Address, *core.Hash, *core.TokenID, int) ([]client.AccountBlock, error)
	// AccountBlocksByHash answers in the order asked, nil for unknown blocks.
	AccountBlocksByHash(context.Context, []core.Hash) ([]*client.AccountBlock, error)
}

// contract is one of the two whose blocks are followed.
type contract string

const (
	fund  contract = "fund"
	trade contract = "trade"
)

func (c contract) address() core.Address {
	if c == trade {
		return core.DexTradeContract
	}
	return core.DexFundContract
}

// block is a contract's block with what it did.
type block struct {
	height     uint64
	hash       core.Hash
	send       core.Hash    // what it received; zero for the block that the genesis made
	from       core.Address // who sent that
	ok         bool         // what was asked for was done
	relay      core.Hash    // the first send to dexTrade that it made; zero if none
	settled    [][]byte     // data of the sends that it made to dexFund
	time       int64        // of its snapshot, in Unix seconds; 0 while it is in none
	logs       []client.VMLog
	call       []byte // dexFund only: data of what it received
	callAmount amount
	callToken  core.TokenID
}

// cursor is how far a contract is indexed; the zero value is nothing.
type cursor struct {
	height uint64
	hash   core.Hash
}

// next reads the blocks after the cursor up to a height, at most span of them, none at the end of the chain. forked: the block at the
// cursor is not in the chain any more.
func next(ctx context.Context, l ledger, logs logSource, c contract, at cursor, most uint64) (blocks []block, forked bool, err error) {
	list, forked, err := line(ctx, l, c, at, most)
	if err != nil || forked || len(list) == 0 {
		return nil, forked, err
	}
	for i := len(list) - 1; i >= 0; i-- {
		blocks = append(blocks, newBlock(&list[i]))
	}
	if err := addLogs(ctx, logs, c, blocks, list); err != nil {
		return nil, false, err
	}
	if c == fund {
		err = addCalls(ctx, l, blocks)
	}
	return blocks, false, err
}

// line reads the headers after the cursor, newest first, and checks that they form one line that begins there.
func line(ctx context.Context, l ledger, c contract, at cursor, most uint64) (list []client.AccountBlock, forked bool, err error) {
	top, err := l.LatestAccountBlock(ctx, c.address())
	if err != nil {
		return nil, false, fmt.Errorf("reading the newest block of dex %s: %w", c, err)
	}
	limit := min(most, at.height+span)
	switch {
	case top == nil || top.Height < at.height:
		return nil, at.height > 0, nil
	case top.Height == at.height:
		return nil, top.Hash != at.hash, nil
	case limit <= at.height: // what is newer is looked at later, and so is whether ours still stands
		return nil, false, nil
	case top.Height > limit:
		if top, err = l.AccountBlockByHeight(ctx, c.address(), limit); err != nil {
			return nil, false, fmt.Errorf("reading block %d of dex %s: %w", limit, c, err)
		}
		if top == nil {
			return nil, false, errMoved
		}
	}
	n := int(top.Height - at.height)
	list, err = l.AccountBlocks(ctx, c.address(), &top.Hash, nil, n)
	if err != nil {
		return nil, false, fmt.Errorf("reading %d blocks of dex %s up to %d: %w", n, c, top.Height, err)
	}
	if !linked(list, top, n) {
		return nil, false, fmt.Errorf("blocks of dex %s up to %d: %w", c, top.Height, errMoved)
	}
	return list, at.height > 0 && list[n-1].PreviousHash != at.hash, nil
}

// linked tells whether the list is n blocks, each the next one's successor, down from top.
func linked(list []client.AccountBlock, top *client.AccountBlock, n int) bool {
	if len(list) != n || list[0].Hash != top.Hash {
		return false
	}
	for i := range list {
		if list[i].Height != top.Height-uint64(i) || i > 0 && list[i-1].PreviousHash != list[i].Hash {
			return false
		}
	}
	return true
}

// resultAt is where a contract's receive block says how it went: after a hash (facts/exchange.md 2.12).
const resultAt = core.HashSize

func newBlock(b *client.AccountBlock) block {
	done := b.BlockType == core.Receive && len(b.Data) > resultAt && b.Data[resultAt] == 0
	n := block{
		height: b.Height, hash: b.Hash, send: b.SendBlockHash, from: b.FromAddress, ok: done, time: b.Timestamp,
		callAmount: amount{b.Amount}, callToken: b.TokenID,
	}
	for i := range b.Triggered {
		switch s := &b.Triggered[i]; {
		case s.ToAddress == core.DexTradeContract && n.relay.IsZero():
			n.relay = s.Hash
		case s.ToAddress == core.DexFundContract:
			n.settled = append(n.settled, s.Data)
		}
	}
	return n
}

// logSource lists the events of contracts.
type logSource interface {
	VMLogsByFilter(context.Context, client.LogFilter) ([]client.LogEntry, error)
}

// addLogs reads the events of consecutive blocks, oldest first. headers are the same blocks, newest first.
func addLogs(ctx context.Context, l logSource, c contract, blocks []block, headers []client.AccountBlock) error {
	first, last := blocks[0].height, blocks[len(blocks)-1].height
	filter := client.LogFilter{
		Ranges: map[core.Address]client.HeightRange{c.address(): {From: first, To: last}}, Size: client.MaxPage,
	}
	for ; filter.Page < maxLogPages; filter.Page++ {
		page, err := l.VMLogsByFilter(ctx, filter)
		if err != nil {
			return fmt.Errorf("reading the events of dex %s from %d to %d: %w", c, first, last, err)
		}
		for _, e := range page {
			if e.Height < first || e.Height > last || e.Block != blocks[e.Height-first].hash {
				return fmt.Errorf("event of dex %s at %d: %w", c, e.Height, errMoved)
			}
			b := &blocks[e.Height-first]
			b.logs = append(b.logs, e.Log)
		}
		if len(page) < filter.Size {
			return complete(c, blocks, headers)
		}
	}
	return fmt.Errorf("dex %s from %d to %d: more than %d pages of events", c, first, last, maxLogPages)
}

// complete checks that each block that names a hash of events has some: a node may answer before it has stored them.
func complete(c contract, blocks []block, headers []client.AccountBlock) error {
	for i := range blocks {
		h := headers[len(headers)-1-i].VMLogHash
		if h != nil && !h.IsZero() && len(blocks[i].logs) == 0 {
			return fmt.Errorf("no events of dex %s at %d: %w", c, blocks[i].height, errMoved)
		}
	}
	return nil
}

// addCalls reads what users sent to dexFund. What contracts sent is not needed, so a node need not know it.
func addCalls(ctx context.Context, l ledger, blocks []block) error {
	var hashes []core.Hash
	var at []int
	for i := range blocks {
		if !blocks[i].send.IsZero() && !blocks[i].from.IsContract() {
			hashes, at = append(hashes, blocks[i].send), append(at, i)
		}
	}
	if len(hashes) == 0 {
		return nil
	}
	sends, err := l.AccountBlocksByHash(ctx, hashes)
	if err != nil {
		return fmt.Errorf("reading what was sent to dex fund: %w", err)
	}
	for k, s := range sends {
		if s == nil {
			return fmt.Errorf("send %s to dex fund: %w", hashes[k], errMoved)
		}
		blocks[at[k]].call = s.Data
	}
	return nil
}
