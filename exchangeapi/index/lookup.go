package index

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"gatewayd/chain/vite/dex"
)

// lookup reads rows for those who ask. On SQLite it talks to the driver itself: what database/sql does for each row, with a goroutine for each query
// that could be interrupted, costs more than the queries. PostgreSQL's queries end with their context.
type lookup struct {
	conn  any // SQLite: the driver's connection
	begun bool
	tx    *tx // PostgreSQL
}

// lookUp runs f with a lookup. Its queries see one moment of the database once it is told to (moment).
func (s *store) lookUp(ctx context.Context, f func(*lookup) error) error {
	if s.lock != "" {
		return s.view(ctx, func(t *tx) error { return f(&lookup{tx: t}) })
	}
	conn, err := s.reads.Connx(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
		l := &lookup{conn: c}
		err := f(l)
		if l.begun && l.exec("ROLLBACK") != nil {
			return errors.Join(err, driver.ErrBadConn) // which closes a connection that would still show an old state
		}
		return err
	})
}

// moment makes the queries that follow see one moment of the database. A query alone does.
func (l *lookup) moment() error {
	if l.tx != nil || l.begun {
		return nil
	}
	if err := l.exec("BEGIN"); err != nil {
		return fmt.Errorf("beginning a snapshot: %w", err)
	}
	l.begun = true
	return nil
}

func (l *lookup) exec(statement string) error {
	_, err := l.conn.(driver.ExecerContext).ExecContext(context.Background(), statement, nil)
	return err
}

// rows hands the rows of a query to f, which must not keep the row. Arguments are int64 and string.
func (l *lookup) rows(query string, args []any, f func(row []driver.Value) error) error {
	if l.tx != nil {
		return l.tx.rows(query, args, f)
	}
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	rows, err := l.conn.(driver.QueryerContext).QueryContext(context.Background(), query, named)
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

// rows is lookup.rows within a transaction of database/sql.
func (t *tx) rows(query string, args []any, f func(row []driver.Value) error) error {
	rows, err := t.tx.QueryContext(t.ctx, t.tx.Rebind(query), args...)
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

// where is a table with the condition of a query, put together from the members of a filter.
type where struct {
	text strings.Builder
	args []any // int64 and string
}

// newWhere begins with the table and the condition that always holds.
func newWhere(text string, args ...any) *where {
	w := &where{args: args}
	w.text.WriteString(text)
	return w
}

func (w *where) and(condition string, args ...any) {
	w.text.WriteString(" AND ")
	w.text.WriteString(condition)
	w.args = append(w.args, args...)
}

// in is and of a column with a list, which is not empty.
func (w *where) in(column string, list []int64) {
	w.and(column + " IN (?" + strings.Repeat(",?", len(list)-1) + ")")
	for _, n := range list {
		w.args = append(w.args, n)
	}
}

// page reads a page of rows and counts all matches if asked to.
func (l *lookup) page(columns, order string, w *where, p Page, f func(row []driver.Value) error) (total int, err error) {
	total = -1
	if p.Total {
		if err := l.moment(); err != nil {
			return 0, err
		}
		err := l.rows("SELECT COUNT(*) FROM "+w.text.String(), w.args, func(row []driver.Value) error {
			total = int(row[0].(int64))
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	args := append(w.args[:len(w.args):len(w.args)], int64(max(0, p.Limit)), int64(max(0, p.Offset)))
	return total, l.rows(pageQuery(columns, order, w), args, f)
}

func pageQuery(columns, order string, w *where) string {
	return "SELECT " + columns + " FROM " + w.text.String() + " ORDER BY " + order + " LIMIT ? + 0 OFFSET ?"
}

// room is how many rows of a page to have room for before they are read.
func room(p Page) int { return min(max(0, p.Limit), 100) }

// columns takes the columns of a row over, which hold what they are declared to: whole numbers and text. The first number that is malformed is the error.
type columns struct {
	row []driver.Value
	err error
}

func (c *columns) next() driver.Value {
	v := c.row[0]
	c.row = c.row[1:]
	return v
}

func (c *columns) number() int64 { return c.next().(int64) }

func (c *columns) text() string { return c.next().(string) }

func (c *columns) price() (p price) {
	var err error
	if p.Price, err = dex.ParsePrice(c.text()); err != nil && c.err == nil {
		c.err = fmt.Errorf("a price column: %w", err)
	}
	return p
}

func (c *columns) amount() (a amount) {
	if err := a.SetFromDecimal(c.text()); err != nil && c.err == nil {
		c.err = fmt.Errorf("an amount column: %w", err)
	}
	return a
}

// What is shown of rows, in the order in which the functions below take the columns.
const (
	shownOfOrder = `id, inner_id, owner, market, side, type, price, quantity, amount, created, executed, executed_amount, base_fee, operator_fee, status`
	shownOfTrade = `height, id, side, price, quantity, amount, taker_inner, maker_inner, taker_fee, maker_fee, at`
	shownOfBar   = `span, start, open, close, high, low, volume`

	shownOfTransfer = `amount, kind, at`
)

// The orders of lists.
const (
	newestOrders = "created DESC, serial DESC, id DESC"
	newestEvents = "height DESC, pos DESC"
	newestBars   = "start DESC"
)

func (o *orderRow) read(row []driver.Value) error {
	c := columns{row: row}
	o.ID, o.InnerID, o.Owner, o.Market, o.Side, o.Type = c.text(), c.text(), c.text(), uint32(c.number()), int(c.number()), int(c.number())
	o.Price, o.Quantity, o.Amount, o.Created = c.price(), c.amount(), c.amount(), c.number()
	o.Executed, o.ExecutedAmount, o.BaseFee, o.OperatorFee, o.Status = c.amount(), c.amount(), c.amount(), c.amount(), Status(c.number())
	return c.err
}

func (r *tradeRow) read(row []driver.Value) error {
	c := columns{row: row}
	r.Height, r.ID, r.Side, r.Price, r.Quantity, r.Amount = uint64(c.number()), c.text(), int(c.number()), c.price(), c.amount(), c.amount()
	r.TakerInner, r.MakerInner, r.TakerFee, r.MakerFee, r.At = c.text(), c.text(), c.amount(), c.amount(), c.number()
	return c.err
}

func (r *barRow) read(row []driver.Value) error {
	c := columns{row: row}
	r.Span, r.Start, r.Open, r.Close, r.High, r.Low, r.Volume = c.number(), c.number(), c.price(), c.price(), c.price(), c.price(), c.amount()
	return c.err
}
