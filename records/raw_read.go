package records

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/ethereum/go-ethereum/common/lru"
	"github.com/jmoiron/sqlx"
)

// RawRead is View for a few rows. SQLite's queries are then not interrupted when ctx ends, which would take a goroutine for each of them and one
// for the transaction, and those cost more than the queries. PostgreSQL's are.
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
	tx.rawRead, tx.kept = g, s.kept
	return f(tx)
}

// rawRead is a session on a reading connection to SQLite. Its snapshot begins with the first statement that wants it.
type rawRead struct {
	conn    *sqlx.Conn
	begun   bool
	observe func(statement string) // of what passes by the session's methods; nil: nobody is told
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
			return driver.ErrBadConn // it is what closes the connection
		}
		return nil
	})
}

// rows hands the rows of a query to f, without what database/sql does for each of them. f must not keep the row.
func (g *rawRead) rows(query string, args []any, f func(row []driver.Value) error) error {
	if err := g.begin(); err != nil {
		return err
	}
	return g.rowsNow(query, args, f)
}

// rowsNow is rows of a query that needs no snapshot of the others, for what it answers is enough by itself.
func (g *rawRead) rowsNow(query string, args []any, f func(row []driver.Value) error) error {
	if g.observe != nil {
		g.observe(query)
	}
	return g.conn.Raw(func(c any) error { return rawRows(c, query, args, f) })
}

// ExecContext runs a statement.
func (g *rawRead) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := g.begin(); err != nil {
		return nil, err
	}
	return g.conn.ExecContext(ctx, query, args...)
}

// GetContext reads one row.
func (g *rawRead) GetContext(ctx context.Context, into any, query string, args ...any) error {
	if err := g.begin(); err != nil {
		return err
	}
	return g.conn.GetContext(ctx, into, query, args...)
}

// SelectContext reads all rows.
func (g *rawRead) SelectContext(ctx context.Context, into any, query string, args ...any) error {
	if err := g.begin(); err != nil {
		return err
	}
	return g.conn.SelectContext(ctx, into, query, args...)
}

// QueryContext begins to read rows.
func (g *rawRead) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := g.begin(); err != nil {
		return nil, err
	}
	return g.conn.QueryContext(ctx, query, args...)
}

// QueryxContext begins to read rows.
func (g *rawRead) QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error) {
	if err := g.begin(); err != nil {
		return nil, err
	}
	return g.conn.QueryxContext(ctx, query, args...)
}

// Rebind puts the engine's placeholders in.
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

// settledCache are the first pages that wallets were shown, for the lines of records that are settled. What may still change is read each time. Only
// SQLite's lines are kept: a server's standby that takes over may have lost commits that were read already, and give an id again.
type settledCache struct{ known *lru.Cache[wallet, []Line] }

// maxKept bounds the memory: a page has 30 lines at most, a line some 400 bytes.
const maxKept = 4096

func newSettledCache() *settledCache { return &settledCache{lru.NewCache[wallet, []Line](maxKept)} }

// settled tells whether the record is final and its payment paid. The guards of the database let nothing change then that a line shows, but the
// state and the time of the block (docs/adr/016-what-may-be-kept.md).
func (r *Record) settled() bool {
	paid := r.Credit != nil && r.Credit.State == Paid || r.Refund != nil && r.Refund.State == Paid
	return paid && r.State == Final && !r.BlockAt.IsZero()
}

// kept is what is kept of the page; nil if it has to be read.
func (p *page) kept() []Line {
	if !p.keeps() {
		return nil
	}
	lines, _ := p.tx.kept.known.Get(p.wallet)
	return lines
}

func (p *page) keeps() bool { return p.tx.kept != nil && p.offset == 0 && p.limit <= usualPage }

// keep keeps the page if there is something to keep.
func (p *page) keep() {
	if !p.keeps() {
		return
	}
	for i := range p.out {
		if p.out[i].settled {
			p.tx.kept.known.Add(p.wallet, p.out)
			return
		}
	}
}

// mark is what the index tells of a record.
type mark struct {
	row     int64 // SQLite's own name of the row
	id      uint64
	final   bool
	blockAt int64
}

const (
	pageMarks      = `SELECT t.rowid, t.id, t.state = 'final', t.block_at FROM transfers t`
	pageMarksOrder = ` ORDER BY t.id DESC LIMIT ? + 0`
	// The signs keep SQLite from taking the index, which would look through all records of the wallet.
	pageOfRows = ` WHERE t.rowid IN (SELECT value FROM json_each(?)) AND +t.network = ? AND +t.token = ? AND +t.owner = ? AND +t.direction = ?`
)

// readChanged reads the page's lines but for those that are kept: which records there are, and whether these are as they were, the index tells.
func (p *page) readChanged(kept []Line) error {
	marks, err := p.marks()
	if err != nil {
		return err
	}
	p.out = make([]Line, len(marks))
	var missing []byte
	places := map[uint64]int(nil)
	for i, m := range marks {
		for len(kept) > 0 && kept[0].ID > m.id {
			kept = kept[1:]
		}
		if len(kept) > 0 && m.is(&kept[0]) {
			p.out[i] = kept[0]
			continue
		}
		if places == nil {
			places = make(map[uint64]int, len(marks))
		}
		places[m.id] = i
		missing = strconv.AppendInt(append(missing, ','), m.row, 10)
	}
	if missing == nil {
		return nil
	}
	return p.readMissing(missing, places)
}

// is tells whether the record's line is still this one.
func (m mark) is(l *Line) bool {
	return l.settled && l.ID == m.id && m.final && l.At.UnixMilli() == m.blockAt
}

// readMissing reads the rows of a list with commas in front into their places. Where one of them is not the wallet's any more since the
// marks were read, the whole page is read.
func (p *page) readMissing(list []byte, places map[uint64]int) error {
	list[0] = '['
	args := append([]any{string(append(list, ']'))}, p.args...)
	found := 0
	err := p.rows(pageSelect+pageOfRows+p.but, args, func(l *listed) {
		found++
		p.put(l, places[l.id])
	})
	if err == nil && found != len(places) {
		p.open = nil
		return p.readAll()
	}
	p.keep()
	return err
}

// marks reads which records are on the page, newest first, as they are at this moment.
func (p *page) marks() ([]mark, error) {
	args := append(p.args[:len(p.args):len(p.args)], int64(p.limit)+1)
	marks := make([]mark, 0, p.limit+1)
	err := p.tx.rawRead.rowsNow(pageMarks+pageWhere+p.but+pageMarksOrder, args, func(row []driver.Value) error {
		marks = append(marks, mark{row[0].(int64), uint64(row[1].(int64)), row[2].(int64) == 1, row[3].(int64)})
		return nil
	})
	if p.more = len(marks) > p.limit; p.more {
		marks = marks[:p.limit]
	}
	return marks, err
}
