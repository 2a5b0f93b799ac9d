// Package records is the gateway's store: what came in, what is owed, what was signed and what became of it, on SQLite or PostgreSQL.
//
// It owns the tables, the transitions between states and the constraints that keep money safe (docs/payment-rules.md); docs/records.md
// draws them. It decides nothing about money: which transfer is good, what a payment is worth and when to sign are the watcher's decisions.
// It talks to no chain, knows no keys and serves no HTTP.
//
//	transfer  seen ─▶ final | held | refused      payment  queued ─▶ bound ─▶ paid      slot  open ─▶ paid | void
//	            └───▶ orphaned ─▶ seen                      └──────▶ held | void               └─▶ forked ─▶ paid | void
package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"
	"github.com/mattn/go-sqlite3"
)

// txLimit bounds one transaction from BEGIN to the answer of COMMIT.
const txLimit = time.Minute

// Config says where the records are.
type Config struct {
	// URL is "sqlite:PATH" or "postgres://user@host/name?...". The password of a server belongs in PGPASSFILE or PGPASSWORD.
	URL string `yaml:"url"`
	// Now gives the times of rows; nil means time.Now. Leases use the database's own clock.
	Now func() time.Time `yaml:"-"`
	// Observe is told the text of every statement before it runs; nil for nobody. Tests look at the statements' plans.
	Observe func(statement string) `yaml:"-"`
	// Migrating is told before the schema is brought from one version to another, 0 being an empty database; nil for nobody.
	Migrating func(from, to int64) `yaml:"-"`
}

// Check tells what is wrong with the configuration.
func (c Config) Check() error {
	switch {
	case strings.HasPrefix(c.URL, "sqlite:"):
		return checkSQLitePath(strings.TrimPrefix(c.URL, "sqlite:"))
	case strings.HasPrefix(c.URL, "postgres://"), strings.HasPrefix(c.URL, "postgresql://"):
		return nil
	}
	return errors.New("records url: sqlite:PATH or postgres://... is wanted")
}

// engine is what differs between the two databases besides the guard triggers.
type engine struct {
	driver string         // as sqlx names it
	clock  string         // SQL: the database's own clock in Unix milliseconds
	lock   string         // SQL that makes a writing transaction the only one; empty where BEGIN does it
	read   *sql.TxOptions // of a snapshot
	guards string         // folder of the guard triggers
	file   string         // the database's path; empty for a server
}

// Store is an open database. It is safe for use by many goroutines.
type Store struct {
	engine engine
	writes *sqlx.DB
	reads  *sqlx.DB
	now    func() time.Time
	depths *depthCache
	kept   *keptLines
	lease  *Lease // nil: not fenced

	observe func(statement string) // nil: nobody is told
}

// Open opens the database, brings its schema up to date and checks it. ErrNewer: a later program wrote it.
func Open(ctx context.Context, c Config) (*Store, error) { return openStore(ctx, c, false) }

func openStore(ctx context.Context, c Config, joins bool) (*Store, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	open := openPostgres
	if strings.HasPrefix(c.URL, "sqlite:") {
		open = openSQLite
	}
	s, err := open(ctx, c.URL)
	if err != nil {
		return nil, fmt.Errorf("opening the records: %w", err)
	}
	s.now, s.depths, s.kept, s.observe = c.Now, newDepthCache(), newKeptLines(), c.Observe
	if err := migrate(ctx, s.writes.DB, s.engine, joins, c.Migrating); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the records: %w", err), s.Close())
	}
	return s, nil
}

// OpenExisting is Open for those who only join the daemon: a database file that is not there is ErrNotFound and is not made, and a schema that
// is not up to date is ErrOlder and stays as it is.
func OpenExisting(ctx context.Context, c Config) (*Store, error) {
	if path, ok := strings.CutPrefix(c.URL, "sqlite:"); ok && checkSQLitePath(path) == nil {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("opening the records: %w: no file %s yet; `gatewayd run` makes it", ErrNotFound, path)
		}
	}
	return openStore(ctx, c, true)
}

// Close waits for what runs and closes the database. A fenced copy shares the database: close the first one only.
func (s *Store) Close() error { return errors.Join(s.reads.Close(), s.writes.Close()) }

// Fenced is the same store whose every Update first checks that the lease is still held, else ErrFenced.
func (s *Store) Fenced(l *Lease) *Store {
	fenced := *s
	fenced.lease = l
	return &fenced
}

// Update runs f in one writing transaction; there is one at a time, in all processes together. An error of f rolls back and comes out as it is.
// ErrUnknownOutcome: the transaction may or may not be stored, read before going on (rule R7). Never call Update inside Update.
func (s *Store) Update(ctx context.Context, f func(*Tx) error) error {
	conn, err := s.writes.Connx(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the records: %w", err)
	}
	defer conn.Close()
	// A stopping daemon must not cut a COMMIT: only the time limit does.
	life, cancel := context.WithTimeout(context.WithoutCancel(ctx), txLimit)
	defer cancel()
	t, err := conn.BeginTxx(life, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer t.Rollback() // answers ErrTxDone after a commit
	tx := s.newTx(ctx, t)
	if err := s.enter(tx); err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.flush(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("before the commit: %w", err)
	}
	return commitError(t.Commit())
}

// enter makes the transaction the only writing one and checks the fence.
func (s *Store) enter(tx *Tx) error {
	if s.engine.lock != "" {
		if _, err := tx.exec(s.engine.lock); err != nil {
			return fmt.Errorf("waiting for other writers: %w", err)
		}
	}
	if s.lease == nil {
		return nil
	}
	return tx.checkFence(s.lease)
}

// View runs f on one read snapshot, beside any writer. Writing methods fail in it.
func (s *Store) View(ctx context.Context, f func(*Tx) error) error {
	t, err := s.reads.BeginTxx(ctx, s.engine.read)
	if err != nil {
		return fmt.Errorf("beginning a snapshot: %w", err)
	}
	defer t.Rollback()
	return f(s.newTx(ctx, t))
}

func (s *Store) newTx(ctx context.Context, t session) *Tx {
	if s.observe != nil {
		t = observed{t, s.observe}
	}
	return &Tx{ctx: ctx, tx: t, engine: s.engine, now: s.now().UTC().Truncate(time.Millisecond), actor: actorOf(ctx), depths: s.depths, ids: map[string]uint64{}}
}

// commitError tells a commit that the database refused from one whose answer is missing.
func commitError(err error) error {
	if err == nil {
		return nil
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return fmt.Errorf("committing: %w", err)
	}
	var lite sqlite3.Error
	if errors.As(err, &lite) {
		switch lite.Code {
		case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrConstraint, sqlite3.ErrReadonly, sqlite3.ErrFull:
			return fmt.Errorf("committing: %w", err)
		}
	}
	return fmt.Errorf("committing: %w: %w", ErrUnknownOutcome, err)
}
