package books

import (
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// AssetSum adds up payments of an account to users in one asset.
type AssetSum struct {
	Asset  chain.Asset  `db:"asset"`
	Count  uint64       `db:"count"`
	Amount chain.Amount `db:"amount"`
	Oldest time.Time    // when the first of them was queued
}

const assetSums = `SELECT p.asset, COUNT(*) AS count, amount_sum(p.amount) AS amount, MIN(p.created_at) AS oldest `

func sumAssets(tx *records.Tx, from string, args ...any) ([]AssetSum, error) {
	var rows []struct {
		AssetSum
		Oldest int64 `db:"oldest"`
	}
	err := tx.SQL().List(&rows, assetSums+from+` GROUP BY p.asset ORDER BY p.asset`, args...)
	out := make([]AssetSum, len(rows))
	for i, r := range rows {
		out[i] = r.AssetSum
		out[i].Oldest = sqlstore.FromMillis(r.Oldest)
	}
	return out, err
}

const pending = `FROM payments p
	WHERE p.chain = ? AND p.account = ? AND p.purpose IN ('credit','refund') AND p.state IN ('queued','held','bound')
	AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'open' AND s.mined_in <> '')`

// OldestPending returns the transfer of the account's oldest pending payment in an asset, of those
// in Backlog, and when it was queued; 0 for none.
func OldestPending(tx *records.Tx, id chain.ID, account string, asset chain.Asset) (transfer uint64, at time.Time, err error) {
	var row struct {
		Transfer uint64 `db:"transfer_id"`
		At       int64  `db:"created_at"`
	}
	_, err = tx.SQL().Get(&row, `SELECT p.transfer_id, p.created_at `+pending+` AND p.asset = ? ORDER BY p.created_at, p.id LIMIT 1`, string(id), account, string(asset))
	return row.Transfer, sqlstore.FromMillis(row.At), sqlstore.Doing(err, "finding the oldest pending payment of %s on %s", account, id)
}

// Backlog returns what an account has still to pay to users: credits and refunds that are queued,
// held, or bound and in no block yet.
func Backlog(tx *records.Tx, id chain.ID, account string) ([]AssetSum, error) {
	sums, err := sumAssets(tx, pending, string(id), account)
	return sums, sqlstore.Doing(err, "adding up the pending payments of %s on %s", account, id)
}

// SignedSince returns the credits and refunds that an account has signed since a moment. Its cost
// depends on how many they are.
func SignedSince(tx *records.Tx, id chain.ID, account string, since time.Time) (sums []AssetSum, err error) {
	first, err := firstSlotSince(tx, id, account, since)
	if err == nil {
		sums, err = sumAssets(tx, `FROM slots s JOIN payments p ON p.id = s.payment_id
			WHERE s.chain = ? AND s.account = ? AND s.lineage = ? AND s.number >= ? AND s.state IN ('open','paid') AND p.purpose IN ('credit','refund')`,
			string(id), account, first.Branch, first.Number)
	}
	return sums, sqlstore.Doing(err, "adding up the signed payments of %s on %s", account, id)
}

type slotPlace struct {
	Branch uint64 `db:"lineage"`
	Number uint64 `db:"number"`
	At     int64  `db:"created_at"`
}

// firstSlotSince finds the first slot of an account's present branch that was bound since a moment,
// by halving: numbers grow with time. Where there is none it is the number after the last.
func firstSlotSince(tx *records.Tx, id chain.ID, account string, since time.Time) (slotPlace, error) {
	var last slotPlace
	const of = `SELECT lineage, number, created_at FROM slots WHERE chain = ? AND account = ? `
	found, err := tx.SQL().Get(&last, of+`ORDER BY lineage DESC, number DESC LIMIT 1`, string(id), account)
	if err != nil || !found {
		return slotPlace{}, err
	}
	low, high := uint64(0), last.Number+1
	for low < high {
		var next slotPlace
		middle := low + (high-low)/2
		if err := tx.SQL().One(&next, of+`AND lineage = ? AND number >= ? ORDER BY number LIMIT 1`, string(id), account, last.Branch, middle); err != nil {
			return slotPlace{}, err
		}
		if sqlstore.FromMillis(next.At).Before(since) {
			low = next.Number + 1
		} else {
			high = middle
		}
	}
	return slotPlace{Branch: last.Branch, Number: low}, nil
}
