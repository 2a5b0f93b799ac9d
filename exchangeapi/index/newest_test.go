package index

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// filledOwners have the orders and transfers of fillHistory in turn.
const filledOwners = 100

func filledOwner(n int) core.Address { return core.Address{1: byte(n), 3: 1} }

// fillHistory adds rows to each list: trades and bars of the one market, orders and transfers of
// filledOwners. The rig has one filled order and its trade, which are copied.
func fillHistory(t testing.TB, x *Index, rows int) {
	hash := `printf('%08x%056x', i * 2654435761 % 4294967296, i)`
	if x.store.shared() {
		hash = `lpad(to_hex(i * 2654435761 % 4294967296), 8, '0') || lpad(to_hex(i), 56, '0')`
	}
	const numbers = `WITH RECURSIVE numbers (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM numbers WHERE i < ?) `
	run := func(query string, args ...any) {
		_, err := x.store.writes.ExecContext(t.Context(), x.store.writes.Rebind(strings.ReplaceAll(query, "HASH", hash)), args...)
		require.NoError(t, err)
	}
	if x.store.shared() {
		run(`SET statement_timeout = 0`)
	}
	run(`CREATE TABLE owners (n BIGINT PRIMARY KEY, address TEXT)`)
	for n := range filledOwners {
		run(`INSERT INTO owners VALUES (?, ?)`, n, filledOwner(n).String())
	}
	run(numbers+`INSERT INTO ex_orders (id, inner_id, owner, market, side, type, price, quantity, amount, created, serial, noted, received, received_at,
		refused, placed, state, reason, executed, executed_amount, base_fee, operator_fee, cancel, status)
		SELECT HASH, substr(HASH, 1, 44), address, market, i % 2, type, price, quantity, amount, created + i, serial, 0, received, received_at,
		refused, placed, state, reason, executed, executed_amount, base_fee, operator_fee, '', status
		FROM numbers JOIN (SELECT * FROM ex_orders WHERE status = 4 LIMIT 1) o ON 1 = 1 JOIN owners ON n = i % `+strconv.Itoa(filledOwners), rows)
	run(numbers+`INSERT INTO ex_trades (height, pos, id, market, side, price, quantity, amount, taker, maker, taker_inner, maker_inner,
		taker_fee, maker_fee, base_fees, at)
		SELECT 1000000 + i, 0, HASH, market, i % 2, price, quantity, amount, HASH, HASH, taker_inner, maker_inner, taker_fee, maker_fee, base_fees, at + i
		FROM numbers JOIN (SELECT * FROM ex_trades LIMIT 1) o ON 1 = 1`, rows)
	run(numbers+`INSERT INTO ex_bars (market, span, start, open, close, high, low, volume)
		SELECT market, span, start + i * 60, open, close, high, low, volume
		FROM numbers JOIN (SELECT * FROM ex_bars WHERE span = 60 LIMIT 1) o ON 1 = 1`, rows)
	run(numbers+`INSERT INTO ex_transfers (height, pos, account, token, amount, kind, at)
		SELECT 1000000 + i, 0, address, ?, '1000', 1, i FROM numbers JOIN owners ON n = i % `+strconv.Itoa(filledOwners), rows, core.VITE.String())
	run(`ANALYZE`)
	if x.store.shared() {
		run(`RESET statement_timeout`)
	}
}

// historyRig is an index with an order that another filled.
func historyRig(t testing.TB, url string) *Index {
	r := newRig(t)
	r.order(r.alice, dex.Sell, "10", coins(20))
	r.order(r.bob, dex.Buy, "10", coins(20))
	r.snapshot()
	x := r.caught(url)
	r.catchUp(x) // the settlement
	return x
}

// newestList is a page of the newest rows, as clients ask for it.
type newestList struct {
	name, index    string
	where          *listQuery
	columns, order string
	limit          int
	row            any
}

func newestLists(t testing.TB, x *Index) []newestList {
	m, err := x.market("COIN-000_VITE")
	require.NoError(t, err)
	orders := func(f OrderFilter) *listQuery {
		f.Owner = filledOwner(7)
		w, err := f.where(x.cache.current())
		require.NoError(t, err)
		return w
	}
	buy, filled := 0, Filled
	bars := newListQuery("ex_bars WHERE market = ? AND span = ?", int64(m.ID), 60)
	transfers := newListQuery("ex_transfers WHERE account = ? AND token = ?", filledOwner(7).String(), core.VITE.String())
	return []newestList{
		{"orders", "ex_orders_owner", orders(OrderFilter{}), shownOfOrder, newestOrders, 30, &orderRow{}},
		{"orders of a market", "ex_orders_owner", orders(OrderFilter{Symbol: m.Symbol}), shownOfOrder, newestOrders, 30, &orderRow{}},
		{"orders of a status", "ex_orders_owner", orders(OrderFilter{Status: &filled}), shownOfOrder, newestOrders, 30, &orderRow{}},
		{"open orders", "ex_orders_living", orders(OrderFilter{OpenOnly: true}), shownOfOrder, newestOrders, 30, &orderRow{}},
		{"trades", "ex_trades_at", (&TradeFilter{}).where(m), shownOfTrade, newestTrades, 100, &tradeRow{}},
		{"buys", "ex_trades_buys", (&TradeFilter{Side: &buy}).where(m), shownOfTrade, newestTrades, 100, &tradeRow{}},
		{"trades until", "ex_trades_at", (&TradeFilter{End: startTime + 5000}).where(m), shownOfTrade, newestTrades, 100, &tradeRow{}},
		{"bars", "ex_bars", bars, shownOfBar, newestBars, 500, &barRow{}},
		{"transfers", "ex_transfers_of", transfers, shownOfTransfer, newestEvents, 30, &struct {
			Amount amount `db:"amount"`
			Kind   int    `db:"kind"`
			At     int64  `db:"at"`
		}{}},
	}
}

// engines open an empty database of each engine.
var engines = map[string]func(testing.TB) string{
	"SQLite":     sqliteURL,
	"PostgreSQL": func(t testing.TB) string { return recordstest.Postgres(t).Database(t) },
}

// TestNewestPages: the newest pages of long lists are read along an index, in its order. Neither
// engine reads more rows of a longer list, or sorts them.
func TestNewestPages(t *testing.T) {
	for engine, url := range engines {
		t.Run(engine, func(t *testing.T) {
			x := historyRig(t, url(t))
			fillHistory(t, x, 20_000)
			for _, list := range newestLists(t, x) {
				plan := explain(t, x, list)
				require.NotRegexp(t, "Sort|B-TREE FOR ORDER BY|Seq Scan|SCAN ex_", plan, list.name)
				require.Regexp(t, "(Index Scan Backward using |INDEX .*)"+list.index, plan, list.name)
			}
		})
	}
}

// explain returns an engine's plan of a page.
func explain(t testing.TB, x *Index, list newestList) string {
	command := "EXPLAIN QUERY PLAN "
	if x.store.shared() {
		command = "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) "
	}
	var lines []string
	err := x.store.view(t.Context(), func(tx *tx) error {
		rows, err := tx.tx.QueryxContext(t.Context(), tx.tx.Rebind(command+list.where.Page(list.columns, list.order)), list.where.Args(list.limit, 0)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			values, err := rows.SliceScan()
			if err != nil {
				return err
			}
			lines = append(lines, values[len(values)-1].(string))
		}
		return rows.Err()
	})
	require.NoError(t, err)
	return strings.Join(lines, "\n")
}

// visited returns the number of PostgreSQL's pages that a list visits.
func visited(t testing.TB, x *Index, list newestList) (buffers float64) {
	first, _, _ := strings.Cut(explain(t, x, list), "Planning")
	line := regexp.MustCompile(`Buffers: shared.*`).FindString(first) // of the topmost step, which includes the others
	for _, n := range regexp.MustCompile(`(?:hit|read)=(\d+)`).FindAllStringSubmatch(line, -1) {
		count, err := strconv.ParseFloat(n[1], 64)
		require.NoError(t, err)
		buffers += count
	}
	return buffers
}

// BenchmarkNewest reads the newest pages of lists of 10,000 rows; GATEWAYD_PAST makes it another
// number. Totals are the number of a market's trades and of an account's orders. buffers are the
// pages of 8 KB that PostgreSQL visits, which no other load on the machine changes.
func BenchmarkNewest(b *testing.B) {
	rows := 10_000
	if text := os.Getenv("GATEWAYD_PAST"); text != "" {
		var err error
		rows, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	for engine, url := range engines {
		b.Run(engine, func(b *testing.B) {
			x := historyRig(b, url(b))
			fillHistory(b, x, rows)
			for _, list := range newestLists(b, x) {
				read := func(b *testing.B, p Page) {
					for b.Loop() {
						found := 0
						_, err := page(b.Context(), x.store, list.where, list.columns, list.order, p, list.row, func() { found++ })
						require.NoError(b, err)
					}
				}
				b.Run(list.name, func(b *testing.B) {
					read(b, Page{Limit: list.limit})
					if x.store.shared() {
						b.ReportMetric(visited(b, x, list), "buffers")
					}
				})
				if list.name == "trades" || list.name == "orders" {
					b.Run(list.name+" with total", func(b *testing.B) { read(b, Page{Limit: list.limit, Total: true}) })
					b.Run(list.name+" far", func(b *testing.B) { read(b, Page{Limit: list.limit, Offset: min(MaxOffset, rows/2)}) })
				}
			}
		})
	}
}
