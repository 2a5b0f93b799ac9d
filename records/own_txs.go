package records

import (
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// OwnTxs are the transactions of our accounts as blocks show them.
type OwnTxs struct{ *Tx }

// OwnTxs returns the statements on own transactions.
func (tx *Tx) OwnTxs() OwnTxs { return OwnTxs{tx} }

type ownTxRow struct {
	Chain     string       `db:"chain"`
	Tx        string       `db:"tx"`
	BlockHash string       `db:"block_hash"`
	Height    uint64       `db:"height"`
	Account   string       `db:"account"`
	Number    uint64       `db:"number"`
	OK        bool         `db:"ok"`
	Void      bool         `db:"void"`
	Fee       chain.Amount `db:"fee"`
	Payee     string       `db:"payee"` // where it is asked for
	Value     chain.Amount `db:"value"`
	Members   string       `db:"members"`
}

func (r ownTxRow) ownTx() OwnTx {
	return OwnTx{
		Chain: chain.ID(r.Chain), BlockHash: r.BlockHash, Height: r.Height,
		OwnTx: chain.OwnTx{Account: r.Account, Number: r.Number, Tx: r.Tx, OK: r.OK, Void: r.Void, Fee: r.Fee, To: r.Payee, Value: r.Value, Members: outcomesOf(r.Members)},
	}
}

// outcomesOf reads the column members: one letter for each payment.
func outcomesOf(letters string) (list []chain.Outcome) {
	for _, b := range []byte(letters) {
		list = append(list, chain.Outcome(b))
	}
	return list
}

func lettersOf(list []chain.Outcome) string {
	letters := make([]byte, len(list))
	for i, o := range list {
		letters[i] = byte(o)
	}
	return string(letters)
}

// See is SeeAll of one.
func (tx OwnTxs) See(e OwnTx) error { return tx.SeeAll(e.Chain, []OwnTx{e}) }

// SeeAll stores our accounts' transactions in a block of the chain: the block at the cursor. The
// same own transaction in the same block is stored once. Their slots count as mined until the block
// leaves the chain.
func (tx OwnTxs) SeeAll(id chain.ID, list []OwnTx) error {
	if err := tx.seeOwnTxs(id, list); err != nil {
		return fmt.Errorf("storing %d effects on %s: %w", len(list), id, err)
	}
	return nil
}

func (tx OwnTxs) seeOwnTxs(id chain.ID, list []OwnTx) error {
	hashes, rows := make([]string, len(list)), make([][]any, len(list))
	for i, e := range list {
		hashes[i] = e.Tx
	}
	known, err := tx.ourHashes(id, hashes)
	if err != nil {
		return err
	}
	if err := tx.Coins().markSpent(id, list); err != nil {
		return err
	}
	for i, e := range list {
		_, ours := known[e.Tx]
		rows[i] = []any{string(id), e.Tx, e.BlockHash, e.Height, e.Account, e.Number, sqlstore.Bit(e.OK), sqlstore.Bit(e.Void), e.Fee, e.To, e.Value, lettersOf(e.Members), sqlstore.Bit(ours)}
	}
	err = tx.insert(`effects (chain, tx, block_hash, height, account, number, ok, void, fee, payee, value, members, known)`, rows, ` ON CONFLICT DO NOTHING`)
	if err != nil {
		return err
	}
	return tx.markMined(id, list, known)
}

// attemptSlot is the slot of an attempt of ours; empty for a cancellation, which has none.
type attemptSlot struct {
	Account string `db:"account"`
	Branch  uint64 `db:"lineage"`
	Number  uint64 `db:"number"`
}

// ourHashes returns those of a chain's hashes that we signed.
func (tx OwnTxs) ourHashes(id chain.ID, hashes []string) (map[string]attemptSlot, error) {
	out := map[string]attemptSlot{}
	err := sqlstore.InGroups(hashes, func(set string, in []any, _ int) error {
		in = append([]any{string(id)}, in...)
		var cancelled []string
		if err := tx.list(&cancelled, `SELECT hash FROM cancels WHERE chain = ? AND hash IN `+set, in...); err != nil {
			return err
		}
		for _, hash := range cancelled {
			out[hash] = attemptSlot{}
		}
		var rows []struct {
			attemptSlot
			Hash string `db:"hash"`
		}
		err := tx.list(&rows, `SELECT account, lineage, number, hash FROM attempts WHERE chain = ? AND hash IN `+set, in...)
		for _, r := range rows {
			out[r.Hash] = r.attemptSlot
		}
		return err
	})
	return out, err
}

// markMined marks the open slots of attempts as standing in the blocks that show them.
func (tx OwnTxs) markMined(id chain.ID, list []OwnTx, known map[string]attemptSlot) error {
	type run struct {
		account   string
		branch    uint64
		blockHash string
	}
	numbers := map[run][]uint64{}
	for _, e := range list {
		if a := known[e.Tx]; a.Account != "" {
			r := run{a.Account, a.Branch, e.BlockHash}
			numbers[r] = append(numbers[r], a.Number)
		}
	}
	for r, some := range numbers {
		err := sqlstore.InGroups(some, func(set string, in []any, _ int) error {
			_, err := tx.exec(`UPDATE slots SET mined_in = ? WHERE chain = ? AND account = ? AND lineage = ? AND state = 'open' AND number IN `+set,
				append([]any{r.blockHash, string(id), r.account, r.branch}, in...)...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// markKnown marks what an account did at a number as ours, because the transaction is about to be
// stored as a cancellation.
func (tx OwnTxs) markKnown(id chain.ID, account string, number uint64, hash string) error {
	_, err := tx.exec(`UPDATE effects SET known = 1 WHERE chain = ? AND account = ? AND number = ? AND tx = ?`, string(id), account, number, hash)
	return err
}

// MinedAt returns the height at which the chain contains a transaction of an account's number, and
// the fee that it took; false where no block contains it.
func (tx OwnTxs) MinedAt(id chain.ID, account string, number uint64, hash string) (height uint64, fee chain.Amount, found bool, err error) {
	var r struct {
		Height uint64       `db:"height"`
		Fee    chain.Amount `db:"fee"`
	}
	found, err = tx.get(&r, `SELECT e.height, e.fee FROM effects e WHERE e.chain = ? AND e.account = ? AND e.number = ? AND e.tx = ? AND (e.settled = 1
		OR EXISTS (SELECT 1 FROM blocks b WHERE b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1))`, string(id), account, number, hash)
	if err != nil {
		return 0, fee, false, fmt.Errorf("finding the block of %s on %s: %w", hash, id, err)
	}
	return r.Height, r.Fee, found, nil
}

// Unsettled returns the own transactions in final blocks of the line that were not acted on
// yet, by account and number: at most limit.
func (tx OwnTxs) Unsettled(id chain.ID, limit int) ([]OwnTx, error) {
	c, err := tx.Chains().Cursor(id)
	if err != nil {
		return nil, err
	}
	var rows []ownTxRow
	err = tx.list(&rows, `SELECT e.chain, e.tx, e.block_hash, e.height, e.account, e.number, e.ok, e.void, e.fee, e.members FROM effects e
		WHERE e.chain = ? AND e.settled = 0 AND e.height <= ?
		AND EXISTS (SELECT 1 FROM blocks b WHERE b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1)
		ORDER BY e.height, e.account, e.number LIMIT ? + 0`, string(id), c.Final.Height, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the unsettled effects of %s: %w", id, err)
	}
	out := make([]OwnTx, len(rows))
	for i, r := range rows {
		out[i] = r.ownTx()
	}
	return out, nil
}

// Of returns what an account did in final blocks, by number, from one number on: at most
// limit.
func (tx OwnTxs) Of(id chain.ID, account string, from uint64, limit int) ([]OwnTx, error) {
	var rows []ownTxRow
	err := tx.list(&rows, `SELECT chain, tx, block_hash, height, account, number, ok, void, fee FROM effects
		WHERE chain = ? AND account = ? AND number >= ? AND settled = 1 ORDER BY number LIMIT ? + 0`, string(id), account, from, limit)
	return sqlstore.Each(rows, ownTxRow.ownTx), sqlstore.Doing(err, "reading what %s on %s did", account, id)
}

// MarkSettled records that an own transaction was acted on. ErrConflict: it was already, or it is
// not stored.
func (tx OwnTxs) MarkSettled(e OwnTx) error {
	err := tx.change(`UPDATE effects SET settled = 1 WHERE chain = ? AND account = ? AND number = ? AND tx = ? AND block_hash = ? AND settled = 0`,
		string(e.Chain), e.Account, e.Number, e.Tx, e.BlockHash)
	if err != nil {
		return fmt.Errorf("marking the effect %s on %s: %w", e.Tx, e.Chain, err)
	}
	return nil
}

// PaidBefore sums the amounts of an asset that the account's transactions before an own transaction
// moved in the same block, by their payments. They are found by the height: an account may have
// made any number.
func (tx OwnTxs) PaidBefore(e OwnTx, asset chain.Asset) (sum chain.Amount, err error) {
	var rows []struct {
		Amount chain.Amount `db:"amount"`
	}
	err = tx.list(&rows, `SELECT p.amount FROM effects e JOIN attempts a ON a.hash = e.tx AND a.chain = e.chain
		JOIN slots s ON s.chain = a.chain AND s.account = a.account AND s.lineage = a.lineage AND s.number = a.number
		JOIN payments p ON p.id = s.payment_id
		WHERE e.chain = ? AND e.height = ? AND e.block_hash = ? AND e.account || '' = ? AND e.number < ? AND e.ok = 1 AND p.asset = ? AND a.kind <> 'cancel'`,
		string(e.Chain), e.Height, e.BlockHash, e.Account, e.Number, string(asset))
	for _, r := range rows {
		if err == nil {
			sum, err = sum.Add(r.Amount)
		}
	}
	if err != nil {
		return chain.Amount{}, fmt.Errorf("adding up what was paid before %s on %s: %w", e.Tx, e.Chain, err)
	}
	return sum, nil
}

// Inclusion counts transactions of ours and the blocks until their inclusion, each counted from our
// newest block when it was first signed.
type Inclusion struct {
	Count  uint64 `db:"count"`
	Blocks uint64 `db:"blocks"`
}

// inclusionSample bounds how many transactions of an account Inclusion reads.
const inclusionSample = 64

// Inclusion returns the inclusion of the newest transactions of accounts that were signed since a
// moment.
func (tx OwnTxs) Inclusion(id chain.ID, accounts []string, since time.Time) (sum Inclusion, err error) {
	for _, account := range accounts {
		var i Inclusion
		err := tx.one(&i, `SELECT COUNT(*) AS count, COALESCE(SUM(e.height - f.head), 0) AS blocks
			FROM (SELECT tx, height FROM effects WHERE chain = ? AND account = ? ORDER BY number DESC LIMIT ?) e
			JOIN attempts a ON a.chain = ? AND a.hash = e.tx
			JOIN attempts f ON f.chain = a.chain AND f.account = a.account AND f.lineage = a.lineage AND f.number = a.number AND f.seq = 0
			WHERE f.created_at >= ? AND e.height > f.head`, string(id), account, inclusionSample, string(id), since.UnixMilli())
		if err != nil {
			return Inclusion{}, fmt.Errorf("reading how soon transactions of %s on %s stood in blocks: %w", account, id, err)
		}
		sum.Count, sum.Blocks = sum.Count+i.Count, sum.Blocks+i.Blocks
	}
	return sum, nil
}
