package records

import (
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/policy"
)

// What operators decide of tokens, as transfers freeze it (package policy).
type (
	Network = policy.Network
	Token   = policy.Token
	Policy  = policy.Policy
	Depth   = policy.Depth
	Fee     = policy.Fee
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

// QuotesSince answers the lowest and the highest cost that was the current one at any time since a moment, the quote then in force included;
// false when there is none. It is what a wallet may have been told: a user is charged the lowest, and may have sent what fits the highest.
func (tx *Tx) QuotesSince(network, token string, since time.Time) (lowest, highest chain.Amount, found bool, err error) {
	var rows []quoteRow
	err = tx.list(&rows, `SELECT at, cost FROM quotes WHERE network = ? AND token = ? AND at >= COALESCE(
		(SELECT MAX(at) FROM quotes WHERE network = ? AND token = ? AND at <= ?), 0)`, network, token, network, token, since.UnixMilli())
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
