package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// maxPage bounds what one list answers.
const maxFound = 1000

// Filter chooses records for operators; an empty field chooses all.
type Filter struct {
	Network       string
	Token         string
	Direction     records.Direction
	State         records.TransferState
	Outcomes      []Choice // any of these
	Reason        records.Reason
	Owner         string
	Tx            string
	Address       string         // of the user, the sender, the payee, or a deposit address that was given out
	Amounts       []chain.Amount // came in, one of these
	From, Until   time.Time      // first seen in this time; zero: without an end
	OlderThan     time.Duration  // first seen longer ago
	Unattributed  bool           // held, and its owner is not known; not of unknown tokens
	UnknownTokens bool           // of tokens that no network has ever served
	// NeedsOperator: an operator can act. Held, with a held payment, or decided and gone from its
	// chain; and for smallFor a deposit below the minimum. Not what is written off or of unknown
	// tokens, nor dust: strangers can send many withdrawals that are too small for a refund.
	NeedsOperator bool
	Limit         int    // up to 1000; 0 means 1000
	BeforeID      uint64 // older than this record; 0 for the newest
	AfterID       uint64 // newer than this record, those that are nearest to it; 0 for no bound
}

// Records returns what a filter chooses, newest first.
func Records(tx *records.Tx, f Filter) ([]records.Record, error) {
	where, args, err := f.clauses(tx)
	if err != nil {
		return nil, fmt.Errorf("reading records: %w", err)
	}
	order := `DESC`
	if f.AfterID > 0 {
		order = `ASC`
	}
	found, err := tx.Transfers().Where(`t WHERE `+where+` ORDER BY id `+order+` LIMIT ? + 0`, append(args, f.limit())...)
	if f.AfterID > 0 {
		slices.Reverse(found)
	}
	if err == nil {
		var out []records.Record
		if out, err = tx.Transfers().RecordsOf(found); err == nil {
			return out, nil
		}
	}
	return nil, fmt.Errorf("reading records: %w", err)
}

// Count returns how many records a filter chooses in all, whatever its limit and page.
func CountRecords(tx *records.Tx, f Filter) (n uint64, err error) {
	f.BeforeID, f.AfterID = 0, 0
	where, args, err := f.clauses(tx)
	if err != nil {
		return 0, fmt.Errorf("counting records: %w", err)
	}
	err = tx.SQL().One(&n, `SELECT COUNT(*) FROM transfers t WHERE `+where, args...)
	return n, sqlstore.Doing(err, "counting records")
}

func (f Filter) limit() int {
	if f.Limit == 0 {
		return maxFound
	}
	return min(max(f.Limit, 1), maxFound)
}

// smallFor is the time for which a deposit below the minimum needs an operator. Other filters find
// older ones.
const smallFor = 30 * 24 * time.Hour

// clauses are a filter's, with the ids that were given in its time.
func (f Filter) clauses(tx *records.Tx) (string, []any, error) {
	now := time.UnixMilli(tx.SQL().Millis())
	where, args := f.where(now)
	for _, bound := range []struct {
		at     time.Time
		clause string
	}{{f.From, ` AND seen_at >= ? AND id >= ?`}, {f.Until, ` AND seen_at < ? AND id < ?`}} {
		if bound.at.IsZero() {
			continue
		}
		first, err := firstSeenSince(tx, bound.at)
		if err != nil {
			return "", nil, err
		}
		where, args = where+bound.clause, append(args, bound.at.UnixMilli(), first)
	}
	if f.NeedsOperator {
		first, err := firstSeenSince(tx, now.Add(-smallFor))
		if err != nil {
			return "", nil, err
		}
		where, args = where+` AND id IN (`+undecided+` UNION SELECT k.id FROM transfers k WHERE k.reason = 'below_minimum' AND k.reason <> ''
			AND k.id >= ? AND k.state = 'refused' AND k.direction = 'deposit' AND k.net <> '0'`+decidedElsewhere, append(args, first)
	}
	return where, args, nil
}

// undecided and decidedElsewhere are the two ends of a clause of the transfers that wait for a
// decision of an operator.
const (
	undecided = `SELECT h.id FROM transfers h WHERE h.state = 'held' AND h.state <> 'final' UNION SELECT p.transfer_id FROM payments p WHERE p.state = 'held'
			UNION SELECT g.id FROM transfers g WHERE g.chain IN (SELECT chain FROM cursors) AND g.incident <> ''`
	decidedElsewhere = `) AND NOT EXISTS (SELECT 1 FROM write_offs o WHERE o.transfer_id = t.id) AND NOT ` + records.OfUnknownToken
)

// firstSeenSince finds the first transfer that was seen since a moment, by halving: ids are given
// in the order of first sight. Where there is none it is the id after the last.
func firstSeenSince(tx *records.Tx, at time.Time) (uint64, error) {
	newest, err := tx.SQL().NewestID("transfers")
	low, high := uint64(1), newest+1
	for err == nil && low < high {
		var seen int64
		middle := low + (high-low)/2
		if _, err = tx.SQL().Get(&seen, `SELECT seen_at FROM transfers WHERE id = ?`, middle); seen < at.UnixMilli() {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, err
}

// where selects rows of transfers t. An index of its own can answer each clause, newest first.
func (f Filter) where(now time.Time) (string, []any) {
	clauses, args := []string{`id > 0`}, []any{}
	add := func(clause string, values ...any) { clauses, args = append(clauses, clause), append(args, values...) }
	if f.BeforeID > 0 {
		add(`id < ?`, f.BeforeID)
	}
	if f.AfterID > 0 {
		add(`id > ?`, f.AfterID)
	}
	for _, c := range []struct{ column, value string }{
		{"network", f.Network}, {"token", f.Token}, {"direction", string(f.Direction)}, {"owner", f.Owner},
	} {
		if c.value != "" {
			add(c.column+` = ?`, sqlstore.Note(c.value))
		}
	}
	if f.State != "" {
		add(`state = ?`, sqlstore.Note(string(f.State)))
		if f.State != records.Final {
			add(`state <> 'final'`)
		}
	}
	if f.Reason != "" {
		add(`reason = ? AND reason <> ''`, sqlstore.Note(string(f.Reason)))
	}
	if f.Tx != "" { // in or out
		add(`id IN (SELECT i.id FROM transfers i WHERE i.tx = ? UNION SELECT p.transfer_id `+paymentsByHash+` AND p.tx = a.hash)`, sqlstore.Note(f.Tx), sqlstore.Note(f.Tx))
	}
	if f.Address != "" {
		a := sqlstore.Note(f.Address)
		add(`id IN (SELECT s.id FROM transfers s WHERE s.sender = ? UNION SELECT y.id FROM transfers y WHERE y.payee = ? AND y.payee <> ''
			UNION SELECT u.id FROM transfers u WHERE u.owner = ?
			UNION SELECT d.id FROM bindings b JOIN transfers d ON d.owner = b.owner AND d.account = b.address
				WHERE b.chain IN (SELECT chain FROM cursors) AND b.address = ? AND b.type = 0)`, a, a, a, a)
	}
	if len(f.Amounts) > 0 {
		places, values := strings.Repeat(`, ?`, len(f.Amounts))[2:], make([]any, len(f.Amounts))
		for i, a := range f.Amounts {
			values[i] = a
		}
		add(`amount IN (`+places+`)`, values...)
	}
	if f.OlderThan > 0 {
		add(`seen_at < ?`, now.Add(-f.OlderThan).UnixMilli())
	}
	if f.Unattributed {
		add(`state = 'held' AND state <> 'final' AND owner = '' AND NOT ` + records.OfUnknownToken)
	}
	if len(f.Outcomes) > 0 {
		where, values := anyOf(f.Outcomes)
		add(where, values...)
	}
	if f.UnknownTokens {
		add(records.OfUnknownToken)
	}
	return strings.Join(clauses, " AND "), args
}

// Find returns the records that a text names: an id, a ref, a transaction that came in, or one of
// ours for it. At most 1000.
func FindRecords(tx *records.Tx, text string) ([]records.Record, error) {
	if !sqlstore.Storable(text) {
		return nil, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		id = 0 // no transfer has it
	}
	found, err := tx.Transfers().Where(`WHERE id IN (SELECT i.id FROM transfers i WHERE i.id = ?
		UNION SELECT r.id FROM transfers r WHERE r.chain IN (SELECT chain FROM cursors) AND r.ref = ?
		UNION SELECT x.id FROM transfers x WHERE x.tx = ? UNION SELECT p.transfer_id `+paymentsByHash+`) ORDER BY id LIMIT ? + 0`, id, text, text, text, maxFound)
	if err == nil {
		var out []records.Record
		if out, err = tx.Transfers().RecordsOf(found); err == nil {
			return out, nil
		}
	}
	return nil, fmt.Errorf("finding records: %w", err)
}

// paymentsByHash joins the payments p whose attempts a have a hash: the index of hashes begins with
// the chain.
const paymentsByHash = `FROM attempts a
	JOIN slots s ON s.chain = a.chain AND s.account = a.account AND s.lineage = a.lineage AND s.number = a.number
	JOIN payments p ON p.id = s.payment_id WHERE a.chain IN (SELECT chain FROM cursors) AND a.hash = ?`

// HashesWith returns the hashes of transactions, to us and of ours, that begin with some
// hexadecimal digits: in order, at most limit.
func HashesWith(tx *records.Tx, start string, limit int) (found []string, err error) {
	if !sqlstore.Storable(start) || start == "" {
		return nil, nil
	}
	end := after(start)
	err = tx.SQL().List(&found, `SELECT tx FROM transfers WHERE tx >= ? AND tx < ?
		UNION SELECT hash FROM attempts WHERE chain IN (SELECT chain FROM cursors) AND hash >= ? AND hash < ? ORDER BY 1 LIMIT ? + 0`,
		start, end, start, end, limit)
	return found, sqlstore.Doing(err, "finding hashes")
}

// after is the first text of digits and letters behind all that begin with start, in every
// collation.
func after(start string) string {
	last := start[len(start)-1]
	if last == '9' {
		return start[:len(start)-1] + "a"
	}
	return start[:len(start)-1] + string(last+1)
}

// SlotAttempt is an attempt with the number of its slot.
type SlotAttempt struct {
	records.Attempt
	Number uint64
}

// AttemptsOf returns every attempt made for a payment, in the order they were made.
func AttemptsOf(tx *records.Tx, paymentID uint64) ([]SlotAttempt, error) {
	slots, err := tx.Slots().Of(paymentID)
	if err != nil {
		return nil, err
	}
	var out []SlotAttempt
	for _, s := range slots {
		attempts, err := tx.Slots().Attempts(s)
		if err != nil {
			return nil, err
		}
		for _, a := range attempts {
			out = append(out, SlotAttempt{Attempt: a, Number: s.Nonce})
		}
	}
	return out, nil
}
