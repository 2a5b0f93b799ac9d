package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/client"
)

// recorder keeps the body of the last answer.
type recorder struct{ last []byte }

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if r.last, err = io.ReadAll(answer.Body); err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(r.last))
	return answer, nil
}

// requireKnown asks with f and wants the client's type to have a place for every member of the
// answer.
func requireKnown[T any](t *testing.T, r *recorder, name string, f func() (T, error)) {
	t.Helper()
	have, err := f()
	require.NoError(t, err, name)
	require.False(t, reflect.ValueOf(&have).Elem().IsZero(), "%s: nothing to look at", name)
	var envelope struct{ Data json.RawMessage }
	require.NoError(t, json.Unmarshal(r.last, &envelope), name)
	// Some members exist for old clients only: always null, and the only type of key.
	data := regexp.MustCompile(`,?"(confirmations|openTime|closeTime|height|expireTime)":null`).ReplaceAll(envelope.Data, nil)
	data = regexp.MustCompile(`"type":0,("maxCount")`).ReplaceAll(data, []byte("$1"))
	data = bytes.ReplaceAll(data, []byte("{,"), []byte("{"))
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	require.NoError(t, strict.Decode(new(T)), "%s: %s", name, data)
}

// requireClientKnows holds the client's types against the answers of an API that knows a market
// with trades.
func requireClientKnows(t *testing.T, api client.Client, owner, symbol, quote string) {
	t.Helper()
	r, ctx := &recorder{}, t.Context()
	api.HTTP = &http.Client{Transport: r}
	market, err := api.Market(ctx, symbol)
	require.NoError(t, err)
	orders, err := api.Orders(ctx, client.OrderFilter{Address: owner}, client.Page{})
	require.NoError(t, err)
	page := client.Page{Limit: 3, Total: true}
	requireKnown(t, r, "limit", func() (client.Limit, error) { return api.Limit(ctx) })
	requireKnown(t, r, "tokens", func() ([]client.Token, error) { return api.Tokens(ctx, "all", "", page) })
	requireKnown(t, r, "token/detail", func() (*client.TokenDetail, error) { return api.Token(ctx, "", market.TradingCurrencyID) })
	requireKnown(t, r, "token/mapped", func() ([]client.ListedToken, error) { return api.Mapped(ctx, quote) })
	requireKnown(t, r, "token/unmapped", func() ([]client.ListedToken, error) { return api.Unmapped(ctx, quote) })
	requireKnown(t, r, "market", func() (client.Market, error) { return api.Market(ctx, symbol) })
	requireKnown(t, r, "markets", func() ([]client.MarketItem, error) { return api.Markets(ctx, page) })
	requireKnown(t, r, "order", func() (*client.Order, error) { return api.Order(ctx, owner, orders.Order[0].OrderID) })
	requireKnown(t, r, "orders", func() (client.Orders, error) {
		return api.Orders(ctx, client.OrderFilter{Address: owner, Symbol: symbol}, page)
	})
	requireKnown(t, r, "orders/open", func() (client.Orders, error) { return api.OpenOrders(ctx, client.OrderFilter{Address: owner}, page) })
	requireKnown(t, r, "ticker/24hr", func() ([]client.Ticker, error) { return api.Tickers(ctx, quote) })
	requireKnown(t, r, "ticker/bookTicker", func() (client.BookTicker, error) { return api.BookTicker(ctx, symbol) })
	requireKnown(t, r, "trades", func() ([]client.Trade, error) { return api.Trades(ctx, symbol, 3) })
	requireKnown(t, r, "trades/all", func() (client.TradeRecords, error) {
		return api.TradeRecords(ctx, client.TradeFilter{Symbol: symbol}, page)
	})
	requireKnown(t, r, "depth", func() (client.Depth, error) { return api.Depth(ctx, symbol, 10, nil) })
	requireKnown(t, r, "klines", func() (client.Klines, error) {
		return api.Klines(ctx, client.KlineFilter{Symbol: symbol, Interval: "hour"})
	})
	requireKnown(t, r, "deposit-withdraw", func() (client.Transfers, error) { return api.Transfers(ctx, owner, market.TradingCurrencyID, page) })
	requireKnown(t, r, "balance", func() (map[string]client.Balance, error) { return api.Balance(ctx, owner) })
	requireKnown(t, r, "trade_fee_info", func() (client.TradeFeeInfo, error) { return api.TradeFeeInfo(ctx) })
	requireKnown(t, r, "agent/info", func() (client.Agent, error) { return api.Agent(ctx, owner) })
	requireKnown(t, r, "agent/package", func() ([]client.Package, error) { return api.Packages(ctx) })
}
