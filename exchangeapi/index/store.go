package index

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versions is the table of our migrations: the database may be shared with other packages' tables.
const versions = "ex_versions"

// readers is how many queries of one process run at a time.
const readers = 8

// txLimit bounds one transaction.
const txLimit = time.Minute

// Statements of this package say LIMIT ? + 0: SQLite plans for the number behind a bare LIMIT ?, so it prepares the statement anew each time
// that one is bound, which costs more than most queries.

// What SQLite connections are set to. NORMAL, for a commit that a power cut undoes is only read from the chain once more.
const (
	sqliteCommon = "?_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=5000&_stmt_cache_size=256"
	sqliteWrites = sqliteCommon + "&_txlock=immediate"
	// database/sql gives a connection to one goroutine at a time. Each has room for 8 MB of pages: an account's orders lie apart.
	sqliteReads = sqliteCommon + "&_query_only=true&_mutex=no&_cache_size=-8000"
)

// ErrNewer marks a database that a later program wrote.
var ErrNewer = errors.New("the index was written by a newer program")

// errCommit marks a commit of which it is not known whether it happened: what is in memory has to be read anew.
var errCommit = errors.New("committing")

// store is the index's database.
type store struct {
	writes, reads *sqlx.DB
	lock          string // SQL that makes a writing transaction the only one; empty where BEGIN does it
	leader        leadership
	texts         sync.Map // of insertions
}

func checkURL(url string) error {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		if path == "" || strings.ContainsAny(path, "?\x00") || strings.HasPrefix(path, "file:") || strings.HasPrefix(path, ":") {
			return errors.New("url: sqlite: takes a plain path, no options, no memory database")
		}
		return nil
	}
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		return nil
	}
	return errors.New("url: sqlite:PATH or postgres://... is wanted")
}

// openStore opens the database and brings its schema up to date.
func openStore(ctx context.Context, url string) (*store, error) {
	open, dialect := openPostgres, goose.DialectPostgres
	if strings.HasPrefix(url, "sqlite:") {
		open, dialect = openSQLite, goose.DialectSQLite3
	}
	s, err := open(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("opening the index: %w", err)
	}
	if err := migrate(ctx, s.writes.DB, dialect); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the index: %w", err), s.close())
	}
	return s, nil
}

func (s *store) close() error {
	s.resign(context.Background())
	return errors.Join(s.reads.Close(), s.writes.Close())
}

func openSQLite(ctx context.Context, url string) (*store, error) {
	path := strings.TrimPrefix(url, "sqlite:")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // for its owner only
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	writes, err := sqlx.Open("sqlite3", path+sqliteWrites)
	if err != nil {
		return nil, err
	}
	reads, err := sqlx.Open("sqlite3", path+sqliteReads)
	if err != nil {
		return nil, errors.Join(err, writes.Close())
	}
	s := &store{writes: writes, reads: reads}
	limitConns(writes, 1)
	limitConns(reads, readers)
	if err := writes.PingContext(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func openPostgres(ctx context.Context, url string) (*store, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("url: not a PostgreSQL address") // the library's text may hold a password
	}
	c.RuntimeParams["application_name"] = "gatewayd index"
	c.RuntimeParams["statement_timeout"] = "30s"
	c.RuntimeParams["idle_in_transaction_session_timeout"] = "60s"
	s := &store{
		writes: sqlx.NewDb(stdlib.OpenDB(*c), "pgx"), reads: sqlx.NewDb(stdlib.OpenDB(*c), "pgx"),
		lock: "SELECT pg_advisory_xact_lock(7310293846)",
	}
	limitConns(s.writes, 2) // migrations hold one for their lock, and who follows the chain for his
	limitConns(s.reads, readers)
	if err := s.writes.PingContext(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func limitConns(db *sqlx.DB, n int) {
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
}

func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	table, err := database.NewStore(dialect, versions)
	if err != nil {
		return err
	}
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true), goose.WithStore(table)}
	if dialect == goose.DialectPostgres {
		session, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return err
		}
		options = append(options, goose.WithSessionLocker(session))
	}
	p, err := goose.NewProvider("", db, files, options...)
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	return bringUp(ctx, p)
}

func bringUp(ctx context.Context, p *goose.Provider) error {
	current, target, err := p.GetVersions(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("reading the schema's version: %w", err)
	case current > target:
		return fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, current, target)
	case current == target:
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrating from schema %d to %d: %w", current, target, err)
	}
	return nil
}

// tx is one transaction; it must not leave the function it was handed to.
type tx struct {
	ctx   context.Context
	tx    session
	texts *sync.Map // of insertions; nil where nothing is written
}

// session runs the statements of one transaction: a *sqlx.Tx, or a *sqlx.Conn between BEGIN and ROLLBACK.
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	GetContext(ctx context.Context, into any, query string, args ...any) error
	SelectContext(ctx context.Context, into any, query string, args ...any) error
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	Rebind(query string) string
}

// update runs f in one writing transaction. An error of f rolls back and comes out as it is; errCommit is explained there.
func (s *store) update(ctx context.Context, f func(*tx) error) error {
	// A stopping daemon must not cut a COMMIT: only the time limit does.
	life, cancel := context.WithTimeout(context.WithoutCancel(ctx), txLimit)
	defer cancel()
	t, err := s.writes.BeginTxx(life, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer t.Rollback() // answers ErrTxDone after a commit
	w := &tx{ctx, t, &s.texts}
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
	return f(&tx{ctx, t, nil})
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.tx.ExecContext(t.ctx, t.tx.Rebind(query), args...)
	return err
}

// one reads one row, or tells that there is none.
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
