package ethereum

import (
	"context"
	"fmt"
	"time"

	"gatewayd/chain"
)

// intervalBlocks is over how many of the newest blocks the time between blocks is measured.
const intervalBlocks = 100

// BlockInterval is the usual time between two blocks, by the newest ones; that of the first block of all is made up and does not count.
// chain.ErrNotFound: there are too few to tell.
func (c *Chain) BlockInterval(ctx context.Context) (time.Duration, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return 0, fmt.Errorf("time between blocks: %w", err)
	}
	from := uint64(1)
	if head.Latest.Height > intervalBlocks {
		from = head.Latest.Height - intervalBlocks
	}
	if head.Latest.Height <= from {
		return 0, fmt.Errorf("time between blocks: %w", chain.ErrNotFound)
	}
	early, _, err := c.agreeAt(ctx, from)
	if err != nil {
		return 0, fmt.Errorf("time between blocks: %w", err)
	}
	return head.Time.Sub(time.Unix(int64(early.Time), 0)) / time.Duration(head.Latest.Height-from), nil
}
