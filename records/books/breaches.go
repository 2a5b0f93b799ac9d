package books

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// breachLimit bounds the reported breaches of a kind: one is enough to stop.
const breachLimit = 100

// touchedLimit bounds how many lines of the history are looked through at a time for what changed.
const touchedLimit = 10_000

// breach is a kind of rows that do not fit: the message for an id that the query finds, and the
// column by which the query is filtered.
type breach struct{ text, query, by string }

const (
	byTransfer  = "t.id"
	byPayment   = "p.id"
	ofTransfer  = "p.transfer_id"
	wrongCredit = "payment %d credits a wrong amount"
)

func breaches() []breach {
	return []breach{
		{"transfer %d is final and has not exactly one live credit", `SELECT t.id FROM transfers t WHERE t.state = 'final' AND t.direction <> 'funding'
			AND 1 <> (SELECT COUNT(*) FROM payments p WHERE p.transfer_id = t.id AND p.purpose = 'credit' AND p.state <> 'void')`, byTransfer},
		{"withdrawal %d is refused and has not exactly one live refund", `SELECT t.id FROM transfers t WHERE t.state = 'refused' AND t.direction = 'withdrawal'
			AND t.reason <> 'dust' AND 1 <> (SELECT COUNT(*) FROM payments p WHERE p.transfer_id = t.id AND p.purpose = 'refund' AND p.state <> 'void')`, byTransfer},
		{"withdrawal %d is dust and has a payment", `SELECT t.id FROM transfers t JOIN payments p ON p.transfer_id = t.id
			WHERE t.state = 'refused' AND t.reason = 'dust' AND p.state <> 'void'`, byTransfer},
		{"transfer %d is refused and credited", `SELECT t.id FROM transfers t JOIN payments p ON p.transfer_id = t.id
			WHERE t.state = 'refused' AND p.purpose = 'credit' AND p.state <> 'void'`, byTransfer},
		{"payment %d is paid and has no paid slot with its transaction", `SELECT p.id FROM payments p WHERE p.state = 'paid'
			AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'paid' AND s.tx = p.tx)`, byPayment},
		{"payment %d is bound and has no open slot", `SELECT p.id FROM payments p WHERE p.state = 'bound'
			AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'open')`, byPayment},
		{"payment %d refunds a wrong amount or a wrong sender", `SELECT p.id FROM payments p JOIN transfers t ON t.id = p.transfer_id
			WHERE p.purpose = 'refund' AND p.state <> 'void' AND ((p.amount <> t.amount
			AND NOT (t.reason = 'payout_failed' AND p.amount = t.net)) OR p.asset <> t.asset OR p.chain <> t.chain OR (p.payee <> t.sender
			AND NOT EXISTS (SELECT 1 FROM refund_payees o WHERE o.transfer_id = t.id AND o.payee = p.payee)))`, ofTransfer},
		{"payment %d credits a wrong user", `SELECT p.id FROM payments p JOIN transfers t ON t.id = p.transfer_id
			WHERE p.purpose = 'credit' AND p.state <> 'void' AND (p.payee <> t.payee OR p.payee_label <> t.payee_label)`, ofTransfer},
		{wrongCredit, `SELECT p.id FROM payments p JOIN transfers t ON t.id = p.transfer_id
			WHERE p.purpose = 'credit' AND p.state <> 'void' AND t.direction = 'deposit' AND p.amount <> t.net`, ofTransfer},
	}
}

// changed are the transfers and payments that a check is narrowed down to.
type changed struct {
	transfers, payments []uint64
}

// Breaches describes rows that contradict each other: money that is owed by no payment, owed twice,
// owed to the wrong party, or paid without a final block. It checks the rows in the history after
// its line seq, or every row when seq is 0. It returns the last line checked, from which the next
// call continues. One call checks ten thousand lines at most.
func Breaches(tx *records.Tx, seq uint64) (found []string, upTo uint64, err error) {
	if upTo, err = HistoryEnd(tx); err == nil && seq == 0 {
		found, err = allBreaches(tx)
	} else if err == nil {
		upTo = min(upTo, seq+touchedLimit)
		found, err = breachesSince(tx, seq, upTo)
	}
	return found, upTo, sqlstore.Doing(err, "checking the books")
}

// HistoryEnd is the newest line of the history; 0 when there is none.
func HistoryEnd(tx *records.Tx) (seq uint64, err error) {
	err = tx.SQL().One(&seq, `SELECT COALESCE(MAX(seq), 0) FROM history`)
	return seq, err
}

// breachWindow is the number of transfers and payments checked at a time.
const breachWindow = 10_000

func allBreaches(tx *records.Tx) (found []string, err error) {
	for below := uint64(0); ; {
		some, next, err := BreachesBelow(tx, below, breachWindow)
		if err != nil {
			return nil, err
		}
		found, below = append(found, some...), next
		if below == 0 {
			return found, nil
		}
	}
}

// BreachesBelow is Breaches of the transfers and payments with the limit IDs below one, or with the
// highest IDs when it is 0. It returns the ID below which the next call continues; 0 when that was
// the last.
func BreachesBelow(tx *records.Tx, id uint64, limit int) (found []string, next uint64, err error) {
	if id == 0 {
		err = tx.SQL().One(&id, `SELECT 1 + CASE WHEN t.id > p.id THEN t.id ELSE p.id END FROM
			(SELECT COALESCE(MAX(id), 0) AS id FROM transfers) t CROSS JOIN (SELECT COALESCE(MAX(id), 0) AS id FROM payments) p`)
	}
	if id > uint64(limit) {
		next = id - uint64(limit)
	}
	if err == nil {
		found, err = breachesIn(tx, func(by string) (string, []any) { return by + " >= ? AND " + by + " < ?", []any{next, id} })
	}
	return found, next, sqlstore.Doing(err, "checking the books below %d", id)
}

func breachesSince(tx *records.Tx, seq, upTo uint64) ([]string, error) {
	c, err := changedSince(tx, seq, upTo)
	if err != nil {
		return nil, err
	}
	return breachesIn(tx, func(by string) (string, []any) {
		if by == byPayment {
			return by + " IN (?)", []any{c.payments}
		}
		return by + " IN (?)", []any{c.transfers}
	})
}

// changedSince reads from the history which transfers and payments changed after a line. A
// payment's transfer counts as changed.
func changedSince(tx *records.Tx, seq, upTo uint64) (c changed, err error) {
	var lines []historySubject
	if err = tx.SQL().List(&lines, `SELECT subject, subject_id FROM history WHERE seq > ? AND seq <= ? ORDER BY seq`, seq, upTo); err != nil {
		return c, err
	}
	if c.transfers, c.payments, err = subjects(lines); err != nil || len(c.payments) == 0 {
		return c, err
	}
	var theirs []uint64
	err = tx.SQL().ListIn(&theirs, `SELECT transfer_id FROM payments WHERE transfer_id IS NOT NULL AND id IN (?)`, c.payments)
	c.transfers = unique(append(c.transfers, theirs...))
	return c, err
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

// rowFilter returns the condition on a column that selects the rows to check, and its values, of
// which one may be a list.
type rowFilter func(by string) (condition string, args []any)

// breachesIn returns the messages of all breaches among the rows that a filter selects.
func breachesIn(tx *records.Tx, n rowFilter) (found []string, err error) {
	for _, b := range breaches() {
		ids, err := breachIDs(tx, b, n)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			found = append(found, fmt.Sprintf(b.text, id))
		}
	}
	wrong, err := wrongPayouts(tx, n)
	return append(found, wrong...), err
}

// breachIDs returns the ids of the rows of one kind of breach, lowest first.
func breachIDs(tx *records.Tx, b breach, n rowFilter) (ids []uint64, err error) {
	err = listFiltered(tx, &ids, b.query, b.by, n)
	return ids[:min(len(ids), breachLimit)], err
}

// listFiltered runs a query over the rows that a filter selects; it reads nothing if there are
// none.
func listFiltered(tx *records.Tx, into any, query, by string, n rowFilter) error {
	condition, args := n(by)
	if ids, ok := args[0].([]uint64); ok && len(ids) == 0 {
		return nil
	}
	return tx.SQL().ListIn(into, query+" AND "+condition+" ORDER BY 1", args...)
}

// wrongPayouts finds credits of withdrawals that are not the net amount in the units of the source
// asset. SQL leaves over those whose decimals differ; the text of 256-bit numbers is no place for
// arithmetic.
func wrongPayouts(tx *records.Tx, n rowFilter) ([]string, error) {
	var rows []struct {
		ID     uint64       `db:"id"`
		Paid   chain.Amount `db:"amount"`
		Net    chain.Amount `db:"net"`
		Frozen string       `db:"policy"`
	}
	err := listFiltered(tx, &rows, `SELECT p.id, p.amount, t.net, t.policy FROM payments p JOIN transfers t ON t.id = p.transfer_id
		WHERE p.purpose = 'credit' AND p.state <> 'void' AND t.direction = 'withdrawal' AND p.amount <> t.net`, ofTransfer, n)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range rows {
		var p records.Policy
		if err := json.Unmarshal([]byte(r.Frozen), &p); err != nil {
			return nil, fmt.Errorf("the policy of payment %d: %w", r.ID, err)
		}
		if owed, _, err := r.Net.Rescale(p.Decimals, p.AssetDecimals); (err != nil || owed != r.Paid) && len(out) < breachLimit {
			out = append(out, fmt.Sprintf(wrongCredit, r.ID))
		}
	}
	return out, nil
}
