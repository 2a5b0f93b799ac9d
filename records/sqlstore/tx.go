package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"
	"github.com/mattn/go-sqlite3"
)

// Tx is one transaction of the store: a writing one inside Update, a snapshot inside View. It must
// not leave the function it was handed to.
type Tx struct {
	ctx    context.Context
	tx     session
	engine engine
	now    time.Time
	actor  string
	last   *historyTip       // end of the history, once read in this transaction
	lines  [][]any           // of the history, that are not written yet
	ids    map[string]uint64 // newest given in this transaction, by table

	raw *rawRead // of a RawRead on SQLite only
}

// session runs the statements of one transaction: a *sqlx.Tx or a *rawRead.
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	GetContext(ctx context.Context, into any, query string, args ...any) error
	SelectContext(ctx context.Context, into any, query string, args ...any) error
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	Rebind(query string) string
}

type actorKey struct{}

// WithActor names the actor in the history lines of transactions run under ctx: "operator:<name>".
// Without it they contain "daemon".
func WithActor(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, actorKey{}, name)
}

func actorOf(ctx context.Context) string {
	if name, ok := ctx.Value(actorKey{}).(string); ok && name != "" {
		return name
	}
	return "daemon"
}

// Now is the time of this transaction.
func (tx *Tx) Now() time.Time { return tx.now }

// Actor is who acts in it.
func (tx *Tx) Actor() string { return tx.actor }

// Exec runs a statement and answers how many rows it changed. A broken constraint or guard is
// ErrConflict.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	r, err := tx.tx.ExecContext(tx.ctx, tx.tx.Rebind(query), args...)
	if err != nil {
		return 0, constraintError(err)
	}
	return r.RowsAffected()
}

// ExecNamed is Exec for a statement with named parameters. They are the fields of a struct by their
// db tags, or the keys of a map.
func (tx *Tx) ExecNamed(query string, params any) (int64, error) {
	query, args, err := sqlx.Named(query, params)
	if err != nil {
		return 0, err
	}
	return tx.Exec(query, args...)
}

// ChangeNamed is ExecNamed for a compare-and-set: no row changed is ErrConflict.
func (tx *Tx) ChangeNamed(query string, params any) error {
	n, err := tx.ExecNamed(query, params)
	if err == nil && n == 0 {
		return ErrConflict
	}
	return err
}

// NamedValues returns the VALUES clause with a named parameter for each column of a list.
func NamedValues(columns string) string {
	return "VALUES (:" + strings.Join(strings.FieldsFunc(columns, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }), ", :") + ")"
}

// Change is Exec for a compare-and-set: no row changed is ErrConflict.
func (tx *Tx) Change(query string, args ...any) error {
	n, err := tx.Exec(query, args...)
	if err == nil && n == 0 {
		return ErrConflict
	}
	return err
}

// Get reads one row, and reports whether it exists.
func (tx *Tx) Get(into any, query string, args ...any) (bool, error) {
	if err := tx.flushFor(query); err != nil {
		return false, err
	}
	err := tx.tx.GetContext(tx.ctx, into, tx.tx.Rebind(query), args...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// flushFor writes what the history lacks before it is read.
func (tx *Tx) flushFor(query string) error {
	if len(tx.lines) == 0 || !strings.Contains(query, "history") {
		return nil
	}
	return tx.flush()
}

// One is Get for a row that must be there, else ErrNotFound.
func (tx *Tx) One(into any, query string, args ...any) error {
	found, err := tx.Get(into, query, args...)
	if err == nil && !found {
		return ErrNotFound
	}
	return err
}

// List reads all rows of a query.
func (tx *Tx) List(into any, query string, args ...any) error {
	if err := tx.flushFor(query); err != nil {
		return err
	}
	return tx.tx.SelectContext(tx.ctx, into, tx.tx.Rebind(query), args...)
}

// ListIn is List for a query with an IN (?) of a slice.
func (tx *Tx) ListIn(into any, query string, args ...any) error {
	query, args, err := sqlx.In(query, args...)
	if err != nil {
		return err
	}
	return tx.List(into, query, args...)
}

// Exists reports whether a query has a row. The query selects 1.
func (tx *Tx) Exists(query string, args ...any) (bool, error) {
	var one int
	return tx.Get(&one, query+" LIMIT 1", args...)
}

// NextID is the id of a new row, which the caller stores: rows of these tables are never deleted
// and one transaction writes at a time.
func (tx *Tx) NextID(table string) (id uint64, err error) {
	id, given := tx.ids[table]
	if !given {
		if id, err = tx.NewestID(table); err != nil {
			return 0, err
		}
	}
	tx.ids[table] = id + 1
	return id + 1, nil
}

// NewestID is the highest id of a table; 0 for an empty one.
func (tx *Tx) NewestID(table string) (id uint64, err error) {
	err = tx.One(&id, "SELECT COALESCE(MAX(id), 0) FROM "+table)
	return id, err
}

// Millis is the time of this transaction as columns hold it.
func (tx *Tx) Millis() int64 { return tx.now.UnixMilli() }

func constraintError(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (strings.HasPrefix(pg.Code, "23") || pg.Code == "P0001") {
		return fmt.Errorf("%w: %s", ErrConflict, pg.Message)
	}
	var lite sqlite3.Error
	if errors.As(err, &lite) && lite.Code == sqlite3.ErrConstraint {
		return fmt.Errorf("%w: %s", ErrConflict, lite.Error())
	}
	return err
}

// Doing is an error with what was being done when it came; nil for none.
func Doing(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), err)
}

// Each is a list with each of its elements as f makes it.
func Each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, element := range list {
		out[i] = f(element)
	}
	return out
}

// Bit is a truth, which columns hold as 0 or 1.
type Bit bool

// Value implements driver.Valuer.
func (b Bit) Value() (driver.Value, error) {
	if b {
		return int64(1), nil
	}
	return int64(0), nil
}

// Scan implements sql.Scanner.
func (b *Bit) Scan(column any) error {
	truth, err := driver.Bool.ConvertValue(column)
	if err == nil {
		*b = Bit(truth.(bool))
	}
	return err
}

// FromMillis is a time of a column.
func FromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// ToMillis keeps the zero time recognisable: it is 0 in a column and the zero time again when read
// by TimeOrZero.
func ToMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// TimeOrZero is a time that ToMillis has stored.
func TimeOrZero(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return FromMillis(ms)
}

// MaxNote bounds texts from nodes, users or operators.
const MaxNote = 2000

// Note cleans a free text for a column: both engines refuse or garble NUL and broken UTF-8.
func Note(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
	if len(s) > MaxNote {
		s = strings.ToValidUTF8(s[:MaxNote], "")
	}
	return s
}

// Storable reports whether a column can hold a text as it is.
func Storable(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// Group bounds the rows of one statement.
const Group = 64

// rowsAtOnce are the numbers of rows that one statement takes, largest first: few, so that both
// engines have each statement prepared, and small enough for their limits on parameters.
var rowsAtOnce = [...]int{Group, 16, 4, 1}

// Insert adds rows to a table, many in a statement. All of them have a value for each column; or is
// the statement's clause for existing rows.
func (tx *Tx) Insert(into string, rows [][]any, or string) error {
	_, err := Insert(into, rows, or, tx.Exec)
	return err
}

// Insert is Tx.Insert by another way to run statements. It answers how many rows were added.
func Insert(into string, rows [][]any, or string, exec func(statement string, args ...any) (int64, error)) (added int, err error) {
	for len(rows) > 0 {
		n := atOnce(len(rows))
		row := "(?" + strings.Repeat(", ?", len(rows[0])-1) + ")"
		some, err := exec("INSERT INTO "+into+" VALUES "+row+strings.Repeat(", "+row, n-1)+or, slices.Concat(rows[:n]...)...)
		if err != nil {
			return added, err
		}
		added, rows = added+int(some), rows[n:]
	}
	return added, nil
}

// atOnce returns how many of n rows the next statement takes.
func atOnce(n int) int {
	for _, size := range rowsAtOnce {
		if size <= n {
			return size
		}
	}
	return 1
}

// InGroups hands a list on in groups that one statement takes. in is a group as the arguments of
// set, the text of a list for IN; the group's last is repeated until it has one of the usual sizes.
func InGroups[T any](list []T, f func(set string, in []any, n int) error) error {
	for part := range slices.Chunk(list, Group) {
		size := Group
		for _, s := range rowsAtOnce {
			if s >= len(part) {
				size = s
			}
		}
		in := make([]any, size)
		for i := range in {
			in[i] = part[min(i, len(part)-1)]
		}
		if err := f("(?"+strings.Repeat(", ?", size-1)+")", in, len(part)); err != nil {
			return err
		}
	}
	return nil
}

// ChangeAll is Change for the rows with the keys, which differ and end the query: all of them, or
// ErrConflict.
func ChangeAll[T any](tx *Tx, keys []T, query string, args ...any) error {
	return InGroups(keys, func(set string, in []any, n int) error {
		changed, err := tx.Exec(query+set, slices.Concat(args, in)...)
		if err == nil && changed != int64(n) {
			return ErrConflict
		}
		return err
	})
}

// observed is a session that reports its statements.
type observed struct {
	session
	tell func(statement string)
}

func (o observed) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	o.tell(query)
	return o.session.ExecContext(ctx, query, args...)
}

func (o observed) GetContext(ctx context.Context, into any, query string, args ...any) error {
	o.tell(query)
	return o.session.GetContext(ctx, into, query, args...)
}

func (o observed) SelectContext(ctx context.Context, into any, query string, args ...any) error {
	o.tell(query)
	return o.session.SelectContext(ctx, into, query, args...)
}

func (o observed) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	o.tell(query)
	return o.session.QueryContext(ctx, query, args...)
}
