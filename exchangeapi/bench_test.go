package exchangeapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"gatewayd/exchangeapi/index"
	"gatewayd/internal/budget"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

func scaled(n int) int {
	if testing.Short() {
		return n / 100
	}
	return n
}

func unlimited(c *Config, _ *Parts) {
	c.RatePerSecond, c.Burst, c.CallLimit, c.CallCycle = 1e9, 1e9, 1<<30, time.Hour
}

const (
	benchOwners  = 100
	benchTraders = 8
)

// indexedOwner has every hundredth order.
func indexedOwner(i int) string { return core.Address{byte(i % benchOwners), 1}.String() }

// fillIndex copies the one filled order. In the order of IDs no two orders of one account are
// adjacent.
func fillIndex(b *testing.B, db *sqlx.DB, orders int) {
	db.MustExec(`CREATE TEMP TABLE owners (n INTEGER PRIMARY KEY, address TEXT)`)
	for i := range benchOwners {
		db.MustExec(`INSERT INTO owners VALUES (?, ?)`, i, indexedOwner(i))
	}
	done := db.MustExec(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
		INSERT INTO ex_orders (id, inner_id, owner, market, side, type, price, quantity, amount, created, serial, noted, received, received_at, refused,
			placed, state, reason, executed, executed_amount, base_fee, operator_fee, cancel, status)
		SELECT printf('%08x%056x', numbers.n * 2654435761 % 4294967296, numbers.n), printf('%044x', numbers.n), address, market, side, type, price, quantity, amount,
			created - numbers.n, serial, 0, received, received_at - numbers.n, refused, placed, state, reason, executed, executed_amount, base_fee, operator_fee, '', status
		FROM numbers JOIN (SELECT * FROM ex_orders WHERE status = 4 LIMIT 1) JOIN owners ON owners.n = numbers.n % 100`, orders)
	copied, err := done.RowsAffected()
	require.NoError(b, err)
	require.EqualValues(b, orders, copied)
	db.MustExec(`PRAGMA wal_checkpoint(TRUNCATE)`)
}

// BenchmarkBudgetGet reads one order and twenty, of 1,000,000 in SQLite. The yardstick is ordinary
// code with sqlx, encoding/json and echo on the same file, which gives the same answer byte for
// byte. The server may use at most the same CPU.
func BenchmarkBudgetGet(b *testing.B) {
	orders, requests := scaled(1_000_000), scaled(5_000)
	c := onChain(b, unlimited)
	c.do(c.admin, dex.FundPlaceOrder, c.gold, core.VITE, false, uint8(dex.Limit), "1.5", whole(200))
	c.do(c.user, dex.FundPlaceOrder, c.gold, core.VITE, true, uint8(dex.Limit), "1.5", whole(200))
	c.snapshot()
	require.Eventually(b, func() bool {
		filled, err := c.server.Networks[0].Index.Orders(b.Context(), index.OrderFilter{Owner: c.user.key.Address()}, index.Page{Limit: 1})
		return err == nil && len(filled.List) == 1 && filled.List[0].Status == index.Filled
	}, waiting, tick)
	c.unfollow()
	db := sqlx.MustOpen("sqlite3", c.indexFile+"?_synchronous=OFF&_busy_timeout=5000")
	db.SetMaxOpenConns(1) // the owners are a table of this connection
	fillIndex(b, db, orders)
	require.NoError(b, db.Close())
	db = sqlx.MustOpen("sqlite3", c.indexFile+"?_query_only=true")
	defer db.Close()
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8) // as many as our own
	plain := plainOrders(db, c.gold)
	for name, target := range map[string]func(i int) string{
		"one order": func(i int) string {
			n := uint32(i*2654435761)%uint32(orders) + 1
			return "/order?" + url.Values{"address": {indexedOwner(int(n))}, "orderId": {fmt.Sprintf("%08x%056x", n*2654435761, n)}}.Encode()
		},
		"20 orders": func(i int) string {
			return "/orders?" + url.Values{"address": {indexedOwner(i)}, "limit": {"20"}}.Encode()
		},
	} {
		b.Run(name, func(b *testing.B) {
			at := func(i int) string { return api + target(i) }
			budget.CompareHandlers(b, 1, requests, at, c.server.Handler(), plain)
		})
	}
}

type plainEnvelope struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data"`
}

// plainOrders is the yardstick.
func plainOrders(db *sqlx.DB, gold core.TokenID) http.Handler {
	type stored struct {
		ID             string          `db:"id"`
		Owner          string          `db:"owner"`
		Side           int             `db:"side"`
		Type           int             `db:"type"`
		Price          decimal.Decimal `db:"price"`
		Quantity       decimal.Decimal `db:"quantity"`
		Created        int64           `db:"created"`
		Executed       decimal.Decimal `db:"executed"`
		ExecutedAmount decimal.Decimal `db:"executed_amount"`
		BaseFee        decimal.Decimal `db:"base_fee"`
		OperatorFee    decimal.Decimal `db:"operator_fee"`
		Status         int             `db:"status"`
	}
	type shown struct {
		Address          string `json:"address"`
		OrderID          string `json:"orderId"`
		Symbol           string `json:"symbol"`
		TradeTokenSymbol string `json:"tradeTokenSymbol"`
		QuoteTokenSymbol string `json:"quoteTokenSymbol"`
		TradeToken       string `json:"tradeToken"`
		QuoteToken       string `json:"quoteToken"`
		Side             int    `json:"side"`
		Price            string `json:"price"`
		Quantity         string `json:"quantity"`
		Amount           string `json:"amount"`
		ExecutedQuantity string `json:"executedQuantity"`
		ExecutedAmount   string `json:"executedAmount"`
		ExecutedPercent  string `json:"executedPercent"`
		ExecutedAvgPrice string `json:"executedAvgPrice"`
		Fee              string `json:"fee"`
		Status           int    `json:"status"`
		Type             int    `json:"type"`
		CreateTime       int64  `json:"createTime"`
	}
	type list struct {
		Order []shown `json:"order"`
		Total int     `json:"total"`
	}
	show := func(o *stored) shown {
		cut := func(d decimal.Decimal, places int32) string { return d.Truncate(places).StringFixed(places) }
		whole := func(d decimal.Decimal) decimal.Decimal { return d.Shift(-18) }
		return shown{
			o.Owner, o.ID, pairOnChain, "GOLD-000", "VITE", gold.String(), core.VITE.String(), o.Side, cut(o.Price, 4), cut(whole(o.Quantity), 2),
			cut(o.Price.Mul(whole(o.Quantity)), 8), cut(whole(o.Executed), 2), cut(whole(o.ExecutedAmount), 4), cut(o.Executed.Div(o.Quantity), 4),
			cut(o.ExecutedAmount.Div(o.Executed), 4), cut(whole(o.BaseFee.Add(o.OperatorFee)), 4), o.Status, o.Type, o.Created,
		}
	}
	const columns = `id, owner, side, type, price, quantity, created, executed, executed_amount, base_fee, operator_fee, status`
	e := echo.New()
	e.GET(api+"/order", func(c echo.Context) error {
		var o stored
		err := db.GetContext(c.Request().Context(), &o, `SELECT `+columns+` FROM ex_orders WHERE id = ? AND owner = ?`, c.QueryParam("orderId"), c.QueryParam("address"))
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, plainEnvelope{Msg: "ok", Data: show(&o)})
	})
	e.GET(api+"/orders", func(c echo.Context) error {
		var found []stored
		err := db.SelectContext(c.Request().Context(), &found, `SELECT `+columns+` FROM ex_orders WHERE owner = ? ORDER BY created DESC, serial DESC, id DESC LIMIT ?`,
			c.QueryParam("address"), c.QueryParam("limit"))
		if err != nil {
			return err
		}
		out := list{make([]shown, len(found)), -1}
		for i := range found {
			out.Order[i] = show(&found[i])
		}
		return c.JSON(http.StatusOK, plainEnvelope{Msg: "ok", Data: out})
	})
	return e
}

// BenchmarkBudgetOrder measures an order's complete path over REST into the book: key, rules,
// JSON-RPC, chain, match. It may take 2.5 times the CPU of its parts measured alone: HTTP, HMAC, a
// signature, its check and an append to a log.
func BenchmarkBudgetOrder(b *testing.B) {
	orders := scaled(4000)
	traders, envs := make([]wallet, benchTraders), make([]apiEnv, benchTraders)
	for i := range traders {
		traders[i] = walletOf(fmt.Sprint("trader ", i))
	}
	c := onChainIn(b, b.TempDir(), traders, unlimited)
	transport := &http.Transport{MaxIdleConnsPerHost: benchTraders}
	defer transport.CloseIdleConnections()
	for i, w := range traders {
		for _, token := range []core.TokenID{core.VITE, c.gold} {
			c.send(w, core.DexFundContract, token, whole(5e6), dex.FundDeposit)
		}
		c.join(w)
		envs[i] = *c.apiEnv
		envs[i].client = &http.Client{Transport: transport}
		require.NoError(b, envs[i].order(i)) // the first of each opens its delegation address
	}
	c.unfollow() // what the index does is after the book
	parts := newOrderParts(b, envs[0])
	budget.Compare(b, 2.5, budget.Cost.PerCPU, func() budget.Cost {
		for range core.QuotaWindow {
			c.snapshot()
		}
		return budget.Measure(orders, func() {
			share(b, orders, func(trader, i int) error {
				c.clock.pass(time.Millisecond)
				return envs[trader].order(i)
			})
			c.work()
		})
	}, func() budget.Cost {
		return budget.Measure(orders, func() { share(b, orders, func(_, i int) error { return parts.order(i) }) })
	})
}

// share has every trader do a part of n things.
func share(b *testing.B, n int, do func(trader, i int) error) {
	var g errgroup.Group
	for w := range benchTraders {
		g.Go(func() error {
			for i := w; i < n; i += benchTraders {
				if err := do(w, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(b, g.Wait())
}

// order places the n-th order: two in three rest, every third meets what rests on the other side.
func (w *apiEnv) order(n int) error {
	side, away := "1", int64(1+n*7%500)
	if n%3 == 2 {
		away = -away % 10
	}
	if n%2 == 0 {
		side, away = "0", -away
	}
	v := w.sign("symbol", pairOnChain, "side", side, "price", decimal.New(15_000+away, -4).String(), "amount", decimal.New(int64(20_000+n%10_000), -2).String())
	answer, err := w.client.PostForm(w.url+api+"/order", v)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && !bytes.HasPrefix(body, []byte(`{"code":0,`)) {
		err = fmt.Errorf("an order is answered with %s", body)
	}
	return err
}

// orderParts measures the minimum work of an order. The client's half of a request's authentication
// is part of the HTTP figure.
type orderParts struct {
	apiEnv // its URL is that of a server that knows the answer
	signer core.PrivateKey
	log    *os.File
}

func newOrderParts(b *testing.B, w apiEnv) *orderParts {
	e := echo.New()
	e.POST(api+"/order", func(c echo.Context) error {
		return c.JSON(http.StatusOK, plainEnvelope{Msg: "ok", Data: map[string]any{"symbol": c.FormValue("symbol"), "orderId": strings.Repeat("0", 64), "status": 1}})
	})
	server := httptest.NewServer(e)
	b.Cleanup(server.Close)
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, log.Close()) })
	w.url = server.URL
	return &orderParts{w, keyOf("trader"), log}
}

func (p *orderParts) order(n int) error {
	if err := p.apiEnv.order(n); err != nil {
		return err
	}
	hash, public := make([]byte, core.HashSize), p.signer.Public()
	if !core.Verify(public[:], hash, p.signer.Sign(hash)) || hmacOf(p.secret, strings.Repeat("p", 150)) == "" {
		return errors.New("a good signature does not verify")
	}
	if _, err := p.log.Write(make([]byte, 600)); err != nil { // a block of an order's size
		return err
	}
	return unix.Fdatasync(int(p.log.Fd()))
}
