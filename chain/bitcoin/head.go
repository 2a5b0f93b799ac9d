package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// answer is one node's answer to a question to several.
type answer[T any] = quorum.Answer[*node, T]

// majority is the number of nodes that must agree.
func (c *Chain) majority() int { return len(c.nodes)/2 + 1 }

// errSyncing is a node that still reads the chain's past.
var errSyncing = errors.New("the node is still syncing")

// Head returns the tip with the most work of those that the nodes show, as soon as a majority has
// answered. So a node that is behind, or on a branch that the others have left, changes nothing. A
// node alone can raise the latest block, with real work only. The final block is the one of the
// configured depth below it. A majority must have it: where that has only lower blocks of the line,
// the highest of these is final.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	c = c.current()
	base, _ := c.line.bounds()
	views, others, err := c.views(ctx)
	if err == nil && len(views) < c.majority() && len(offLine(others)) > len(c.nodes)-c.majority() {
		// The majority has left our line, or continued it further than it is read at once.
		if err = c.begin(ctx, base); err == nil {
			views, others, err = c.views(ctx)
		}
	}
	if err == nil && len(views) < c.majority() {
		_, faults := quorum.Good(others)
		err = unavailable(faults)
	}
	if err != nil {
		return chain.Head{}, fmt.Errorf("reading the head: %w", err)
	}
	best := c.line.choose(views)
	final, err := c.finalBlock(best, views)
	if err != nil {
		return chain.Head{}, fmt.Errorf("reading the head: %w", unavailable([]error{err}))
	}
	c.blameBranches(best, final, views)
	for _, a := range offLine(others) {
		a.Node.RecordMinorityBlock("off the line", a.Err)
	}
	return chain.Head{Latest: best.point(), Final: final.point(), Time: best.BlockHeader.Timestamp.UTC()}, nil
}

func (h *header) point() chain.Point { return chain.Point{Height: h.height, Hash: h.hash.String()} }

// offLine are the answers of nodes whose lines do not meet ours.
func offLine(answers []answer[*header]) (list []answer[*header]) {
	for _, a := range answers {
		if errors.Is(a.Err, errOffLine) {
			list = append(list, a)
		}
	}
	return list
}

// views are the nodes' tips, in the order of the configuration, and the answers without one.
func (c *Chain) views(ctx context.Context) (views, others []answer[*header], err error) {
	if base, _ := c.line.bounds(); base == nil {
		if err := c.begin(ctx, nil); err != nil {
			return nil, nil, err
		}
	}
	answers := quorum.Ask(ctx, c.nodes, c.viewOf, quorum.Same[*node](c.majority(), func(h *header) *header { return h }))
	slices.SortFunc(answers, func(a, b answer[*header]) int { return slices.Index(c.nodes, a.Node) - slices.Index(c.nodes, b.Node) })
	for _, a := range answers {
		if a.Err == nil {
			views = append(views, a)
			continue
		}
		others = append(others, a)
		if errors.Is(a.Err, errBehind) || errors.Is(a.Err, errOffLine) {
			a.Node.doubt()
		}
	}
	return views, others, nil
}

// viewOf is a node's tip, proven.
func (c *Chain) viewOf(ctx context.Context, n *node) (*header, error) {
	p, tip, err := c.position(ctx, n)
	if err != nil {
		return nil, err
	}
	h, err := c.line.reach(ctx, n, tip, p.Blocks)
	switch {
	case err == nil:
		n.RecordHead(h.height, h.BlockHeader.Timestamp.UTC())
	case errors.Is(err, errBehind), errors.Is(err, errOffLine):
		n.RecordHead(p.Blocks, time.Time{})
	}
	return h, err
}

// position is the position of a node that is not syncing. Nodes whose blocks are made on request
// report that they are when they have rested for a day.
func (c *Chain) position(ctx context.Context, n *node) (position, chainhash.Hash, error) {
	p, tip, err := n.position(ctx)
	if err == nil && p.Syncing && !c.config.OnDemand {
		err = fmt.Errorf("%s: %w: it has %d of %d blocks", n.name, errSyncing, p.Blocks, p.Headers)
		n.RecordHead(p.Blocks, time.Time{})
	}
	return p, tip, err
}

// finalBlock is the block of the configured depth below the best, or the highest one below that
// which a majority of the nodes has.
func (c *Chain) finalBlock(best *header, views []answer[*header]) (*header, error) {
	var shared []uint64
	for _, v := range views {
		if h := c.line.common(best, v.Value); h != nil {
			shared = append(shared, h.height)
		}
	}
	if len(shared) < c.majority() {
		return nil, errors.New("no majority of the nodes agrees on any block")
	}
	slices.Sort(shared)
	height := shared[len(shared)-c.majority()]
	height = min(height, best.height+1-min(best.height+1, c.config.Confirmations))
	final := c.line.ancestor(best, height)
	if final == nil {
		return nil, fmt.Errorf("the final block %d is too deep", height)
	}
	return final, nil
}

// blameBranches counts the nodes that are on another line than the final block. Branches above it
// come and go.
func (c *Chain) blameBranches(best, final *header, views []answer[*header]) {
	for _, v := range views {
		h := v.Value
		if at := c.line.common(best, h); at != nil && at.height < final.height && at != h {
			v.Node.RecordMinorityBlock(h.hash.String(), fmt.Errorf("%s: it left the line after block %d, for a branch with less work", v.Node.name, at.height))
		}
	}
}

// commonHeight is the highest number of blocks that a majority has.
func (c *Chain) commonHeight(ctx context.Context) (uint64, error) {
	question := func(ctx context.Context, n *node) (uint64, error) {
		p, _, err := c.position(ctx, n)
		return p.Blocks, err
	}
	answers := quorum.Ask(ctx, c.nodes, question, quorum.Same[*node](c.majority(), func(height uint64) uint64 { return height }))
	good, faults := quorum.Good(answers)
	if len(good) < c.majority() {
		return 0, unavailable(faults)
	}
	heights := make([]uint64, len(good))
	for i, a := range good {
		heights[i] = a.Value
	}
	slices.Sort(heights)
	return heights[len(heights)-c.majority()], nil
}

// agreeAt is the hash at a height on which a majority agrees, and the nodes that have it.
// chain.ErrNotFound: so many nodes have no block there that no majority can be.
func (c *Chain) agreeAt(ctx context.Context, height uint64) (hash chainhash.Hash, having []*node, err error) {
	question := func(ctx context.Context, n *node) (chainhash.Hash, error) { return n.hashAt(ctx, height) }
	itself := func(hash chainhash.Hash) chainhash.Hash { return hash }
	answers := quorum.Ask(ctx, c.nodes, question, quorum.Same[*node](c.majority(), itself))
	hash, found := quorum.Agreed(answers, c.majority(), itself)
	if !found {
		return hash, nil, disagreement(height, answers, len(c.nodes)-c.majority())
	}
	for _, a := range answers {
		switch {
		case a.Err != nil:
		case a.Value == hash:
			having = append(having, a.Node)
		default:
			a.Node.RecordMinorityBlock(a.Value.String(), fmt.Errorf("%s: it has %s as block %d, a majority has %s", a.Node.name, a.Value, height, hash))
		}
	}
	return hash, quorum.Order(having), nil
}

// disagreement explains why no majority has a block; more than spare nodes without one decide.
func disagreement(height uint64, answers []answer[chainhash.Hash], spare int) error {
	_, faults := quorum.Good(answers)
	missing := 0
	for _, err := range faults {
		if errors.Is(err, chain.ErrNotFound) {
			missing++
		}
	}
	if missing > spare {
		return fmt.Errorf("block %d: %w", height, chain.ErrNotFound)
	}
	return unavailable(append(faults, fmt.Errorf("block %d: no majority of the nodes agrees", height)))
}

// BlockInterval returns the usual time between two blocks, from the newest ones. The first block's
// time is artificial and does not count. chain.ErrNotFound: there are too few blocks.
func (c *Chain) BlockInterval(ctx context.Context) (time.Duration, error) {
	c = c.current()
	head, err := c.Head(ctx)
	if err != nil {
		return 0, fmt.Errorf("time between blocks: %w", err)
	}
	best := c.line.get(hashOf(head.Latest))
	return chain.UsualInterval(1, head.Latest.Height, func(height uint64) (time.Time, error) {
		h := c.line.ancestor(best, height)
		if h == nil {
			return time.Time{}, fmt.Errorf("block %d: %w", height, chain.ErrNotFound)
		}
		return h.BlockHeader.Timestamp, nil
	})
}

// hashOf is the hash of a point that this adapter has made.
func hashOf(p chain.Point) (hash chainhash.Hash) {
	_ = chainhash.Decode(&hash, p.Hash)
	return hash
}
