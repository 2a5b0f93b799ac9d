package vite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
)

const (
	// scanMargin is how far below the asked height a scan begins, so that heights asked out of order, or again after a re-org, need
	// no scan of their own.
	scanMargin = 16
	// readersPerScan is the number of accounts read at once.
	readersPerScan = 4
	// blockPatience is how many times as long as one call a whole block may take: a scan makes many calls.
	blockPatience = 15
)

// Block answers the snapshot block at a height with the transfers and effects that it confirmed first, as more than half of the
// nodes show them. Zero amounts, genesis and sends between our own accounts are no transfers. What a user sent is proven by hash
// and signature: a node that shows a send whose hash does not fit, or that lies about the place of one, makes the block
// ErrUnavailable.
func (c *Chain) Block(ctx context.Context, height uint64) (chain.Block, error) {
	ctx, cancel := context.WithTimeout(ctx, blockPatience*c.cfg.Timeout)
	defer cancel()
	b, err := agreed(ctx, c, blockIdentity,
		func(ctx context.Context, n *node, nc *client.Client) (chain.Block, error) {
			return n.block(ctx, nc, height, c.ourAccounts)
		})
	if err != nil {
		return chain.Block{}, fmt.Errorf("reading block %d of %s: %w", height, c.cfg.ID, err)
	}
	return b, nil
}

// blockIdentity is equal for equal blocks: the struct holds nothing that JSON leaves out.
func blockIdentity(b chain.Block) string {
	text, err := json.Marshal(b)
	if err != nil {
		panic("vite: a block as JSON: " + err.Error())
	}
	return string(text)
}

// scan is everything that concerns our accounts from one snapshot height up to the newest at that moment.
type scan struct {
	from  uint64
	top   chain.Point
	own   accountSet
	found map[uint64][]sighting
}

func (s *scan) covers(height uint64) bool { return height >= s.from && height <= s.top.Height }

// block reads one block from this node. Our accounts are asked for after the block is known to exist, so that none can be added
// between it and the question.
func (n *node) block(ctx context.Context, nc *client.Client, height uint64, own func(context.Context) (accountSet, error)) (chain.Block, error) {
	if err := enter(ctx, n.scanning); err != nil {
		return chain.Block{}, err
	}
	defer leave(n.scanning)
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

// refresh makes the scan serve the block: an older scan does if the line still holds its top and our accounts are the same.
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

// errReplaced tells of a re-org in the middle of our reading.
var errReplaced = errors.New("the snapshot chain changed while it was read")

// onLine tells whether the node's line still holds a block.
func onLine(ctx context.Context, nc *client.Client, p chain.Point) (bool, error) {
	b, err := nc.SnapshotBlockByHeight(ctx, p.Height)
	return b != nil && b.Hash.String() == p.Hash, err
}

// gather scans our accounts up to the newest snapshot block. Whether that block still stands is looked at whenever the scan is used.
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
			r := &accountReader{client: nc, account: account, own: s.own, from: s.from, to: s.top.Height}
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
			b.Effects = append(b.Effects, *seen.effect)
		}
	}
	slices.SortFunc(b.Transfers, func(x, y chain.Transfer) int { return cmp.Compare(x.Ref, y.Ref) })
	slices.SortFunc(b.Effects, func(x, y chain.Effect) int {
		return cmp.Or(cmp.Compare(x.Account, y.Account), cmp.Compare(x.Number, y.Number))
	})
	return b, nil
}
