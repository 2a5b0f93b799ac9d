package vite

import (
	"context"
	"fmt"
	"time"

	"gatewayd/chain"
)

// intervalBlocks is over how many of the newest snapshot blocks the time between them is measured.
const intervalBlocks = 100

// BlockInterval is the usual time between two snapshot blocks, by the newest ones; that of the genesis is made up and does not count.
// chain.ErrNotFound: there are too few to tell.
func (c *Chain) BlockInterval(ctx context.Context) (time.Duration, error) {
	latest, err := c.latest(ctx)
	if err != nil {
		return 0, fmt.Errorf("time between snapshot blocks: %w", err)
	}
	from := uint64(genesisHeight + 1)
	if latest.Height > intervalBlocks+genesisHeight {
		from = latest.Height - intervalBlocks
	}
	if latest.Height <= from {
		return 0, fmt.Errorf("time between snapshot blocks: %w", chain.ErrNotFound)
	}
	early, err := c.headerAt(ctx, from)
	if err != nil {
		return 0, fmt.Errorf("time between snapshot blocks: %w", err)
	}
	return latest.time.Sub(early.time) / time.Duration(latest.Height-from), nil
}
