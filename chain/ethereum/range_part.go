package ethereum

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
)

const (
	// searchedAtOnce bounds the blocks of a part that are searched at the same time: a search may
	// wait for traces.
	searchedAtOnce = 4
	// maxSingles bounds the blocks of a part that are read one by one because the batch left them
	// out.
	maxSingles = 8
)

// part is a run of blocks that one node is asked for in a batch. Each block has its own outcome.
type part struct {
	chain *Chain
	node  *node
	from  uint64
	top   *common.Hash // the agreed hash of the last block; nil with one node

	raws   []*wireBlock
	proven []*block // without receipts
	blocks []*chain.Block

	mu    sync.Mutex
	fault error // the first one; nil: all blocks were read
	ours  bool  // the fault is none of the node's answers about blocks
}

func newPart(c *Chain, n *node, from, to uint64, top *common.Hash) *part {
	count := to - from + 1
	return &part{chain: c, node: n, from: from, top: top, proven: make([]*block, count), blocks: make([]*chain.Block, count)}
}

// found returns the blocks that were read.
func (p *part) found() (list []chain.Block) {
	for _, b := range p.blocks {
		if b != nil {
			list = append(list, *b)
		}
	}
	return list
}

func (p *part) fail(err error, ours bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault == nil {
		p.fault, p.ours = err, ours
	}
}

// read fills the blocks.
func (p *part) read(ctx context.Context) {
	params := make([][]any, len(p.blocks))
	for i := range params {
		params[i] = []any{hexutil.EncodeUint64(p.from + uint64(i)), true}
	}
	answers := newCalls("eth_getBlockByNumber", &p.node.blockBytes, scanBlock, func(b *wireBlock) bool { return b != nil }, params)
	err := answers.ask(ctx, p.node)
	if p.raws = answers.values; err != nil {
		p.fail(err, false)
	}
	p.prove(ctx, answers, err == nil)
	p.attach(ctx)
}

// prove goes down from the last block. With several nodes the parent's hash in a proven block is
// the hash that the block below must have.
func (p *part) prove(ctx context.Context, answers *calls[*wireBlock], answering bool) {
	want, several, singles := p.top, p.top != nil, 0
	for i := len(p.raws) - 1; i >= 0; i-- {
		var parent common.Hash
		var err error
		switch {
		case p.raws[i] != nil:
			parent, err = p.proveOne(i, want)
		case answering && singles < maxSingles:
			singles++
			parent, err = p.single(ctx, i, want)
		default:
			err = answers.fault(p.node, i)
		}
		if err != nil {
			p.fail(err, false)
			if several { // nothing proves what is below
				return
			}
		}
		if several {
			want = &parent
		}
	}
}

func (p *part) height(i int) uint64 { return p.from + uint64(i) }

func (p *part) proveOne(i int, want *common.Hash) (parent common.Hash, err error) {
	b, err := p.chain.prove(p.raws[i], p.height(i), want)
	if err != nil {
		return parent, p.lie(i, err)
	}
	p.proven[i] = b
	return b.parent, nil
}

func (p *part) lie(i int, err error) error {
	return fmt.Errorf("%s: block %d: %w: %w", p.node.name, p.height(i), errLie, err)
}

// single reads a block for itself, from any node.
func (p *part) single(ctx context.Context, i int, want *common.Hash) (parent common.Hash, err error) {
	b, err := p.chain.Block(ctx, p.height(i))
	if err != nil {
		return parent, err
	}
	if want != nil && b.Hash != want.Hex() {
		return parent, fmt.Errorf("block %d has changed to %s: %w", b.Height, b.Hash, chain.ErrUnavailable)
	}
	p.blocks[i] = &b
	return common.HexToHash(b.Parent), nil
}

// attach adds the receipts and searches each block for what concerns us.
func (p *part) attach(ctx context.Context) {
	receipts, err := p.receipts(ctx)
	if err != nil {
		p.fail(err, false)
	}
	var g errgroup.Group
	g.SetLimit(searchedAtOnce)
	for i, b := range p.proven {
		switch {
		case b == nil:
		case len(b.txs) == 0:
			p.finish(ctx, i, nil)
		case receipts[i] != nil:
			g.Go(func() error { p.finish(ctx, i, receipts[i]); return nil })
		}
	}
	_ = g.Wait() // faults are kept by finish
}

// receipts asks for those of all blocks that have transactions; nil for a block whose receipts are
// missing.
func (p *part) receipts(ctx context.Context) ([][]wireReceipt, error) {
	lists := make([][]wireReceipt, len(p.proven))
	var which []int
	var params [][]any
	for i, b := range p.proven {
		if b != nil && len(b.txs) > 0 {
			which, params = append(which, i), append(params, []any{b.hash})
		}
	}
	var answers *calls[[]wireReceipt]
	if !p.node.noReceipts.Load() {
		answers = newCalls("eth_getBlockReceipts", &p.node.receiptBytes, scanReceipts, func(r []wireReceipt) bool { return r != nil }, params)
		if err := answers.ask(ctx, p.node); err != nil {
			return lists, err
		}
	}
	for k, i := range which {
		if answers != nil && answers.errs[k] == nil {
			lists[i] = answers.values[k]
			continue
		}
		one := func() (err error) {
			lists[i], err = p.node.receipts(ctx, p.raws[i])
			return err
		}
		if err := p.node.again(ctx, one); err != nil {
			return lists, err
		}
	}
	return lists, nil
}

// finish completes one block.
func (p *part) finish(ctx context.Context, i int, receipts []wireReceipt) {
	b := p.proven[i]
	if err := p.chain.attach(b, p.raws[i], receipts); err != nil {
		p.fail(p.lie(i, err), false)
		return
	}
	var found chain.Block
	var err error
	if b.unknown && len(p.chain.nodes) > 1 { // a majority has to show it
		found, err = p.chain.Block(ctx, p.height(i))
	} else if found, err = p.chain.search(ctx, b); err != nil {
		err = fmt.Errorf("%s: block %d: %w", p.node.name, p.height(i), err)
	}
	if err != nil {
		p.fail(err, !errors.Is(err, errLie))
		return
	}
	p.blocks[i] = &found
}
