package exchangeapi

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3" // sqliteDriver
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versionTable is a name of our own: the database may be shared with the records and the index.
const versionTable = "exchange_keys_version"

const (
	sqliteDriver  = "sqlite3"
	sqliteOptions = "?_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_busy_timeout=5000&_txlock=immediate&_stmt_cache_size=64"
	postgresConns = 8
)

func openDatabase(ctx context.Context, url string) (*sqlx.DB, error) {
	open := openPostgres
	if strings.HasPrefix(url, "sqlite:") {
		open = openSQLite
	}
	db, dialect, err := open(url)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, db.DB, dialect); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// openSQLite makes the file for its owner only. One connection: who serves private requests asks it for little.
func openSQLite(url string) (*sqlx.DB, goose.Dialect, error) {
	path := strings.TrimPrefix(url, "sqlite:")
	if path == "" || strings.ContainsAny(path, "?\x00") || strings.HasPrefix(path, "file:") || strings.HasPrefix(path, ":") {
		return nil, "", errors.New("url: sqlite: takes a plain path, no options, no memory database")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, "", err
	}
	if err := f.Close(); err != nil {
		return nil, "", err
	}
	db, err := sqlx.Open(sqliteDriver, path+sqliteOptions)
	if err != nil {
		return nil, "", err
	}
	db.SetMaxOpenConns(1)
	return db, goose.DialectSQLite3, nil
}

func openPostgres(url string) (*sqlx.DB, goose.Dialect, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil || !strings.HasPrefix(url, "postgres") {
		// The library's text repeats the address, which may hold a password.
		return nil, "", errors.New("url: sqlite:PATH or postgres://... is wanted")
	}
	c.RuntimeParams["application_name"] = "gatewayd"
	c.RuntimeParams["statement_timeout"] = "30s"
	c.RuntimeParams["timezone"] = "UTC"
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(postgresConns)
	return sqlx.NewDb(db, "pgx"), goose.DialectPostgres, nil
}

// migrate brings the schema forward. There is no way back: a database of a newer program is ErrNewer.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect) error {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true), goose.WithTableName(versionTable)}
	if dialect == goose.DialectPostgres {
		session, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return err
		}
		options = append(options, goose.WithSessionLocker(session))
	}
	p, err := goose.NewProvider(dialect, db, folder, options...)
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	current, target, err := p.GetVersions(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("reading the schema's version: %w", err)
	case current > target:
		return fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, current, target)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrating from schema %d to %d: %w", current, target, err)
	}
	return nil
}
