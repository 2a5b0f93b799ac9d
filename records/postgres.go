package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"gatewayd/secretfile"
)

// Connections of one process. Writers wait for each other in the database, so more of them would only wait there.
const (
	postgresWriters = 4
	postgresReaders = 12
)

// writerLock is the advisory lock that all writing transactions of a database take: one writer, as in SQLite.
const writerLock = "SELECT pg_advisory_xact_lock(7310293845)"

func openPostgres(ctx context.Context, url string) (*Store, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		// The library's text repeats the address, which may hold a password.
		return nil, errors.New("records url: not a PostgreSQL address")
	}
	if file := os.Getenv("PGPASSFILE"); file != "" {
		if err := secretfile.Check(file); err != nil { // the library reads a file of any mode
			return nil, fmt.Errorf("PGPASSFILE: %w", err)
		}
	}
	c.RuntimeParams["application_name"] = "gatewayd"
	c.RuntimeParams["synchronous_commit"] = "on"
	c.RuntimeParams["statement_timeout"] = "30s"
	c.RuntimeParams["idle_in_transaction_session_timeout"] = "10s" // a writer that froze holds the lock no longer than its lease lasts
	c.RuntimeParams["timezone"] = "UTC"
	e := engine{
		driver: "pgx",
		clock:  "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
		lock:   writerLock,
		read:   &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		guards: "migrations/postgres",
	}
	s := &Store{engine: e, writes: postgresDB(c, postgresWriters), reads: postgresDB(c, postgresReaders)}
	if err := s.writes.PingContext(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func postgresDB(c *pgx.ConnConfig, conns int) *sqlx.DB {
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return sqlx.NewDb(db, "pgx")
}
