// Package database opens the program's databases, SQLite files and PostgreSQL servers, and brings
// their schemas up to date. What is in them is their owners': records, exchangeapi/index,
// exchangeapi/apikey and the sign-guard.
package database

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"github.com/mattn/go-sqlite3"

	"gatewayd/internal/secretfile"
)

// DB is an open database. Reads is Writes where no other connections were asked for.
type DB struct {
	Writes, Reads *sqlx.DB
	File          string // of SQLite; empty for a server

	server   *pgx.ConnConfig   // of the connections to a server
	settings map[string]string // of their sessions
}

// SQLite contains the options of connections to a file.
type SQLite struct {
	Writes  string // options of the one connection that writes
	Reads   string // options of those that read; empty: who writes reads as well
	Readers int
	Checked bool // after an unclean stop the complete file is checked before use
	// Connect is called for each new connection; may be nil.
	Connect func(*sqlite3.SQLiteConn) error
}

// Postgres contains the options of connections to a server.
type Postgres struct {
	Params           map[string]string // of each session
	Writers, Readers int               // no readers: who writes reads as well
}

// CheckURL reports the fault of an address: it must be "sqlite:PATH" or
// "postgres://user@host/name?...".
func CheckURL(url string) error {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		switch {
		case path == "":
			return errors.New("url: sqlite: must be followed by a plain path")
		case strings.ContainsAny(path, "?\x00") || strings.HasPrefix(path, "file:") || strings.HasPrefix(path, ":"):
			return errors.New("url: sqlite: must be a plain path without options, not a memory database")
		}
		return nil
	}
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		return nil
	}
	return errors.New("url: must be sqlite:PATH or a postgres:// address")
}

// Path is the file of an address, if it names one.
func Path(url string) (path string, is bool) { return strings.CutPrefix(url, "sqlite:") }

// Open connects to a database. A file that is not there is made, for its owner only.
func Open(ctx context.Context, url string, s SQLite, p Postgres) (*DB, error) {
	if err := CheckURL(url); err != nil {
		return nil, err
	}
	if path, ok := Path(url); ok {
		return openSQLite(ctx, path, s)
	}
	return openPostgres(ctx, url, p)
}

// Close waits for what runs and closes all connections.
func (db *DB) Close() error {
	if db.Reads == db.Writes {
		return db.Writes.Close()
	}
	return errors.Join(db.Reads.Close(), db.Writes.Close())
}

// Pools returns the state of the pools of connections: write, and read where it is another one.
func (db *DB) Pools() map[string]sql.DBStats {
	pools := map[string]sql.DBStats{"write": db.Writes.Stats()}
	if db.Reads != db.Writes {
		pools["read"] = db.Reads.Stats()
	}
	return pools
}

func openSQLite(ctx context.Context, path string, s SQLite) (*DB, error) {
	clean, err := prepareFile(path)
	if err != nil {
		return nil, err
	}
	db := &DB{Writes: connectSQLite(path+s.Writes, 1, s.Connect), File: path}
	if db.Reads = db.Writes; s.Reads != "" {
		db.Reads = connectSQLite(path+s.Reads, s.Readers, s.Connect)
	}
	if err := checkFile(ctx, db.Writes, clean || !s.Checked); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// prepareFile makes the file for its owner only and reports whether it was closed cleanly: then no
// write-ahead log is left.
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

func connectSQLite(dsn string, conns int, connect func(*sqlite3.SQLiteConn) error) *sqlx.DB {
	db := sql.OpenDB(connector{dsn, &sqlite3.SQLiteDriver{ConnectHook: connect}})
	limit(db, conns)
	return sqlx.NewDb(db, "sqlite3")
}

func limit(db *sql.DB, conns int) {
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
}

// connector opens connections with their owner's SQL functions, without a driver name registered
// for the complete program.
type connector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

func openPostgres(ctx context.Context, url string, p Postgres) (*DB, error) {
	c, settings, err := parsePostgres(url, p)
	if err != nil {
		return nil, err
	}
	if err := checkSessions(ctx, c); err != nil {
		return nil, err
	}
	db := &DB{Writes: connectPostgres(c, settings, p.Writers), server: c, settings: settings}
	if db.Reads = db.Writes; p.Readers > 0 {
		db.Reads = connectPostgres(c, settings, p.Readers)
	}
	if err := db.Writes.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// parsePostgres reads an address. It returns the settings that a session gets when it exists.
func parsePostgres(url string, p Postgres) (*pgx.ConnConfig, map[string]string, error) {
	c, err := parseServer(url)
	if err != nil {
		return nil, nil, err
	}
	if file := os.Getenv("PGPASSFILE"); file != "" {
		if err := secretfile.Check(file); err != nil { // the library reads a file of any mode
			return nil, nil, fmt.Errorf("PGPASSFILE: %w", err)
		}
	}
	settings := maps.Clone(p.Params)
	if name, ok := settings[sessionName]; ok { // visible before the session's first statement
		c.RuntimeParams[sessionName] = name
		delete(settings, sessionName)
	}
	return c, settings, nil
}

// hostTimeout is the time after which the next of several hosts is asked: one that is cut off
// answers nothing. An address with a connect_timeout has its own.
const hostTimeout = 2 * time.Second

func parseServer(url string) (*pgx.ConnConfig, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("url: not a PostgreSQL address") // the library's text repeats the address, which may hold a password
	}
	c.DialFunc = dial
	several := slices.ContainsFunc(c.Fallbacks, func(other *pgconn.FallbackConfig) bool { // some are the same host without TLS
		return other.Host != c.Host || other.Port != c.Port
	})
	if several {
		c.DialFunc = new(hosts).dial
		c.ConnectTimeout = cmp.Or(c.ConnectTimeout, hostTimeout)
	}
	return c, nil
}

// sessionName is the setting with the name that a server shows for a session.
const sessionName = "application_name"

func connectPostgres(c *pgx.ConnConfig, settings map[string]string, conns int) *sqlx.DB {
	db := openSessions(c, settings)
	limit(db, conns)
	return sqlx.NewDb(db, "pgx")
}

func openSessions(c *pgx.ConnConfig, settings map[string]string) *sql.DB {
	if len(settings) == 0 {
		return stdlib.OpenDB(*c)
	}
	return stdlib.OpenDB(*c, stdlib.OptionAfterConnect(applySettings(settings)))
}
