// Package records is the gateway's store: what came in, what is owed, what was signed and what
// became of it, on SQLite or PostgreSQL.
//
// It owns the tables, the transitions between states and the constraints that keep money safe
// (docs/payment-rules.md); docs/records.md draws them. It decides nothing about money: which
// transfer is good, what a payment is worth and when to sign are the watcher's decisions. It talks
// to no chain, knows no keys and serves no HTTP.
//
// It also holds the users of the operators' console, and the messages between the running daemon
// and its operators: conditions, the state of channels, orders to read blocks or the configuration
// again. No money moves by these.
//
//	transfer  seen ─▶ final | held | refused      payment  queued ─▶ bound ─▶ paid
//	            └───▶ orphaned ─▶ seen                      └──────▶ held | void
//
//	slot      open ─▶ paid | void
//	            └───▶ forked ─▶ paid | void
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

	"gatewayd/internal/database"
	"gatewayd/records/sqlstore"
)

// Transactor runs one writing transaction at a time, or one consistent read. Store is one.
type Transactor interface {
	Update(ctx context.Context, fn func(*Tx) error) error
	View(ctx context.Context, fn func(*Tx) error) error
}

// Store is an open database. It is safe for use by many goroutines.
type Store struct{ db *sqlstore.Store }

// Close waits for what runs and closes the database. A fenced copy shares the database: close the
// first one only.
func (s *Store) Close() error { return s.db.Close() }

// Pools returns the state of the pools of connections, for metrics.
func (s *Store) Pools() map[string]sql.DBStats { return s.db.Pools() }

// Lease is a role held for a time (sqlstore.Lease).
type Lease = sqlstore.Lease

// LeaseState is a lease as its row shows it (sqlstore.LeaseState).
type LeaseState = sqlstore.LeaseState

// Leases returns all leases that were ever taken.
func Leases(tx *Tx) ([]LeaseState, error) { return tx.sql.Leases() }

// Fenced is the same store whose every Update first checks that the lease is still held, else
// ErrFenced.
func (s *Store) Fenced(l *Lease) *Store { return &Store{s.db.Fenced(l)} }

// Lease takes a role for ttl. ErrLeased, with the holder's name: another one holds it.
func (s *Store) Lease(ctx context.Context, role, holder string, ttl time.Duration) (*Lease, error) {
	return s.db.Lease(ctx, role, holder, ttl)
}

// Hold is Lease for holders that all come through Hold: on SQLite who has the lock file need not
// wait for the time of a holder that was killed.
func (s *Store) Hold(ctx context.Context, role, holder string, ttl time.Duration) (*Lease, error) {
	return s.db.Hold(ctx, role, holder, ttl)
}

// Take counts what a client takes from a limit in all processes on one server: so many at once,
// then one in each period. It returns the client's waiting time. On SQLite it counts nothing.
func (s *Store) Take(ctx context.Context, limit, client string, period time.Duration, burst int) (time.Duration, error) {
	return s.db.Limits("client_limits").Take(ctx, limit, client, period, burst)
}

// Instance names this opening of the database; a holder's name ends with it.
func (s *Store) Instance() string { return s.db.Instance() }

// LockFile is the file that the holder of a role on a SQLite database has locked.
func LockFile(path, role string) string { return sqlstore.LockFile(path, role) }

// Size returns the bytes of the database on its disk.
func (s *Store) Size(ctx context.Context) (int64, error) { return s.db.Size(ctx) }

// Led reports whether a role is held now, as far as visible from outside.
func (s *Store) Led(ctx context.Context, role string) (bool, error) { return s.db.Led(ctx, role) }

// Update runs f in one writing transaction; there is one at a time, in all processes together. An
// error of f rolls back and is returned unchanged. ErrUnknownOutcome: the transaction may or may
// not be stored; read before continuing (rule R7). Never call Update inside Update.
func (s *Store) Update(ctx context.Context, f func(*Tx) error) error {
	return s.db.Update(ctx, with(f))
}

// View runs f on one read snapshot, concurrently with any writer. Writing methods fail in it.
func (s *Store) View(ctx context.Context, f func(*Tx) error) error { return s.db.View(ctx, with(f)) }

// RawRead is View for a few rows, which SQLite answers without being interrupted when ctx ends:
// that would cost more than its queries.
func (s *Store) RawRead(ctx context.Context, f func(*Tx) error) error {
	return s.db.RawRead(ctx, with(f))
}

func with(f func(*Tx) error) func(*sqlstore.Tx) error {
	return func(t *sqlstore.Tx) error { return f(&Tx{sql: t, now: t.Now()}) }
}

//go:embed migrations
var migrations embed.FS

// Config selects the records' database.
type Config struct {
	// URL is "sqlite:PATH" or "postgres://user@host/name?...". The password of a server belongs in PGPASSFILE or PGPASSWORD.
	URL string `yaml:"url"`
	// Now gives the times of rows; nil means time.Now. Leases use the database's own clock.
	Now func() time.Time `yaml:"-"`
	// Observe receives the text of every statement before it runs; may be nil. Tests check the
	// statements' plans.
	Observe func(statement string) `yaml:"-"`
	// Migrating is called before the schema is migrated from one version to another, 0 being an
	// empty database; may be nil.
	Migrating func(from, to int64) `yaml:"-"`
}

// Check reports every fault of the configuration.
func (c Config) Check() error {
	if err := database.CheckURL(c.URL); err != nil {
		return fmt.Errorf("records %w", err)
	}
	return nil
}

// Open opens the database, brings its schema up to date and checks it. ErrNewer: a later program
// wrote it.
func Open(ctx context.Context, c Config) (*Store, error) { return openStore(ctx, c, false) }

func openStore(ctx context.Context, c Config, joins bool) (*Store, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	db, err := sqlstore.Open(ctx, sqlstore.Config{
		URL: c.URL, Migrations: texts(), Joins: joins, Now: c.Now, Observe: c.Observe, Migrating: c.Migrating,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the records: %w", err)
	}
	return &Store{db}, nil
}

func texts() fs.FS {
	f, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // they are compiled in
	}
	return f
}

// Schema returns the schema of a SQLite file of records.
func Schema() database.Schema { return sqlstore.SQLiteSchema(texts()) }

// OpenExisting is Open for programs that only join the daemon: a missing database file is
// ErrNotFound and is not made, and a schema that is not up to date is ErrOlder and does not change.
func OpenExisting(ctx context.Context, c Config) (*Store, error) {
	if path, ok := database.Path(c.URL); ok && database.CheckURL(c.URL) == nil {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("opening the records: %w: no file %s yet; `gatewayd run` creates it", ErrNotFound, path)
		}
	}
	return openStore(ctx, c, true)
}
