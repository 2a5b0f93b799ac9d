package records

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/jmoiron/sqlx"

	"gatewayd/chain"
)

// breachLimit bounds how many breaches of a kind are told: one is enough to stop.
const breachLimit = 100

// touchedLimit bounds how many lines of the history are looked through for what changed; with more, all rows are checked.
const touchedLimit = 10_000

// breach is a kind of rows that do not fit: what to say of the id that the query finds, and which column narrows the query down.
type breach struct{ say, query, by string }

const (
	byTransfer  = "t.id"
	byPayment   = "p.id"
	ofTransfer  = "p.transfer_id"
	wrongCredit = "payment %d credits another amount than is owed"
)

func breaches() []breach {
	return []breach{
		{"transfer %d is final and has not exactly one live credit", `SELECT t.id FROM transfers t WHERE t.state = 'final' AND t.direction <> 'funding'
			AND 1 <> (SELECT COUNT(*) FROM payments p WHERE p.transfer_id = t.id AND p.purpose = 'credit' AND p.state <> 'void')`, byTransfer},
		{"withdrawal %d is refused and has not exactly one live refund", `SELECT t.id FROM transfers t WHERE t.state = 'refused' AND t.direction = 'withdrawal'
			AND 1 <> (SELECT COUNT(*) FROM payments p WHERE p.transfer_id = t.id AND p.purpose = 'refund' AND p.state <> 'void')`, byTransfer},
		{"transfer %d is refused and credited", `SELECT t.id FROM transfers t JOIN payments p ON p.transfer_id = t.id
			WHERE t.state = 'refused' AND p.purpose = 'credit' AND p.state <> 'void'`, byTransfer},
		{"payment %d is paid and has no paid slot with its transaction", `SELECT p.id FROM payments p WHERE p.state = 'paid'
			AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'paid' AND s.tx = p.tx)`, byPayment},
		{"payment %d is bound and has no open slot", `SELECT p.id FROM payments p WHERE p.state = 'bound'
			AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'open')`, byPayment},
		{"payment %d refunds another amount than its transfer brought, or another sender", `SELECT p.id FROM payments p JOIN transfers t ON t.id = p.transfer_id
			WHERE p.purpose = 'refund' AND p.state <> 'void' AND (p.amount <> t.amount OR p.asset <> t.asset OR p.chain <> t.chain OR p.payee <> t.sender)`, ofTransfer},
		{"payment %d credits somebody else", `SELECT p.id FROM payments p JOIN transfers t ON t.id = p.transfer_id
			WHERE p.purpose = 'credit' AND p.state <> 'void' AND (p.payee <> t.payee OR p.payee_label <> t.payee_label)`, ofTransfer},
		{wrongCredit, `SELECT p.id FROM payments p JOIN transfers t ON t.id = p.transfer_id
			WHERE p.purpose = 'credit' AND p.state <> 'void' AND t.direction = 'deposit' AND p.amount <> t.net`, ofTransfer},
	}
}

// changed are the transfers and payments that a check is narrowed down to. all means every row.
type changed struct {
	all                 bool
	transfers, payments []uint64
}

// Breaches tells in sentences which rows do not fit together: money that is owed by no payment, owed twice, owed to somebody else, or paid without a
// final block. It checks what the history tells of after its line seq, or every row when seq is 0, and answers the history's newest
// line: with it the next call goes on.
func (tx *Tx) Breaches(seq uint64) (found []string, upTo uint64, err error) {
	c, upTo, err := tx.changedSince(seq)
	for _, b := range breaches() {
		if err != nil {
			return nil, 0, fmt.Errorf("checking the books: %w", err)
		}
		var ids []uint64
		ids, err = tx.broken(b, c)
		for _, id := range ids {
			found = append(found, fmt.Sprintf(b.say, id))
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("checking the books: %w", err)
	}
	wrong, err := tx.wrongPayouts(c)
	if err != nil {
		return nil, 0, fmt.Errorf("checking the payouts: %w", err)
	}
	return append(found, wrong...), upTo, nil
}

// changedSince reads from the history which transfers and payments changed after a line. A payment's transfer counts as changed.
func (tx *Tx) changedSince(seq uint64) (c changed, upTo uint64, err error) {
	if err = tx.one(&upTo, `SELECT COALESCE(MAX(seq), 0) FROM history`); err != nil {
		return c, 0, err
	}
	if c.all = seq == 0 || upTo > seq+touchedLimit; c.all {
		return c, upTo, nil
	}
	var lines []historySubject
	if err = tx.list(&lines, `SELECT subject, subject_id FROM history WHERE seq > ? ORDER BY seq`, seq); err != nil {
		return c, 0, err
	}
	if c.transfers, c.payments, err = subjects(lines); err != nil || len(c.payments) == 0 {
		return c, upTo, err
	}
	var theirs []uint64
	err = tx.listIn(&theirs, `SELECT transfer_id FROM payments WHERE transfer_id IS NOT NULL AND id IN (?)`, c.payments)
	c.transfers = unique(append(c.transfers, theirs...))
	return c, upTo, err
}

type historySubject struct {
	Subject string `db:"subject"`
	ID      string `db:"subject_id"`
}

func subjects(lines []historySubject) (transfers, payments []uint64, err error) {
	for _, l := range lines {
		if l.Subject != "transfer" && l.Subject != "payment" {
			continue
		}
		id, err := strconv.ParseUint(l.ID, 10, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("%s %q of the history: %w", l.Subject, l.ID, err)
		}
		if l.Subject == "transfer" {
			transfers = append(transfers, id)
		} else {
			payments = append(payments, id)
		}
	}
	return unique(transfers), unique(payments), nil
}

func unique(ids []uint64) []uint64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// broken lists the rows of one breach, lowest id first.
func (tx *Tx) broken(b breach, c changed) (ids []uint64, err error) {
	rows, err := tx.narrowed(b.query, b.by, c)
	if err != nil || rows == nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() && len(ids) < breachLimit {
		var id uint64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// narrowed runs a query over the rows that changed; no rows if nothing did.
func (tx *Tx) narrowed(query, by string, c changed) (*sqlx.Rows, error) {
	ids, args := c.transfers, []any(nil)
	if by == byPayment {
		ids = c.payments
	}
	if !c.all {
		if len(ids) == 0 {
			return nil, nil
		}
		var err error
		if query, args, err = sqlx.In(query+" AND "+by+" IN (?)", ids); err != nil {
			return nil, err
		}
	}
	return tx.tx.QueryxContext(tx.ctx, tx.tx.Rebind(query+" ORDER BY 1"), args...)
}

// wrongPayouts finds credits of withdrawals that are not the net amount in the units of the source asset. SQL leaves over those whose
// decimals differ; the text of 256-bit numbers is no place for arithmetic.
func (tx *Tx) wrongPayouts(c changed) ([]string, error) {
	rows, err := tx.narrowed(`SELECT p.id, p.amount, t.net, t.policy FROM payments p JOIN transfers t ON t.id = p.transfer_id
		WHERE p.purpose = 'credit' AND p.state <> 'void' AND t.direction = 'withdrawal' AND p.amount <> t.net`, ofTransfer, c)
	if err != nil || rows == nil {
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
			out = append(out, fmt.Sprintf(wrongCredit, id))
		}
	}
	return out, rows.Err()
}
