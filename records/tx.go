package records

import (
	"cmp"
	"context"
	"math"
	"time"

	"gatewayd/records/sqlstore"
)

// Tx is one transaction of the store: a writing one inside Update, a snapshot inside View. It must
// not leave the function it was handed to.
type Tx struct {
	sql *sqlstore.Tx
	now time.Time
}

// SQL returns the transaction for packages that write or read additional tables (imports_test.go
// names them): no other package writes statements.
func (tx *Tx) SQL() *sqlstore.Tx { return tx.sql }

// WithActor names the actor in the history lines of transactions run under ctx: "operator:<name>".
// Without it they contain "daemon".
func WithActor(ctx context.Context, name string) context.Context {
	return sqlstore.WithActor(ctx, name)
}

// Event is one line of the history (sqlstore.Event).
type Event = sqlstore.Event

// Log appends a line to the history. The state-changing methods of Tx log themselves: what remains
// are incidents and what operators do besides.
func (tx *Tx) Log(e Event) error { return tx.sql.Log(e) }

func (tx *Tx) log(subject, id, event, detail string) error {
	return tx.sql.LogEvent(subject, id, event, detail)
}

// History returns the lines about one subject, oldest first.
func (tx *Tx) History(subject, id string) ([]Event, error) { return tx.sql.History(subject, id) }

// HistoryAfter returns the lines after one, oldest first.
func (tx *Tx) HistoryAfter(seq uint64, limit int) ([]Event, error) {
	return tx.sql.HistoryAfter(seq, clampLimit(limit))
}

// HistoryBefore returns the lines before one, newest first; before 0 from the end on. people leaves
// out the daemon's automatic actions.
func (tx *Tx) HistoryBefore(seq uint64, people bool, limit int) ([]Event, error) {
	return tx.sql.HistoryBefore(cmp.Or(seq, math.MaxInt64), people, clampLimit(limit))
}

// HistoryOfActor returns the lines of a person before one, newest first; before 0 from the end on.
func (tx *Tx) HistoryOfActor(actor string, seq uint64, limit int) ([]Event, error) {
	return tx.sql.HistoryOfActor(actor, cmp.Or(seq, math.MaxInt64), clampLimit(limit))
}

// VerifyHistory recomputes the chain of digests over the complete history.
func (tx *Tx) VerifyHistory() error { return tx.sql.VerifyHistory() }

// The verbs of sqlstore.Tx. Statements of this package use LIMIT ? + 0. SQLite plans for the number
// behind a bare LIMIT ?, so it prepares the statement again for each bound number, which costs
// three times a wallet's page.

func (tx *Tx) exec(query string, args ...any) (int64, error) { return tx.sql.Exec(query, args...) }
func (tx *Tx) change(query string, args ...any) error        { return tx.sql.Change(query, args...) }

// params are the values of a statement's named parameters.
type params = map[string]any

func (tx *Tx) execNamed(query string, values any) (int64, error) {
	return tx.sql.ExecNamed(query, values)
}
func (tx *Tx) changeNamed(query string, values any) error { return tx.sql.ChangeNamed(query, values) }

func (tx *Tx) get(into any, query string, args ...any) (bool, error) {
	return tx.sql.Get(into, query, args...)
}

func (tx *Tx) one(into any, query string, args ...any) error { return tx.sql.One(into, query, args...) }
func (tx *Tx) list(into any, query string, args ...any) error {
	return tx.sql.List(into, query, args...)
}
func (tx *Tx) listIn(into any, query string, args ...any) error {
	return tx.sql.ListIn(into, query, args...)
}
func (tx *Tx) exists(query string, args ...any) (bool, error) { return tx.sql.Exists(query, args...) }
func (tx *Tx) nextID(table string) (uint64, error)            { return tx.sql.NextID(table) }
func (tx *Tx) millis() int64                                  { return tx.sql.Millis() }

func (tx *Tx) insert(into string, rows [][]any, or string) error {
	return tx.sql.Insert(into, rows, or)
}
