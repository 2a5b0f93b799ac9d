package records

import (
	"fmt"

	"gatewayd/chain"
)

// Wait is what of a token's payouts waits for one reason.
type Wait struct {
	Token   string
	Reason  string // WaitsNoCoin or WaitsFeeCeiling
	Count   uint64
	Account string // one of the accounts that they are to be paid from
	All     bool   // no payout of the token is queued that does not wait
}

// NoteWaiting stores why a queued payment waits, for people: it changes nothing about the payment, and binding it clears the note. ErrConflict: it
// is not queued.
func (tx *Tx) NoteWaiting(id uint64, reason string) error {
	err := tx.change(`UPDATE payments SET reason = ?, changed_at = ? WHERE id = ? AND state = 'queued'`, note(reason), tx.millis(), id)
	if err == nil {
		err = tx.logPayment(id, string(Queued), reason)
	}
	if err != nil {
		return fmt.Errorf("noting why payment %d waits: %w", id, err)
	}
	return nil
}

// Waits answers which of a network's payouts on its source chain wait, and for what, by token and reason.
func (tx *Tx) Waits(network string, source chain.ID) ([]Wait, error) {
	var rows []struct {
		Token   string `db:"token"`
		Reason  string `db:"reason"`
		Count   uint64 `db:"count"`
		Account string `db:"account"`
		Asset   string `db:"asset"`
	}
	err := tx.list(&rows, `SELECT token, reason, COUNT(*) AS count, MIN(account) AS account, MIN(asset) AS asset FROM payments
		WHERE network = ? AND state = 'queued' AND reason <> '' AND reason IN ('no_coin','fee_ceiling') AND purpose = 'credit' AND chain = ?
		GROUP BY token, reason ORDER BY token, reason`, network, string(source))
	out := make([]Wait, len(rows))
	for i, r := range rows {
		if err != nil {
			break
		}
		out[i] = Wait{Token: r.Token, Reason: r.Reason, Count: r.Count, Account: r.Account}
		out[i].All, err = tx.allWait(network, source, chain.Asset(r.Asset))
	}
	if err != nil {
		return nil, fmt.Errorf("reading what payouts of %s wait for: %w", network, err)
	}
	return out, nil
}

// allWait tells whether every user's payment of an asset waits, at all accounts that pay on a chain of a network.
func (tx *Tx) allWait(network string, id chain.ID, asset chain.Asset) (bool, error) {
	paying, err := tx.Accounts(id, KindHot)
	for _, a := range paying {
		if err != nil || a.Network != network {
			continue
		}
		var other bool
		other, err = tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND account = ? AND class = ? AND asset = ? AND state = 'queued'
			AND reason NOT IN ('no_coin','fee_ceiling')`, string(id), a.Account, int(ClassUser), string(asset))
		if other {
			return false, err
		}
	}
	return err == nil, err
}
