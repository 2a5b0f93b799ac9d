package main

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	api "gatewayd/exchangeapi/client"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// openExchanges runs a chain in this process, whose blocks the test makes, and one exchange API,
// wired as in the daemon, for each database.
func openExchanges(t *testing.T, dir string, databases ...string) (exchangeBuilder, *client.Client, []*api.Client) {
	t.Helper()
	cfg, err := exchangeChainConfig(dir)
	require.NoError(t, err)
	cfg.SnapshotInterval = -1
	chain, err := daemon.NewEmbedded(cfg)
	require.NoError(t, err)
	t.Cleanup(chain.Close)
	runUntilEnd(t, chain.Run)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	w := testStreams(t)
	log, err := daemon.NewLog(config.Log{Level: "error"}, w.stderr)
	require.NoError(t, err)
	var apis []*api.Client
	for _, url := range databases {
		e, err := daemon.OpenExchange(t.Context(), exchangeConfig(dir, url, chain.WSURL()), daemon.Dependencies{Keys: keys, Getenv: w.getenv, Log: log})
		require.NoError(t, err)
		t.Cleanup(e.Close)
		runUntilEnd(t, e.Run)
		require.NoError(t, e.Ready(t.Context()))
		rest := &api.Client{Base: "http://" + e.Server.Addr(), HTTP: newHTTPClient()}
		t.Cleanup(rest.HTTP.CloseIdleConnections)
		waitFor(t, "the markets", func() bool {
			list, err := rest.Markets(t.Context(), api.Page{})
			return err == nil && len(list) == len(exchangeMarkets)
		})
		apis = append(apis, rest)
	}
	link, err := client.Dial(t.Context(), chain.WSURL(), client.Options{})
	require.NoError(t, err)
	t.Cleanup(link.Close)
	return exchangeBuilder{t, chain.Node}, link, apis
}

// pushRecorder records what was pushed.
type pushRecorder struct {
	mu     sync.Mutex
	pushes []api.Push
	opened int // connections
}

func listenTo(t *testing.T, rest *api.Client, topics ...string) *pushRecorder {
	t.Helper()
	e := &pushRecorder{}
	ready := make(chan struct{})
	open := sync.OnceFunc(func() { close(ready) })
	s := &api.Stream{
		URL: "ws" + strings.TrimPrefix(rest.Base, "http") + "/v2/ws", Topics: topics, Retry: 50 * time.Millisecond,
		Connected: func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.opened++
			open()
		},
		Handle: func(p api.Push) error {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.pushes = append(e.pushes, p)
			return nil
		},
	}
	runUntilEnd(t, s.Run)
	select {
	case <-ready:
	case <-time.After(time.Minute):
		require.Fail(t, "the stream was not opened")
	}
	return e
}

// waitForPush waits for a push.
func (e *pushRecorder) waitForPush(t *testing.T, what string, right func(api.Push) bool) {
	t.Helper()
	waitFor(t, what, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, p := range e.pushes {
			if right(p) {
				return true
			}
		}
		return false
	})
}

func (e *pushRecorder) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pushes = nil
}

// isOrder matches a push of an order in a status, with so much executed.
func isOrder(hash core.Hash, status api.Status, executed int64) func(api.Push) bool {
	return func(p api.Push) bool {
		if !strings.HasPrefix(p.Topic, "order.") {
			return false
		}
		o, err := p.Order()
		return err == nil && o.OrderID == hash.String() && o.Status == status && o.ExecutedQuantity.Equal(decimal.NewFromInt(executed))
	}
}

// order places an order of coins and answers its id.
func (b exchangeBuilder) order(trader int, sell bool, price string, coins uint64) core.Hash {
	b.t.Helper()
	key := exchangeKey(trader)
	b.call(key, dex.FundPlaceOrder, exchangeTokens["COIN-000"], core.VITE, sell, uint8(dex.Limit), price, wholeTokens(coins, 8))
	var h core.Hash
	b.Read(func(v *node.View) { h = v.AccountHead(key.Address()).Hash })
	return h
}

// TestBehaviour56Rollback: the chain rolls back a public trade. The node announces it, the index
// undoes it, REST shows the earlier state, pushes report it, and later trades count.
func TestBehaviour56Rollback(t *testing.T) {
	dir := t.TempDir()
	url := "sqlite:" + filepath.Join(dir, "index.db")
	buildExchange(t, dir, url)
	b, link, apis := openExchanges(t, dir, url)
	rest, pair, seller := apis[0], exchangeMarkets[0], exchangeKey(1).Address().String()
	heard := listenTo(t, rest, "order."+seller, "market."+pair+".trade", "market."+pair+".depth", "market."+pair+".tickers", "market."+pair+".kline.minute")
	events := make(chan []client.BlockEvent, 1000)
	subscription, err := link.SubscribeAccount(t.Context(), core.DexTradeContract, events)
	require.NoError(t, err)
	defer subscription.Close()

	sell := b.order(1, true, "10", 30)
	b.snapshot()
	before := b.height()
	heard.waitForPush(t, "the order", isOrder(sell, api.Open, 0))
	rich, err := rest.Balance(t.Context(), seller)
	require.NoError(t, err)

	b.order(2, false, "10", 20)
	b.snapshot()
	heard.waitForPush(t, "the fill", isOrder(sell, api.PartiallyFilled, 20))
	heard.waitForPush(t, "the trade", func(p api.Push) bool { return p.Topic == "market."+pair+".trade" })
	heard.reset()

	require.NoError(t, b.Rollback(before))
	waitFor(t, "the node's word that blocks were removed", func() bool {
		select {
		case list := <-events:
			return list[len(list)-1].Removed
		default:
			return false
		}
	})
	heard.waitForPush(t, "the order as it was", isOrder(sell, api.Open, 0))
	heard.waitForPush(t, "the book as it was", func(p api.Push) bool {
		d, err := p.Depth()
		return p.Topic == "market."+pair+".depth" && err == nil && len(d.Asks) == 1 && d.Asks[0].Quantity.Equal(decimal.NewFromInt(30))
	})
	heard.waitForPush(t, "the ticker as it was", func(p api.Push) bool {
		k, err := p.Ticker()
		return p.Topic == "market."+pair+".tickers" && err == nil && k.ClosePrice.IsZero() && k.Quantity.IsZero()
	})
	requireNoTrade(t, rest, pair)
	again, err := rest.Balance(t.Context(), seller)
	require.NoError(t, err)
	require.Equal(t, rich, again)

	heard.reset()
	b.order(3, false, "10", 12)
	b.snapshot()
	heard.waitForPush(t, "what came instead", isOrder(sell, api.PartiallyFilled, 12))
	records, err := rest.TradeRecords(t.Context(), api.TradeFilter{Symbol: pair}, api.Page{Total: true})
	require.NoError(t, err)
	require.Equal(t, 1, records.Total)
	require.Equal(t, "12", records.Trade[0].Quantity.String())
}

func requireNoTrade(t *testing.T, rest *api.Client, pair string) {
	t.Helper()
	records, err := rest.TradeRecords(t.Context(), api.TradeFilter{Symbol: pair}, api.Page{Total: true})
	require.NoError(t, err)
	require.Zero(t, records.Total)
	bars, err := rest.Klines(t.Context(), api.KlineFilter{Symbol: pair, Interval: "minute"})
	require.NoError(t, err)
	require.Empty(t, bars.T)
	tickers, err := rest.Tickers(t.Context(), "", pair)
	require.NoError(t, err)
	require.Len(t, tickers, 1)
	require.True(t, tickers[0].ClosePrice.IsZero())
}

func (b exchangeBuilder) height() (h uint64) {
	b.Read(func(v *node.View) { h = v.Head().Height })
	return h
}
