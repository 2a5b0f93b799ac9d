package index

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// span is the number of blocks of a contract per read. A node's answer stays far below a client's
// limit, even if each block has the maximum number of settlements.
const span = 500

// maxLogPages bounds what one range of blocks may have of logs: a block has at most 1 + 2*100 of
// them.
const maxLogPages = 1 + span*(1+2*dex.MaxFills)/client.MaxPage

// errMoved marks answers that do not fit together because the chain moved between them: read again.
var errMoved = errors.New("the chain moved while it was read")

// ledger reads account chains for the index; *client.Client is one.
type ledger interface {
	// LatestAccountBlock is nil for an account without a block.
	LatestAccountBlock(context.Context, core.Address) (*client.AccountBlock, error)
	// AccountBlockByHeight is nil beyond the newest.
	AccountBlockByHeight(context.Context, core.Address, uint64) (*client.AccountBlock, error)
	// AccountBlocksByHash answers in the order asked, nil for unknown blocks.
	AccountBlocksByHash(context.Context, []core.Hash) ([]*client.AccountBlock, error)
	// Call runs any method: for what is read in the index's own shape.
	Call(ctx context.Context, result any, method string, params ...any) error
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
	relayed    []byte       // data of that
	settled    [][]byte     // data of the sends that it made to dexFund
	time       int64        // of its snapshot, in Unix seconds; 0 while it is in none
	logs       []client.VMLog
	result     []byte // its data
	call       []byte // dexFund only: data of what it received, where the block does not show what was asked
	callAmount amount
	callToken  core.TokenID

	events []event // of the logs, one for each
	asked  call    // dexFund only
}

// cursor is the indexed position of a contract; the zero value is the start.
type cursor struct {
	height uint64
	hash   core.Hash
}

// reader reads one contract's chain.
type reader struct {
	ledger
	contract
	span uint64
}

// blockRange contains the blocks after a cursor.
type blockRange struct {
	blocks []block
	more   bool   // the chain has further blocks
	top    uint64 // height of the newest block reported by the node
	forked bool   // the block at the cursor is not in the chain any more

	shorter bool                 // the chain does not reach the cursor
	newest  *client.AccountBlock // then its newest block; nil: it has none
}

// next reads the blocks after the cursor up to a height, at most span of them.
func (r *reader) next(ctx context.Context, at cursor, most uint64) (blockRange, error) {
	p, headers, err := r.line(ctx, at, most)
	if err != nil || len(headers) == 0 {
		return p, err
	}
	p.blocks = make([]block, 0, len(headers))
	for i := len(headers) - 1; i >= 0; i-- {
		p.blocks = append(p.blocks, headers[i].block)
	}
	if err := r.addLogs(ctx, p.blocks, headers); err != nil {
		return blockRange{}, err
	}
	if r.contract == fund {
		if err := r.addCalls(ctx, p.blocks); err != nil {
			return blockRange{}, err
		}
	}
	for i := range p.blocks {
		if err := p.blocks[i].decode(); err != nil {
			return blockRange{}, fmt.Errorf("reading block %d of dex %s: %w", p.blocks[i].height, r.contract, err)
		}
	}
	return p, nil
}

// line reads the headers after the cursor, newest first, and checks that they form one line that
// begins there.
func (r *reader) line(ctx context.Context, at cursor, most uint64) (p blockRange, list []header, err error) {
	top, err := r.LatestAccountBlock(ctx, r.address())
	if err != nil {
		return p, nil, fmt.Errorf("reading the newest block of dex %s: %w", r.contract, err)
	}
	limit := min(most, at.height+r.span)
	switch {
	case top == nil, top.Height < at.height:
		return blockRange{shorter: at.height > 0, newest: top}, nil, nil
	case top.Height == at.height && top.Hash != at.hash:
		return blockRange{forked: true}, nil, nil
	}
	p.top = top.Height
	if top.Height == at.height || limit <= at.height { // blocks above most are read later, and our latest block is checked then
		return p, nil, nil
	}
	if top.Height > limit {
		p.more = limit < most
		if top, err = r.AccountBlockByHeight(ctx, r.address(), limit); err != nil {
			return p, nil, fmt.Errorf("reading block %d of dex %s: %w", limit, r.contract, err)
		}
		if top == nil {
			return p, nil, errMoved
		}
	}
	if list, err = r.headers(ctx, top, int(top.Height-at.height)); err != nil {
		return p, nil, err
	}
	if oldest := &list[len(list)-1]; at.height > 0 && oldest.previous != at.hash {
		return blockRange{forked: true}, nil, nil
	}
	return p, list, nil
}

// headers reads n headers down from top.
func (r *reader) headers(ctx context.Context, top *client.AccountBlock, n int) (list []header, err error) {
	var answer []wireBlock
	err = r.Call(ctx, &answer, "ledger_getAccountBlocks", r.address(), top.Hash, nil, n)
	list = make([]header, len(answer))
	for i := 0; i < len(answer) && err == nil; i++ {
		list[i], err = answer[i].header()
	}
	if err != nil {
		return nil, fmt.Errorf("reading %d blocks of dex %s up to %d: %w", n, r.contract, top.Height, err)
	}
	if !linked(list, top, n) {
		return nil, fmt.Errorf("blocks of dex %s up to %d: %w", r.contract, top.Height, errMoved)
	}
	for i := range list {
		list[i].ok = list[i].done()
	}
	return list, nil
}

// linked reports whether the list is n blocks, each the next one's successor, down from top.
func linked(list []header, top *client.AccountBlock, n int) bool {
	if len(list) != n || list[0].hash != top.Hash {
		return false
	}
	for i := range list {
		if list[i].height != top.Height-uint64(i) || i > 0 && list[i-1].previous != list[i].hash {
			return false
		}
	}
	return true
}

// resultAt is the offset of the result in a contract's receive block: after a hash
// (docs/exchange-rules.md 2.12).
const resultAt = core.HashSize

// done reports whether the block did what it was asked for.
func (h *header) done() bool {
	return h.receive && len(h.result) > resultAt && h.result[resultAt] == 0
}

// addLogs reads the events of consecutive blocks, oldest first. headers are the same blocks, newest
// first.
func (r *reader) addLogs(ctx context.Context, blocks []block, headers []header) error {
	first, last := blocks[0].height, blocks[len(blocks)-1].height
	filter := client.LogFilter{
		Ranges: map[core.Address]client.HeightRange{r.address(): {From: first, To: last}}, Size: client.MaxPage,
	}
	for ; filter.Page < maxLogPages; filter.Page++ {
		var entries []logEntry
		if err := r.Call(ctx, &entries, "ledger_getVmLogsByFilter", filter); err != nil {
			return fmt.Errorf("reading the events of dex %s from %d to %d: %w", r.contract, first, last, err)
		}
		for i := range entries {
			if err := r.addLog(blocks, &entries[i]); err != nil {
				return err
			}
		}
		if len(entries) < filter.Size {
			return r.complete(blocks, headers)
		}
	}
	return fmt.Errorf("dex %s from %d to %d: more than %d pages of events", r.contract, first, last, maxLogPages)
}

func (r *reader) addLog(blocks []block, e *logEntry) error {
	first, last, height := blocks[0].height, blocks[len(blocks)-1].height, e.height()
	if height < first || height > last || e.Block != blocks[height-first].hash {
		return fmt.Errorf("event of dex %s at %d: %w", r.contract, height, errMoved)
	}
	log, err := e.content()
	if err != nil {
		return fmt.Errorf("event of dex %s at %d: %w", r.contract, height, err)
	}
	b := &blocks[height-first]
	b.logs = append(b.logs, log)
	return nil
}

// complete checks that each block that names a hash of events has some: a node may answer before it
// has stored them.
func (r *reader) complete(blocks []block, headers []header) error {
	for i := range blocks {
		if h := &headers[len(headers)-1-i]; !h.logged.IsZero() && len(blocks[i].logs) == 0 {
			return fmt.Errorf("no events of dex %s at %d: %w", r.contract, blocks[i].height, errMoved)
		}
	}
	return nil
}

// addCalls reads what users asked of dexFund: from its blocks where these show it, else from what
// was sent. What contracts sent is not needed, so a node need not know it.
func (r *reader) addCalls(ctx context.Context, blocks []block) error {
	var hashes []core.Hash
	var at []int
	for i := range blocks {
		b := &blocks[i]
		if b.send.IsZero() || b.from.IsContract() {
			continue
		}
		if asked, err := relayedCall(b); err == nil {
			b.asked = asked
			continue
		}
		hashes, at = append(hashes, b.send), append(at, i)
	}
	if len(hashes) == 0 {
		return nil
	}
	sends, err := r.AccountBlocksByHash(ctx, hashes)
	if err != nil {
		return fmt.Errorf("reading what was sent to dex fund: %w", err)
	}
	for k, s := range sends {
		if s == nil {
			return fmt.Errorf("send %s to dex fund: %w", hashes[k], errMoved)
		}
		b := &blocks[at[k]]
		b.call = s.Data
		b.asked = readCall(b)
	}
	return nil
}

// probeBlocks is the number of newest blocks of each contract that a probe reads.
const probeBlocks = 20

// Probe sends every kind of request that an index needs: the newest blocks of both contracts with
// their events and calls, a token, an account's funds. It reports requests that the node does not
// answer, and stores nothing. A chain without an exchange passes.
func Probe(ctx context.Context, n Node) error {
	for _, c := range []contract{fund, trade} {
		err := probe(ctx, &reader{n, c, probeBlocks})
		if errors.Is(err, errMoved) {
			err = probe(ctx, &reader{n, c, probeBlocks})
		}
		if err != nil {
			return err
		}
	}
	if _, err := n.TokenInfo(ctx, core.VITE); err != nil {
		return fmt.Errorf("reading a token: %w", err)
	}
	if _, err := n.Funds(ctx, core.Address{}); err != nil {
		return fmt.Errorf("reading an account's funds: %w", err)
	}
	return nil
}

func probe(ctx context.Context, r *reader) error {
	top, err := r.LatestAccountBlock(ctx, r.address())
	if err != nil {
		return fmt.Errorf("reading the newest block of dex %s: %w", r.contract, err)
	}
	if top == nil {
		return nil
	}
	var from cursor
	if top.Height > probeBlocks {
		below, err := r.AccountBlockByHeight(ctx, r.address(), top.Height-probeBlocks)
		if err != nil {
			return fmt.Errorf("reading block %d of dex %s: %w", top.Height-probeBlocks, r.contract, err)
		}
		if below == nil {
			return errMoved
		}
		from = cursor{below.Height, below.Hash}
	}
	_, err = r.next(ctx, from, top.Height)
	return err
}
