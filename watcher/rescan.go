package watcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/control"
)

// maxRescans bounds how many ordered blocks a round reads again, so that following goes on meanwhile.
const maxRescans = 64

// DifferenceKind is how a block and the records differ.
type DifferenceKind string

// The kinds of differences. Only the first three are mended by booking the block again.
const (
	MissingTransfer DifferenceKind = "missing_transfer" // it came to us, and no record tells
	MissingOwn      DifferenceKind = "missing_own"      // an account of ours did it, and no record tells
	OtherBlock      DifferenceKind = "other_block"      // the records have it in another block, or as left behind
	OtherFacts      DifferenceKind = "other_facts"      // the records say something else of it
	NotOnChain      DifferenceKind = "not_on_chain"     // the records have it in this block, which does not show it
	OtherLine       DifferenceKind = "other_line"       // the records have another block at this height
)

// BlockDifference is a transfer or transaction of a block that the records lack or have otherwise.
type BlockDifference struct {
	chain.Point
	Kind   DifferenceKind
	Tx     string
	From   string
	To     string // account of ours, but for what it did itself
	Asset  chain.Asset
	Amount chain.Amount
	Record uint64 // id of the transfer in the records; 0 if there is none
}

// Mends reports whether booking the block again would mend it.
func (d BlockDifference) Mends() bool {
	return d.Kind == MissingTransfer || d.Kind == MissingOwn || d.Kind == OtherBlock
}

// ReadBlocks reads blocks of a chain from one height to another, some of them at least, as the daemon does: agreed and proven.
func (w *Watcher) ReadBlocks(ctx context.Context, id chain.ID, from, to uint64) ([]chain.Block, error) {
	blocks, err := w.followers[id].readRange(ctx, from, min(to, from+maxBlocks-1))
	read := newReadAhead()
	read.keep(blocks, from)
	if blocks = read.run(from); len(blocks) > 0 {
		return blocks, nil
	}
	return nil, err
}

// Compare tells how consecutive blocks differ from the records. forgotten is how many of them the records have no hash of any more.
func (w *Watcher) Compare(ctx context.Context, id chain.ID, blocks []chain.Block) (list []BlockDifference, forgotten int, err error) {
	err = w.Store.View(ctx, func(tx *records.Tx) error {
		list, forgotten = nil, 0
		for _, b := range blocks {
			found, known, err := w.compareBlock(tx, id, b)
			if err != nil {
				return fmt.Errorf("comparing block %d: %w", b.Height, err)
			}
			if !known {
				forgotten++
			}
			list = append(list, found...)
		}
		gone, err := notOnChain(tx, id, blocks)
		list = append(list, gone...)
		return err
	})
	return list, forgotten, err
}

func (w *Watcher) compareBlock(tx *records.Tx, id chain.ID, b chain.Block) (list []BlockDifference, known bool, err error) {
	ours, known, err := tx.BlockAt(id, b.Height)
	if err != nil {
		return nil, known, err
	}
	if known && ours != b.Hash {
		return []BlockDifference{{Point: b.Point, Kind: OtherLine, Tx: ours}}, known, nil
	}
	for _, t := range b.Transfers {
		d, differs, err := w.compareTransfer(tx, id, b, t)
		if err != nil {
			return nil, known, err
		}
		if differs {
			list = append(list, d)
		}
	}
	for _, e := range b.OwnTxs {
		stored, err := tx.HasOwnTx(records.OwnTx{Chain: id, BlockHash: b.Hash, Height: b.Height, OwnTx: e})
		if err != nil {
			return nil, known, err
		}
		if !stored {
			list = append(list, BlockDifference{Point: b.Point, Kind: MissingOwn, Tx: e.Tx, From: e.Account, To: e.To, Asset: chain.Native, Amount: e.Value})
		}
	}
	return list, known, nil
}

func (w *Watcher) compareTransfer(tx *records.Tx, id chain.ID, b chain.Block, t chain.Transfer) (d BlockDifference, differs bool, err error) {
	d = BlockDifference{Point: b.Point, Tx: t.Tx, From: t.From, To: t.To, Asset: t.Asset, Amount: t.Amount}
	known, err := tx.TransferByRef(id, t.Ref)
	if errors.Is(err, records.ErrNotFound) {
		_, concerns, err := w.classify(tx, id, t)
		d.Kind = MissingTransfer
		return d, concerns || errors.Is(err, errNoQuote), ignore(err, errNoQuote)
	}
	if err != nil {
		return d, false, err
	}
	d.Record = known.ID
	switch {
	case known.Tx != t.Tx || known.From != t.From || known.To != t.To || known.Asset != t.Asset || known.Amount != t.Amount ||
		known.Failed != t.Failed || !bytes.Equal(known.Memo.Raw, t.Memo.Raw):
		d.Kind = OtherFacts
	case known.State == records.Orphaned || known.BlockHash != b.Hash:
		d.Kind = OtherBlock
	default:
		return d, false, nil
	}
	return d, true, nil
}

func ignore(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// notOnChain finds the transfers that the records have in blocks which do not show them. What only balances show stands in no block.
func notOnChain(tx *records.Tx, id chain.ID, blocks []chain.Block) (list []BlockDifference, err error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	shown := map[string]bool{}
	hashes := map[string]chain.Point{}
	for _, b := range blocks {
		hashes[b.Hash] = b.Point
		for _, t := range b.Transfers {
			shown[t.Ref] = true
		}
	}
	last := blocks[len(blocks)-1].Height
	for height, after := blocks[0].Height, uint64(0); ; {
		page, err := tx.TransfersFrom(id, height, after, maxRows)
		if err != nil {
			return nil, err
		}
		for _, t := range page {
			if t.Height > last {
				return list, nil
			}
			height, after = t.Height, t.ID
			if at, ok := hashes[t.BlockHash]; ok && !shown[t.Ref] && !t.FoundByAudit() {
				list = append(list, BlockDifference{Point: at, Kind: NotOnChain, Tx: t.Tx, From: t.From, To: t.To, Asset: t.Asset, Amount: t.Amount, Record: t.ID})
			}
		}
		if len(page) < maxRows {
			return list, nil
		}
	}
}

// rescan reads the blocks again that operators have ordered, and books what the records miss of them. An order that the rules do not allow, or
// whose block no node gives, has failed: following does not wait for it.
func (f *follower) rescan(ctx context.Context) error {
	var open []control.Rescan
	err := f.Store.View(ctx, func(tx *records.Tx) (err error) {
		open, err = control.OpenRescans(tx, f.id, maxRescans)
		return err
	})
	if err != nil {
		return err
	}
	for _, o := range open {
		if err := f.rescanOne(ctx, o); err != nil {
			return fmt.Errorf("booking block %d again: %w", o.Height, err)
		}
	}
	return nil
}

func (f *follower) rescanOne(ctx context.Context, o control.Rescan) error {
	b, err := f.chain.Block(ctx, o.Height)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case err != nil:
		return f.endRescan(ctx, o, control.RescanFailed, "the nodes do not give this block: "+err.Error())
	case b.Hash != o.Hash:
		return f.endRescan(ctx, o, control.RescanFailed, "the nodes show another block now: "+b.Hash)
	}
	f.settled = chain.Head{}
	err = f.Store.Update(records.WithActor(ctx, o.Actor), func(tx *records.Tx) error {
		n, err := f.bookAgain(tx, b)
		if err != nil {
			return err
		}
		return control.EndRescan(tx, o, control.RescanDone, fmt.Sprintf("%d booked", n))
	})
	if err == nil || ctx.Err() != nil || errors.Is(err, records.ErrFenced) || errors.Is(err, records.ErrUnknownOutcome) {
		return err
	}
	return f.endRescan(ctx, o, control.RescanFailed, err.Error())
}

func (f *follower) endRescan(ctx context.Context, o control.Rescan, state control.RescanState, detail string) error {
	f.log.WithFields(logrus.Fields{"height": o.Height, "state": state}).Warn("rescan: " + detail)
	return f.Store.Update(records.WithActor(ctx, o.Actor), func(tx *records.Tx) error { return control.EndRescan(tx, o, state, detail) })
}

// bookAgain stores what the records miss of a block of the line, as the follower does with a new one. It changes nothing the second time.
func (f *follower) bookAgain(tx *records.Tx, b chain.Block) (booked int, err error) {
	if err := tx.EnsureBlock(f.id, b); err != nil {
		return 0, err
	}
	for _, t := range b.Transfers {
		changed, err := f.storeLateTransfer(tx, t, b)
		if err != nil {
			return 0, fmt.Errorf("transfer %s: %w", t.Ref, err)
		}
		booked += countIf(changed)
	}
	for _, e := range b.OwnTxs {
		changed, err := tx.SeeLateOwnTx(records.OwnTx{Chain: f.id, BlockHash: b.Hash, Height: b.Height, OwnTx: e})
		if err != nil {
			return 0, fmt.Errorf("our transaction %s: %w", e.Tx, err)
		}
		booked += countIf(changed)
	}
	return booked, nil
}

func countIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// storeLateTransfer is storeTransfer for a block that is read again: what came to an address before it was given to its user belongs to nobody.
func (f *follower) storeLateTransfer(tx *records.Tx, t chain.Transfer, b chain.Block) (changed bool, err error) {
	row, ok, err := f.classify(tx, f.id, t)
	if err != nil || !ok {
		return false, err
	}
	early, err := tx.BeforeAddress(f.id, t.To, b.Height)
	if err != nil {
		return false, err
	}
	if early && row.Owner != "" {
		row.Reason, row.Token, row.Owner, row.Payee, row.Net = records.ReasonBeforeAddress, "", "", "", chain.Amount{}
	}
	return f.storeRow(tx, row, b)
}
