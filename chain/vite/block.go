package vite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
	"gatewayd/vite/client"
)

const (
	// blockTimeoutCalls is the time limit of an answer in call timeouts: it needs several.
	blockTimeoutCalls = 15
	// scannedAtOnce bounds the blocks that are answered at once where a node has no chunks.
	scannedAtOnce = 64
)

// Block returns the snapshot block at a height with the transfers and own transactions that it
// confirmed. Zero amounts, genesis and sends between our own accounts are no transfers. What it
// rests on is LineMode; a node whose answer does not hold is passed over, and when none is left the
// block is ErrUnavailable.
func (c *Chain) Block(ctx context.Context, height uint64) (chain.Block, error) {
	c = c.current()
	blocks, err := c.Blocks(ctx, height, height)
	if err != nil {
		return chain.Block{}, err
	}
	return blocks[0], nil
}

// Blocks answers consecutive blocks of the current line from a height on, at least one, and none
// above another height. It may end early, where the line ends or an answer grows too large;
// ErrNotFound: the line does not reach from. It asks for as many heights at once as a node gives.
func (c *Chain) Blocks(ctx context.Context, from, to uint64) ([]chain.Block, error) {
	c = c.current()
	ctx, cancel := context.WithTimeout(ctx, blockTimeoutCalls*c.cfg.Timeout)
	defer cancel()
	blocks, err := c.blocks(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("reading block %d of %s: %w", from, c.cfg.ID, err)
	}
	return blocks, nil
}

func (c *Chain) blocks(ctx context.Context, from, to uint64) ([]chain.Block, error) {
	if from < genesisHeight {
		return nil, chain.ErrNotFound
	}
	if to < from {
		return nil, fmt.Errorf("to block %d: nothing is asked for", to)
	}
	to = min(to, from+client.MaxChunks-1)
	blocks, proven, err := c.provenBlocks(ctx, from, to)
	if proven || err != nil {
		return blocks, err
	}
	return c.agreedBlocks(ctx, from, to)
}

// provenBlocks reads from one node after another until one proves blocks that more than half of the
// nodes have; the last that did comes first. proven is false when a node that cannot may know
// better.
func (c *Chain) provenBlocks(ctx context.Context, from, to uint64) (blocks []chain.Block, proven bool, err error) {
	var faults []answer[[]chain.Block]
	read := question[[]chain.Block](func(ctx context.Context, n *node, nc *client.Client) ([]chain.Block, error) {
		return c.provenBy(ctx, n, nc, from, to)
	})
	start, without := int(c.reader.Load()), false
	nodes := quorum.Order(slices.Concat(c.nodes[start:], c.nodes[:start]))
	for i, n := range nodes {
		begun := time.Now()
		blocks, err := read.putWithin(ctx, n, len(nodes)-i)
		switch {
		case err == nil:
			next := n.number - 1
			if c.tooSlow(time.Since(begun), len(blocks)) {
				next = n.number % len(c.nodes)
			}
			c.reader.Store(int64(next))
			return blocks, true, nil
		case errors.Is(err, errNoProof):
			without = true
		default:
			faults = append(faults, answer[[]chain.Block]{Node: n, Err: err})
		}
	}
	switch {
	case without && c.cfg.Proof != proofRequired:
		return nil, false, nil
	case len(faults) == 0:
		return nil, true, fmt.Errorf("%w: no node can prove its answer, and proof is required", chain.ErrUnavailable)
	}
	return nil, true, disagreement(faults, c.quorum())
}

// slowest is the speed below which another node reads next: far above that at which blocks are
// made.
const slowest = 10 // blocks a second

// tooSlow reports whether a node's answer took so long that another one should read.
func (c *Chain) tooSlow(took time.Duration, blocks int) bool {
	return took > c.cfg.Timeout/4 && took > time.Duration(blocks)*time.Second/slowest
}

// provenBy reads from one node. It reads our accounts after the node's chunks. An address is shown
// to a user only after it is listed, so no deposit can be in a chunk that was read before its
// address was listed.
func (c *Chain) provenBy(ctx context.Context, n *node, nc *client.Client, from, to uint64) ([]chain.Block, error) {
	chunks, err := n.provenChunks(ctx, nc, c, from, to)
	if err != nil {
		return nil, err
	}
	if chunks, err = c.common(ctx, n, chunks); err != nil {
		return nil, err
	}
	own, err := c.ourAccounts(ctx)
	if err != nil {
		return nil, err
	}
	return own.blocksOf(chunks)
}

// errNoProof marks a node that does not show the data for a proof.
var errNoProof = errors.New("the node cannot prove its answer")

func (n *node) provenChunks(ctx context.Context, nc *client.Client, c *Chain, from, to uint64) ([]client.Chunk, error) {
	if err := enter(ctx, n.scanning); err != nil {
		return nil, err
	}
	defer leave(n.scanning)
	r, err := n.lineOf(ctx, nc, c)
	if err != nil {
		return nil, err
	}
	if r.mode != LineProven {
		return nil, errNoProof
	}
	return n.readLine(ctx, from, to)
}

// blocks returns what the node shows in its own way, which the caller compares with others'
// answers.
func (n *node) blocks(ctx context.Context, nc *client.Client, c *Chain, from, to uint64) ([]chain.Block, error) {
	if err := enter(ctx, n.scanning); err != nil {
		return nil, err
	}
	defer leave(n.scanning)
	r, err := n.lineOf(ctx, nc, c)
	if err != nil {
		return nil, err
	}
	if r.mode == LineLists {
		return n.scanned(ctx, nc, from, min(to, from+scannedAtOnce-1), c.ourAccounts)
	}
	chunks, err := n.readLine(ctx, from, to)
	if err != nil {
		return nil, err
	}
	own, err := c.ourAccounts(ctx)
	if err != nil {
		return nil, err
	}
	return own.blocksOf(chunks)
}

// lineOf asks what the node can do once, and again after it refused a call that it had before. The
// caller has entered scanning.
func (n *node) lineOf(ctx context.Context, nc *client.Client, c *Chain) (_ *lineReader, err error) {
	if n.line == nil {
		n.line, err = c.newLineReader(ctx, n, nc)
	}
	return n.line, err
}

func (n *node) readLine(ctx context.Context, from, to uint64) ([]client.Chunk, error) {
	chunks, err := n.line.read(ctx, from, to)
	if errors.Is(err, client.ErrMethod) {
		n.line = nil
	}
	return chunks, err
}

// common cuts what a node proved to what more than half of the nodes have: hashes are links, so
// that the last one speaks for all.
func (c *Chain) common(ctx context.Context, reader *node, chunks []client.Chunk) ([]client.Chunk, error) {
	if len(c.nodes) == 1 {
		return chunks, nil
	}
	from, last := chunks[0].Snapshot.Height, chunkPoint(&chunks[len(chunks)-1])
	found, err := c.shared(ctx, reader, last)
	if err != nil || found {
		return chunks, err
	}
	top, err := c.latest(ctx)
	switch {
	case err != nil:
		return nil, err
	case top.Height < from:
		return nil, fmt.Errorf("snapshot block %d: %w", from, chain.ErrNotFound)
	case top.Height > last.Height:
		return nil, reader.RecordMinorityBlock(last.Hash, fmt.Errorf("snapshot block %d: %w", last.Height, errMinority))
	}
	at := top.Height - from
	if mine := chunkPoint(&chunks[at]); mine != top.Point {
		return nil, reader.RecordMinorityBlock(mine.Hash, fmt.Errorf("snapshot block %d: %w", top.Height, errMinority))
	}
	return chunks[:at+1], nil
}

var errMinority = errors.New("half of the nodes or more have another block")

// shared reports whether enough other nodes have a block of the reader's.
func (c *Chain) shared(ctx context.Context, reader *node, p chain.Point) (bool, error) {
	var others []*node
	for _, n := range c.nodes {
		if n != reader {
			others = append(others, n)
		}
	}
	found := false
	ask(ctx, others, func(ctx context.Context, _ *node, nc *client.Client) (header, error) {
		return headerAt(ctx, nc, p.Height)
	}, func(answers []answer[header]) bool {
		votes := 1
		for _, a := range answers {
			if a.Err == nil && a.Value.Point == p {
				votes++
			}
		}
		found = votes >= c.quorum()
		return found || len(c.nodes)-(1+len(answers)-votes) < c.quorum()
	})
	return found, ctx.Err()
}

// agreedBlocks are the longest list with which the answers of more than half of the nodes begin.
func (c *Chain) agreedBlocks(ctx context.Context, from, to uint64) ([]chain.Block, error) {
	answers := ask(ctx, c.nodes, func(ctx context.Context, n *node, nc *client.Client) ([]chain.Block, error) {
		return n.blocks(ctx, nc, c, from, to)
	}, quorum.Same[*node](c.quorum(), func(b []chain.Block) string { return identity(b) }))
	common := commonStart(answers, c.quorum())
	if len(common) == 0 {
		return nil, disagreement(answers, c.quorum())
	}
	blameBlocks(common, answers)
	return common, nil
}

// blameBlocks counts the answers that differ from the agreed blocks anywhere.
func blameBlocks(agreed []chain.Block, answers []answer[[]chain.Block]) {
	for _, a := range answers {
		for i := range min(len(agreed), len(a.Value)) {
			if id := identity(a.Value[i]); a.Err == nil && id != identity(agreed[i]) {
				a.Node.RecordMinorityBlock(id, fmt.Errorf("node %d: it shows another snapshot block %d than more than half", a.Node.number, agreed[i].Height))
				break
			}
		}
	}
}

// commonStart goes block by block with those answers that were in the majority so far.
func commonStart(answers []answer[[]chain.Block], quorum int) (common []chain.Block) {
	with := slices.DeleteFunc(slices.Clone(answers), func(a answer[[]chain.Block]) bool { return a.Err != nil })
	for {
		at, groups := len(common), make(map[string][]answer[[]chain.Block])
		for _, a := range with {
			if len(a.Value) > at {
				id := identity(a.Value[at])
				groups[id] = append(groups[id], a)
			}
		}
		with = nil
		for _, group := range groups {
			if len(group) >= quorum {
				with, common = group, append(common, group[0].Value[at])
			}
		}
		if with == nil {
			return common
		}
	}
}

// identity is equal for equal blocks: they hold nothing that JSON leaves out.
func identity(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("vite: a block as JSON: " + err.Error())
	}
	return string(text)
}
