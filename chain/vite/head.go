package vite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
)

// genesisHeight is the height of the first snapshot block.
const genesisHeight = 1

// headPatience is how long Head waits for the slowest of several nodes.
const headPatience = 5 * time.Second

// header is what matters of a snapshot block.
type header struct {
	chain.Point
	parent string
	time   time.Time
}

func headerOf(b *client.SnapshotBlock) header {
	return header{chain.Point{Height: b.Height, Hash: b.Hash.String()}, b.PreviousHash.String(), b.Time}
}

// latestHeader is the node's newest snapshot block.
func latestHeader(ctx context.Context, c *client.Client) (header, error) {
	b, err := c.LatestSnapshotBlock(ctx)
	switch {
	case err != nil:
		return header{}, err
	case b == nil || b.Height < genesisHeight:
		return header{}, errors.New("latest snapshot block: none")
	}
	return headerOf(b), nil
}

// headerAt is the node's snapshot block at a height, ErrNotFound beyond the newest.
func headerAt(ctx context.Context, c *client.Client, height uint64) (header, error) {
	b, err := c.SnapshotBlockByHeight(ctx, height)
	switch {
	case err != nil:
		return header{}, err
	case b == nil:
		return header{}, fmt.Errorf("snapshot block %d: %w", height, chain.ErrNotFound)
	case b.Height != height:
		return header{}, fmt.Errorf("snapshot block %d: the node answered block %d", height, b.Height)
	}
	return headerOf(b), nil
}

// Head answers the highest snapshot block that more than half of the nodes have in common, and the final one below it. The final
// height never falls while the process lives; if its block changed, the new hash is answered and it is for the caller to halt.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	latest, err := c.latest(ctx)
	if err != nil {
		return chain.Head{}, fmt.Errorf("reading the head of %s: %w", c.cfg.ID, err)
	}
	final := latest
	if height := c.finalHeight(latest.Height); height > latest.Height {
		return chain.Head{}, fmt.Errorf("reading the head of %s: %w: the line ends at %d, below the final height %d",
			c.cfg.ID, chain.ErrUnavailable, latest.Height, height)
	} else if height < latest.Height {
		if final, err = c.headerAt(ctx, height); err != nil {
			return chain.Head{}, fmt.Errorf("reading the final block %d of %s: %w", height, c.cfg.ID, unavailable(err))
		}
	}
	c.settle(final.Height)
	return chain.Head{Latest: latest.Point, Final: final.Point, Time: latest.time}, nil
}

func (c *Chain) finalHeight(latest uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if latest < c.cfg.Confirmations {
		return max(genesisHeight, c.final)
	}
	return max(latest-c.cfg.Confirmations+1, c.final)
}

func (c *Chain) settle(final uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.final = max(c.final, final)
}

// latest is the highest block that a majority has in common: nodes differ in how far they are, and near the end in what they have
// there, so it steps down until they agree.
func (c *Chain) latest(ctx context.Context) (header, error) {
	top, err := c.majorityTop(ctx)
	if err != nil || len(c.nodes) == 1 {
		return top, err
	}
	for step := uint64(0); ; step = max(1, 2*step) {
		if step >= top.Height || step > c.cfg.Confirmations {
			return header{}, fmt.Errorf("%w: no block in common from height %d on down", chain.ErrUnavailable, top.Height)
		}
		common, err := c.headerAt(ctx, top.Height-step)
		if err == nil {
			return common, nil
		}
		if ctx.Err() != nil {
			return header{}, err
		}
	}
}

// majorityTop is the newest block of that node which more than half of the nodes, itself included, have reached.
func (c *Chain) majorityTop(ctx context.Context) (header, error) {
	if len(c.nodes) > 1 {
		// Every further node may raise the head, but a dead one must not hold up the others.
		patient, cancel := context.WithTimeout(ctx, headPatience)
		defer cancel()
		ctx = patient
	}
	answers := askAll(ctx, c.nodes, func(ctx context.Context, _ *node, nc *client.Client) (header, error) {
		return latestHeader(ctx, nc)
	})
	var tops []header
	for _, a := range answers {
		if a.err == nil {
			tops = append(tops, a.value)
		}
	}
	if len(tops) < c.quorum() {
		return header{}, unavailable(disagreement(answers, c.quorum()))
	}
	slices.SortFunc(tops, func(a, b header) int { return cmp.Compare(b.Height, a.Height) })
	return tops[c.quorum()-1], nil
}

// headerAt is the block at a height as the majority has it.
func (c *Chain) headerAt(ctx context.Context, height uint64) (header, error) {
	return agreed(ctx, c,
		func(h header) string { return h.Hash + h.parent + strconv.FormatInt(h.time.Unix(), 10) },
		func(ctx context.Context, _ *node, nc *client.Client) (header, error) {
			return headerAt(ctx, nc, height)
		})
}
