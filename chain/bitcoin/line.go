package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
)

const (
	// baseDepth is the depth of the block from which on work is proven and summed: below all that
	// is not final. A majority of the nodes has named it.
	baseDepth = 2 * maxConfirmations
	// keepHeaders is the number of headers below the best that are kept, which is more than any rule
	// looks back. They are cut off after as many further ones.
	keepHeaders = 4096
	// maxAhead bounds the new headers of a node that are read at once.
	maxAhead = 2016
	// maxSteps bounds the headers that are asked for one by one.
	maxSteps = 8
)

var (
	// errOffLine is a node whose line does not meet the kept headers.
	errOffLine = errors.New("its line does not meet ours")
	errBehind  = errors.New("the node is far behind")
)

// line keeps the headers from a block that a majority has named to the tips of all nodes. Each one
// above that block has the work that its target demands, and the target that the rules demand. So
// the sum of the work, which decides between branches, is no node's word. Those below the block are
// proven by its hash.
type line struct {
	rules rules

	beginning sync.Mutex // one call at a time finds the base

	mu    sync.Mutex
	known map[chainhash.Hash]*header
	base  *header // nil: none is known yet
	best  *header // the tip that the last Head chose; nil before
	cut   uint64  // the height from which on headers are kept
}

func newLine(r rules) *line { return &line{rules: r, known: make(map[chainhash.Hash]*header)} }

func (l *line) get(hash chainhash.Hash) *header {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[hash]
}

// bounds are the base and the last best tip.
func (l *line) bounds() (base, best *header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.base, l.best
}

// hashes are those of the last chosen line from one height to another, or to its end if that is
// lower. The first ones are left out where they are not kept. It is nil where the line ends before.
func (l *line) hashes(from, to uint64) (list []chainhash.Hash, lowest uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from > l.best.height {
		return nil, from
	}
	lowest = min(to, l.best.height) + 1
	for h := l.best.ancestor(lowest - 1); h != nil && h.height >= from; h = h.parent {
		list, lowest = append(list, h.hash), h.height
	}
	slices.Reverse(list)
	return list, lowest
}

// begin makes the last of a run of headers the base. Its hash is agreed, and the others are proven
// by it.
func (l *line) begin(run []wire.BlockHeader, top uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.known)
	l.base, l.cut = nil, top+1-uint64(len(run))
	for i, h := range run {
		l.base = &header{BlockHeader: h, hash: h.BlockHash(), height: l.cut + uint64(i), work: new(big.Int), parent: l.base}
		l.known[l.base.hash] = l.base
	}
}

// add takes a header above a known one.
func (l *line) add(parent *header, h wire.BlockHeader) (*header, error) {
	if err := l.rules.checkWork(&h); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next := &header{BlockHeader: h, hash: h.BlockHash(), height: parent.height + 1, parent: parent}
	if known := l.known[next.hash]; known != nil {
		return known, nil
	}
	if err := l.rules.checkNext(&h, parent); err != nil {
		return nil, err
	}
	next.work = new(big.Int).Add(parent.work, blockchain.CalcWork(h.Bits))
	l.known[next.hash] = next
	return next, nil
}

// reach is a node's tip, proven. The headers that are missing are read from the node.
func (l *line) reach(ctx context.Context, n *node, tip chainhash.Hash, height uint64) (*header, error) {
	known := l.get(tip)
	if known == nil {
		missing, below, err := l.missing(ctx, n, tip, height)
		if err != nil {
			return nil, err
		}
		known = below
		for i := len(missing) - 1; i >= 0; i-- {
			if known, err = l.add(known, missing[i]); err != nil {
				return nil, n.RecordWrong("work", fmt.Errorf("%s: block %s: %w", n.name, missing[i].BlockHash(), err))
			}
		}
	}
	if known.height != height {
		return nil, n.RecordWrong("head", fmt.Errorf("%s: it reports %s as block %d, which is block %d", n.name, tip, height, known.height))
	}
	return known, nil
}

// missing are the headers of a node from its tip, the first, down to one above a known header.
func (l *line) missing(ctx context.Context, n *node, tip chainhash.Hash, height uint64) (list []wire.BlockHeader, below *header, err error) {
	base, best := l.bounds()
	switch {
	case height <= base.height:
		return nil, nil, fmt.Errorf("%s: %w: it is at block %d", n.name, errBehind, height)
	case height > max(base.height, heightOf(best))+maxAhead:
		return nil, nil, fmt.Errorf("%s: %w: it is at block %d", n.name, errOffLine, height)
	}
	for at := height; at > base.height; at-- {
		if len(list) == maxSteps {
			return l.missingPages(ctx, n, list, at, base.height)
		}
		h, err := n.header(ctx, tip)
		if err != nil {
			return nil, nil, err
		}
		list, tip = append(list, h), h.PrevBlock
		if below = l.get(tip); below != nil {
			return list, below, nil
		}
	}
	return nil, nil, fmt.Errorf("%s: %w", n.name, errOffLine)
}

// missingPages continues with many headers at a time, from a height down.
func (l *line) missingPages(ctx context.Context, n *node, list []wire.BlockHeader, at, base uint64) ([]wire.BlockHeader, *header, error) {
	for at > base {
		from := max(base+1, at-min(at, pageHeaders-1))
		page, err := n.headersDown(ctx, from, at, list[len(list)-1].PrevBlock)
		if err != nil {
			return nil, nil, err
		}
		for i := len(page) - 1; i >= 0; i-- {
			list = append(list, page[i])
			if below := l.get(page[i].PrevBlock); below != nil {
				return list, below, nil
			}
		}
		at = from - 1
	}
	return nil, nil, fmt.Errorf("%s: %w", n.name, errOffLine)
}

func heightOf(h *header) uint64 {
	if h == nil {
		return 0
	}
	return h.height
}

// choose makes the tip with the most work the best. Of several with as much, the one that more
// nodes have is best, then the last best, then that of the first node.
func (l *line) choose(views []answer[*header]) *header {
	votes := make(map[*header]int)
	for _, v := range views {
		votes[v.Value]++
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var best *header
	for _, v := range views {
		h := v.Value
		more := 1
		if best != nil {
			more = h.work.Cmp(best.work)
		}
		if more == 0 {
			more = votes[h] - votes[best]
		}
		if more > 0 || more == 0 && h == l.best {
			best = h
		}
	}
	l.best = best
	l.prune()
	return best
}

// common is the highest block that two lines share.
func (l *line) common(a, b *header) *header {
	l.mu.Lock()
	defer l.mu.Unlock()
	for a != b && a != nil && b != nil {
		if a.height > b.height {
			a = a.parent
		} else if b.height > a.height {
			b = b.parent
		} else {
			a, b = a.parent, b.parent
		}
	}
	if a != b {
		return nil
	}
	return a
}

// ancestor is header.ancestor while the line may be pruned.
func (l *line) ancestor(h *header, height uint64) *header {
	l.mu.Lock()
	defer l.mu.Unlock()
	return h.ancestor(height)
}

// prune is called with mu held.
func (l *line) prune() {
	if l.best.height < l.cut+2*keepHeaders {
		return
	}
	l.cut = l.best.height - keepHeaders
	for hash, h := range l.known {
		if h.height < l.cut {
			delete(l.known, hash)
		} else if h.height == l.cut {
			h.parent = nil
		}
	}
	if low := l.best.ancestor(l.cut); l.base.height < low.height {
		l.base = low
	}
}

// begin finds the base, unless there is another one than was: the block some way below the tips
// that a majority has, and the headers below it that the rules need.
func (c *Chain) begin(ctx context.Context, was *header) error {
	c.line.beginning.Lock()
	defer c.line.beginning.Unlock()
	if base, _ := c.line.bounds(); base != was {
		return nil
	}
	height, err := c.commonHeight(ctx)
	if err != nil {
		return err
	}
	height -= min(height, baseDepth)
	hash, having, err := c.agreeAt(ctx, height)
	if errors.Is(err, chain.ErrNotFound) {
		err = unavailable([]error{err})
	}
	if err != nil {
		return err
	}
	var faults []error
	for _, n := range having {
		run, err := n.headersDown(ctx, c.line.rules.lowest(height), height, hash)
		if err == nil {
			c.line.begin(run, height)
			return nil
		}
		faults = append(faults, err)
	}
	return unavailable(faults)
}
