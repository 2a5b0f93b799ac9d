package books

import (
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// Figures are counts for operators' instruments, which ask every few seconds. They read unfinished
// rows, and only the new part of the history since the last call.

// OpenTransfers are the transfers of a direction that are not decided: seen or held. Those of
// unknown tokens do not count.
type OpenTransfers struct {
	Network   string                `db:"network"`
	Direction records.Direction     `db:"direction"`
	State     records.TransferState `db:"state"`
	Count     uint64                `db:"count"`
	Oldest    time.Duration         // since the oldest of them was seen
}

// OpenTransfersOf counts transfers that wait for their depth or for an operator.
func OpenTransfersOf(tx *records.Tx) ([]OpenTransfers, error) {
	var rows []struct {
		OpenTransfers
		Since int64 `db:"since"`
	}
	err := tx.SQL().List(&rows, `SELECT network, direction, state, COUNT(*) AS count, MIN(seen_at) AS since FROM transfers t
		WHERE state IN ('seen','held') AND state <> 'final' AND NOT `+records.OfUnknownToken+` GROUP BY network, direction, state`)
	if err != nil {
		return nil, fmt.Errorf("counting open transfers: %w", err)
	}
	out := make([]OpenTransfers, len(rows))
	for i, r := range rows {
		out[i] = r.OpenTransfers
		out[i].Oldest = since(tx, r.Since)
	}
	return out, nil
}

// OpenPayments are the payments of one purpose that are not paid: queued, bound or held.
type OpenPayments struct {
	Network string               `db:"network"`
	Chain   chain.ID             `db:"chain"`
	Purpose chain.Purpose        `db:"purpose"`
	State   records.PaymentState `db:"state"`
	Count   uint64               `db:"count"`
	Oldest  time.Duration        // since the oldest of them was ordered
}

// OpenPaymentsOf counts payments on a chain that are not done with.
func OpenPaymentsOf(tx *records.Tx, id chain.ID) ([]OpenPayments, error) {
	var rows []struct {
		OpenPayments
		Since int64 `db:"since"`
	}
	err := tx.SQL().List(&rows, `SELECT network, purpose, state, COUNT(*) AS count, MIN(created_at) AS since FROM payments
		WHERE chain = ? AND state IN ('queued','held','bound') GROUP BY network, purpose, state`, string(id))
	if err != nil {
		return nil, fmt.Errorf("counting open payments of %s: %w", id, err)
	}
	out := make([]OpenPayments, len(rows))
	for i, r := range rows {
		out[i] = r.OpenPayments
		out[i].Chain, out[i].Oldest = id, since(tx, r.Since)
	}
	return out, nil
}

// UndecidedSlots are slots that no final block has decided.
type UndecidedSlots struct {
	State  string        `db:"state"` // unmined, mined, forked
	Count  uint64        `db:"count"`
	Oldest time.Duration // since the oldest of them was bound
}

// UndecidedSlotsOf counts the slots of a chain whose outcome is open.
func UndecidedSlotsOf(tx *records.Tx, id chain.ID) ([]UndecidedSlots, error) {
	var rows []struct {
		UndecidedSlots
		Since int64 `db:"since"`
	}
	err := tx.SQL().List(&rows, `SELECT CASE WHEN state = 'forked' THEN 'forked' WHEN mined_in = '' THEN 'unmined' ELSE 'mined' END AS state,
		COUNT(*) AS count, MIN(created_at) AS since FROM slots WHERE chain = ? AND state IN ('open','forked') GROUP BY 1`, string(id))
	if err != nil {
		return nil, fmt.Errorf("counting undecided slots of %s: %w", id, err)
	}
	out := make([]UndecidedSlots, len(rows))
	for i, r := range rows {
		out[i] = r.UndecidedSlots
		out[i].Oldest = since(tx, r.Since)
	}
	return out, nil
}

// Events are so many lines of the history about transfers or payments alike.
type Events struct {
	Network   string            `db:"network"`
	Direction records.Direction `db:"direction"` // of transfers
	Chain     string            `db:"chain"`     // of payments: where they are paid
	Purpose   string            `db:"purpose"`
	Event     string            `db:"event"`
	Count     uint64            `db:"count"`
}

// eventWindow bounds how many lines of the history one call counts.
const eventWindow = 10_000

// EventsSince counts the events of transfers and payments after a line of the history. It returns
// the last line read, from which the next call continues. One call reads ten thousand lines at
// most.
func EventsSince(tx *records.Tx, seq uint64) (transfers, payments []Events, upTo uint64, err error) {
	if upTo, err = HistoryEnd(tx); err == nil {
		upTo = min(upTo, seq+eventWindow)
		err = tx.SQL().List(&transfers, `SELECT t.network, t.direction, h.event, COUNT(*) AS count FROM history h
			JOIN transfers t ON t.id = CASE WHEN h.subject = 'transfer' THEN CAST(h.subject_id AS BIGINT) END
			WHERE h.seq > ? AND h.seq <= ? AND h.subject = 'transfer' GROUP BY t.network, t.direction, h.event`, seq, upTo)
	}
	if err == nil {
		err = tx.SQL().List(&payments, `SELECT p.network, p.chain, p.purpose, h.event, COUNT(*) AS count FROM history h
			JOIN payments p ON p.id = CASE WHEN h.subject = 'payment' THEN CAST(h.subject_id AS BIGINT) END
			WHERE h.seq > ? AND h.seq <= ? AND h.subject = 'payment' GROUP BY p.network, p.chain, p.purpose, h.event`, seq, upTo)
	}
	return transfers, payments, upTo, sqlstore.Doing(err, "counting the events after line %d", seq)
}

// UnknownTokensBetween counts the transfers of unknown tokens that were seen first in the lines of
// the history after one up to another.
func UnknownTokensBetween(tx *records.Tx, seq, upTo uint64) (seen []Events, err error) {
	err = tx.SQL().List(&seen, `SELECT t.network, t.chain, h.event, COUNT(*) AS count FROM history h
		JOIN transfers t ON t.id = CASE WHEN h.subject = 'transfer' THEN CAST(h.subject_id AS BIGINT) END
		WHERE h.seq > ? AND h.seq <= ? AND h.subject = 'transfer' AND h.event = 'seen' AND `+records.OfUnknownToken+` GROUP BY t.network, t.chain, h.event`, seq, upTo)
	return seen, sqlstore.Doing(err, "counting the transfers of unknown tokens after line %d", seq)
}

// CreditTime is the time from the sighting of a transfer to the finality of its credit or payout.
type CreditTime struct {
	Network   string            `db:"network"`
	Direction records.Direction `db:"direction"`
	Millis    int64             `db:"millis"`
}

// CreditTimesBetween returns the times of the credits that became final in the lines of the history
// after one up to another. A credit that a reorganization made final again does not count twice.
func CreditTimesBetween(tx *records.Tx, seq, upTo uint64) (times []CreditTime, err error) {
	err = tx.SQL().List(&times, `SELECT t.network, t.direction, h.at - t.seen_at AS millis FROM history h
		JOIN payments p ON p.id = CASE WHEN h.subject = 'payment' THEN CAST(h.subject_id AS BIGINT) END
		JOIN transfers t ON t.id = p.transfer_id
		WHERE h.seq > ? AND h.seq <= ? AND h.subject = 'payment' AND h.event = 'paid' AND p.purpose = 'credit' AND NOT EXISTS (
			SELECT 1 FROM history e WHERE e.subject = h.subject AND e.subject_id = h.subject_id AND e.seq < h.seq AND e.event = 'paid')`, seq, upTo)
	return times, sqlstore.Doing(err, "reading the times of credits after line %d", seq)
}

// FeesBetween sums what our own transactions paid for their blocks, of the canonical blocks of a
// chain above one height up to another.
func FeesBetween(tx *records.Tx, id chain.ID, above, upTo uint64) (sum chain.Amount, err error) {
	_, err = tx.SQL().Get(&sum, `SELECT amount_sum(e.fee) FROM effects e JOIN blocks b ON b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1
		WHERE e.chain = ? AND e.height > ? AND e.height <= ? GROUP BY e.chain`, string(id), above, upTo)
	return sum, sqlstore.Doing(err, "summing the fees on %s from block %d on", id, above)
}

// since returns the age of a stored time.
func since(tx *records.Tx, millis int64) time.Duration {
	return tx.SQL().Now().Sub(sqlstore.FromMillis(millis))
}
