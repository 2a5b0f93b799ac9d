package view

import (
	"fmt"
	"strings"

	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// The states of a record as operators see them: the state of its transfer, and how far the payment
// for it is. docs/glossary.md has the table.
const (
	Pending   = "pending"   // final, and its payment is not signed
	Sent      = "sent"      // its payment is signed, and in no final block
	Done      = "done"      // its payment is in a final block, or nothing is to be paid
	Refunding = "refunding" // its refund is in no final block
	Refunded  = "refunded"
)

// Outcomes are all of them that are no states of transfers.
func Outcomes() []string { return []string{Pending, Sent, Done, Refunding, Refunded} }

// OutcomeOf returns a record's state as operators see it.
func OutcomeOf(r *records.Record) string {
	switch {
	case r.Incident != "":
		return string(records.Orphaned)
	case r.Refund != nil && r.Refund.State == records.Paid:
		return Refunded
	case r.Refund != nil && r.Refund.State == records.HeldPayment:
		return string(records.Held)
	case r.Refund != nil:
		return Refunding
	case r.State != records.Final:
		return string(r.State)
	case r.Direction == records.Funding, r.Credit != nil && r.Credit.State == records.Paid:
		return Done
	case r.Credit != nil && r.Credit.State == records.HeldPayment:
		return string(records.Held)
	case r.CreditTx != "":
		return Sent
	}
	return Pending
}

// Choice is one of several outcomes that a filter chooses: of transfers in one direction, for one
// of some reasons or for none of them.
type Choice struct {
	Direction records.Direction // empty: any
	Outcome   string            // or the state of a transfer
	Reasons   []records.Reason  // empty: any
	Not       bool              // none of Reasons
}

// payment chooses transfers t that have a payment of a purpose in one of some states.
func payment(purpose, states string) string {
	return fmt.Sprintf(`EXISTS (SELECT 1 FROM payments y WHERE y.transfer_id = t.id AND y.purpose = '%s' AND y.state IN (%s))`, purpose, states)
}

// clause chooses transfers t.
func (c Choice) clause() (where string, args []any) {
	final := `t.state = 'final' AND t.incident = '' AND `
	switch c.Outcome {
	case Done:
		where = final + `(t.direction = 'funding' OR ` + payment("credit", `'paid'`) + `)`
	case Sent:
		where = final + payment("credit", `'bound'`)
	case Pending:
		where = final + `t.direction <> 'funding' AND NOT ` + payment("credit", `'bound','held','paid'`) + ` AND NOT ` + payment("refund", `'queued','bound','held','paid'`)
	case Refunding:
		where = payment("refund", `'queued','bound'`)
	case Refunded:
		where = payment("refund", `'paid'`)
	case string(records.Held):
		where = `(t.state = 'held' OR ` + payment("credit", `'held'`) + ` OR ` + payment("refund", `'held'`) + `)`
	case string(records.Orphaned):
		where = `(t.state = 'orphaned' OR t.incident <> '')`
	default:
		where, args = `t.state = ?`, []any{sqlstore.Note(c.Outcome)}
	}
	if c.Direction != "" {
		where, args = where+` AND t.direction = ?`, append(args, string(c.Direction))
	}
	if len(c.Reasons) > 0 {
		not := map[bool]string{true: ` NOT`}[c.Not]
		where += ` AND t.reason` + not + ` IN (` + strings.Repeat(`, ?`, len(c.Reasons))[2:] + `)`
		for _, r := range c.Reasons {
			args = append(args, r)
		}
	}
	return `(` + where + `)`, args
}

// anyOf chooses what one of the choices does.
func anyOf(choices []Choice) (string, []any) {
	clauses, args := make([]string, len(choices)), []any{}
	for i, c := range choices {
		where, more := c.clause()
		clauses[i], args = where, append(args, more...)
	}
	return `(` + strings.Join(clauses, ` OR `) + `)`, args
}
