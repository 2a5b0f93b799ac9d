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
	"gatewayd/chain/quorum"
	"gatewayd/vite/client"
)

// genesisHeight is the height of the first snapshot block.
const genesisHeight = 1

// headWait bounds the wait of Head for the slowest of several nodes.
const headWait = 5 * time.Second

// header contains the relevant fields of a snapshot block.
type header struct {
	chain.Point
	parent string
	time   time.Time
}

// identity is equal for equal headers.
func (h header) identity() string { return h.Hash + h.parent + strconv.FormatInt(h.time.Unix(), 10) }

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
		return header{}, fmt.Errorf("%w: snapshot block %d: the node answered block %d", errLie, height, b.Height)
	}
	return headerOf(b), nil
}

// Head returns the highest snapshot block that more than half of the nodes have in common, and the
// final one below it. Nothing is remembered: whether the nodes contradict what was settled the
// records know.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	c = c.current()
	latest, err := c.latest(ctx)
	if ctx.Err() == nil {
		c.united.Store(err == nil)
	}
	if err != nil {
		return chain.Head{}, fmt.Errorf("reading the head of %s: %w", c.cfg.ID, err)
	}
	final := latest
	if height := c.finalHeight(latest.Height); height < latest.Height {
		if final, err = c.headerAt(ctx, height); err != nil {
			return chain.Head{}, fmt.Errorf("reading the final block %d of %s: %w", height, c.cfg.ID, unavailable(err))
		}
	}
	return chain.Head{Latest: latest.Point, Final: final.Point, Time: latest.time}, nil
}

// checkCommonBlock returns an error unless the nodes have a block in common: on different branches,
// two may report the same balance by chance. It uses the last Head. If that found no common block,
// and before the first, it asks the nodes.
func (c *Chain) checkCommonBlock(ctx context.Context) error {
	if len(c.nodes) == 1 || c.united.Load() {
		return nil
	}
	_, err := c.Head(ctx)
	return err
}

func (c *Chain) finalHeight(latest uint64) uint64 {
	if latest < c.cfg.Confirmations {
		return genesisHeight
	}
	return latest - c.cfg.Confirmations + 1
}

// latest is the highest block that a majority has in common: nodes differ in how far they are, and
// near the end in what they have there, so it steps down until they agree.
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

// majorityTop is the newest block of that node which more than half of the nodes, itself included,
// have reached.
func (c *Chain) majorityTop(ctx context.Context) (header, error) {
	if len(c.nodes) > 1 {
		// Every further node may raise the head, but a dead one must not hold up the others.
		waiting, cancel := context.WithTimeout(ctx, headWait)
		defer cancel()
		ctx = waiting
	}
	answers := ask(ctx, c.nodes, func(ctx context.Context, n *node, nc *client.Client) (header, error) {
		h, err := latestHeader(ctx, nc)
		if err == nil {
			n.RecordHead(h.Height, h.time)
		}
		return h, err
	}, quorum.Same[*node](c.quorum(), func(h header) string { return h.Hash }))
	tops, _ := quorum.Good(answers)
	if len(tops) < c.quorum() {
		return header{}, unavailable(disagreement(answers, c.quorum()))
	}
	slices.SortFunc(tops, func(a, b answer[header]) int { return cmp.Compare(b.Value.Height, a.Value.Height) })
	top := tops[c.quorum()-1].Value
	for _, t := range tops {
		if t.Value.Height > top.Height+farAhead {
			t.Node.RecordWrong("head", fmt.Errorf("node %d: it reports latest block %d, more than half report %d", t.Node.number, t.Value.Height, top.Height))
		}
	}
	return top, nil
}

// farAhead is the lead in blocks over more than half from which a node counts as wrong rather than
// fast.
const farAhead = 256

// headerAt is the block at a height as the majority has it.
func (c *Chain) headerAt(ctx context.Context, height uint64) (header, error) {
	common, answers, err := agreedAmong(ctx, c, header.identity, func(ctx context.Context, _ *node, nc *client.Client) (header, error) {
		return headerAt(ctx, nc, height)
	})
	if err != nil {
		return header{}, err
	}
	for _, a := range answers {
		if a.Err == nil && a.Value.identity() != common.identity() {
			a.Node.RecordMinorityBlock(a.Value.identity(), fmt.Errorf("node %d: it has %s as block %d, more than half have %s", a.Node.number, a.Value.Hash, height, common.Hash))
		}
	}
	return common, nil
}
