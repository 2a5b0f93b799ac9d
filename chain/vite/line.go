package vite

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// LineMode is the way a node serves the chain, and with it the strength of its proof.
type LineMode int

// The ways to read a line.
const (
	// LineProven: chunks whose snapshot hashes cover their content. The node can neither leave out
	// nor invent anything on a line that more than half of the nodes have; the producers' right to
	// make blocks is believed.
	LineProven LineMode = iota + 1
	// LineUnproven: chunks, but by what rule snapshot blocks are hashed is not known. That a
	// snapshot's content is complete is believed.
	LineUnproven
	// LineLists: no chunks. Sends are looked up in unreceived lists, which have no order and which
	// strangers can fill.
	LineLists
)

func (m LineMode) String() string {
	switch m {
	case LineProven:
		return "complete, with proof"
	case LineUnproven:
		return "complete, without proof"
	case LineLists:
		return "by unreceived lists"
	}
	return "unknown"
}

// probeDepth is the distance below the newest block at which a node is asked for a block with
// content.
const probeDepth = 200

// maxHeads bounds the accounts whose newest confirmed block is remembered: about 100 bytes each.
const maxHeads = 200_000

// lineReader reads a node's chunks and checks them. One goroutine uses it at a time.
type lineReader struct {
	client  *client.Client
	confirm func(ctx context.Context, sights []firstSight, in []core.Hash) error // what other nodes have where accounts were before
	mode    LineMode
	names   map[uint32]string // of upgrades, by version
	asked   bool              // for the upgrades, since the last read began
	size    uint64            // heights per request: halved when an answer is too large or fails, doubled after a complete one

	// The heights from first to last were read in a row and are one line. heads are the newest
	// blocks of all accounts that it moved; of other accounts nothing is known.
	first uint64
	last  point
	heads map[core.Address]core.HashHeight
}

// point is a chain.Point before it becomes text.
type point struct {
	height uint64
	hash   core.Hash
}

// newLineReader probes a node: whether it has chunks, and whether a recomputed hash of a snapshot
// block equals the node's.
func (c *Chain) newLineReader(ctx context.Context, n *node, nc *client.Client) (*lineReader, error) {
	r := &lineReader{client: nc, mode: LineUnproven, names: make(map[uint32]string), size: client.MaxChunks, heads: make(map[core.Address]core.HashHeight)}
	latest, err := latestHeader(ctx, nc)
	if err != nil {
		return nil, fmt.Errorf("asking what the node can do: %w", err)
	}
	chunks, err := nc.Chunks(ctx, max(genesisHeight, latest.Height-min(latest.Height, probeDepth)), latest.Height)
	if errors.Is(err, client.ErrTooLarge) {
		chunks, err = nc.Chunks(ctx, latest.Height, latest.Height)
	}
	switch {
	case errors.Is(err, client.ErrMethod):
		r.mode = LineLists
		return r, nil
	case err != nil:
		return nil, fmt.Errorf("asking for chunks: %w", tooLargeFor(err))
	case len(chunks) == 0:
		return nil, fmt.Errorf("reading chunks: none up to the latest block %d", latest.Height)
	case c.cfg.Proof == proofOff:
		return r, nil
	}
	r.confirm = func(ctx context.Context, sights []firstSight, in []core.Hash) error {
		return c.confirmSights(ctx, n, sights, in)
	}
	proven, err := r.provable(ctx, chunks)
	if proven {
		r.mode = LineProven
	}
	return r, err
}

// provable reports whether the hashes of the newest snapshot block and of the newest with content
// come out. Which rule a chain has must not be found out by a block that fails later: that one is a
// lie, and ends the reading.
func (r *lineReader) provable(ctx context.Context, chunks []client.Chunk) (bool, error) {
	newest := len(chunks) - 1
	full := newest
	for full > 0 && len(chunks[full].Snapshot.Content) == 0 {
		full--
	}
	for _, at := range []int{newest, full} {
		if b := &chunks[at].Snapshot; at == newest || b.Height > genesisHeight {
			if fits, err := r.sealed(ctx, b); err != nil || !fits {
				return false, err
			}
		}
	}
	return true, nil
}

// sealed reports whether the hash of a snapshot block covers its fields, with its version or
// without.
func (r *lineReader) sealed(ctx context.Context, b *client.SnapshotBlock) (bool, error) {
	name, err := r.upgradeName(ctx, b.Version)
	if err != nil {
		return false, err
	}
	seal := b.Seal(name)
	if seal.Fits(b.Hash) {
		return true, nil
	}
	seal.Version = 0
	return seal.Fits(b.Hash), nil
}

// upgradeName is asked for when a version is seen for the first time, once in a read; one that the
// node does not list is named by its number.
func (r *lineReader) upgradeName(ctx context.Context, version uint32) (string, error) {
	name, known := r.names[version]
	switch {
	case known || version == 0:
		return name, nil
	case r.asked: // a line of a hostile node's own may have a new version in each block
		return strconv.FormatUint(uint64(version), 10), nil
	}
	r.asked = true
	upgrades, err := r.client.Upgrades(ctx)
	if err != nil && !errors.Is(err, client.ErrMethod) {
		return "", fmt.Errorf("%w: asking for the upgrades: %w", errAsking, err)
	}
	names := map[uint32]string{version: strconv.FormatUint(uint64(version), 10)}
	for _, u := range upgrades {
		names[u.Version] = u.Name
	}
	r.names = names
	return names[version], nil
}

// read answers checked chunks from a height on, at least one, consecutive, to at most another
// height. It ends early where the line or a bound on the answer's size ends it. ErrNotFound: the
// line does not reach there.
func (r *lineReader) read(ctx context.Context, from, to uint64) ([]client.Chunk, error) {
	r.asked = false
	chunks, err := r.ask(ctx, from, to)
	if err == nil && len(chunks) == 0 {
		// A node that has the block does not answer nothing.
		if _, err = headerAt(ctx, r.client, from); err == nil {
			err = fmt.Errorf("%w: chunks from %d: none, but the node has the block", errLie, from)
		}
	}
	if err == nil {
		if err = r.check(ctx, from, chunks); err != nil && !errors.Is(err, errAsking) {
			err = fmt.Errorf("%w: %w", errLie, err)
		}
	}
	if err != nil {
		r.resetBelow(from)
		return nil, err
	}
	return chunks, nil
}

func (r *lineReader) ask(ctx context.Context, from, to uint64) ([]client.Chunk, error) {
	for {
		n := min(to-from+1, r.size)
		chunks, err := r.client.Chunks(ctx, from, from+n-1)
		switch {
		case errors.Is(err, client.ErrTooLarge) && n > 1:
			r.size = n / 2
			continue
		case err != nil:
			r.size = max(1, n/2)
			return nil, fmt.Errorf("chunks from %d to %d: %w", from, from+n-1, tooLargeFor(err))
		case uint64(len(chunks)) > n:
			return nil, fmt.Errorf("chunks from %d to %d: %d answered", from, from+n-1, len(chunks))
		}
		if n == r.size {
			r.size = min(2*r.size, client.MaxChunks)
		}
		return chunks, nil
	}
}

// tooLargeFor names the setting that bounds an answer.
func tooLargeFor(err error) error {
	if errors.Is(err, client.ErrTooLarge) {
		return fmt.Errorf("%w: over max_response", err)
	}
	return err
}

// errAsking is a question that a check needs an answer to, and the node does not answer.
var errAsking = errors.New("the check is not complete")

// resetBelow makes the reader know nothing of the line below a height.
func (r *lineReader) resetBelow(from uint64) {
	r.first, r.last = from, point{height: from - 1}
	clear(r.heads)
}

func chunkPoint(c *client.Chunk) chain.Point {
	return chain.Point{Height: c.Snapshot.Height, Hash: c.Snapshot.Hash.String()}
}
