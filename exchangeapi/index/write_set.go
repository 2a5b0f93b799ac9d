package index

import (
	"fmt"
	"strings"

	"gatewayd/vite/dex"
)

// writeSet holds the rows that a transaction has read and will write. A row that changes many times
// is written once, and many rows share one statement.
type writeSet struct {
	byID      map[string]*orderRow   // nil: there is none
	byInner   map[string]*orderRow   // by inner id
	written   map[*orderRow]struct{} // those that have changed
	gone      []string               // ids of deleted ones
	blockRows map[contract][]*blockRow
	receivers map[contract]map[string]*blockRow // blocks by what they received; nil: none has
	undoRows  []undoRow
	depth     uint64              // blocks so far below the newest are not taken back
	tops      map[contract]uint64 // heights of the newest blocks reported by the node
}

func newWriteSet(depth uint64, tops map[contract]uint64) *writeSet {
	return &writeSet{
		byID: map[string]*orderRow{}, byInner: map[string]*orderRow{}, written: map[*orderRow]struct{}{},
		blockRows: map[contract][]*blockRow{}, receivers: map[contract]map[string]*blockRow{fund: {}, trade: {}}, depth: depth, tops: tops,
	}
}

// order is an order by its id; nil if there is none.
func (a *applier) order(id string) (*orderRow, error) {
	if o, known := a.byID[id]; known {
		return o, nil
	}
	o, err := a.tx.order(id)
	if err != nil {
		return nil, err
	}
	if o == nil {
		a.byID[id] = nil
		return nil, nil
	}
	return a.track(o), nil
}

// inner is an order by its inner id.
func (a *applier) inner(id dex.OrderID) (*orderRow, error) {
	if o, known := a.byInner[id.String()]; known {
		return o, nil
	}
	o, err := a.tx.inner(id)
	if err != nil {
		return nil, err
	}
	return a.track(o), nil
}

// track remembers an order as it was read; one that is known already may have changed since, so
// that one counts.
func (a *applier) track(o *orderRow) *orderRow {
	if known := a.byID[o.ID]; known != nil {
		return known
	}
	a.byID[o.ID] = o
	if o.InnerID != "" {
		a.byInner[o.InnerID] = o
	}
	return o
}

// save stores an order, at the transaction's end, with the status that follows from the rest of the
// row.
func (a *applier) save(o *orderRow) {
	o.Status = o.publicStatus()
	a.byID[o.ID] = o
	if o.InnerID != "" {
		a.byInner[o.InnerID] = o
	}
	a.written[o] = struct{}{}
}

// discard deletes an order.
func (a *applier) discard(o *orderRow) {
	a.byID[o.ID] = nil
	delete(a.byInner, o.InnerID)
	delete(a.written, o)
	a.gone = append(a.gone, o.ID)
}

// flush writes the set.
func (a *applier) flush() error {
	for _, id := range a.gone {
		if err := a.exec("DELETE FROM ex_orders WHERE id = ?", id); err != nil {
			return fmt.Errorf("deleting order %s: %w", id, err)
		}
	}
	for _, table := range []struct {
		name  string
		write func() error
	}{{"orders", a.writeOrders}, {"what orders were", a.writeUndo}, {"trades", a.writeTrades}, {"bars", a.writeBars}, {"blocks", a.writeBlocks}} {
		if err := table.write(); err != nil {
			return fmt.Errorf("storing %s: %w", table.name, err)
		}
	}
	return nil
}

func (a *applier) writeOrders() error {
	values := make([]any, 0, len(a.written)*orderWidth)
	for o := range a.written {
		values = o.appendColumns(values)
	}
	return a.insert("ex_orders", orderColumns, orderWidth, values, orderUpsert)
}

// writeBlocks leaves out blocks that are too old for a rollback, unless they are the index's
// position, or a receive of their sends is pending.
func (a *applier) writeBlocks() error {
	var values []any
	for _, c := range []contract{fund, trade} {
		for i, b := range a.blockRows[c] {
			if i == len(a.blockRows[c])-1 || !a.settled(c, b.Height) || b.Relay != "" && a.receivers[trade][b.Relay] == nil {
				values = b.appendColumns(values, c)
			}
		}
	}
	return a.insert("ex_blocks", "contract, "+blockColumns, blockWidth, values, "")
}

// settled reports whether a block is too old to be taken back.
func (a *applier) settled(c contract, height uint64) bool { return height+a.depth < a.tops[c] }

func (a *applier) writeUndo() error {
	values := make([]any, 0, len(a.undoRows)*undoWidth)
	for i := range a.undoRows {
		values = a.undoRows[i].appendColumns(values)
	}
	return a.insert("ex_undo", undoColumns, undoWidth, values, "")
}

func (a *applier) writeTrades() error {
	values := make([]any, 0, len(a.trades)*tradeWidth)
	for i := range a.trades {
		values = a.trades[i].appendColumns(values)
	}
	return a.insert("ex_trades", tradeColumns, tradeWidth, values, "")
}

// Rows in one statement: there are few texts of statements, so that they stay prepared.
const (
	manyRows = 64
	someRows = 8
)

// insert stores rows of so many columns.
func (t *tx) insert(table, columns string, width int, values []any, conflict string) error {
	for _, n := range []int{manyRows, someRows, 1} {
		if len(values) < n*width {
			continue
		}
		row := ", (" + strings.Repeat("?, ", width-1) + "?)"
		statement := "INSERT INTO " + table + " (" + columns + ") VALUES " + strings.Repeat(row, n)[2:] + " " + conflict
		for ; len(values) >= n*width; values = values[n*width:] {
			if err := t.exec(statement, values[:n*width]...); err != nil {
				return err
			}
		}
	}
	return nil
}

// prefetch reads the orders that blocks are about, and how dexTrade received what blocks of dexFund
// passed on, with few queries.
func (a *applier) prefetch(c contract, blocks []block) error {
	var ids, inners, relays []any
	for i := range blocks {
		b := &blocks[i]
		if b.asked.place != nil {
			ids = append(ids, b.send.String())
		}
		if !b.asked.cancel.IsZero() {
			ids = append(ids, b.asked.cancel.String())
		}
		if c == fund && !b.relay.IsZero() {
			relays = append(relays, b.relay.String())
		}
		for k := range b.events {
			ids, inners = b.events[k].about(ids, inners)
		}
	}
	if err := a.prefetchOrders(ids, inners); err != nil {
		return err
	}
	return a.prefetchReceipts(relays)
}

// about lists the orders that an event changes or names.
func (e *event) about(ids, inners []any) (moreIDs, moreInners []any) {
	switch {
	case e.placed != nil:
		ids = append(ids, placedName(e.placed))
	case e.updated != nil:
		inners = append(inners, e.updated.ID.String())
	case e.trade != nil:
		inners = append(inners, e.trade.Taker.String(), e.trade.Maker.String())
	}
	return ids, inners
}

func (a *applier) prefetchOrders(ids, inners []any) error {
	ids = unknown(ids, a.byID)
	rows, err := rowsIn[orderRow](a.tx, ordersByIDs, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		a.track(&rows[i])
	}
	for _, id := range ids {
		if _, found := a.byID[id.(string)]; !found {
			a.byID[id.(string)] = nil
		}
	}
	rows, err = rowsIn[orderRow](a.tx, ordersByInners, unknown(inners, a.byInner))
	for i := range rows {
		a.track(&rows[i])
	}
	return err
}

// unknown lists the keys of what was not read yet, each once.
func unknown(keys []any, known map[string]*orderRow) (few []any) {
	seen := map[any]bool{}
	for _, key := range keys {
		if _, ok := known[key.(string)]; !ok && !seen[key] {
			seen[key] = true
			few = append(few, key)
		}
	}
	return few
}

// Orders and blocks by many keys.
const (
	ordersByIDs    = "SELECT " + orderColumns + " FROM ex_orders WHERE id IN (?)"
	ordersByInners = "SELECT " + orderColumns + " FROM ex_orders WHERE inner_id IN (?) AND inner_id <> ''"
	receiptsBySend = "SELECT " + blockColumns + " FROM ex_blocks WHERE contract = 'trade' AND send IN (?)"
)

func rowsIn[T any](t *tx, query string, keys []any) (rows []T, err error) {
	err = t.many(query, keys, func(query string, keys []any) error {
		var some []T
		err := t.list(&some, query, keys)
		rows = append(rows, some...)
		return err
	})
	return rows, err
}

// many asks for keys in portions of few sizes, so that the statements stay prepared. The last
// portion is filled up with its last key.
func (t *tx) many(query string, keys []any, ask func(query string, keys []any) error) error {
	for len(keys) > 0 {
		size := manyRows
		if len(keys) <= someRows {
			size = someRows
		}
		portion := append(make([]any, 0, size), keys[:min(size, len(keys))]...)
		keys = keys[min(size, len(keys)):]
		for len(portion) < size {
			portion = append(portion, portion[len(portion)-1])
		}
		if err := ask(query, portion); err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) prefetchReceipts(relays []any) error {
	rows, err := rowsIn[blockRow](a.tx, receiptsBySend, relays)
	if err != nil {
		return err
	}
	for _, relay := range relays {
		a.receivers[trade][relay.(string)] = nil
	}
	for i := range rows {
		a.receivers[trade][rows[i].Send] = &rows[i]
	}
	return nil
}
