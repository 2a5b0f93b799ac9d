package records

import (
	"encoding/json"
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
			(SELECT amount_sum(p.amount) FROM payments p WHERE p.chain = a.chain AND p.account = a.account AND p.asset = t.asset
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
func (tx *Tx) SweepUnderWay(p Payment) (bool, error) {
	where, args := `account = ? AND asset = ?`, []any{string(p.Chain), string(p.Purpose), p.Account, string(p.Asset)}
	if p.Purpose == chain.Gas {
		where, args = `payee = ?`, []any{string(p.Chain), string(p.Purpose), p.Payee}
	}
	busy, err := tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND purpose = ? AND state IN ('queued','bound','held') AND `+where, args...)
	if err != nil {
		return false, fmt.Errorf("looking for a %s under way: %w", p.Purpose, err)
	}
	return busy, nil
}

// breachLimit bounds how many breaches of a kind are told: one is enough to stop.
const breachLimit = 100

// breach is a kind of rows that do not fit: what to say of the id that the query finds.
type breach struct{ say, query string }

func breaches() []breach {
	return []breach{
		{"transfer %d is final and has not exactly one live credit", `SELECT t.id FROM transfers t WHERE t.state = 'final' AND t.direction <> 'funding'
			AND 1 <> (SELECT COUNT(*) FROM payments p WHERE p.transfer_id = t.id AND p.purpose = 'credit' AND p.state <> 'void')`},
		{"withdrawal %d is refused and has not exactly one live refund", `SELECT t.id FROM transfers t WHERE t.state = 'refused' AND t.direction = 'withdrawal'
			AND 1 <> (SELECT COUNT(*) FROM payments p WHERE p.transfer_id = t.id AND p.purpose = 'refund' AND p.state <> 'void')`},
		{"transfer %d is refused and credited", `SELECT t.id FROM transfers t JOIN payments p ON p.transfer_id = t.id
			WHERE t.state = 'refused' AND p.purpose = 'credit' AND p.state <> 'void'`},
		{"payment %d is paid and has no paid slot with its transaction", `SELECT p.id FROM payments p WHERE p.state = 'paid'
			AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'paid' AND s.tx = p.tx)`},
		{"payment %d is bound and has no open slot", `SELECT p.id FROM payments p WHERE p.state = 'bound'
			AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'open')`},
		{"payment %d refunds another amount than its transfer brought, or another sender", `SELECT p.id FROM payments p JOIN transfers t ON t.id = p.transfer_id
			WHERE p.purpose = 'refund' AND p.state <> 'void' AND (p.amount <> t.amount OR p.asset <> t.asset OR p.chain <> t.chain OR p.payee <> t.sender)`},
		{"payment %d credits somebody else", `SELECT p.id FROM payments p JOIN transfers t ON t.id = p.transfer_id
			WHERE p.purpose = 'credit' AND p.state <> 'void' AND (p.payee <> t.payee OR p.payee_label <> t.payee_label)`},
		{"payment %d credits another amount than is owed", `SELECT p.id FROM payments p JOIN transfers t ON t.id = p.transfer_id
			WHERE p.purpose = 'credit' AND p.state <> 'void' AND t.direction = 'deposit' AND p.amount <> t.net`},
	}
}

// Breaches tells in sentences which rows do not fit together: money that is owed by no payment, owed twice, owed to somebody else, or paid without a
// final block. It reads all rows.
func (tx *Tx) Breaches() ([]string, error) {
	var out []string
	for _, b := range breaches() {
		var ids []uint64
		if err := tx.list(&ids, b.query+` ORDER BY 1 LIMIT ?`, breachLimit); err != nil {
			return nil, fmt.Errorf("checking the books: %w", err)
		}
		for _, id := range ids {
			out = append(out, fmt.Sprintf(b.say, id))
		}
	}
	wrong, err := tx.wrongPayouts()
	if err != nil {
		return nil, fmt.Errorf("checking the payouts: %w", err)
	}
	return append(out, wrong...), nil
}

// wrongPayouts finds credits of withdrawals that are not the net amount in the units of the source asset. SQL leaves over those whose
// decimals differ; the text of 256-bit numbers is no place for arithmetic.
func (tx *Tx) wrongPayouts() ([]string, error) {
	rows, err := tx.tx.QueryxContext(tx.ctx, `SELECT p.id, p.amount, t.net, t.policy FROM payments p JOIN transfers t ON t.id = p.transfer_id
		WHERE p.purpose = 'credit' AND p.state <> 'void' AND t.direction = 'withdrawal' AND p.amount <> t.net ORDER BY p.id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() && len(out) < breachLimit {
		var id uint64
		var paid, net chain.Amount
		var frozen string
		if err := rows.Scan(&id, &paid, &net, &frozen); err != nil {
			return nil, err
		}
		var p Policy
		if err := json.Unmarshal([]byte(frozen), &p); err != nil {
			return nil, fmt.Errorf("the policy of payment %d: %w", id, err)
		}
		if owed, _, err := net.Rescale(p.Decimals, p.AssetDecimals); err != nil || owed != paid {
			out = append(out, fmt.Sprintf("payment %d credits another amount than is owed", id))
		}
	}
	return out, rows.Err()
}
