package vite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// Bounds of what one account may cost a scan.
const (
	maxWaiting = 100_000 // sends in the unreceived list
	maxOwn     = 200_000 // own blocks since the start of the scan
	ownPage    = 500
	minPage    = 9 // a page of so few is not made smaller

	// The second pass over a long unreceived list has other page limits, far from those of the
	// first: see waiting.
	secondPass = 618
	// maxRepeats bounds the repeated reads of a long list because the account received meanwhile.
	maxRepeats = 8
)

// accountSet are accounts of ours.
type accountSet map[core.Address]bool

// sighting is something that concerns an account of ours with the place in the snapshot chain that
// the node gives it: a transfer, an own transaction, or the reason why a claimed transfer cannot be
// true.
type sighting struct {
	height   uint64
	snapshot core.Hash
	transfer *chain.Transfer
	ownTx    *chain.OwnTx
	fault    error
}

// accountReader gathers the sightings of one account that were confirmed first from height from to
// height to.
type accountReader struct {
	client   *client.Client
	account  core.Address
	from, to uint64

	sends  map[core.Hash]client.AccountBlock // to the account, placed within from..to
	named  []core.Hash                       // sends that the account has received
	ownTxs []sighting

	lowest    uint64 // place of the last own block looked at, once one was confirmed
	confirmed bool
}

// read reads the pending sends first and the own chain afterwards. A send that is received in
// between is then found in the second list; in the other order it would be found in neither.
func (r *accountReader) read(ctx context.Context) ([]sighting, error) {
	r.sends = make(map[core.Hash]client.AccountBlock)
	for _, step := range []func(context.Context) error{r.waiting, r.ownChain, r.received} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("reading account %s: %w", r.account, err)
		}
	}
	return append(r.transfers(), r.ownTxs...), nil
}

// waiting reads the unreceived list. It is ordered by hash and its pages shift when an item leaves
// it, so that an item at the start of the next page can be missed. Items leave because the account
// receives them: a list of several pages counts only if the account made no block meanwhile. They
// also leave because the node drops a send that is in no snapshot yet. Hence a second pass uses
// other page limits, since one item cannot be at the limit in both.
func (r *accountReader) waiting(ctx context.Context) error {
	for range maxRepeats {
		before, err := r.latest(ctx)
		if err != nil {
			return err
		}
		several, err := r.waitingPass(ctx, client.MaxPage)
		if err != nil || !several {
			return err
		}
		if _, err = r.waitingPass(ctx, secondPass); err != nil {
			return err
		}
		after, err := r.latest(ctx)
		if err != nil {
			return err
		}
		if before == after {
			return nil
		}
	}
	return errors.New("unreceived list: changed while it was read")
}

// latest is the hash of the account's newest block, zero without any.
func (r *accountReader) latest(ctx context.Context) (core.Hash, error) {
	b, err := r.client.LatestAccountBlock(ctx, r.account)
	if err != nil || b == nil {
		return core.Hash{}, err
	}
	return b.Hash, nil
}

// waitingPass reads all pages of a size once and reports whether there were several. Blocks with
// much data can make a page larger than the response limit: then it begins again with smaller
// pages.
func (r *accountReader) waitingPass(ctx context.Context, size int) (several bool, err error) {
	for page := 0; page*size < maxWaiting; page++ {
		list, err := r.client.UnreceivedBlocks(ctx, r.account, page, size)
		switch {
		case errors.Is(err, client.ErrTooLarge) && size > minPage:
			return r.waitingPass(ctx, size/10)
		case err != nil:
			return false, err
		case len(list) > size:
			return false, fmt.Errorf("unreceived list: %d blocks on a page of %d", len(list), size)
		}
		for i := range list {
			if err := r.keepSend(&list[i]); err != nil {
				return false, err
			}
		}
		if len(list) < size {
			return page > 0, nil
		}
	}
	return false, fmt.Errorf("unreceived list: longer than %d blocks", maxWaiting)
}

func (r *accountReader) keepSend(b *client.AccountBlock) error {
	height, _, ok, err := place(b)
	if err == nil && ok && height >= r.from && height <= r.to {
		r.sends[b.Hash] = *b
	}
	return err
}

// ownChain reads the account's own blocks from the newest down to the first one that was confirmed
// before from: an account's blocks are confirmed in their order, and a send never after the block
// that receives it.
func (r *accountReader) ownChain(ctx context.Context) error {
	latest, err := r.client.LatestAccountBlock(ctx, r.account)
	if err != nil || latest == nil {
		return err
	}
	height, hash, list := latest.Height, latest.Hash, []client.AccountBlock{*latest}
	for {
		for i := range list {
			if err := checkOwn(&list[i], r.account, height, hash); err != nil {
				return err
			}
			done, err := r.keepOwn(&list[i])
			if err != nil || done || height <= 1 {
				return err
			}
			height, hash = height-1, list[i].PreviousHash
		}
		if latest.Height-height > maxOwn {
			return fmt.Errorf("own blocks: more than %d since snapshot block %d", maxOwn, r.from)
		}
		if list, err = r.client.AccountBlocks(ctx, r.account, &hash, nil, ownPage); err != nil {
			return err
		}
		if len(list) == 0 || len(list) > ownPage {
			return fmt.Errorf("own blocks: %d on a page of 1 to %d that begins at height %d", len(list), ownPage, height)
		}
	}
}

// keepOwn notes an own block, and reports whether it and all before it lie before the range.
func (r *accountReader) keepOwn(b *client.AccountBlock) (done bool, err error) {
	height, snapshot, ok, err := place(b)
	switch {
	case err != nil:
		return false, err
	case r.confirmed && (!ok || height > r.lowest):
		return false, fmt.Errorf("own block at height %d: confirmed after a later one", b.Height)
	case ok:
		r.confirmed, r.lowest = true, height
	}
	if ok && height < r.from {
		return true, nil
	}
	if b.BlockType == core.Receive {
		r.named = append(r.named, b.SendBlockHash)
	}
	if ok && height <= r.to && b.BlockType != core.GenesisReceive {
		ownTx := ownTxOf(b)
		r.ownTxs = append(r.ownTxs, sighting{height: height, snapshot: snapshot, ownTx: &ownTx})
	}
	return false, nil
}

// received reads the sends that the account's own blocks name. The signed blocks contain their
// hashes.
func (r *accountReader) received(ctx context.Context) error {
	missing := slices.DeleteFunc(r.named, func(h core.Hash) bool { _, known := r.sends[h]; return known })
	for part := range slices.Chunk(missing, client.MaxPage) {
		blocks, err := r.client.AccountBlocksByHash(ctx, part)
		if err != nil {
			return err
		}
		for i, b := range blocks {
			if b == nil || b.Hash != part[i] {
				return fmt.Errorf("received send %s: the node does not show it", part[i])
			}
			if err := r.keepSend(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// transfers are the sends from other accounts. What moves nothing is no transfer.
func (r *accountReader) transfers() []sighting {
	found := make([]sighting, 0, len(r.sends))
	for _, b := range r.sends {
		s := sighting{height: b.FirstSnapshotHeight, snapshot: *b.FirstSnapshotHash}
		if s.fault = checkSend(&b, r.account); s.fault == nil {
			if b.Address == r.account || b.Amount.IsZero() {
				continue
			}
			s.transfer = transferOf(&b)
		}
		found = append(found, s)
	}
	return found
}
