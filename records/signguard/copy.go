package signguard

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

// tables are all that a sign-guard knows.
var tables = []string{"identity", "guard", "given", "authorizations", "fees", "bindings", "watched", "links", "anchors", "openings", "arrivals", "spent"}

// copyGroup is the number of rows per statement.
const copyGroup = 500

// ErrInUse means that a sign-guard exists and cannot be overwritten.
var ErrInUse = errors.New("a sign-guard is there already")

// CopyTo copies the sign-guard as it is at one moment into one that no signer ever had, which is
// the same one then. It is ErrInUse for any other.
func (g *Guard) CopyTo(ctx context.Context, to *Guard) error {
	from, err := g.pool.BeginTxx(ctx, &sql.TxOptions{Isolation: snapshot(g.file)})
	if err != nil {
		return fmt.Errorf("reading the sign-guard: %w", err)
	}
	defer from.Rollback()
	if err := g.takeTime(ctx, session{from}); err != nil {
		return err
	}
	return to.writeUnlimited(ctx, func(t session) error {
		if err := to.takeTime(ctx, t); err != nil {
			return err
		}
		var used bool
		if err := t.one(ctx, &used, `SELECT commits > 0 OR epoch > 0 FROM identity`); err != nil {
			return err
		}
		if used {
			return fmt.Errorf("%w: a signer uses it, or used it", ErrInUse)
		}
		if _, err := t.exec(ctx, `DELETE FROM identity`); err != nil {
			return err
		}
		for _, table := range tables {
			if err := copyTable(ctx, session{from}, t, table); err != nil {
				return fmt.Errorf("copying %s of the sign-guard: %w", table, err)
			}
		}
		return nil
	})
}

// takeTime ends the limits of a transaction on a server: the copy of years takes as long as it
// takes.
func (g *Guard) takeTime(ctx context.Context, t session) error {
	if g.file != "" {
		return nil
	}
	_, err := t.exec(ctx, `SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`)
	return err
}

// snapshot returns the isolation level for a consistent read: a file's transaction is the only one.
func snapshot(file string) sql.IsolationLevel {
	if file != "" {
		return sql.LevelDefault
	}
	return sql.LevelRepeatableRead
}

func copyTable(ctx context.Context, from, to session, table string) error {
	rows, err := from.q.QueryxContext(ctx, `SELECT * FROM `+table)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	group := []any{}
	for rows.Next() {
		if group, err = appendRow(group, rows); err == nil && len(group) == copyGroup*len(columns) {
			err, group = insertRows(ctx, to, table, columns, group), group[:0]
		}
		if err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil || len(group) == 0 {
		return err
	}
	return insertRows(ctx, to, table, columns, group)
}

// appendRow adds the values of a row: texts and numbers, as both engines take them.
func appendRow(group []any, rows *sqlx.Rows) ([]any, error) {
	values, err := rows.SliceScan()
	for _, v := range values {
		if text, is := v.([]byte); is {
			v = string(text)
		}
		group = append(group, v)
	}
	return group, err
}

func insertRows(ctx context.Context, to session, table string, columns []string, values []any) error {
	row := "(?" + strings.Repeat(", ?", len(columns)-1) + ")"
	count := len(values) / len(columns)
	_, err := to.exec(ctx, `INSERT INTO `+table+` ("`+strings.Join(columns, `", "`)+`") VALUES `+row+strings.Repeat(", "+row, count-1), values...)
	return err
}
