package apikey

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"gatewayd/internal/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versionTable is a name of our own: the database may be shared with the records and the index.
const versionTable = "exchange_keys_version"

const (
	sqliteOptions = "?_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_busy_timeout=5000&_txlock=immediate&_stmt_cache_size=64"
	postgresConns = 8
)

func openDatabase(ctx context.Context, url string) (*database.DB, error) {
	db, err := database.Open(ctx, url, database.SQLite{Writes: sqliteOptions}, database.Postgres{
		Writers: postgresConns, Readers: headConns, Params: map[string]string{
			"application_name": "gatewayd", "statement_timeout": "30s", "idle_in_transaction_session_timeout": "10s", "timezone": "UTC",
		},
	})
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx, Schema()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Schema returns the schema of a database of API keys.
func Schema() database.Schema {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // they are compiled in
	}
	return database.Schema{Folders: []fs.FS{folder}, Table: versionTable}
}
