// Package sqlstore runs transactions on SQLite or PostgreSQL: one writer at a time, fenced by a
// lease, with a history whose lines are chained by their digests. It knows the tables leases and
// history; all others are its callers', who hand in the migrations.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"
	"github.com/mattn/go-sqlite3"

	"gatewayd/chain"
	"gatewayd/internal/database"
)

// txLimit bounds one transaction from BEGIN to the answer of COMMIT.
const txLimit = time.Minute

// Store is an open database. It is safe for use by many goroutines.
type Store struct {
	engine   engine
	instance string // of this opening of the database, unique
	db       *database.DB
	now      func() time.Time
	lease    *Lease // nil: not fenced

	observe func(statement string) // may be nil
}

// Close waits for what runs and closes the database. A fenced copy shares the database: close the
// first one only.
func (s *Store) Close() error { return s.db.Close() }

// Pools returns the state of the pools of connections, for metrics.
func (s *Store) Pools() map[string]sql.DBStats { return s.db.Pools() }

// Limits returns the limits of clients in a table. They do not wait for writing transactions.
func (s *Store) Limits(table string) database.Limits {
	if s.engine.file != "" {
		return database.Limits{}
	}
	return database.Limits{Server: s.db.Reads, Table: table}
}

// Instance names this opening of the database: no two have the same name. The last part of a
// holder's name (Lease) is that of its store, so that its sessions can be ended.
func (s *Store) Instance() string { return s.instance }

// Fenced is the same store whose every Update first checks that the lease is still held, else
// ErrFenced.
func (s *Store) Fenced(l *Lease) *Store {
	fenced := *s
	fenced.lease = l
	return &fenced
}

// Update runs f in one writing transaction; there is one at a time, in all processes together. An
// error of f rolls back and is returned unchanged. ErrUnknownOutcome: the transaction may or may
// not be stored; read before continuing (rule R7). Never call Update inside Update.
func (s *Store) Update(ctx context.Context, f func(*Tx) error) error {
	return s.update(ctx, s.db.Writes, s.enter, f)
}

func (s *Store) update(ctx context.Context, pool *sqlx.DB, enter, f func(*Tx) error) error {
	conn, err := pool.Connx(ctx)
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
	if err := enter(tx); err != nil {
		return ended(life, err)
	}
	if err := f(tx); err != nil {
		return ended(life, err)
	}
	if err := tx.flush(); err != nil {
		return ended(life, err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("before the commit: %w", err)
	}
	return commitError(t.Commit())
}

// enter makes the transaction the only writing one and checks the fence.
func (s *Store) enter(tx *Tx) error {
	if s.engine.lock != "" {
		if _, err := tx.Exec(s.engine.lock); err != nil {
			return fmt.Errorf("waiting for other writers: %w", err)
		}
	}
	if s.lease == nil {
		return nil
	}
	return tx.checkFence(s.lease)
}

// View runs f on one read snapshot, concurrently with any writer. Writing methods fail in it.
func (s *Store) View(ctx context.Context, f func(*Tx) error) error {
	t, err := s.db.Reads.BeginTxx(ctx, s.engine.read)
	if err != nil {
		return fmt.Errorf("beginning a snapshot: %w", err)
	}
	defer t.Rollback()
	return ended(ctx, f(s.newTx(ctx, t)))
}

// ended adds the context's error where a transaction ended with its context: the driver then
// answers that the transaction is done, or that its rows are closed.
func ended(ctx context.Context, err error) error {
	if why := ctx.Err(); why != nil && err != nil && !errors.Is(err, why) {
		return fmt.Errorf("%w: %w", err, why)
	}
	return err
}

func (s *Store) newTx(ctx context.Context, t session) *Tx {
	if s.observe != nil {
		t = observed{t, s.observe}
	}
	if s.engine.file != "" {
		// The driver starts a goroutine for each statement whose context may end, which doubles what
		// a short one costs. A snapshot that is not wanted any more ends between two statements, a
		// writing transaction before its commit.
		ctx = context.WithoutCancel(ctx)
	}
	return &Tx{ctx: ctx, tx: t, engine: s.engine, now: s.now().UTC().Truncate(time.Millisecond), actor: actorOf(ctx), ids: map[string]uint64{}}
}

// commitError distinguishes a commit that the database refused from one without an answer.
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

// Settings of every connection. FULL, because a commit lost in a power cut leaves the database
// behind its chain (docs/payment-rules.md 5).
//
// The cache of the writing connection (KiB) holds the changes of a group of a few hundred payments.
// With SQLite's own 2 MiB pages are written to the log, evicted and read again within one
// transaction, the more the larger the file. A cache uses only the memory of the pages read.
const (
	sqliteCommon = "?_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_busy_timeout=5000&_stmt_cache_size=256"
	sqliteWrites = sqliteCommon + "&_txlock=immediate&_cache_size=-65536"
	sqliteReads  = sqliteCommon + "&_query_only=true&_mutex=no&_cache_size=-8192" // database/sql gives a connection to one goroutine at a time
	sqlitePool   = 8                                                              // snapshots at a time

	// A page that many transactions change is copied from the log to the file once in so many pages
	// (64 MiB): with SQLite's own 1,000 each group of payments was followed by a copy, which cost
	// the more the more pages its rows were spread over.
	sqliteCheckpoint = "PRAGMA wal_autocheckpoint = 16384"
)

// Connections of one process. Writers wait for each other in the database, so more of them would
// only wait there.
const (
	postgresWriters = 4
	postgresReaders = 12
)

// writerLock is the advisory lock that all writing transactions of a database take: one writer, as
// in SQLite.
var writerLock = fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", database.LockRecordsWriter)

// Config selects the database and its schema.
type Config struct {
	URL string // "sqlite:PATH" or "postgres://user@host/name?..."
	// Migrations are the schema: texts of both engines, and folders sqlite and postgres with those
	// of one, which go before them.
	Migrations fs.FS
	// Joins is set by who only joins the daemon that owns the database: a schema that is not up to
	// date is ErrOlder and stays as it is.
	Joins     bool
	Now       func() time.Time       // the times of rows; nil means time.Now. Leases use the database's own clock.
	Observe   func(statement string) // receives the text of every statement before it runs; may be nil
	Migrating func(from, to int64)   // called before a migration of the schema, 0 being an empty database; may be nil
}

// engine contains the differences between the two databases except the guard triggers.
type engine struct {
	driver string         // as sqlx names it
	clock  string         // SQL: the database's own clock in Unix milliseconds
	lock   string         // SQL that makes a writing transaction the only one; empty where BEGIN does it
	share  string         // SQL that ends the reading of a lease by who works under it
	take   string         // SQL that ends the reading of a lease by who takes it: it waits for all who work under it
	read   *sql.TxOptions // of a snapshot
	guards string         // folder of the guard triggers
	file   string         // the database's path; empty for a server
}

// sqliteGuards is the folder of SQLite's guard triggers.
const sqliteGuards = "sqlite"

func engineOf(db *database.DB) engine {
	if db.File != "" {
		return engine{driver: "sqlite3", clock: "CAST(unixepoch('subsec') * 1000 AS INTEGER)", guards: sqliteGuards, file: db.File}
	}
	return engine{
		driver: "pgx", clock: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)", lock: writerLock, share: " FOR KEY SHARE", take: " FOR UPDATE",
		read: &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, guards: "postgres",
	}
}

// sessionsOf is the application_name of the connections of an opening of the database.
func sessionsOf(instance string) string { return "gatewayd/" + instance }

// connections returns the options for opening a file and a server.
func connections(instance string) (database.SQLite, database.Postgres) {
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
				"application_name": sessionsOf(instance), "synchronous_commit": "on", "statement_timeout": "30s", "timezone": "UTC",
				"idle_in_transaction_session_timeout": "10s", // a writer that froze holds the lock no longer than its lease lasts
			},
		}
}

// Open opens the database, brings its schema up to date and checks it. ErrNewer: a later program
// wrote it.
func Open(ctx context.Context, c Config) (*Store, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	instance := uuid.NewString()[:8]
	sqlite, postgres := connections(instance)
	db, err := database.Open(ctx, c.URL, sqlite, postgres)
	if err != nil {
		return nil, err
	}
	s := &Store{engine: engineOf(db), instance: instance, db: db, now: c.Now, observe: c.Observe}
	schema := schemaOf(c.Migrations, s.engine.guards)
	schema.Joins, schema.Migrating = c.Joins, c.Migrating
	if err := db.Migrate(ctx, schema); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// What callers test for with errors.Is.
var (
	ErrNotFound       = errors.New("no such row")
	ErrConflict       = errors.New("the stored rows do not allow it")
	ErrUnknownOutcome = errors.New("the answer to the commit was lost: read again what was stored")
	ErrLeased         = errors.New("another holder has the lease")
	ErrFenced         = errors.New("the lease is lost")
)

// schemaOf is the tables of both engines under the guard triggers of one.
func schemaOf(migrations fs.FS, guards string) database.Schema {
	own, err := fs.Sub(migrations, guards)
	if err != nil {
		panic(err) // a name of ours
	}
	return database.Schema{Folders: []fs.FS{own, migrations}}
}

// SQLiteSchema returns the schema of a SQLite file with these migrations.
func SQLiteSchema(migrations fs.FS) database.Schema { return schemaOf(migrations, sqliteGuards) }

// amountSum is SQL's amount_sum(text) on SQLite, whose own SUM would turn large amounts into
// floats.
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
