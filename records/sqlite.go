package records

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/mattn/go-sqlite3"

	"gatewayd/chain"
)

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

func checkSQLitePath(path string) error {
	switch {
	case path == "":
		return errors.New("records url: sqlite: wants a path behind it")
	case strings.ContainsAny(path, "?\x00") || strings.HasPrefix(path, "file:") || strings.HasPrefix(path, ":"):
		return errors.New("records url: sqlite: takes a plain path, no options, no memory database")
	}
	return nil
}

func openSQLite(ctx context.Context, url string) (*Store, error) {
	path := strings.TrimPrefix(url, "sqlite:")
	clean, err := prepareFile(path)
	if err != nil {
		return nil, err
	}
	e := engine{driver: "sqlite3", clock: "CAST(unixepoch('subsec') * 1000 AS INTEGER)", guards: "migrations/sqlite", file: path}
	s := &Store{engine: e, writes: sqliteDB(path+sqliteWrites, 1), reads: sqliteDB(path+sqliteReads, sqlitePool)}
	if err := checkFile(ctx, s.writes, clean); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepareFile makes the file for its owner only and tells whether it was closed cleanly: then no write-ahead log is left.
func prepareFile(path string) (clean bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	if err := f.Close(); err != nil {
		return false, err
	}
	log, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return err == nil && log.Size() == 0, err
}

// checkFile opens the file and, after an unclean stop, reads all of it.
func checkFile(ctx context.Context, db *sqlx.DB, clean bool) error {
	if err := db.PingContext(ctx); err != nil {
		return err
	}
	if clean {
		return nil
	}
	var verdict []string
	if err := db.SelectContext(ctx, &verdict, "PRAGMA quick_check(1)"); err != nil {
		return fmt.Errorf("checking the file after an unclean stop: %w", err)
	}
	if len(verdict) != 1 || verdict[0] != "ok" {
		return fmt.Errorf("checking the file after an unclean stop: %s", strings.Join(verdict, "; "))
	}
	return nil
}

func sqliteDB(dsn string, conns int) *sqlx.DB {
	d := &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		if _, err := c.Exec(sqliteCheckpoint, nil); err != nil {
			return err
		}
		return c.RegisterAggregator("amount_sum", newAmountSum, true)
	}}
	db := sql.OpenDB(sqliteConnector{dsn, d})
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return sqlx.NewDb(db, "sqlite3")
}

// sqliteConnector opens connections that know our SQL functions, without a driver name registered for the whole program.
type sqliteConnector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

func (c sqliteConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c sqliteConnector) Driver() driver.Driver                        { return c.driver }

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
