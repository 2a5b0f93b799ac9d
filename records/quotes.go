package records

import (
	"fmt"
	"time"

	"gatewayd/chain"
)

// quoteLife is how long quotes are kept: far longer than any wallet holds one.
const quoteLife = 24 * time.Hour

type quoteRow struct {
	At   int64        `db:"at"`
	Cost chain.Amount `db:"cost"`
}

// AddQuote stores what paying a token out costs on its network now, in units of the token. Quotes older than a day are forgotten.
func (tx *Tx) AddQuote(network, token string, cost chain.Amount) error {
	_, err := tx.exec(`INSERT INTO quotes (network, token, at, cost) VALUES (?, ?, ?, ?) ON CONFLICT (network, token, at) DO UPDATE SET cost = excluded.cost`,
		network, token, tx.millis(), cost)
	if err == nil {
		_, err = tx.exec(`DELETE FROM quotes WHERE network = ? AND token = ? AND at < ?`, network, token, tx.now.Add(-quoteLife).UnixMilli())
	}
	if err != nil {
		return fmt.Errorf("storing a quote for %s on %s: %w", token, network, err)
	}
	return nil
}

// LatestQuote answers the newest cost and its time; false when there is none.
func (tx *Tx) LatestQuote(network, token string) (cost chain.Amount, at time.Time, found bool, err error) {
	var r quoteRow
	found, err = tx.get(&r, `SELECT at, cost FROM quotes WHERE network = ? AND token = ? ORDER BY at DESC LIMIT 1`, network, token)
	if err != nil {
		return chain.Amount{}, time.Time{}, false, fmt.Errorf("reading the quote for %s on %s: %w", token, network, err)
	}
	return r.Cost, timeOrZero(r.At), found, nil
}

// LowestQuote answers the lowest cost that was the current one at any time since a moment, the quote then in force included; false when there
// is none. It is what a wallet may have been told, so a user is never charged more.
func (tx *Tx) LowestQuote(network, token string, since time.Time) (cost chain.Amount, found bool, err error) {
	var rows []quoteRow
	err = tx.list(&rows, `SELECT at, cost FROM quotes WHERE network = ? AND token = ? AND at >= COALESCE(
		(SELECT MAX(at) FROM quotes WHERE network = ? AND token = ? AND at <= ?), 0)`, network, token, network, token, since.UnixMilli())
	if err != nil {
		return chain.Amount{}, false, fmt.Errorf("reading the quotes for %s on %s: %w", token, network, err)
	}
	for i, r := range rows {
		if i == 0 || r.Cost.Less(cost) {
			cost = r.Cost
		}
	}
	return cost, len(rows) > 0, nil
}
