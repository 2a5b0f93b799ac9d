package database

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrPooled is the address of a connection pooler that gives each transaction another session of
// the server, as PgBouncer does with pool_mode transaction or statement.
var ErrPooled = errors.New("a connection pooler in transaction mode is not supported: advisory locks, settings and prepared statements need one session for each connection. " +
	"Use the pooler's session mode, or an address of the PostgreSQL server itself")

// probeOrder are the connections, of two, that ask for their session one after the other. A pooler
// that gives out its last used session first answers both with one. One that gives them out in turn
// answers the first connection differently later.
var probeOrder = []int{0, 1, 0, 0, 1}

// checkSessions is ErrPooled unless each of two connections keeps a session of its own.
func checkSessions(ctx context.Context, c *pgx.ConnConfig) (err error) {
	var conns [2]*pgconn.PgConn
	var sessions [2]string
	for i := range conns {
		if conns[i], err = pgconn.ConnectConfig(ctx, &c.Config); err != nil {
			return err
		}
		defer func() { _ = conns[i].Close(ctx) }() // it has no transaction
	}
	for _, i := range probeOrder {
		session, err := sessionOf(ctx, conns[i])
		switch {
		case err != nil:
			return err
		case sessions[i] != "" && sessions[i] != session, sessions[1-i] == session:
			return ErrPooled
		}
		sessions[i] = session
	}
	return nil
}

// sessionOf returns the server's process of a connection. It prepares no statement.
func sessionOf(ctx context.Context, conn *pgconn.PgConn) (string, error) {
	results, err := conn.Exec(ctx, "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return "", fmt.Errorf("asking for the session: %w", err)
	}
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 1 {
		return "", errors.New("asking for the session: the server answers without a number")
	}
	return string(results[0].Rows[0][0]), nil
}

// applySettings sets a new session's settings. PgBouncer refuses most of them in the request for
// the connection.
func applySettings(settings map[string]string) func(context.Context, *pgx.Conn) error {
	var names, values []string
	for name, value := range settings {
		names, values = append(names, name), append(values, value)
	}
	return func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS s (name, value)", pgx.QueryExecModeExec, names, values)
		if err != nil {
			return fmt.Errorf("setting the session's %v: %w", slices.Sorted(slices.Values(names)), err)
		}
		return nil
	}
}
