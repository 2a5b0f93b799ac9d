package chain

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// ReadBlocks reads blocks in order of height: in one call where the chain can, else with so many
// calls in parallel. With an error some are missing.
func ReadBlocks(ctx context.Context, c Chain, from, to uint64, parallel int) ([]Block, error) {
	if ranges := CapabilitiesOf(c).Ranges; ranges != nil {
		return ranges.Blocks(ctx, from, to)
	}
	return readEach(ctx, c, from, to, parallel)
}

// readEach reads blocks one by one, some in parallel. After a failure it begins no further ones,
// and completes those under way.
func readEach(ctx context.Context, c Chain, from, to uint64, parallel int) ([]Block, error) {
	blocks, errs := make([]Block, to-from+1), make([]error, to-from+1)
	var failed atomic.Bool
	var g errgroup.Group
	g.SetLimit(parallel)
	begun := 0
	for ; begun < len(blocks) && !failed.Load(); begun++ {
		i := begun
		g.Go(func() error {
			if blocks[i], errs[i] = c.Block(ctx, from+uint64(i)); errs[i] != nil {
				failed.Store(true)
			}
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	var first error
	good := blocks[:0]
	for i, b := range blocks[:begun] {
		switch {
		case errs[i] == nil:
			good = append(good, b)
		case first == nil:
			first = errs[i]
		}
	}
	return good, first
}
