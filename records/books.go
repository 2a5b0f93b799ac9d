package records

import (
	"fmt"

	"gatewayd/chain"
)

// Owed sums per asset what an account still has to pay to users: credits and refunds that are queued, held, or bound and not standing in a
// block of the line.
func (tx *Tx) Owed(id chain.ID, account string) (map[chain.Asset]chain.Amount, error) {
	var rows []struct {
		Asset  string       `db:"asset"`
		Amount chain.Amount `db:"amount"`
	}
	err := tx.list(&rows, `SELECT p.asset, amount_sum(p.amount) AS amount FROM payments p
		WHERE p.chain = ? AND p.account = ? AND p.purpose IN ('credit','refund') AND p.state IN ('queued','held','bound')
		AND NOT EXISTS (SELECT 1 FROM slots s
			JOIN attempts a ON a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number
			JOIN effects e ON e.chain = a.chain AND e.tx = a.hash
			JOIN blocks b ON b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1
			WHERE s.payment_id = p.id AND s.state = 'open')
		GROUP BY p.asset`, string(id), account)
	if err != nil {
		return nil, fmt.Errorf("summing what %s owes on %s: %w", account, id, err)
	}
	owed := make(map[chain.Asset]chain.Amount, len(rows))
	for _, r := range rows {
		owed[chain.Asset(r.Asset)] = r.Amount
	}
	return owed, nil
}

// SweepCandidate is a deposit address that holds decided deposits of an asset. Booked is their sum less what was swept, never below zero.
type SweepCandidate struct {
	Account Account
	Asset   chain.Asset
	Booked  chain.Amount
}

// SweepCandidates answers the deposit addresses of a chain from which something can be swept, by address.
func (tx *Tx) SweepCandidates(id chain.ID) ([]SweepCandidate, error) {
	var rows []struct {
		accountRow
		Asset string       `db:"asset"`
		In    chain.Amount `db:"came"`
		Out   chain.Amount `db:"went"`
	}
	err := tx.list(&rows, `SELECT * FROM (
		SELECT a.chain, a.account, a.kind, a.network, a.key_path, a.state, a.why, a.lineage, a.base, a.next, a.created_at, t.asset,
			amount_sum(t.amount) AS came,
			(SELECT amount_sum(COALESCE(w.brought, p.amount)) FROM payments p LEFT JOIN swept w ON w.payment_id = p.id WHERE p.chain = a.chain AND p.account = a.account AND p.asset = t.asset
				AND p.purpose = 'sweep' AND p.state = 'paid') AS went
		FROM accounts a JOIN transfers t ON t.chain = a.chain AND t.account = a.account
		WHERE a.chain = ? AND a.kind = 'deposit' AND t.state IN ('final','refused') AND t.failed = 0
		GROUP BY a.chain, a.account, a.kind, a.network, a.key_path, a.state, a.why, a.lineage, a.base, a.next, a.created_at, t.asset) s
		WHERE came <> went ORDER BY account, asset`, string(id))
	if err != nil {
		return nil, fmt.Errorf("looking for deposits to sweep on %s: %w", id, err)
	}
	var out []SweepCandidate
	for _, r := range rows {
		booked, err := r.In.Sub(r.Out)
		if err != nil || booked.IsZero() {
			continue
		}
		out = append(out, SweepCandidate{Account: r.account(), Asset: chain.Asset(r.Asset), Booked: booked})
	}
	return out, nil
}

// SweepUnderWay tells whether a sweep of the same account and asset, or a gas payment to the same address, is queued, bound or held.
func (tx *Tx) SweepUnderWay(p Payment) (busy bool, err error) {
	if p.Purpose == chain.Gas {
		busy, err = tx.gasUnderWay(p)
	} else {
		busy, err = tx.sweepUnderWay(p)
	}
	if err != nil {
		return false, fmt.Errorf("looking for a %s under way: %w", p.Purpose, err)
	}
	return busy, nil
}

func (tx *Tx) sweepUnderWay(p Payment) (bool, error) {
	return tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND account = ? AND asset = ? AND purpose = 'sweep' AND state IN ('queued','bound','held')`,
		string(p.Chain), p.Account, string(p.Asset))
}

func (tx *Tx) gasUnderWay(p Payment) (bool, error) {
	return tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND payee = ? AND purpose = 'gas' AND state IN ('queued','bound','held')`, string(p.Chain), p.Payee)
}
