package records

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"gatewayd/chain"
)

// Figures are counts for operators' instruments, which ask every few seconds: they look at what is not done with, and of the history at what is new
// since they were asked last.

// OpenTransfers are the transfers of a direction that are not decided: seen or held.
type OpenTransfers struct {
	Network   string
	Direction Direction
	State     TransferState
	Count     uint64
	Oldest    time.Duration // since the oldest of them was seen
}

// OpenTransfers counts transfers that wait for their depth or for an operator.
func (tx *Tx) OpenTransfers() ([]OpenTransfers, error) {
	var rows []struct {
		Network   string `db:"network"`
		Direction string `db:"direction"`
		State     string `db:"state"`
		Count     uint64 `db:"count"`
		Since     int64  `db:"since"`
	}
	err := tx.list(&rows, `SELECT network, direction, state, COUNT(*) AS count, MIN(seen_at) AS since FROM transfers
		WHERE state IN ('seen','held') AND state <> 'final' GROUP BY network, direction, state`)
	if err != nil {
		return nil, fmt.Errorf("counting open transfers: %w", err)
	}
	out := make([]OpenTransfers, len(rows))
	for i, r := range rows {
		out[i] = OpenTransfers{r.Network, Direction(r.Direction), TransferState(r.State), r.Count, tx.since(r.Since)}
	}
	return out, nil
}

// OpenPayments are the payments of one purpose that are not paid: queued, bound or held.
type OpenPayments struct {
	Network string
	Chain   chain.ID
	Purpose chain.Purpose
	State   PaymentState
	Count   uint64
	Oldest  time.Duration // since the oldest of them was ordered
}

// OpenPayments counts payments on a chain that are not done with.
func (tx *Tx) OpenPayments(id chain.ID) ([]OpenPayments, error) {
	var rows []struct {
		Network string `db:"network"`
		Purpose string `db:"purpose"`
		State   string `db:"state"`
		Count   uint64 `db:"count"`
		Since   int64  `db:"since"`
	}
	err := tx.list(&rows, `SELECT network, purpose, state, COUNT(*) AS count, MIN(created_at) AS since FROM payments
		WHERE chain = ? AND state IN ('queued','held','bound') GROUP BY network, purpose, state`, string(id))
	if err != nil {
		return nil, fmt.Errorf("counting open payments of %s: %w", id, err)
	}
	out := make([]OpenPayments, len(rows))
	for i, r := range rows {
		out[i] = OpenPayments{r.Network, id, chain.Purpose(r.Purpose), PaymentState(r.State), r.Count, tx.since(r.Since)}
	}
	return out, nil
}

// UndecidedSlots are slots that no final block has decided.
type UndecidedSlots struct {
	State  string // unmined, mined, forked
	Count  uint64
	Oldest time.Duration // since the oldest of them was bound
}

// UndecidedSlots counts the slots of a chain whose outcome is open.
func (tx *Tx) UndecidedSlots(id chain.ID) ([]UndecidedSlots, error) {
	var rows []struct {
		State string `db:"state"`
		Count uint64 `db:"count"`
		Since int64  `db:"since"`
	}
	err := tx.list(&rows, `SELECT CASE WHEN state = 'forked' THEN 'forked' WHEN mined_in = '' THEN 'unmined' ELSE 'mined' END AS state,
		COUNT(*) AS count, MIN(created_at) AS since FROM slots WHERE chain = ? AND state IN ('open','forked') GROUP BY 1`, string(id))
	if err != nil {
		return nil, fmt.Errorf("counting undecided slots of %s: %w", id, err)
	}
	out := make([]UndecidedSlots, len(rows))
	for i, r := range rows {
		out[i] = UndecidedSlots{r.State, r.Count, tx.since(r.Since)}
	}
	return out, nil
}

// Events are so many lines of the history about transfers or payments alike.
type Events struct {
	Network   string    `db:"network"`
	Direction Direction `db:"direction"` // of transfers
	Chain     string    `db:"chain"`     // of payments: where they are paid
	Purpose   string    `db:"purpose"`
	Event     string    `db:"event"`
	Count     uint64    `db:"count"`
}

// eventWindow bounds how many lines of the history one call counts.
const eventWindow = 10_000

// EventsSince counts what became of transfers and payments after a line of the history, and answers the line up to which it has looked: with it the
// next call goes on. One call looks through ten thousand lines at most.
func (tx *Tx) EventsSince(seq uint64) (transfers, payments []Events, upTo uint64, err error) {
	if upTo, err = tx.HistoryEnd(); err == nil {
		upTo = min(upTo, seq+eventWindow)
		err = tx.list(&transfers, `SELECT t.network, t.direction, h.event, COUNT(*) AS count FROM history h
			JOIN transfers t ON t.id = CASE WHEN h.subject = 'transfer' THEN CAST(h.subject_id AS BIGINT) END
			WHERE h.seq > ? AND h.seq <= ? AND h.subject = 'transfer' GROUP BY t.network, t.direction, h.event`, seq, upTo)
	}
	if err == nil {
		err = tx.list(&payments, `SELECT p.network, p.chain, p.purpose, h.event, COUNT(*) AS count FROM history h
			JOIN payments p ON p.id = CASE WHEN h.subject = 'payment' THEN CAST(h.subject_id AS BIGINT) END
			WHERE h.seq > ? AND h.seq <= ? AND h.subject = 'payment' GROUP BY p.network, p.chain, p.purpose, h.event`, seq, upTo)
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("counting the events after line %d: %w", seq, err)
	}
	return transfers, payments, upTo, nil
}

// FeesBetween sums what our own transactions paid for their blocks, of the canonical blocks of a chain above one height up to another.
func (tx *Tx) FeesBetween(id chain.ID, above, upTo uint64) (sum chain.Amount, err error) {
	_, err = tx.get(&sum, `SELECT amount_sum(e.fee) FROM effects e JOIN blocks b ON b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1
		WHERE e.chain = ? AND e.height > ? AND e.height <= ? GROUP BY e.chain`, string(id), above, upTo)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("summing the fees on %s from block %d on: %w", id, above, err)
	}
	return sum, nil
}

// since is how long ago a stored time is.
func (tx *Tx) since(millis int64) time.Duration { return tx.now.Sub(fromMillis(millis)) }

// Size is how many bytes the database takes on its disk: the file with its log, or what the server says.
func (s *Store) Size(ctx context.Context) (bytes int64, err error) {
	if s.engine.file == "" {
		err = s.db.Reads.GetContext(ctx, &bytes, "SELECT pg_database_size(current_database())")
		return bytes, err
	}
	for _, name := range []string{s.engine.file, s.engine.file + "-wal"} {
		info, failed := os.Stat(name)
		if failed != nil && !os.IsNotExist(failed) {
			err = cmp.Or(err, failed)
		} else if failed == nil {
			bytes += info.Size()
		}
	}
	return bytes, err
}
