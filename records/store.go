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
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"

	"gatewayd/chain"
	"gatewayd/internal/database"
)

// txLimit bounds one transaction from BEGIN to the answer of COMMIT.
const txLimit = time.Minute

// Store is an open database. It is safe for use by many goroutines.
type Store struct {
	engine engine
	db     *database.DB
	now    func() time.Time
	depths *depthCache
	kept   *settledCache
	lease  *Lease // nil: not fenced

	observe func(statement string) // nil: nobody is told
}

// Close waits for what runs and closes the database. A fenced copy shares the database: close the first one only.
func (s *Store) Close() error { return s.db.Close() }

// Fenced is the same store whose every Update first checks that the lease is still held, else ErrFenced.
func (s *Store) Fenced(l *Lease) *Store {
	fenced := *s
	fenced.lease = l
	return &fenced
}

// Update runs f in one writing transaction; there is one at a time, in all processes together. An error of f rolls back and comes out as it is.
// ErrUnknownOutcome: the transaction may or may not be stored, read before going on (rule R7). Never call Update inside Update.
func (s *Store) Update(ctx context.Context, f func(*Tx) error) error {
	conn, err := s.db.Writes.Connx(ctx)
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
	t, err := s.db.Reads.BeginTxx(ctx, s.engine.read)
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

//go:embed migrations
var migrations embed.FS

// Statements of this package say LIMIT ? + 0: SQLite plans for the number behind a bare LIMIT ?, so it prepares the statement anew each time
// that one is bound, which costs three times what a wallet's page does.

// What every connection is set to. FULL, because a commit that a power cut undoes is a database behind its chain (docs/payment-rules.md 5).
//
// The cache of the writing connection (KiB) holds what a group of a few hundred payments changes: with SQLite's own 2 MiB pages are written
// to the log, thrown out and read again within one transaction, the more the larger the file. A cache takes only what it has read.
const (
	sqliteCommon = "?_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_busy_timeout=5000&_stmt_cache_size=256"
	sqliteWrites = sqliteCommon + "&_txlock=immediate&_cache_size=-65536"
	sqliteReads  = sqliteCommon + "&_query_only=true&_mutex=no&_cache_size=-8192" // database/sql gives a connection to one goroutine at a time
	sqlitePool   = 8                                                              // snapshots at a time

	// A page that many transactions change is copied from the log to the file once in so many pages (64 MiB): with SQLite's own 1,000 each group
	// of payments was followed by a copy, which cost the more the more pages its rows were spread over.
	sqliteCheckpoint = "PRAGMA wal_autocheckpoint = 16384"
)

// Connections of one process. Writers wait for each other in the database, so more of them would only wait there.
const (
	postgresWriters = 4
	postgresReaders = 12
)

// writerLock is the advisory lock that all writing transactions of a database take: one writer, as in SQLite.
const writerLock = "SELECT pg_advisory_xact_lock(7310293845)"

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
	if err := database.CheckURL(c.URL); err != nil {
		return fmt.Errorf("records %w", err)
	}
	return nil
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

// sqliteGuards is the folder of SQLite's guard triggers.
const sqliteGuards = "migrations/sqlite"

func engineOf(db *database.DB) engine {
	if db.File != "" {
		return engine{driver: "sqlite3", clock: "CAST(unixepoch('subsec') * 1000 AS INTEGER)", guards: sqliteGuards, file: db.File}
	}
	return engine{
		driver: "pgx", clock: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)", lock: writerLock,
		read: &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, guards: "migrations/postgres",
	}
}

// connections are how a file and a server are opened.
func connections() (database.SQLite, database.Postgres) {
	return database.SQLite{
			Writes: sqliteWrites, Reads: sqliteReads, Readers: sqlitePool, Checked: true,
			Connect: func(c *sqlite3.SQLiteConn) error {
				if _, err := c.Exec(sqliteCheckpoint, nil); err != nil {
					return err
				}
				return c.RegisterAggregator("amount_sum", newAmountSum, true)
			},
		}, database.Postgres{
			Writers: postgresWriters, Readers: postgresReaders,
			Params: map[string]string{
				"application_name": "gatewayd", "synchronous_commit": "on", "statement_timeout": "30s", "timezone": "UTC",
				"idle_in_transaction_session_timeout": "10s", // a writer that froze holds the lock no longer than its lease lasts
			},
		}
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
	sqlite, postgres := connections()
	db, err := database.Open(ctx, c.URL, sqlite, postgres)
	if err != nil {
		return nil, fmt.Errorf("opening the records: %w", err)
	}
	s := &Store{engine: engineOf(db), db: db, now: c.Now, depths: newDepthCache(), kept: newSettledCache(), observe: c.Observe}
	if err := db.Migrate(ctx, s.schema(joins, c.Migrating)); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the records: %w", err), s.Close())
	}
	return s, nil
}

// schema is the tables of both engines under the guard triggers of this one.
func (s *Store) schema(joins bool, tell func(from, to int64)) database.Schema {
	return database.Schema{Folders: foldersOf(s.engine.guards), Joins: joins, Migrating: tell}
}

// Schema is what a SQLite file of records is made by.
func Schema() database.Schema { return database.Schema{Folders: foldersOf(sqliteGuards)} }

func foldersOf(guards string) []fs.FS {
	folder := func(name string) fs.FS {
		f, err := fs.Sub(migrations, name)
		if err != nil {
			panic(err) // they are compiled in
		}
		return f
	}
	return []fs.FS{folder(guards), folder("migrations")}
}

// OpenExisting is Open for those who only join the daemon: a database file that is not there is ErrNotFound and is not made, and a schema that
// is not up to date is ErrOlder and stays as it is.
func OpenExisting(ctx context.Context, c Config) (*Store, error) {
	if path, ok := database.Path(c.URL); ok && database.CheckURL(c.URL) == nil {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("opening the records: %w: no file %s yet; `gatewayd run` makes it", ErrNotFound, path)
		}
	}
	return openStore(ctx, c, true)
}

// amountSum is SQL's amount_sum(text) on SQLite, whose own SUM would turn large amounts into floats.
type amountSum struct{ sum chain.Amount }

func newAmountSum() *amountSum { return &amountSum{} }

// Step adds one amount.
func (s *amountSum) Step(text string) error {
	a, err := chain.ParseAmount(text)
	if err != nil {
		return err
	}
	s.sum, err = s.sum.Add(a)
	return err
}

// Done is the sum in decimal.
func (s *amountSum) Done() string { return s.sum.String() }
