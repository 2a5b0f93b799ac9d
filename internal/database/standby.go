package database

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
)

// ErrOtherServer is the error of connections to a server that is no standby of a database's server.
var ErrOtherServer = errors.New("the server is no standby of the database's server")

// serverAndDatabase identifies a database: a standby has its primary's system identifier.
const serverAndDatabase = "SELECT system_identifier || '/' || current_database() FROM pg_control_system()"

// OpenStandby prepares p.Readers connections to a standby of a database's server. The standby may
// be away. Each new connection checks that it leads to the same database.
func (db *DB) OpenStandby(ctx context.Context, url string, p Postgres) (*sqlx.DB, error) {
	c, settings, err := parsePostgres(url, p)
	if err != nil {
		return nil, err
	}
	var want string
	if err := db.Reads.GetContext(ctx, &want, serverAndDatabase); err != nil {
		return nil, fmt.Errorf("asking for the server's identifier: %w", err)
	}
	pool := stdlib.OpenDB(*c, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		var is string
		if err := conn.QueryRow(ctx, serverAndDatabase).Scan(&is); err != nil {
			return fmt.Errorf("asking for the server's identifier: %w", err)
		}
		if is != want {
			return ErrOtherServer
		}
		return applySettings(settings)(ctx, conn)
	}))
	limit(pool, p.Readers)
	return sqlx.NewDb(pool, "pgx"), nil
}
