package records

import (
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Waiting is an account's payment that has waited longest for a block.
type Waiting struct {
	Payment uint64        `db:"id"`
	Network string        `db:"network"`
	Token   string        `db:"token"`
	Purpose chain.Purpose `db:"purpose"`
	Since   time.Time
	For     time.Duration // by now
}

// OldestWaiting returns the oldest payment of an account that is queued and the oldest that is
// signed or bound and in no block; at most two. Merges of coins do not count: no user waits for
// them.
func OldestWaiting(tx *Tx, id chain.ID, account string) ([]Waiting, error) {
	type row struct {
		Waiting
		At int64 `db:"at"`
	}
	var queued, unmined []row
	err := tx.SQL().List(&queued, `SELECT id, network, token, purpose, changed_at AS at FROM payments
		WHERE chain = ? AND account = ? AND state IN ('queued','held','bound') AND state = 'queued' AND purpose <> 'merge' ORDER BY id LIMIT 1`, string(id), account)
	if err == nil {
		err = tx.SQL().List(&unmined, `SELECT p.id, p.network, p.token, p.purpose, s.created_at AS at FROM slots s JOIN payments p ON p.id = s.payment_id
			WHERE s.chain = ? AND s.account = ? AND s.state = 'open' AND s.mined_in = '' AND p.purpose <> 'merge' ORDER BY s.number LIMIT 1`, string(id), account)
	}
	if err != nil {
		return nil, fmt.Errorf("finding pending payments of %s on %s: %w", account, id, err)
	}
	var out []Waiting
	for _, r := range append(queued, unmined...) {
		r.Since = sqlstore.FromMillis(r.At)
		r.For = tx.SQL().Now().Sub(r.Since)
		out = append(out, r.Waiting)
	}
	return out, nil
}

// Wait counts a token's payouts that are blocked for one reason.
type Wait struct {
	Token   string `db:"token"`
	Reason  Reason `db:"reason"` // WaitsNoCoin, WaitsFeeCeiling, WaitsSigner, WaitsAsset or WaitsTokenLimit
	Count   uint64 `db:"count"`
	Account string `db:"account"` // one of the accounts that they are to be paid from
	All     bool   // no payout of the token is queued that does not wait
}

// Waits returns which of a network's payments to users on a chain wait, and for what, by token and
// reason.
func Waits(tx *Tx, network string, id chain.ID) ([]Wait, error) {
	var rows []struct {
		Wait
		Asset chain.Asset `db:"asset"`
	}
	err := tx.SQL().List(&rows, `SELECT token, reason, COUNT(*) AS count, MIN(account) AS account, MIN(asset) AS asset FROM payments
		WHERE network = ? AND state = 'queued' AND reason <> '' AND reason IN ('no_coin','fee_ceiling','signer','asset','token_limit') AND purpose = 'credit' AND chain = ?
		GROUP BY token, reason ORDER BY token, reason`, network, string(id))
	out := make([]Wait, len(rows))
	for i, r := range rows {
		if err != nil {
			break
		}
		out[i] = r.Wait
		out[i].All, err = allWait(tx, network, id, r.Asset)
	}
	return out, sqlstore.Doing(err, "reading what payments of %s on %s wait for", network, id)
}

// allWait reports whether every user's payment of an asset waits, at all accounts that pay on a
// chain of a network.
func allWait(tx *Tx, network string, id chain.ID, asset chain.Asset) (bool, error) {
	paying, err := tx.Accounts().List(id, KindHot)
	for _, a := range paying {
		if err != nil || a.Network != network {
			continue
		}
		var other bool
		other, err = tx.SQL().Exists(`SELECT 1 FROM payments WHERE chain = ? AND account = ? AND class = ? AND asset = ? AND state = 'queued'
			AND reason NOT IN ('no_coin','fee_ceiling')`, string(id), a.Account, int(ClassUser), string(asset))
		if other {
			return false, err
		}
	}
	return err == nil, err
}
