package index

import (
	"fmt"
	"sync"

	"gatewayd/vite/core"
)

// cache answers queries without the database: rules, books and windows. It follows the database
// after each commit.
type cache struct {
	mu      sync.Mutex
	rules   *rules
	books   map[uint32]*book
	windows map[uint32]*window
	infos   map[core.TokenID]Token
}

func newCache(precisions map[string]Precision) *cache {
	return &cache{
		rules: newRules(precisions), books: map[uint32]*book{}, windows: map[uint32]*window{}, infos: map[core.TokenID]Token{},
	}
}

// current is the rules as they are now.
func (m *cache) current() *rules {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rules
}

func (m *cache) book(id uint32) *book {
	b, ok := m.books[id]
	if !ok {
		b = newBook()
		m.books[id] = b
	}
	return b
}

func (m *cache) window(id uint32) *window {
	w, ok := m.windows[id]
	if !ok {
		w = newWindow()
		m.windows[id] = w
	}
	return w
}

// contents is the result of load.
type contents struct {
	rules  *rules
	orders []orderRow // in a book
	trades []tradeRow // of the last day, oldest first
	before []tradeRow // the last one before, of each market
}

// lastTradeBefore orders by time first, as the index does that it reads; the exchange's clock never
// goes back, so that is the order of the chain.
const lastTradeBefore = "SELECT " + tradeColumns + " FROM ex_trades WHERE market = ? AND at <= ? ORDER BY at DESC, height DESC, pos DESC LIMIT 1"

// load reads the contents of the cache from the database.
func (t *tx) load(precisions map[string]Precision, now int64) (c contents, err error) {
	if c.rules, err = t.readRules(precisions); err != nil {
		return c, err
	}
	err = t.list(&c.orders, "SELECT "+orderColumns+" FROM ex_orders WHERE status IN (3,5,6) AND placed > 0")
	if err != nil {
		return c, fmt.Errorf("reading open orders: %w", err)
	}
	for id := range c.rules.byID {
		var row tradeRow
		found, err := t.one(&row, lastTradeBefore, id, now-day)
		if err != nil {
			return c, fmt.Errorf("reading the last trade of a market: %w", err)
		}
		if found {
			c.before = append(c.before, row)
		}
		var recent []tradeRow
		err = t.list(&recent, "SELECT "+tradeColumns+" FROM ex_trades WHERE market = ? AND at > ? ORDER BY at, height, pos", id, now-day)
		if err != nil {
			return c, fmt.Errorf("reading the trades of a day: %w", err)
		}
		c.trades = append(c.trades, recent...)
	}
	return c, nil
}

// replace puts everything in place of what was there.
func (m *cache) replace(c *contents) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules, m.books, m.windows = c.rules, map[uint32]*book{}, map[uint32]*window{}
	for i := range c.orders {
		m.book(c.orders[i].Market).set(&c.orders[i])
	}
	for i := range c.before {
		w := m.window(c.before[i].Market)
		w.Before, w.Last = c.before[i].Price.Price, c.before[i].Price.Price
	}
	for i := range c.trades {
		m.window(c.trades[i].Market).add(&c.trades[i])
	}
}

// apply applies the changes of a commit and answers the markets whose books changed.
func (m *cache) apply(e *changes, now int64) map[uint32]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules = e.rules
	moved := map[uint32]bool{}
	for o := range e.final {
		if m.book(o.Market).set(o) {
			moved[o.Market] = true
		}
	}
	for i := range e.trades {
		w := m.window(e.trades[i].Market)
		w.add(&e.trades[i])
		w.slide(now) // while the past is read, it does not pile up
	}
	return moved
}
