package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/jmoiron/sqlx"
)

// RawRead is View for a few rows. SQLite's queries are then not interrupted when ctx ends.
// Interruption would take a goroutine for each of them and one for the transaction, and those cost
// more than the queries. PostgreSQL's are interrupted.
func (s *Store) RawRead(ctx context.Context, f func(*Tx) error) error {
	if s.engine.file == "" {
		return s.View(ctx, f)
	}
	conn, err := s.db.Reads.Connx(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the records: %w", err)
	}
	defer conn.Close()
	g := &rawRead{conn: conn, observe: s.observe}
	defer g.end()
	tx := s.newTx(context.WithoutCancel(ctx), g)
	tx.raw = g
	return f(tx)
}

// Raw reports whether the transaction is a RawRead of a file.
func (tx *Tx) Raw() bool { return tx.raw != nil }

// Rows hands the rows of a query to f, as the driver answers them. f must not keep the row.
func (tx *Tx) Rows(query string, args []any, f func(row []driver.Value) error) error {
	if tx.raw != nil {
		return tx.raw.rows(query, args, f)
	}
	rows, err := tx.tx.QueryContext(tx.ctx, tx.tx.Rebind(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	row, into := make([]driver.Value, len(names)), make([]any, len(names))
	for i := range row {
		into[i] = (*any)(&row[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// RowsNow is Rows of a query that needs no snapshot with others, because its answer is sufficient
// alone.
func (tx *Tx) RowsNow(query string, args []any, f func(row []driver.Value) error) error {
	if tx.raw != nil {
		return tx.raw.rowsNow(query, args, f)
	}
	return tx.Rows(query, args, f)
}

// rawRead is a session on a reading connection to SQLite. Its snapshot begins with the first
// statement that wants it.
type rawRead struct {
	conn    *sqlx.Conn
	begun   bool
	observe func(statement string) // receives the session's statements; may be nil
}

func (g *rawRead) begin() error {
	if g.begun {
		return nil
	}
	if err := g.conn.Raw(func(c any) error { return rawExec(c, "BEGIN") }); err != nil {
		return fmt.Errorf("beginning a snapshot: %w", err)
	}
	g.begun = true
	return nil
}

// end leaves no connection in the pool that would still show an old state.
func (g *rawRead) end() {
	if !g.begun {
		return
	}
	_ = g.conn.Raw(func(c any) error {
		if rawExec(c, "ROLLBACK") != nil {
			return driver.ErrBadConn // this error closes the connection
		}
		return nil
	})
}

// rows hands the rows of a query to f, without what database/sql does for each of them. f must not
// keep the row.
func (g *rawRead) rows(query string, args []any, f func(row []driver.Value) error) error {
	if err := g.begin(); err != nil {
		return err
	}
	return g.rowsNow(query, args, f)
}

func (g *rawRead) rowsNow(query string, args []any, f func(row []driver.Value) error) error {
	if g.observe != nil {
		g.observe(query)
	}
	return g.conn.Raw(func(c any) error { return rawRows(c, query, args, f) })
}

func (g *rawRead) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := g.begin(); err != nil {
		return nil, err
	}
	return g.conn.ExecContext(ctx, query, args...)
}

func (g *rawRead) GetContext(ctx context.Context, into any, query string, args ...any) error {
	if err := g.begin(); err != nil {
		return err
	}
	return g.conn.GetContext(ctx, into, query, args...)
}

func (g *rawRead) SelectContext(ctx context.Context, into any, query string, args ...any) error {
	if err := g.begin(); err != nil {
		return err
	}
	return g.conn.SelectContext(ctx, into, query, args...)
}

func (g *rawRead) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := g.begin(); err != nil {
		return nil, err
	}
	return g.conn.QueryContext(ctx, query, args...)
}

func (g *rawRead) Rebind(query string) string { return g.conn.Rebind(query) }

func rawExec(c any, statement string) error {
	_, err := c.(driver.ExecerContext).ExecContext(context.Background(), statement, nil)
	return err
}

func rawRows(c any, query string, args []any, f func(row []driver.Value) error) error {
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	rows, err := c.(driver.QueryerContext).QueryContext(context.Background(), query, named)
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for err = rows.Next(row); err == nil; err = rows.Next(row) {
		if err = f(row); err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}
