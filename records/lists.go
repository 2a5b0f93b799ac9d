package records

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// maxPage bounds what one list answers.
const maxPage = 1000

func clampLimit(limit int) int { return min(max(limit, 1), maxPage) }

// Record returns one record by the id of its transfer, or ErrNotFound.
func (tx Transfers) Record(transferID uint64) (Record, error) {
	t, err := tx.Get(transferID)
	if err != nil {
		return Record{}, err
	}
	out, err := tx.RecordsOf([]Transfer{t})
	if err != nil {
		return Record{}, fmt.Errorf("reading record %d: %w", transferID, err)
	}
	return out[0], nil
}

// RecordsOf adds to transfers what became of them, in a fixed number of queries.
func (tx Transfers) RecordsOf(transfers []Transfer) ([]Record, error) {
	if len(transfers) == 0 {
		return nil, nil
	}
	ids := make([]uint64, len(transfers))
	for i, t := range transfers {
		ids[i] = t.ID
	}
	payments, err := tx.Payments().livePayments(ids)
	if err != nil {
		return nil, err
	}
	hashes, err := tx.Slots().NewestAttempts(ids)
	if err != nil {
		return nil, err
	}
	heads, err := tx.Chains().Heads()
	if err != nil {
		return nil, err
	}
	lost, err := tx.Orders().incidentLosses(transfers)
	if err != nil {
		return nil, err
	}
	out := make([]Record, len(transfers))
	for i, t := range transfers {
		c := heads[t.Chain]
		out[i] = Record{Transfer: t, Head: c.Head, FinalAt: c.Final.Height, At: tx.now}
		if l, ok := lost[t.ID]; ok {
			out[i].Loss = &l
		}
		for _, p := range payments[t.ID] {
			out[i].Add(&p, hashes[p.ID])
		}
	}
	return out, nil
}

// Heads returns the cursors by chain. Head is never below what was followed.
func (tx Chains) Heads() (map[chain.ID]Cursor, error) {
	cursors, err := tx.Cursors()
	if err != nil {
		return nil, err
	}
	out := make(map[chain.ID]Cursor, len(cursors))
	for _, c := range cursors {
		c.Head = max(c.Head, c.Height)
		out[c.Chain] = c
	}
	return out, nil
}

// Add hangs a payment of the transfer on its record. newest is the hash of its newest attempt that
// may still count.
func (r *Record) Add(p *Payment, newest string) {
	shown := newest
	if p.Tx != "" {
		shown = p.Tx
	}
	switch p.Purpose {
	case chain.Credit:
		r.Credit, r.CreditTx = p, shown
	case chain.Refund:
		r.Refund, r.RefundTx = p, shown
	case chain.Receive:
		r.Receive = p
	}
}

// livePayments returns the payments that are not void, by transfer.
func (tx Payments) livePayments(ids []uint64) (map[uint64][]Payment, error) {
	var rows []paymentRow
	err := tx.listIn(&rows, `SELECT `+paymentColumns+` FROM payments WHERE transfer_id IN (?) AND state <> 'void' ORDER BY id`, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[uint64][]Payment)
	for _, r := range rows {
		p := r.payment()
		out[p.TransferID] = append(out[p.TransferID], p)
	}
	return out, nil
}

// NewestAttempts returns the newest attempt of each payment in a slot that is not void.
func (tx Slots) NewestAttempts(ids []uint64) (map[uint64]string, error) {
	var rows []struct {
		PaymentID uint64 `db:"payment_id"`
		Hash      string `db:"hash"`
	}
	err := tx.listIn(&rows, `SELECT s.payment_id, a.hash FROM payments p JOIN slots s ON s.payment_id = p.id AND s.state <> 'void'
		JOIN attempts a ON a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number
		WHERE p.transfer_id IN (?) ORDER BY s.gen, a.seq`, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[uint64]string)
	for _, r := range rows {
		out[r.PaymentID] = r.Hash
	}
	return out, nil
}

// Busy returns the accounts of a chain with work: queued payments, slots in no block yet,
// or a recovery; by account. It finds accounts by index steps from one to the next among queued
// payments and unmined slots, not by reading all of them.
func (tx Accounts) Busy(id chain.ID) ([]Account, error) {
	var rows []accountRow
	err := tx.list(&rows, `WITH RECURSIVE
		queued (account) AS (SELECT * FROM (SELECT account FROM payments WHERE chain = ? AND state = 'queued' ORDER BY account LIMIT 1) q
			UNION ALL SELECT (SELECT p.account FROM payments p WHERE p.chain = ? AND p.state = 'queued' AND p.account > queued.account
				ORDER BY p.account LIMIT 1) FROM queued WHERE queued.account IS NOT NULL),
		unmined (account) AS (SELECT * FROM (SELECT account FROM slots WHERE chain = ? AND state = 'open' AND mined_in = '' ORDER BY account LIMIT 1) s
			UNION ALL SELECT (SELECT s.account FROM slots s WHERE s.chain = ? AND s.state = 'open' AND s.mined_in = '' AND s.account > unmined.account
				ORDER BY s.account LIMIT 1) FROM unmined WHERE unmined.account IS NOT NULL)
		SELECT `+accountColumns+` FROM accounts WHERE chain = ? AND account IN (
			SELECT account FROM queued UNION SELECT account FROM unmined UNION
			SELECT account FROM accounts WHERE chain = ? AND state IN ('halted','recovering') AND state = 'recovering')
		ORDER BY account`, string(id), string(id), string(id), string(id), string(id), string(id))
	return sqlstore.Each(rows, accountRow.account), sqlstore.Doing(err, "reading the busy accounts of %s", id)
}

// UnknownTx returns a transaction of an adopted account that is in a block of the chain, final or
// not, and that we never signed: another party has the key, or this database is behind its chain.
func (tx Recovery) UnknownTx(id chain.ID, account string) (hash string, found bool, err error) {
	found, err = tx.get(&hash, `SELECT e.tx FROM effects e
		WHERE e.chain = ? AND e.account = ? AND e.known = 0 AND e.settled = 0
		AND EXISTS (SELECT 1 FROM blocks b WHERE b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1)
		AND EXISTS (SELECT 1 FROM accounts a WHERE a.chain = e.chain AND a.account = e.account AND a.state <> 'new' AND e.number >= a.base)
		LIMIT 1`, string(id), account)
	return hash, found, sqlstore.Doing(err, "finding foreign transactions of %s on %s", account, id)
}

// From returns the transfers in blocks of a chain at or above a height, by height and ID;
// of that height only those with IDs above after.
func (tx Transfers) From(id chain.ID, height, after uint64, limit int) ([]Transfer, error) {
	out, err := tx.Where(`WHERE chain = ? AND height >= ? AND (height > ? OR id > ?) AND state <> 'orphaned' ORDER BY height, id LIMIT ? + 0`,
		string(id), height, height, after, limit)
	return out, sqlstore.Doing(err, "reading the transfers of %s from block %d", id, height)
}

// From returns what our accounts did in final blocks of a chain at or above a height, by
// height, account and number; of that height only what comes after a row of it. A zero row but for
// its height begins there.
func (tx OwnTxs) From(id chain.ID, after OwnTx, limit int) ([]OwnTx, error) {
	var rows []ownTxRow
	err := tx.list(&rows, `SELECT chain, tx, block_hash, height, account, number, ok, fee FROM effects
		WHERE chain = ? AND settled = 1 AND height >= ? AND (height > ? OR account > ? OR (account = ? AND number > ?))
		ORDER BY height, account, number LIMIT ? + 0`, string(id), after.Height, after.Height, after.Account, after.Account, after.Number, limit)
	return sqlstore.Each(rows, ownTxRow.ownTx), sqlstore.Doing(err, "reading the effects of %s from block %d", id, after.Height)
}
