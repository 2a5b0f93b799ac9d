package records

import (
	"fmt"

	"gatewayd/chain"
)

// rank is the place of a new payment in the round robin of its users: one behind the user's last queued payment of the class and asset, else the
// rank that is being served. So a user with many payments waits behind users with few.
func (tx *Tx) rank(p Payment, owner string) (rank uint64, err error) {
	if p.TransferID == 0 {
		return 0, nil
	}
	key := []any{string(p.Chain), p.Account, int(ClassOf(p.Purpose)), string(p.Asset)}
	found, err := tx.get(&rank, `SELECT rank FROM payments WHERE chain = ? AND account = ? AND class = ? AND asset = ? AND owner = ? AND state = 'queued'
		ORDER BY rank DESC LIMIT 1`, append(key, owner)...)
	if err != nil || found {
		return rank + 1, err
	}
	_, err = tx.get(&rank, `SELECT rank FROM payments WHERE chain = ? AND account = ? AND class = ? AND asset = ? AND state = 'queued'
		ORDER BY rank, id LIMIT 1`, key...)
	return rank, err
}

// QueuedAssets answers which assets the queued payments of an account and class move.
func (tx *Tx) QueuedAssets(id chain.ID, account string, class Class) ([]chain.Asset, error) {
	var assets []chain.Asset
	err := tx.list(&assets, `WITH RECURSIVE queued (asset) AS (
		SELECT * FROM (SELECT asset FROM payments WHERE chain = ? AND account = ? AND class = ? AND state = 'queued' ORDER BY asset LIMIT 1) q
		UNION ALL SELECT (SELECT p.asset FROM payments p WHERE p.chain = ? AND p.account = ? AND p.class = ? AND p.state = 'queued' AND p.asset > queued.asset
			ORDER BY p.asset LIMIT 1) FROM queued WHERE queued.asset IS NOT NULL)
		SELECT asset FROM queued WHERE asset IS NOT NULL`, string(id), account, int(class), string(id), account, int(class))
	if err != nil {
		return nil, fmt.Errorf("reading the queued assets of %s on %s: %w", account, id, err)
	}
	return assets, nil
}

// QueuedPayments answers what of a class and an asset waits to be bound to a slot of an account, in the order of service: round robin by user,
// then by age. Credits and refunds of the tokens in except are passed over, which costs a look at each of them.
func (tx *Tx) QueuedPayments(id chain.ID, account string, class Class, asset chain.Asset, limit int, except ...string) ([]Payment, error) {
	var rows []paymentRow
	passed, args := "", []any{string(id), account, int(class), string(asset)}
	for _, token := range except {
		passed, args = passed+` AND (token <> ? OR transfer_id IS NULL)`, append(args, token)
	}
	err := tx.list(&rows, `SELECT `+paymentColumns+` FROM payments WHERE chain = ? AND account = ? AND class = ? AND asset = ? AND state = 'queued'`+passed+`
		ORDER BY rank, id LIMIT ? + 0`, append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("reading the queued payments of %s on %s: %w", account, id, err)
	}
	return paymentsOf(rows), nil
}

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
