package recovery

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// ErrForked means that a chain's blocks differ from the final blocks in our records. No command
// repairs that: the payments for lost blocks were made on the other chain, and only people can
// decide which to revert or to repeat.
var ErrForked = errors.New("the chain differs from our final blocks")

// Fork is the point at which a chain and our blocks diverge.
type Fork struct {
	// the highest block that both have; no hash when our records begin above it: the height is the
	// one below them
	Common chain.Point
	Ours   chain.Point // our final point
	Theirs string      // hash that the nodes have at the height of our final point; empty when their line ends below it
	Lost   []uint64    // transfers that were decided and whose blocks have left the chain, oldest first; at most 1000
}

// maxNamed bounds the lost transfers in a halt's reason.
const maxNamed = 20

// String names the place and the lost transfers, for people.
func (f Fork) String() string {
	text := fmt.Sprintf("the last common block is %d %s", f.Common.Height, f.Common.Hash)
	if len(f.Lost) == 0 {
		return text + "; no decided transfer is lost"
	}
	names := make([]string, 0, maxNamed)
	for _, id := range f.Lost[:min(len(f.Lost), maxNamed)] {
		names = append(names, strconv.FormatUint(id, 10))
	}
	text += fmt.Sprintf("; lost with their blocks: %d records: %s", len(f.Lost), strings.Join(names, ", "))
	if len(f.Lost) > maxNamed {
		text += " and more"
	}
	return text
}

// Blocks returns the fork as the records store it.
func (f Fork) Blocks() records.HaltBlocks {
	return records.HaltBlocks{
		Height: f.Ours.Height, Ours: f.Ours.Hash, Theirs: f.Theirs, CommonHeight: f.Common.Height, Common: f.Common.Hash, Lost: len(f.Lost),
	}
}

// ResumeChain follows a halted chain again when its nodes agree with our final point, which they
// did not when it was halted: one of them lied, or stood on a branch that the others have left.
// Else it is ErrForked, with the point where the pasts part and what was lost.
func (r *Recovery) ResumeChain(ctx context.Context, id chain.ID) (fork Fork, err error) {
	c, ok := r.Chains[id]
	if !ok {
		return fork, fmt.Errorf("there is no chain %q", id)
	}
	var cur records.Cursor
	err = r.Store.View(ctx, func(tx *records.Tx) error {
		cur, err = tx.Chains().Cursor(id)
		return err
	})
	if err != nil {
		return fork, err
	}
	if !cur.Halted {
		return fork, fmt.Errorf("%w: chain %s is not halted", transfers.ErrNothingToDo, id)
	}
	head, err := c.Head(ctx)
	if err != nil {
		return fork, fmt.Errorf("asking for the head: %w", err)
	}
	forked, fork, err := findFork(ctx, r.Store, c, cur, head)
	switch {
	case err != nil:
		return fork, err
	case forked:
		fork.Lost, err = markLost(ctx, r.Store, id, fork)
		return fork, errors.Join(err, fmt.Errorf("%w: %s at block %d", ErrForked, id, cur.Final.Height))
	case head.Final.Height < cur.Final.Height:
		return fork, fmt.Errorf("%w: the nodes call block %d final, our records %d: wait", chain.ErrUnavailable, head.Final.Height, cur.Final.Height)
	}
	return fork, r.Store.Update(ctx, func(tx *records.Tx) error { return tx.Chains().Resume(id) })
}

// Lost finds out where the pasts part and marks what was decided after that. Without a fork the
// point is the last that both have.
func Lost(ctx context.Context, s store, c chain.Chain, cur records.Cursor, head chain.Head) (Fork, error) {
	_, fork, err := findFork(ctx, s, c, cur, head)
	if err == nil {
		fork.Lost, err = markLost(ctx, s, c.ID(), fork)
	}
	return fork, err
}

// findFork compares our line with the nodes' at our final point, or at their end when that is
// lower.
func findFork(ctx context.Context, s store, c chain.Chain, cur records.Cursor, head chain.Head) (forked bool, fork Fork, err error) {
	fork.Ours = cur.Final
	at, ours := cur.Final.Height, cur.Final.Hash
	if head.Latest.Height < at {
		at = head.Latest.Height
		var found bool
		if ours, found, err = blockAt(ctx, s, c.ID(), at); err != nil {
			return false, fork, err
		}
		if !found {
			return false, fork, fmt.Errorf("%w: the nodes are at block %d, which the records no longer have", chain.ErrUnavailable, at)
		}
	}
	theirs, err := hashAt(ctx, c, at)
	if err != nil {
		return false, fork, err
	}
	if at == cur.Final.Height {
		fork.Theirs = theirs
	}
	if theirs == ours {
		fork.Common = chain.Point{Height: at, Hash: ours}
		return false, fork, nil
	}
	fork.Common, err = lastCommonBlock(ctx, s, c, at)
	return true, fork, err
}

// markLost marks the decided transfers of the blocks that the nodes do not have, and answers all
// that the chain has lost.
func markLost(ctx context.Context, s store, id chain.ID, fork Fork) (lost []uint64, err error) {
	err = s.Update(ctx, func(tx *records.Tx) error {
		if err := tx.Orders().MarkLost(id, fork.Common.Height); err != nil {
			return err
		}
		lost, err = tx.Orders().Incidents(id)
		return err
	})
	return lost, err
}

func hashAt(ctx context.Context, c chain.Chain, height uint64) (string, error) {
	b, err := c.Block(ctx, height)
	if err != nil {
		return "", fmt.Errorf("reading block %d: %w", height, err)
	}
	return b.Hash, nil
}

// lastCommonBlock searches the highest block below a differing one that the nodes and our records
// share. When our records begin above it, the point has no hash and the height below their first
// one.
func lastCommonBlock(ctx context.Context, s store, c chain.Chain, differs uint64) (chain.Point, error) {
	shared := chain.Point{}
	low, high := uint64(0), differs // everything at high and above differs
	for low < high {
		middle := low + (high-low)/2
		ours, found, err := blockAt(ctx, s, c.ID(), middle)
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
	if shared.Hash == "" && high > 0 {
		shared.Height = high - 1
	}
	return shared, nil
}

func blockAt(ctx context.Context, s store, id chain.ID, height uint64) (hash string, found bool, err error) {
	err = s.View(ctx, func(tx *records.Tx) error {
		hash, found, err = tx.Chains().BlockAt(id, height)
		return err
	})
	return hash, found, err
}
