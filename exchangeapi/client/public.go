package client

import (
	"context"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Page chooses a part of a list. Zero members take the API's defaults; Total asks for the number of
// all matches.
type Page struct {
	Offset, Limit int
	Total         bool
}

func (p Page) params() params {
	return params{number("offset", p.Offset), number("limit", p.Limit), flag("total", p.Total)}
}

// OrderFilter chooses orders of an address. Other zero members choose all.
type OrderFilter struct {
	Address          string
	Symbol           string
	QuoteTokenSymbol string
	TradeTokenSymbol string
	StartTime        int64 // Unix seconds; not for open orders, as the members below
	EndTime          int64
	Side             *Side
	Status           *Status
}

func (f OrderFilter) params() params {
	return params{{"address", f.Address}, {"symbol", f.Symbol}, {"quoteTokenSymbol", f.QuoteTokenSymbol}, {"tradeTokenSymbol", f.TradeTokenSymbol},
		number("startTime", f.StartTime), number("endTime", f.EndTime), code("side", f.Side), code("status", f.Status)}
}

// TradeFilter chooses fills of a pair. Other zero members choose all.
type TradeFilter struct {
	Symbol    string
	OrderID   string
	StartTime int64 // Unix seconds
	EndTime   int64
	Side      *Side
}

// KlineFilter chooses candles. Interval is minute, minute30, hour, hour6, hour12, day or week.
type KlineFilter struct {
	Symbol    string
	Interval  string
	Limit     int
	StartTime int64 // Unix seconds
	EndTime   int64
}

// fetch is a public call whose data is a T.
func fetch[T any](ctx context.Context, c *Client, path string, p ...param) (T, error) {
	var data T
	err := c.public(ctx, path, p, &data)
	return data, err
}

// Ping asks whether the API serves.
func (c *Client) Ping(ctx context.Context) error { return c.public(ctx, "ping", nil, nil) }

// Time is the server's clock.
func (c *Client) Time(ctx context.Context) (time.Time, error) {
	ms, err := fetch[int64](ctx, c, "time")
	return time.UnixMilli(ms), err
}

// ServerClock asks for the server's time and returns a clock that follows it, for the member Now of
// a client on a machine whose own clock is wrong. Its error is at most half of the answer's delay.
func (c *Client) ServerClock(ctx context.Context) (func() time.Time, error) {
	asked := time.Now()
	theirs, err := c.Time(ctx)
	if err != nil {
		return nil, err
	}
	ahead := theirs.Sub(asked.Add(time.Since(asked) / 2))
	return func() time.Time { return time.Now().Add(ahead) }, nil
}

// Limit is the smallest orders.
func (c *Client) Limit(ctx context.Context) (Limit, error) { return fetch[Limit](ctx, c, "limit") }

// Tokens lists tokens. Category is "quote", "all" or empty; like is part of a symbol or empty.
func (c *Client) Tokens(ctx context.Context, category, like string, p Page) ([]Token, error) {
	return fetch[[]Token](ctx, c, "tokens", append(p.params(), param{"category", category}, param{"tokenSymbolLike", like})...)
}

// Token is all about the token of a symbol or, if that is empty, of an id. It is nil if there is
// none.
func (c *Client) Token(ctx context.Context, symbol, id string) (*TokenDetail, error) {
	return fetch[*TokenDetail](ctx, c, "token/detail", param{"tokenSymbol", symbol}, param{"tokenId", id})
}

// Mapped lists the tokens that a quote market lists.
func (c *Client) Mapped(ctx context.Context, quoteTokenSymbol string) ([]ListedToken, error) {
	return fetch[[]ListedToken](ctx, c, "token/mapped", param{"quoteTokenSymbol", quoteTokenSymbol})
}

// Unmapped lists the tokens that a quote market does not list.
func (c *Client) Unmapped(ctx context.Context, quoteTokenSymbol string) ([]ListedToken, error) {
	return fetch[[]ListedToken](ctx, c, "token/unmapped", param{"quoteTokenSymbol", quoteTokenSymbol})
}

// Market is all about a pair.
func (c *Client) Market(ctx context.Context, symbol string) (Market, error) {
	return fetch[Market](ctx, c, "market", param{"symbol", symbol})
}

// Markets lists pairs.
func (c *Client) Markets(ctx context.Context, p Page) ([]MarketItem, error) {
	return fetch[[]MarketItem](ctx, c, "markets", p.params()...)
}

// Order is an order of an address; nil if there is none.
func (c *Client) Order(ctx context.Context, address, orderID string) (*Order, error) {
	return fetch[*Order](ctx, c, "order", param{"address", address}, param{"orderId", orderID})
}

// OpenOrders lists open orders, newest first.
func (c *Client) OpenOrders(ctx context.Context, f OrderFilter, p Page) (Orders, error) {
	return fetch[Orders](ctx, c, "orders/open", append(f.params(), p.params()...)...)
}

// Orders lists orders, newest first.
func (c *Client) Orders(ctx context.Context, f OrderFilter, p Page) (Orders, error) {
	return fetch[Orders](ctx, c, "orders", append(f.params(), p.params()...)...)
}

// Tickers lists the 24-hour figures of pairs; of all without symbols, of one quote token if that is
// given.
func (c *Client) Tickers(ctx context.Context, quoteTokenSymbol string, symbols ...string) ([]Ticker, error) {
	return fetch[[]Ticker](ctx, c, "ticker/24hr", param{"quoteTokenSymbol", quoteTokenSymbol}, param{"symbols", strings.Join(symbols, ",")})
}

// BookTicker is the best of a book.
func (c *Client) BookTicker(ctx context.Context, symbol string) (BookTicker, error) {
	return fetch[BookTicker](ctx, c, "ticker/bookTicker", param{"symbol", symbol})
}

// Trades lists the last fills of a pair, newest first.
func (c *Client) Trades(ctx context.Context, symbol string, limit int) ([]Trade, error) {
	return fetch[[]Trade](ctx, c, "trades", param{"symbol", symbol}, number("limit", limit))
}

// TradeRecords lists fills with all about them, newest first.
func (c *Client) TradeRecords(ctx context.Context, f TradeFilter, p Page) (TradeRecords, error) {
	return fetch[TradeRecords](ctx, c, "trades/all", append(p.params(), param{"symbol", f.Symbol}, param{"orderId", f.OrderID},
		number("startTime", f.StartTime), number("endTime", f.EndTime), code("side", f.Side))...)
}

// Depth returns a book. Precision is the number of decimals to which prices are merged; nil does
// not merge.
func (c *Client) Depth(ctx context.Context, symbol string, limit int, precision *int) (Depth, error) {
	return fetch[Depth](ctx, c, "depth", param{"symbol", symbol}, number("limit", limit), code("precision", precision))
}

// Klines is candles, oldest first.
func (c *Client) Klines(ctx context.Context, f KlineFilter) (Klines, error) {
	return fetch[Klines](ctx, c, "klines", param{"symbol", f.Symbol}, param{"interval", f.Interval}, number("limit", f.Limit),
		number("startTime", f.StartTime), number("endTime", f.EndTime))
}

// Transfers lists deposits to the exchange and withdrawals from it, newest first.
func (c *Client) Transfers(ctx context.Context, address, tokenID string, p Page) (Transfers, error) {
	return fetch[Transfers](ctx, c, "deposit-withdraw", append(p.params(), param{"address", address}, param{"tokenId", tokenID})...)
}

// Rates returns the values of tokens by symbols, or of all known tokens without symbols.
func (c *Client) Rates(ctx context.Context, symbols ...string) ([]Rate, error) {
	return fetch[[]Rate](ctx, c, "exchange-rate", param{"tokenSymbols", strings.Join(symbols, ",")})
}

// RatesByID returns the values of tokens by IDs.
func (c *Client) RatesByID(ctx context.Context, ids ...string) ([]Rate, error) {
	return fetch[[]Rate](ctx, c, "exchange-rate", param{"tokenIds", strings.Join(ids, ",")})
}

// USDCNY returns the price of a dollar in yuan.
func (c *Client) USDCNY(ctx context.Context) (decimal.Decimal, error) {
	return fetch[decimal.Decimal](ctx, c, "usd-cny")
}

// Balance returns the funds of an address on the exchange, by token symbol.
func (c *Client) Balance(ctx context.Context, address string) (map[string]Balance, error) {
	return fetch[map[string]Balance](ctx, c, "balance", param{"address", address})
}

// TradeFeeInfo is the trade mining of the cycle.
func (c *Client) TradeFeeInfo(ctx context.Context) (TradeFeeInfo, error) {
	return fetch[TradeFeeInfo](ctx, c, "trade_fee_info")
}
