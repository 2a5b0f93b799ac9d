package records

import (
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// life is the lifetime of quotes: far longer than any wallet holds one.
const life = 24 * time.Hour

type row struct {
	At   int64        `db:"at"`
	Cost chain.Amount `db:"cost"`
}

// Add stores what paying a token out costs on its network now, in units of the token. Quotes older
// than a day are forgotten.
func AddQuote(tx *Tx, network, token string, cost chain.Amount) error {
	now := tx.SQL().Millis()
	_, err := tx.SQL().Exec(`INSERT INTO quotes (network, token, at, cost) VALUES (?, ?, ?, ?) ON CONFLICT (network, token, at) DO UPDATE SET cost = excluded.cost`,
		network, token, now, cost)
	if err == nil {
		_, err = tx.SQL().Exec(`DELETE FROM quotes WHERE network = ? AND token = ? AND at < ?`, network, token, now-life.Milliseconds())
	}
	return sqlstore.Doing(err, "storing a quote for %s on %s", token, network)
}

// Since returns the lowest and the highest cost in force at any time since a moment, the quote then
// in force included; false when there is none. Quotes of a clock that was ahead do not count until
// their time. A wallet may have received any of them: a user is charged the lowest, and may have
// sent an amount that fits the highest.
func QuotesSince(tx *Tx, network, token string, since time.Time) (lowest, highest chain.Amount, found bool, err error) {
	var rows []row
	err = tx.SQL().List(&rows, `SELECT at, cost FROM quotes WHERE network = ? AND token = ? AND at <= ? AND at >= COALESCE(
		(SELECT MAX(at) FROM quotes WHERE network = ? AND token = ? AND at <= ?), 0)`, network, token, tx.SQL().Millis(), network, token, since.UnixMilli())
	if err != nil {
		return lowest, highest, false, fmt.Errorf("reading the quotes for %s on %s: %w", token, network, err)
	}
	for i, r := range rows {
		if i == 0 || r.Cost.Less(lowest) {
			lowest = r.Cost
		}
		if highest.Less(r.Cost) {
			highest = r.Cost
		}
	}
	return lowest, highest, len(rows) > 0, nil
}
