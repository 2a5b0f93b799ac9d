package vite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

const (
	// scanMargin is the distance below the asked height at which a scan begins, so that heights
	// asked out of order, or again after a re-org, need no scan of their own.
	scanMargin = 16
	// readersPerScan is the number of accounts read at once.
	readersPerScan = 4
)

// scan is everything that concerns our accounts from one snapshot height up to the newest at that
// moment.
type scan struct {
	from  uint64
	top   chain.Point
	own   accountSet
	found map[uint64][]sighting
}

func (s *scan) covers(height uint64) bool { return height >= s.from && height <= s.top.Height }

// scanned returns the blocks of a range of heights as the lists of a node without chunks have them;
// what it cannot read beyond the first one is left out. The caller has entered scanning.
func (n *node) scanned(ctx context.Context, nc *client.Client, from, to uint64, own func(context.Context) (accountSet, error)) ([]chain.Block, error) {
	var blocks []chain.Block
	for height := from; height <= to; height++ {
		b, err := n.block(ctx, nc, height, own)
		if err != nil && height == from {
			return nil, err
		}
		if err != nil || height > from && b.Parent != blocks[len(blocks)-1].Hash {
			break
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// block is one of them. Our accounts are asked for after the block is known to exist, so that none
// can be added between it and the question.
func (n *node) block(ctx context.Context, nc *client.Client, height uint64, own func(context.Context) (accountSet, error)) (chain.Block, error) {
	head, err := headerAt(ctx, nc, height)
	if err != nil {
		return chain.Block{}, err
	}
	ours, err := own(ctx)
	if err != nil {
		return chain.Block{}, err
	}
	if err := n.refresh(ctx, nc, head, ours); err != nil {
		return chain.Block{}, err
	}
	b, err := n.scan.block(head)
	if err != nil {
		n.scan = nil // what was gathered is wrong or of another line: ask again next time
	}
	return b, err
}

// refresh makes the scan serve the block: an older scan does if the line still holds its top and
// our accounts are the same.
func (n *node) refresh(ctx context.Context, nc *client.Client, head header, own accountSet) error {
	if s := n.scan; s != nil && s.covers(head.Height) && maps.Equal(s.own, own) {
		same, err := onLine(ctx, nc, s.top)
		if err != nil || same {
			return err
		}
	}
	s, err := gather(ctx, nc, head.Height, own)
	if err != nil {
		return err
	}
	// A line that changed in between would give the block of one line the transfers of another.
	if same, err := onLine(ctx, nc, head.Point); err != nil || !same {
		return cmp.Or(err, errReplaced)
	}
	n.scan = s
	return nil
}

// errReplaced reports a re-org during a read.
var errReplaced = errors.New("the snapshot chain changed while it was read")

// onLine reports whether the node's line still holds a block.
func onLine(ctx context.Context, nc *client.Client, p chain.Point) (bool, error) {
	b, err := nc.SnapshotBlockByHeight(ctx, p.Height)
	return b != nil && b.Hash.String() == p.Hash, err
}

// gather scans our accounts up to the newest snapshot block. Each use of the scan checks whether
// that block is still in the chain.
func gather(ctx context.Context, nc *client.Client, height uint64, own accountSet) (*scan, error) {
	top, err := latestHeader(ctx, nc)
	switch {
	case err != nil:
		return nil, err
	case top.Height < height:
		return nil, fmt.Errorf("snapshot block %d: %w", height, chain.ErrNotFound)
	}
	s := &scan{from: genesisHeight, top: top.Point, own: own, found: make(map[uint64][]sighting)}
	if height > scanMargin {
		s.from = height - scanMargin
	}
	return s, s.readAccounts(ctx, nc)
}

func (s *scan) readAccounts(ctx context.Context, nc *client.Client) error {
	ours := slices.SortedFunc(maps.Keys(s.own), func(a, b core.Address) int { return bytes.Compare(a[:], b[:]) })
	seen := make([][]sighting, len(ours))
	readers, ctx := errgroup.WithContext(ctx)
	readers.SetLimit(readersPerScan)
	for i, account := range ours {
		readers.Go(func() (err error) {
			r := &accountReader{client: nc, account: account, from: s.from, to: s.top.Height}
			seen[i], err = r.read(ctx)
			return err
		})
	}
	if err := readers.Wait(); err != nil {
		return err
	}
	for _, sighting := range slices.Concat(seen...) {
		s.found[sighting.height] = append(s.found[sighting.height], sighting)
	}
	return nil
}

// block puts together what was seen at a height. Everything must name this very snapshot block.
func (s *scan) block(head header) (chain.Block, error) {
	b := chain.Block{Point: head.Point, Parent: head.parent, Time: head.time}
	for _, seen := range s.found[head.Height] {
		switch {
		case seen.fault != nil:
			return chain.Block{}, seen.fault
		case seen.snapshot.String() != head.Hash:
			return chain.Block{}, fmt.Errorf("snapshot block %d: is %s, but %s confirmed a block of ours", head.Height, head.Hash, seen.snapshot)
		case seen.transfer != nil:
			b.Transfers = append(b.Transfers, *seen.transfer)
		default:
			b.OwnTxs = append(b.OwnTxs, *seen.ownTx)
		}
	}
	sortBlock(&b)
	return b, nil
}
