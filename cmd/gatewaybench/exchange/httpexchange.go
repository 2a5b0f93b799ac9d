package exchange

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/exchangeapi"
	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/client"
)

// httpExchangeCases are a trading client's reads from an index of a million orders.
func httpExchangeCases() []bench.Case {
	var same []string
	for _, p := range marketPages(nil) {
		same = append(same, p.Name+" body")
	}
	return []bench.Case{{
		Name: "exchange-get", Group: bench.Exchange, Unit: "request",
		About:   "market data and orders are read over REST, of a million orders in SQLite; yardstick: an echo handler that has the same bytes in memory",
		Prepare: makeMarketHistory, Ours: marketGet, Yardsticks: []bench.Yardstick{{Name: "bare echo", Part: marketBare}}, Helpers: bench.PageHelpers(),
		Goals: append(append(bench.PageGoals(2, 1.15, "depth", "ticker"), bench.PageGoals(2, 1.5, "one order")...),
			bench.PageGoals(5, 4, "20 orders", "20 trades", "20 candles")...),
		Same:   same,
		Scales: []float64{1},
	}}
}

// A real chain makes this many orders, and the index's tables get so many copies of them with older times: about a million.
const (
	marketOrders  = 20_000
	historyCopied = 50
)

// marketPart is the run of the part that a real chain makes. Above scale 1 the copies become more, not this.
func marketPart(r *bench.Run) *bench.Run {
	part := *r
	part.Scale = min(r.Scale, 1) * marketOrders / historicOrders
	return &part
}

// makeMarketHistory makes an index of a million orders.
func makeMarketHistory(ctx context.Context, r *bench.Run) error {
	if err := makeHistory(ctx, marketPart(r)); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", filepath.Join(r.Data, "index.db")+"?_journal_mode=OFF&_synchronous=OFF")
	if err != nil {
		return fmt.Errorf("opening the index for filling: %w", err)
	}
	copies := int(historyCopied * max(r.Scale, 1))
	for _, statement := range []string{
		`INSERT INTO ex_orders (id, inner_id, owner, market, side, type, price, quantity, amount, created, serial, noted, received, received_at, refused,
			placed, state, reason, executed, executed_amount, base_fee, operator_fee, cancel, status)
		SELECT printf('%016x', k) || SUBSTR(id, 17), printf('%016x', k) || SUBSTR(inner_id, 17), owner, market, side, type, price, quantity, amount,
			created - k * 86400, serial, 0, received, received_at - k * 86400, refused, placed, state, reason, executed, executed_amount, base_fee, operator_fee, '', status
		FROM turns CROSS JOIN ex_orders WHERE status = 4`,
		`INSERT INTO ex_trades (height, pos, id, market, side, price, quantity, amount, taker, maker, taker_inner, maker_inner, taker_fee, maker_fee, base_fees, at)
		SELECT height, pos + k * 1000, printf('%016x', k) || SUBSTR(id, 17), market, side, price, quantity, amount, taker, maker, taker_inner, maker_inner,
			taker_fee, maker_fee, base_fees, at - k * 86400 FROM turns CROSS JOIN ex_trades`,
		`INSERT OR IGNORE INTO ex_bars (market, span, start, open, close, high, low, volume)
		SELECT market, span, start - k * span, open, close, high, low, volume FROM turns CROSS JOIN ex_bars`,
	} {
		turns := fmt.Sprintf(`WITH RECURSIVE turns(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM turns WHERE k < %d) `, copies)
		if _, err := db.ExecContext(ctx, turns+statement); err != nil {
			return errors.Join(fmt.Errorf("filling the index: %w", err), db.Close())
		}
	}
	return db.Close()
}

// marketPages are the requests; owners are the accounts whose orders are listed.
func marketPages(owners []string) []bench.Page {
	pair := "?symbol=" + envSymbol
	pages := []bench.Page{
		{Name: "depth", Requests: 20_000, URLs: []string{"/api/v2/depth" + pair}},
		{Name: "ticker", Requests: 20_000, URLs: []string{"/api/v2/ticker/24hr"}},
		{Name: "one order", Requests: 20_000},
		{Name: "20 orders", Requests: 5_000},
		{Name: "20 trades", Requests: 5_000, URLs: []string{"/api/v2/trades" + pair + "&limit=20"}},
		{Name: "20 candles", Requests: 5_000, URLs: []string{"/api/v2/klines" + pair + "&interval=minute&limit=20"}},
	}
	for _, owner := range owners {
		query := url.Values{"address": {owner}, "limit": {"20"}}
		pages[3].URLs = append(pages[3].URLs, "/api/v2/orders?"+query.Encode())
	}
	return pages
}

func marketGet(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	m, err := openMarket(ctx, r)
	if err != nil {
		return bench.Figure{}, err
	}
	f, err := bench.ServePages(ctx, r, m.handler, m.pages)
	return f, errors.Join(err, m.Close())
}

func marketBare(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	m, err := openMarket(ctx, r)
	if err != nil {
		return bench.Figure{}, err
	}
	e := echo.New()
	for i, p := range m.pages {
		answer, err := bench.Answer(m.handler, p.URLs[0])
		if err != nil {
			return bench.Figure{}, errors.Join(err, m.Close())
		}
		path := fmt.Sprint("/", i)
		e.GET(path, func(c echo.Context) error { return c.JSONBlob(http.StatusOK, answer) })
		m.pages[i].URLs = []string{path}
	}
	if err := m.Close(); err != nil {
		return bench.Figure{}, err
	}
	return bench.ServePages(ctx, r, e, m.pages)
}

// market is the exchange API over what was prepared. It follows no chain: its node would be at an address where nobody is.
type market struct {
	index   *index.Index
	keys    *apikey.Store
	handler http.Handler
	pages   []bench.Page
}

// unfollowed is an index that answers without having heard of its node.
type unfollowed struct{ *index.Index }

func (unfollowed) Reached() bool { return true }

func openMarket(ctx context.Context, r *bench.Run) (*market, error) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	node, err := client.Dial(ctx, "http://127.0.0.1:1", client.Options{})
	if err != nil {
		return nil, err
	}
	m := &market{}
	m.index, err = index.New(ctx, index.Config{
		URL: "sqlite:" + filepath.Join(r.Data, "index.db"), Precisions: map[string]index.Precision{envSymbol: {Price: 4, Quantity: 2}},
	}, node, log)
	if err != nil {
		return nil, err
	}
	m.keys, err = apikey.Open(ctx, apikey.Config{
		URL: "sqlite:" + filepath.Join(r.Dir, "keys.db"), Secret: make([]byte, apikey.SecretSize),
	})
	if err != nil {
		return nil, errors.Join(err, m.index.Close())
	}
	if err := m.serve(ctx, r, node, log); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *market) serve(ctx context.Context, r *bench.Run, node *client.Client, log *logrus.Logger) error {
	traders := historicTraders(marketPart(r))
	agents, err := newDelegated(traders)
	if err != nil {
		return err
	}
	owners, err := newSigners(traders + 1)
	if err != nil {
		return err
	}
	server, err := exchangeapi.New(exchangeapi.Config{}, exchangeapi.Parts{
		Keys: m.keys, Log: log, Networks: []exchangeapi.Network{{Name: "main", Index: unfollowed{m.index}, Node: node, Agents: agents}},
	})
	if err != nil {
		return err
	}
	m.handler = server.Handler()
	var texts []string
	for _, owner := range owners[1:] {
		texts = append(texts, owner.address.String())
	}
	m.pages = marketPages(texts)
	for _, owner := range owners[1:] {
		list, err := m.index.Orders(ctx, index.OrderFilter{Owner: owner.address}, index.Page{Limit: 100})
		if err != nil {
			return err
		}
		for _, o := range list.List {
			query := url.Values{"address": {o.Address}, "orderId": {o.ID}}
			m.pages[2].URLs = append(m.pages[2].URLs, "/api/v2/order?"+query.Encode())
		}
	}
	return nil
}

// Close closes what is open.
func (m *market) Close() error { return errors.Join(m.index.Close(), m.keys.Close()) }
