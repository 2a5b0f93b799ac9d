package books

import (
	"database/sql/driver"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// Credit is a payment to a user as figures over time need it.
type Credit struct {
	Network string
	Token   string
	Chain   chain.ID // that it is paid on
	Asset   chain.Asset
	Amount  chain.Amount
	Queued  time.Time // when its transfer was final
	Paid    time.Time // zero until a final block has it
}

// CreditsSince hands f every credit that was queued since a moment, the oldest first, but of all
// payments only the newest. It returns the moment from which on the credits are complete.
func CreditsSince(tx *records.Tx, since time.Time, newest uint64, f func(Credit)) (from time.Time, err error) {
	last, err := tx.SQL().NewestID("payments")
	if err != nil {
		return since, sqlstore.Doing(err, "finding the newest payment")
	}
	first, err := firstPaymentSince(tx, since, last)
	if err != nil {
		return since, sqlstore.Doing(err, "finding the payments since %s", since)
	}
	from = since
	if last > newest && first <= last-newest {
		first = last - newest + 1
		if from, err = queuedAt(tx, first); err != nil {
			return from, err
		}
	}
	err = tx.SQL().Rows(`SELECT network, token, chain, asset, amount, created_at, CASE state WHEN 'paid' THEN changed_at ELSE 0 END FROM payments
		WHERE id >= ? AND purpose = 'credit' AND state <> 'void' ORDER BY id`, []any{int64(first)}, func(row []driver.Value) error {
		c := Credit{
			Network: row[0].(string), Token: row[1].(string), Chain: chain.ID(row[2].(string)), Asset: chain.Asset(row[3].(string)),
			Queued: sqlstore.FromMillis(row[5].(int64)), Paid: sqlstore.TimeOrZero(row[6].(int64)),
		}
		c.Amount, err = chain.ParseAmount(row[4].(string))
		f(c)
		return err
	})
	return from, sqlstore.Doing(err, "reading the credits since %s", since)
}

// firstPaymentSince finds the first payment that was queued since a moment, by halving: ids are
// given in the order of time. Where there is none it is the id after the last.
func firstPaymentSince(tx *records.Tx, since time.Time, last uint64) (uint64, error) {
	low, high := uint64(1), last+1
	for low < high {
		middle := low + (high-low)/2
		at, err := queuedAt(tx, middle)
		if err != nil {
			return 0, err
		}
		if at.Before(since) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// queuedAt is when a payment was queued; for an id that no payment has it is long ago.
func queuedAt(tx *records.Tx, id uint64) (time.Time, error) {
	var at int64
	_, err := tx.SQL().Get(&at, `SELECT created_at FROM payments WHERE id = ?`, id)
	return sqlstore.FromMillis(at), err
}
