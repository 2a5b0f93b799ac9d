package exchangeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/rates"
)

func request(t testing.TB, method, target string) *http.Request {
	r, err := http.NewRequest(method, target, nil)
	require.NoError(t, err)
	return r
}

func TestRatesOverHTTP(t *testing.T) {
	var answer atomic.Value
	answer.Store(`{"vite":{"usd":0.0301,"cny":1.6e-1,"eur":0.02,"last_updated_at":1614571100},"tether":{"usd":2,"cny":13,"last_updated_at":1614571100}}`)
	var asked atomic.Value
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.String())
		text := answer.Load().(string)
		if text == "" {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(source.Close)
	cfg := rates.Config{URL: source.URL + "/simple/price?key=1", Coins: map[string]string{"VITE": "vite"}, Currencies: []string{"eur"}}
	w := setup(t, func(c *Config, _ *Parts) { c.Rates = cfg })
	list := func() []any { return w.get(api + "/exchange-rate").list(t) }
	require.Eventually(t, func() bool { return len(list()) == 1 }, waiting, tick)
	require.Equal(t, "/simple/price?ids=vite%2Ctether&include_last_updated_at=true&key=1&vs_currencies=usd%2Ccny%2Ceur", asked.Load())
	item := list()[0].(map[string]any)
	require.Equal(t, []any{json.Number("0.0301"), json.Number("0.16"), json.Number("0.02"), false, json.Number("1614571100")},
		[]any{item["usdRate"], item["cnyRate"], item["eurRate"], item["stale"], item["updateTime"]})
	require.Equal(t, json.Number("6.5"), w.get(api+"/usd-cny").Data)
	require.Empty(t, w.get(api+"/exchange-rate?tokenSymbols=VX").list(t), "no rate is made up")
	require.Len(t, w.get(api+"/exchange-rate?tokenSymbols=VX,VITE").list(t), 1)
	require.Len(t, w.get(api+"/exchange-rate?tokenIds="+item["tokenId"].(string)).list(t), 1)

	w.clock.pass(time.Hour)
	require.Equal(t, true, list()[0].(map[string]any)["stale"])
	w.get(api+"/usd-cny").refused(t, codeGeneral, "stale")

	answer.Store("")
	require.ErrorContains(t, w.server.rates.Refresh(t.Context()), "HTTP 429")
	answer.Store(strings.Repeat(" ", 1<<20+1))
	require.ErrorContains(t, w.server.rates.Refresh(t.Context()), "more than")
	require.Len(t, list(), 1, "the old ones stay, marked")
	answer.Store(`{"vite":{"usd":0.04}}`)
	require.NoError(t, w.server.rates.Refresh(t.Context()))
	item = list()[0].(map[string]any)
	require.Equal(t, []any{json.Number("0.04"), nil, false}, []any{item["usdRate"], item["cnyRate"], item["stale"]})
	source.Close()
	err := w.server.rates.Refresh(t.Context())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "key=1")
}

func TestNoRates(t *testing.T) {
	w := setup(t)
	require.Empty(t, w.get(api+"/exchange-rate").list(t))
	w.get(api+"/usd-cny").refused(t, codeGeneral, "No USD-CNY rate")
}

// oracle returns the test's prices, by address.
type oracle struct {
	mu   sync.Mutex
	said map[string]string // prices; a missing one is an error
	at   map[string]time.Time
}

func (o *oracle) Feed(_ context.Context, chain, address string) (decimal.Decimal, time.Time, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.said[address] == "" {
		return decimal.Decimal{}, time.Time{}, errors.New("no answer from " + chain)
	}
	return decimal.RequireFromString(o.said[address]), o.at[address], nil
}

func (o *oracle) set(address, price string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said[address], o.at[address] = price, at
}

func newOracle() *oracle { return &oracle{said: map[string]string{}, at: map[string]time.Time{}} }

func feedsConfig() rates.Config {
	return rates.Config{
		Feeds: []rates.FeedConfig{
			{Coin: "ethereum", Chain: "eth", Address: "0xe", Heartbeat: time.Hour},
			{Coin: "cny", Chain: "eth", Address: "0xc", Heartbeat: 24 * time.Hour},
		},
		Coins: map[string]string{"ETH": "ethereum", "VITE": "vite"},
	}
}

func TestRatesFromFeeds(t *testing.T) {
	o := newOracle()
	w := setup(t, func(c *Config, p *Parts) { c.Rates, p.Feeds = feedsConfig(), o })
	list := func() []any { return w.get(api + "/exchange-rate").list(t) }
	refresh := func(faults ...string) {
		t.Helper()
		err := w.server.rates.Refresh(t.Context())
		if len(faults) == 0 {
			require.NoError(t, err)
		}
		for _, fault := range faults {
			require.ErrorContains(t, err, fault)
		}
	}
	refresh("ethereum in usd: no answer from eth", "cny in usd: no answer from eth")
	require.Empty(t, list(), "nothing is made up")
	w.get(api+"/usd-cny").refused(t, codeGeneral, "No USD-CNY rate")

	now := w.clock.Now()
	o.set("0xe", "3100.5", now.Add(-time.Minute))
	refresh("cny in usd")
	item := list()[0].(map[string]any)
	require.Equal(t, []any{json.Number("3100.5"), nil, false}, []any{item["usdRate"], item["cnyRate"], item["stale"]})

	o.set("0xc", "0.155", now.Add(-2*time.Hour))
	refresh()
	require.Len(t, list(), 1, "of VITE nothing is known")
	item = list()[0].(map[string]any)
	require.Equal(t, []any{"ETH-000", json.Number("3100.5"), json.Number("20003.225806451612903225"), false},
		[]any{item["tokenSymbol"], item["usdRate"], item["cnyRate"], item["stale"]})
	require.Equal(t, json.Number("1614564000"), item["updateTime"], "as old as the older of the two")
	require.Equal(t, json.Number("6.451612"), w.get(api+"/usd-cny").Data)

	w.clock.pass(59 * time.Minute)
	require.Equal(t, false, list()[0].(map[string]any)["stale"])
	w.clock.pass(time.Minute)
	require.Equal(t, true, list()[0].(map[string]any)["stale"], "the heartbeat is over")
	require.NotNil(t, w.get(api+"/usd-cny").Data, "a feed of its own, with a heartbeat of its own")
	w.clock.pass(24 * time.Hour)
	w.get(api+"/usd-cny").refused(t, codeGeneral, "stale: it was 6.451612 at 2021-03-01T02:00:00Z")

	o.set("0xe", "-1", w.clock.Now())
	refresh("not above zero")
	require.Equal(t, true, list()[0].(map[string]any)["stale"], "the one before, marked")
	o.set("0xe", "1", w.clock.Now().Add(time.Hour))
	refresh()
	require.Equal(t, true, list()[0].(map[string]any)["stale"], "nobody knows the price of tomorrow")
}

func TestFeedsAreWanted(t *testing.T) {
	_, err := New(Config{Rates: feedsConfig()}, Parts{Keys: setup(t).keys})
	require.ErrorContains(t, err, "nothing reads price feeds")
}
