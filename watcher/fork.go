package watcher

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// ErrForked says that a chain has another past than the final blocks in our records. No command mends that: what the lost blocks decided
// was paid on the other chain, and which of it to take back or to pay again only people can say.
var ErrForked = errors.New("the chain has another past than our final blocks")

// Fork is where a chain's line and ours part.
type Fork struct {
	Common chain.Point // the highest block that both have
	Ours   chain.Point // our final point
	Theirs string      // hash that the nodes have at the height of our final point
}

// ResumeChain follows a halted chain again when its nodes agree with our final point, which they did not when it was halted: one of them lied,
// or stood on a branch that the others have left. Else it is ErrForked, with the point where the pasts part.
func (r *Recovery) ResumeChain(ctx context.Context, id chain.ID) (fork Fork, err error) {
	c, ok := r.Chains[id]
	if !ok {
		return fork, fmt.Errorf("there is no chain %q", id)
	}
	var cur records.Cursor
	err = r.Store.View(ctx, func(tx *records.Tx) error {
		cur, err = tx.Cursor(id)
		return err
	})
	if err != nil {
		return fork, err
	}
	if !cur.Halted {
		return fork, fmt.Errorf("%w: chain %s is not halted", ErrNothingToDo, id)
	}
	head, err := c.Head(ctx)
	if err != nil {
		return fork, fmt.Errorf("asking for the head: %w", err)
	}
	if head.Final.Height < cur.Final.Height {
		return fork, fmt.Errorf("%w: the nodes call block %d final, our records %d: wait", chain.ErrUnavailable, head.Final.Height, cur.Final.Height)
	}
	fork.Ours = cur.Final
	if fork.Theirs, err = hashAt(ctx, c, cur.Final.Height); err != nil {
		return fork, err
	}
	if fork.Theirs != cur.Final.Hash {
		fork.Common, err = r.common(ctx, c, cur.Final.Height)
		return fork, errors.Join(err, fmt.Errorf("%w: %s at block %d", ErrForked, id, cur.Final.Height))
	}
	fork.Common = cur.Final
	return fork, r.Store.Update(ctx, func(tx *records.Tx) error { return tx.ResumeChain(id) })
}

func hashAt(ctx context.Context, c chain.Chain, height uint64) (string, error) {
	b, err := c.Block(ctx, height)
	if err != nil {
		return "", fmt.Errorf("reading block %d: %w", height, err)
	}
	return b.Hash, nil
}

// common searches the highest block below a differing one that the nodes and our records share; a zero point when our records begin above it.
func (r *Recovery) common(ctx context.Context, c chain.Chain, differs uint64) (chain.Point, error) {
	shared := chain.Point{}
	low, high := uint64(0), differs // everything at high and above differs
	for low < high {
		middle := low + (high-low)/2
		ours, found, err := r.blockAt(ctx, c.ID(), middle)
		if err != nil {
			return shared, err
		}
		if !found {
			low = middle + 1
			continue
		}
		theirs, err := hashAt(ctx, c, middle)
		if err != nil {
			return shared, err
		}
		if ours == theirs {
			shared, low = chain.Point{Height: middle, Hash: ours}, middle+1
		} else {
			high = middle
		}
	}
	return shared, nil
}

func (r *Recovery) blockAt(ctx context.Context, id chain.ID, height uint64) (hash string, found bool, err error) {
	err = r.Store.View(ctx, func(tx *records.Tx) error {
		hash, found, err = tx.BlockAt(id, height)
		return err
	})
	return hash, found, err
}
