package signguard

import (
	"context"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

const linkSchema = `CREATE TABLE IF NOT EXISTS links (
	chain TEXT NOT NULL, account TEXT NOT NULL, lineage BIGINT NOT NULL, number BIGINT NOT NULL, hash TEXT NOT NULL,
	PRIMARY KEY (chain, account, lineage, number, hash));`

// checkLinks refuses a block that does not link to the previous signed one in its branch, and
// stores the hashes of the others. Decide ends a branch from a number on, which is correct only for
// linked blocks. Otherwise a caller could have a block signed behind another branch's, end its own
// branch below it, and have its payment signed again. A block may be signed again with another
// hash, for its proof of work.
func checkLinks(ctx context.Context, t session, id chain.ID, group []Signature) error {
	line := group[0].Slot
	if line.Branch == 0 || !group[0].Evidence {
		return nil
	}
	before := slices.Clone(group)
	for i, w := range before {
		if w.Slot.Nonce == 0 {
			return w.withSlot(id, fmt.Errorf("%w: a block of a linked ledger has no number 0", ErrRefused))
		}
		before[i].Slot.Nonce--
	}
	signed, err := signedAt(ctx, t, id, before)
	if err != nil {
		return err
	}
	hashes, err := hashesAt(ctx, t, id, before)
	if err != nil {
		return err
	}
	var begins []uint64
	if err := t.all(ctx, &begins, `SELECT number FROM guard WHERE chain = ? AND account = ? AND lineage = ? AND number >= 0 ORDER BY number LIMIT 1`, // with a bound, so that both engines seek
		string(id), line.Account, line.Branch); err != nil {
		return err
	}
	rows := make([][]any, len(group))
	for i, w := range group {
		number := w.Slot.Nonce
		if len(begins) == 0 {
			begins = []uint64{number}
		}
		_, unlinked := signed[number-1] // before hashes were kept
		known := hashes[number-1]
		if !slices.Contains(known, w.Slot.Prev) && (len(known) > 0 || !unlinked && number != begins[0]) {
			return w.withSlot(id, fmt.Errorf("%w: the block does not follow what was signed before it in its line", ErrRefused))
		}
		hashes[number] = append(hashes[number], w.Hash)
		rows[i] = []any{string(id), w.Slot.Account, w.Slot.Branch, number, w.Hash}
	}
	_, err = t.insert(ctx, `links (chain, account, lineage, number, hash)`, rows, ` ON CONFLICT DO NOTHING`)
	return err
}

// hashesAt returns the hashes of what was signed at the numbers of a group, which is not empty.
func hashesAt(ctx context.Context, t session, id chain.ID, group []Signature) (map[uint64][]string, error) {
	hashes, at := map[uint64][]string{}, group[0].Slot
	return hashes, sqlstore.InGroups(numbersOf(group), func(set string, in []any, _ int) error {
		var rows []struct {
			Number uint64 `db:"number"`
			Hash   string `db:"hash"`
		}
		err := t.all(ctx, &rows, `SELECT number, hash FROM links WHERE chain = ? AND account = ? AND lineage = ? AND number IN `+set,
			append([]any{string(id), at.Account, at.Branch}, in...)...)
		for _, r := range rows {
			hashes[r.Number] = append(hashes[r.Number], r.Hash)
		}
		return err
	})
}
