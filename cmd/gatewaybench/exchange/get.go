package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
	"github.com/shopspring/decimal"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/devnet"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// getCase is a trading client's reads from an index of a million orders.
func getCase() bench.Case {
	pages := orderPages(1)
	return bench.Case{
		Name: "exchange-get", Unit: "request", Prepare: makeOrders, Helpers: bench.ClientHelpers(),
		About: "one order and twenty are read over REST, of a million in SQLite; yardstick: sqlx, encoding/json and echo, on the same file",
		Ours:  getOrders, Yardsticks: []bench.Side{{Name: "sqlx", Part: getOrdersPlainly}},
		Goals: []bench.Goal{{Of: pages[0].Name, Budget: 1, Limit: 0.7}, {Of: pages[1].Name, Budget: 1, Limit: 0.7}},
		Same:  []string{pages[0].Answer(), pages[1].Answer()},
	}
}

const (
	indexedOrders = 1_000_000
	indexedOwners = 100
)

// indexedOwner has every hundredth order.
func indexedOwner(i int) string {
	return core.Address{byte(i % indexedOwners), 1}.String()
}

// indexedID is an order's id; in the order of ids nobody's orders are neighbours.
func indexedID(i int) string { return fmt.Sprintf("%08x%056x", uint32(i*2654435761), i) }

// orderPages are the two requests, each for many orders and owners in turn.
func orderPages(orders int) []bench.Page {
	pages := []bench.Page{{Name: "one order", Requests: 20_000}, {Name: "20 orders", Requests: 5_000}}
	for k := range min(orders, 5000) {
		i := 1 + int(uint32(k*2654435761))%orders
		pages[0].URLs = append(pages[0].URLs, "/api/v2/order?"+url.Values{"address": {indexedOwner(i)}, "orderId": {indexedID(i)}}.Encode())
	}
	for k := range indexedOwners {
		pages[1].URLs = append(pages[1].URLs, "/api/v2/orders?"+url.Values{"address": {indexedOwner(k)}, "limit": {"20"}}.Encode())
	}
	return pages
}

// makeOrders has an exchange fill two orders, and copies one of them in its index.
func makeOrders(ctx context.Context, r *bench.Run) (err error) {
	s, err := openEnv(ctx, r.Data, 2)
	if err != nil {
		return err
	}
	for i, t := range s.traders {
		err = errors.Join(err, s.call(ctx, t.Signer, dex.FundPlaceOrder, gold, core.VITE, i == 0, uint8(dex.Limit), "1.5", whole(200)))
	}
	err = errors.Join(err, fillWindow(s.chain.Node), devnet.Within(ctx, time.Minute, "the index to see the fill", func() (bool, error) {
		orders, err := s.index.Orders(ctx, index.OrderFilter{Owner: s.traders[0].address}, index.Page{Limit: 1})
		return len(orders.List) == 1 && orders.List[0].Status == index.Filled, err
	}))
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	db, err := sqlx.ConnectContext(ctx, "sqlite3", indexFile(r.Data)+"?_journal_mode=OFF&_synchronous=OFF")
	if err != nil {
		return fmt.Errorf("opening the index for filling: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // the owners are a table of this connection
	owners := make([]string, indexedOwners)
	for i := range owners {
		owners[i] = indexedOwner(i)
	}
	list, err := json.Marshal(owners)
	if err != nil {
		return err
	}
	done, err := db.ExecContext(ctx, `CREATE TEMP TABLE owners AS SELECT key AS n, value AS address FROM json_each(?)`, string(list))
	if err == nil {
		done, err = db.ExecContext(ctx, `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
			INSERT INTO ex_orders (id, inner_id, owner, market, side, type, price, quantity, amount, created, serial, noted, received, received_at, refused,
				placed, state, reason, executed, executed_amount, base_fee, operator_fee, cancel, status)
			SELECT printf('%08x%056x', numbers.n * 2654435761 % 4294967296, numbers.n), printf('%044x', numbers.n), address, market, side, type, price, quantity, amount,
				created - numbers.n, serial, 0, received, received_at - numbers.n, refused, placed, state, reason, executed, executed_amount, base_fee, operator_fee, '', status
			FROM numbers JOIN (SELECT * FROM ex_orders WHERE status = 4 LIMIT 1) JOIN owners ON owners.n = numbers.n % 100`, r.N(indexedOrders))
	}
	if err != nil {
		return fmt.Errorf("filling the index: %w", err)
	}
	if n, err := done.RowsAffected(); err != nil || n != int64(r.N(indexedOrders)) {
		return errors.Join(fmt.Errorf("%d of %d orders were copied", n, r.N(indexedOrders)), err)
	}
	return nil
}

func getOrders(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	s, err := openEnv(ctx, r.Data, 2)
	if err != nil {
		return bench.Figure{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return bench.Serve(ctx, r, s.api.Handler(), orderPages(r.N(indexedOrders)))
}

// storedOrder is an order as the yardstick reads it, shownOrder as it answers.
type storedOrder struct {
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

type envelope struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data"`
}

type shownOrders struct {
	Order []shownOrder `json:"order"`
	Total int          `json:"total"`
}

type shownOrder struct {
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

func (o *storedOrder) show() shownOrder {
	cut := func(d decimal.Decimal, places int32) string { return d.Truncate(places).StringFixed(places) }
	whole := func(d decimal.Decimal) decimal.Decimal { return d.Shift(-18) }
	return shownOrder{
		Address: o.Owner, OrderID: o.ID, Symbol: symbol, TradeTokenSymbol: "GOLD-000", QuoteTokenSymbol: "VITE", TradeToken: gold.String(), QuoteToken: core.VITE.String(),
		Side: o.Side, Price: cut(o.Price, 4), Quantity: cut(whole(o.Quantity), 2), Amount: cut(o.Price.Mul(whole(o.Quantity)), 8),
		ExecutedQuantity: cut(whole(o.Executed), 2), ExecutedAmount: cut(whole(o.ExecutedAmount), 4), ExecutedPercent: cut(o.Executed.Div(o.Quantity), 4),
		ExecutedAvgPrice: cut(o.ExecutedAmount.Div(o.Executed), 4), Fee: cut(whole(o.BaseFee.Add(o.OperatorFee)), 4), Status: o.Status, Type: o.Type, CreateTime: o.Created,
	}
}

// getOrdersPlainly serves what anybody would write in an afternoon.
func getOrdersPlainly(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	db, err := sqlx.ConnectContext(ctx, "sqlite3", indexFile(r.Data)+"?_query_only=true")
	if err != nil {
		return bench.Figure{}, fmt.Errorf("opening the index: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8) // as many as our own
	const columns = `id, owner, side, type, price, quantity, created, executed, executed_amount, base_fee, operator_fee, status`
	answer := func(c echo.Context, data any) error {
		return c.JSON(http.StatusOK, envelope{Msg: "ok", Data: data})
	}
	e := echo.New()
	e.GET("/api/v2/order", func(c echo.Context) error {
		var o storedOrder
		err := db.GetContext(c.Request().Context(), &o, `SELECT `+columns+` FROM ex_orders WHERE id = ? AND owner = ?`, c.QueryParam("orderId"), c.QueryParam("address"))
		if err != nil {
			return err
		}
		return answer(c, o.show())
	})
	e.GET("/api/v2/orders", func(c echo.Context) error {
		var list []storedOrder
		err := db.SelectContext(c.Request().Context(), &list, `SELECT `+columns+` FROM ex_orders WHERE owner = ? ORDER BY created DESC, serial DESC, id DESC LIMIT ?`,
			c.QueryParam("address"), c.QueryParam("limit"))
		if err != nil {
			return err
		}
		shown := make([]shownOrder, len(list))
		for i := range list {
			shown[i] = list[i].show()
		}
		return answer(c, shownOrders{shown, -1})
	})
	return bench.Serve(ctx, r, e, orderPages(r.N(indexedOrders)))
}
