package index

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/google/uuid"
	"github.com/holiman/uint256"
	"github.com/jmoiron/sqlx"

	"gatewayd/internal/database"
	"gatewayd/vite/dex"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versions is the table of our migrations: the database may be shared with other packages' tables.
const versions = "ex_versions"

// readers bounds the concurrent queries of one process. wideReaders bounds those that may read much
// more than they return; the others serve queries of orders and cancels.
const (
	readers     = 8
	wideReaders = 2
)

// txLimit bounds one transaction.
const txLimit = time.Minute

// Statements of this package use LIMIT ? + 0. SQLite plans for the number behind a bare LIMIT ?, so
// it prepares the statement again for each bound number, which costs more than most queries.

// Settings of SQLite connections. NORMAL is sufficient, because a commit lost in a power cut is
// read from the chain again.
const (
	sqliteCommon = "?_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=5000&_stmt_cache_size=256"
	sqliteWrites = sqliteCommon + "&_txlock=immediate"
	// database/sql gives a connection to one goroutine at a time. Each has room for 8 MB of pages:
	// an account's orders lie apart.
	sqliteReads = sqliteCommon + "&_query_only=true&_mutex=no&_cache_size=-8000"
)

// ErrNewer marks a database that a later program wrote.
var ErrNewer = database.ErrNewer

// errCommit marks a commit whose outcome is unknown: the state in memory has to be read again.
var errCommit = errors.New("committing")

// store is the index's database.
type store struct {
	db            *database.DB
	writes, reads *sqlx.DB      // its connections
	wide          chan struct{} // as many as there are wide reads; capacity wideReaders
	lock          string        // SQL that makes a writing transaction the only one; empty where BEGIN does it
	sessions      string        // application_name of its connections
	wake          wake          // nil where no other process uses the database
	leader        leadership
}

// shared reports whether other processes may use the database too.
func (s *store) shared() bool { return s.lock != "" }

// openStore opens the database and migrates its schema. A commit lost in a power cut is read from
// the chain again.
func openStore(ctx context.Context, url string) (*store, error) {
	sessions := "gatewayd index/" + uuid.NewString()[:8]
	postgres := database.Postgres{
		Writers: 2, Readers: readers, // migrations hold a writer for their lock, and who follows the chain for his
		Params: sessionParams(sessions),
	}
	db, err := database.Open(ctx, url, database.SQLite{Writes: sqliteWrites, Reads: sqliteReads, Readers: readers}, postgres)
	if err != nil {
		return nil, database.Of("exchange.index.url", fmt.Errorf("opening the index: %w", err))
	}
	s := &store{db: db, writes: db.Writes, reads: db.Reads, wide: make(chan struct{}, wideReaders), sessions: sessions}
	if db.File == "" {
		s.lock = fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", database.LockIndexWriter)
		s.wake = notifications{db}
	}
	if err := db.Migrate(ctx, Schema()); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the index: %w", err), s.close())
	}
	return s, nil
}

// sessionParams are the settings of each session on a server.
func sessionParams(name string) map[string]string {
	return map[string]string{"application_name": name, "statement_timeout": "30s", "idle_in_transaction_session_timeout": "7s"} // below leaderPatience
}

// Schema returns the schema of an index.
func Schema() database.Schema {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // they are compiled in
	}
	return database.Schema{Folders: []fs.FS{files}, Table: versions}
}

func (s *store) close() error {
	s.stopLeading(context.Background())
	return s.db.Close()
}

// tx is one transaction; it must not leave the function it was handed to.
type tx struct {
	ctx context.Context
	tx  session
}

// session runs statements: a *sqlx.Tx, or a *sqlx.Conn without a transaction.
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	GetContext(ctx context.Context, into any, query string, args ...any) error
	SelectContext(ctx context.Context, into any, query string, args ...any) error
	QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error)
	Rebind(query string) string
}

// update runs f in one writing transaction. An error of f rolls back and comes out as it is;
// errCommit is explained there.
func (s *store) update(ctx context.Context, f func(*tx) error) error {
	// A stopping daemon must not cut a COMMIT: only the time limit does.
	life, cancel := context.WithTimeout(context.WithoutCancel(ctx), txLimit)
	defer cancel()
	t, err := s.writes.BeginTxx(life, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer t.Rollback() // answers ErrTxDone after a commit
	w := &tx{ctx, t}
	if s.lock != "" {
		if err := w.exec(s.lock); err != nil {
			return fmt.Errorf("waiting for other writers: %w", err)
		}
	}
	if err := f(w); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("%w: %w", errCommit, err)
	}
	return nil
}

// read runs f on a connection for reading, without a transaction: each query sees its own state.
// Queries on SQLite cannot be interrupted, because database/sql would start a goroutine for each.
// So f reads little.
func (s *store) read(ctx context.Context, f func(*tx) error) error {
	conn, err := s.reads.Connx(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close()
	if s.lock == "" {
		ctx = context.WithoutCancel(ctx)
	}
	return f(&tx{ctx, conn})
}

// latest runs the reading of a list that may need what its client has just ordered.
func (s *store) latest(ctx context.Context, read func(ctx context.Context, from lists) error) error {
	return read(ctx, s)
}

// readWide is view for what may read much more than it gives: no longer than ctx lasts, and few at
// a time.
func (s *store) readWide(ctx context.Context, f func(*tx) error) error {
	return withPermit(ctx, s.wide, func() error { return s.view(ctx, f) })
}

// withPermit runs f when one of the permits is free.
func withPermit(ctx context.Context, permits chan struct{}, f func() error) error {
	select {
	case permits <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("waiting for other lists: %w", context.Cause(ctx))
	}
	defer func() { <-permits }()
	return f()
}

// MaxOffset is the most rows that a page leaves out: they are read all the same. Pages further back
// are empty; times lead there.
const MaxOffset = 10_000

// page reads the rows of a page into row, one after the other, and counts all matches if asked to;
// -1 if not.
func page(ctx context.Context, from lists, l *listQuery, columns, order string, p Page, row any, each func()) (total int, err error) {
	run := from.read
	if l.Wide || p.Total {
		run = from.readWide
	}
	total = -1
	err = run(ctx, func(t *tx) error {
		if p.Total {
			if _, err := t.one(&total, l.Count(), l.Args()...); err != nil {
				return err
			}
		}
		if p.Offset > MaxOffset {
			return nil
		}
		return t.each(row, each, l.Page(columns, order), l.Args(max(0, p.Limit), max(0, p.Offset))...)
	})
	return total, err
}

// view runs f on one read snapshot.
func (s *store) view(ctx context.Context, f func(*tx) error) error {
	var options *sql.TxOptions
	if s.lock != "" {
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	t, err := s.reads.BeginTxx(ctx, options)
	if err != nil {
		return fmt.Errorf("beginning a snapshot: %w", err)
	}
	defer t.Rollback()
	return f(&tx{ctx, t})
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.tx.ExecContext(t.ctx, t.tx.Rebind(query), args...)
	return err
}

// one reads one row, and reports whether it exists.
func (t *tx) one(into any, query string, args ...any) (bool, error) {
	err := t.tx.GetContext(t.ctx, into, t.tx.Rebind(query), args...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// list reads rows; arguments may be slices for IN (?).
func (t *tx) list(into any, query string, args ...any) error {
	query, args, err := sqlx.In(query, args...)
	if err != nil {
		return err
	}
	return t.tx.SelectContext(t.ctx, into, t.tx.Rebind(query), args...)
}

// each reads rows into row, a pointer to a struct, one after the other.
func (t *tx) each(row any, f func(), query string, args ...any) error {
	rows, err := t.tx.QueryxContext(t.ctx, t.tx.Rebind(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.StructScan(row); err != nil {
			return err
		}
		f()
	}
	return rows.Err()
}

// price is a dex.Price as a column: its shortest text.
type price struct{ dex.Price }

// Value is the price's text.
func (p price) Value() (driver.Value, error) { return p.String(), nil }

// Scan reads a price's text.
func (p *price) Scan(src any) (err error) {
	switch text := src.(type) {
	case string:
		p.Price, err = dex.ParsePrice(text)
	case []byte:
		p.Price, err = dex.ParsePrice(string(text))
	default:
		err = fmt.Errorf("a price column holds a %T", src)
	}
	return err
}

// amount is an integer of smallest units as a column: its decimal text.
type amount struct{ uint256.Int }

// Value is the amount's text.
func (a amount) Value() (driver.Value, error) { return a.Dec(), nil }

// Scan reads an amount's text.
func (a *amount) Scan(src any) error {
	text, ok := src.(string)
	if raw, isBytes := src.([]byte); isBytes {
		text, ok = string(raw), true
	}
	if !ok {
		return fmt.Errorf("an amount column holds a %T", src)
	}
	return a.SetFromDecimal(text)
}

// plus is the sum of two amounts; amounts of a token are below its supply, so it does not overflow.
func plus(a, b *uint256.Int) (sum uint256.Int) {
	sum.Add(a, b)
	return sum
}
