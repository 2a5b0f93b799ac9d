package ethereum

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

const (
	// partBlocks bounds the blocks of one batch, partsAtOnce the batches under way.
	partBlocks  = 100
	partsAtOnce = 4
)

// Blocks returns the blocks from one height to another as Block does, in a few batches. With an
// error some are missing, and the others are in order.
//
// With several nodes a majority agrees on the last block of each batch, and the hashes of parents
// prove those below it.
func (c *Chain) Blocks(ctx context.Context, from, to uint64) ([]chain.Block, error) {
	c = c.current()
	if c.addresses == nil || to < from {
		return nil, fmt.Errorf("reading blocks %d to %d: nothing is asked for, or no addresses are known", from, to)
	}
	if from == to {
		b, err := c.Block(ctx, from)
		if err != nil {
			return nil, err
		}
		return []chain.Block{b}, nil
	}
	read := c.readPart
	if c.config.Unverified && len(c.nodes) > 1 { // parents prove nothing there
		read = c.readSingles
	}
	size := c.partSize(to - from + 1)
	parts := make([][]chain.Block, (to-from)/size+1)
	errs := make([]error, len(parts))
	var g errgroup.Group
	g.SetLimit(partsAtOnce)
	for i := range parts {
		g.Go(func() error {
			first := from + uint64(i)*size
			parts[i], errs[i] = read(ctx, first, min(to, first+size-1))
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	for _, err := range errs {
		if err != nil {
			return slices.Concat(parts...), err
		}
	}
	return slices.Concat(parts...), nil
}

// partSize returns how many of count blocks one batch takes, by the size of the last ones.
func (c *Chain) partSize(count uint64) uint64 {
	size := uint64(partBlocks)
	for _, n := range c.nodes {
		if weight := n.blockBytes.Load(); weight > 0 {
			size = min(size, max(1, uint64(targetAnswer/weight)))
		}
	}
	return min(size, max(1, (count+1)/2)) // two batches use two cores
}

// readSingles reads blocks one by one.
func (c *Chain) readSingles(ctx context.Context, from, to uint64) (blocks []chain.Block, err error) {
	for height := from; height <= to; height++ {
		b, err := c.Block(ctx, height)
		if err != nil {
			return blocks, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// readPart reads blocks in one batch, from one node after another until one shows them.
func (c *Chain) readPart(ctx context.Context, from, to uint64) ([]chain.Block, error) {
	nodes, want := c.nodes, (*common.Hash)(nil)
	if len(c.nodes) > 1 {
		ref, having, err := c.agreeAt(ctx, to)
		if err != nil {
			return nil, err
		}
		nodes, want = quorum.Order(having), ref.Hash
	}
	var faults []error
	for _, n := range nodes {
		p := newPart(c, n, from, to, want)
		p.read(ctx)
		found := p.found()
		switch {
		case p.fault == nil:
			return found, nil
		case p.ours:
			return found, p.fault
		}
		faults = append(faults, n.blame(p.fault))
		if len(found) > 0 {
			return found, fmt.Errorf("reading blocks %d to %d: %w", from, to, unavailable(faults))
		}
	}
	if len(c.nodes) == 1 && missing(faults[0]) {
		return nil, fmt.Errorf("block %d: %w", from, chain.ErrNotFound)
	}
	return nil, fmt.Errorf("reading blocks %d to %d: %w", from, to, unavailable(faults))
}
