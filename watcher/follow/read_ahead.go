package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
)

// maxBlocks bounds what is read together while catching up, and what is kept until it can be
// applied.
const maxBlocks = 256

// A range that takes longer than slowRange is followed by one of half the size, so that progress is
// stored often; after one that takes less than quickRange the size doubles.
const (
	slowRange  = 5 * time.Second
	quickRange = 2 * time.Second
)

// errReading marks errors of reading blocks: what was read before stays good.
var errReading = errors.New("reading blocks")

// readAhead keeps blocks that were read and not applied yet, so that one failed call does not cost
// the blocks around it.
type readAhead struct {
	size   uint64 // of the next range
	blocks map[uint64]chain.Block
}

func newReadAhead() readAhead { return readAhead{size: maxBlocks, blocks: map[uint64]chain.Block{}} }

// drop removes all kept blocks: they may be of a branch that the chain has left.
func (a *readAhead) drop() { clear(a.blocks) }

// gap returns the first run of heights within the size from a height on that are not kept. ok is
// false when there is none.
func (a *readAhead) gap(from, top uint64) (first, last uint64, ok bool) {
	top = min(top, from+a.size-1)
	for first = from; first <= top && a.has(first); first++ {
	}
	for last = first; last < top && !a.has(last+1); last++ {
	}
	return first, last, first <= top
}

func (a *readAhead) has(height uint64) bool {
	_, ok := a.blocks[height]
	return ok
}

// run returns the kept blocks from a height on up to the first that is missing.
func (a *readAhead) run(from uint64) (blocks []chain.Block) {
	for b, ok := a.blocks[from]; ok; b, ok = a.blocks[from] {
		blocks = append(blocks, b)
		from++
	}
	return blocks
}

// keep adds blocks and drops those below a height.
func (a *readAhead) keep(blocks []chain.Block, from uint64) {
	for height := range a.blocks {
		if height < from {
			delete(a.blocks, height)
		}
	}
	for _, b := range blocks {
		a.blocks[b.Height] = b
	}
}

// resize makes the next range smaller after one that failed or was slow, and larger again after
// quick ones.
func (a *readAhead) resize(failed bool, took time.Duration) {
	switch {
	case failed || took > slowRange:
		a.size = max(1, a.size/2)
	case took < quickRange:
		a.size = min(2*a.size, maxBlocks)
	}
}

// next returns consecutive blocks from a height on, at least one: those kept, with the first gap in
// them read. fresh reports whether the first of them was read just now.
func (f *Follower) next(ctx context.Context, from, top uint64) (blocks []chain.Block, fresh bool, err error) {
	fresh = !f.ahead.has(from)
	if first, last, ok := f.ahead.gap(from, top); ok {
		begun := time.Now()
		blocks, err = f.readRange(ctx, first, last)
		f.ahead.keep(blocks, from)
		f.ahead.resize(err != nil && !errors.Is(err, chain.ErrNotFound), time.Since(begun))
	}
	if blocks = f.ahead.run(from); len(blocks) > 0 {
		return blocks, fresh, nil
	}
	return nil, fresh, err
}

// readRange reads blocks in order of height. With an error some are missing.
func (f *Follower) readRange(ctx context.Context, from, to uint64) ([]chain.Block, error) {
	blocks, err := chain.ReadBlocks(ctx, f.chain, from, to, f.deps.FetchAhead)
	if err != nil {
		err = fmt.Errorf("%w %d to %d: %w", errReading, from, to, err)
	}
	return blocks, err
}

// linked returns as many of the blocks as follow each other and a hash.
func linked(blocks []chain.Block, hash string) []chain.Block {
	for i, b := range blocks {
		if b.Parent != hash {
			return blocks[:i]
		}
		hash = b.Hash
	}
	return blocks
}
