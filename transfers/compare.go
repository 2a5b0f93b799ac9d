package transfers

import (
	"bytes"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// DifferenceKind is the kind of a difference between a block and the records.
type DifferenceKind string

// The kinds of differences. Booking the block again repairs only the first three.
const (
	MissingTransfer DifferenceKind = "missing_transfer" // it came to us, without a record
	MissingOwn      DifferenceKind = "missing_own"      // an account of ours did it, without a record
	OtherBlock      DifferenceKind = "other_block"      // the records have it in another block, or as left behind
	OtherFacts      DifferenceKind = "other_facts"      // the records differ
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
	Owner  string // of a missing transfer: its user
	Reason records.Reason
	Pays   bool // a missing transfer that is paid after it is booked and final, as far as is known now
}

// Mends reports whether booking the block again would repair it.
func (d BlockDifference) Mends() bool {
	return d.Kind == MissingTransfer || d.Kind == MissingOwn || d.Kind == OtherBlock
}

// maxRows bounds the transfers that are read at once.
const maxRows = 1000

// Compare returns how consecutive blocks differ from the records. forgotten counts the blocks whose
// hash the records do not have any more.
func (r Rules) Compare(tx *records.Tx, id chain.ID, blocks []chain.Block) (list []BlockDifference, forgotten int, err error) {
	for _, b := range blocks {
		found, known, err := r.compareBlock(tx, id, b)
		if err != nil {
			return nil, 0, fmt.Errorf("comparing block %d: %w", b.Height, err)
		}
		if !known {
			forgotten++
		}
		list = append(list, found...)
	}
	gone, err := notOnChain(tx, id, blocks)
	return append(list, gone...), forgotten, err
}

func (r Rules) compareBlock(tx *records.Tx, id chain.ID, b chain.Block) (list []BlockDifference, known bool, err error) {
	ours, known, err := tx.Chains().BlockAt(id, b.Height)
	if err != nil {
		return nil, known, err
	}
	if known && ours != b.Hash {
		return []BlockDifference{{Point: b.Point, Kind: OtherLine, Tx: ours}}, known, nil
	}
	for _, t := range b.Transfers {
		d, differs, err := r.compareTransfer(tx, id, b, t)
		if err != nil {
			return nil, known, err
		}
		if differs {
			list = append(list, d)
		}
	}
	for _, e := range b.OwnTxs {
		stored, err := tx.OwnTxs().Has(records.OwnTx{Chain: id, BlockHash: b.Hash, Height: b.Height, OwnTx: e})
		if err != nil {
			return nil, known, err
		}
		if !stored {
			list = append(list, BlockDifference{Point: b.Point, Kind: MissingOwn, Tx: e.Tx, From: e.Account, To: e.To, Asset: chain.Native, Amount: e.Value})
		}
	}
	return list, known, nil
}

func (r Rules) compareTransfer(tx *records.Tx, id chain.ID, b chain.Block, t chain.Transfer) (d BlockDifference, differs bool, err error) {
	d = BlockDifference{Point: b.Point, Tx: t.Tx, From: t.From, To: t.To, Asset: t.Asset, Amount: t.Amount}
	known, err := tx.Transfers().ByRef(id, t.Ref)
	if errors.Is(err, records.ErrNotFound) {
		row, concerns, err := r.Classify(tx, id, t)
		d.Kind, d.Owner, d.Reason = MissingTransfer, row.Owner, row.Reason
		d.Pays = err == nil && row.Direction != records.Funding && row.Reason == ""
		return d, concerns || errors.Is(err, ErrNoQuote), ignore(err, ErrNoQuote)
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

// notOnChain finds the transfers that the records have in blocks which do not show them. A transfer
// that only balances show is in no block.
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
		page, err := tx.Transfers().From(id, height, after, maxRows)
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
