package bridge

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/jmoiron/sqlx"

	"gatewayd/cmd/gatewaybench/bench"
)

// postgresVariable names the environment variable with the URL of a PostgreSQL server's superuser, which scripts/postgres.sh sets.
const postgresVariable = "GATEWAYD_TEST_POSTGRES"

// simEngine is the database that a simRig keeps its records in: SQLite in the rig's folder, or a database of a PostgreSQL server that has the
// folder's name. The rest of a rig is in its folder.
type simEngine struct{ server *url.URL } // nil for SQLite

// postgresEngine is ErrSkip where no server is named.
func postgresEngine() (simEngine, error) {
	text := os.Getenv(postgresVariable)
	if text == "" {
		return simEngine{}, fmt.Errorf("%w: %s names no server (scripts/postgres.sh starts one)", bench.ErrSkip, postgresVariable)
	}
	server, err := url.Parse(text)
	if err != nil {
		return simEngine{}, fmt.Errorf("%s: not a URL", postgresVariable)
	}
	return simEngine{server}, nil
}

// url is where the records of a rig's folder are.
func (e simEngine) url(dir string) string {
	if e.server == nil {
		return "sqlite:" + storeFile(dir)
	}
	u := *e.server
	u.Path = "/" + databaseName(dir)
	return u.String()
}

func databaseName(dir string) string {
	return "gatewayd_bench_" + strings.ReplaceAll(filepath.Base(dir), "-", "_")
}

// create makes a rig's folder, and an empty database.
func (e simEngine) create(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	return e.database(ctx, dir, "template0")
}

// copy copies what create made and others filled.
func (e simEngine) copy(ctx context.Context, from, to string) error {
	if err := e.database(ctx, to, databaseName(from)); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	return os.CopyFS(to, os.DirFS(from))
}

// database makes a folder's database anew out of another one.
func (e simEngine) database(ctx context.Context, dir, template string) error {
	if e.server == nil {
		return nil
	}
	db, err := sqlx.ConnectContext(ctx, "pgx", e.server.String())
	if err != nil {
		return fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	name := databaseName(dir)
	_, err = db.ExecContext(ctx, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`)
	if err == nil {
		_, err = db.ExecContext(ctx, `CREATE DATABASE `+name+` TEMPLATE `+template+` STRATEGY FILE_COPY`)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("making database %s: %w", name, err)
	}
	return nil
}
