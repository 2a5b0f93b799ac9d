package exchangeapi

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
)

// oracle says what the test wants, by address.
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

func (o *oracle) say(address, price string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said[address], o.at[address] = price, at
}

func newOracle() *oracle { return &oracle{said: map[string]string{}, at: map[string]time.Time{}} }

func feedsConfig() RatesConfig {
	return RatesConfig{
		Feeds: []FeedConfig{
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
		err := w.server.rates.refresh(t.Context())
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
	o.say("0xe", "3100.5", now.Add(-time.Minute))
	refresh("cny in usd")
	item := list()[0].(map[string]any)
	require.Equal(t, []any{json.Number("3100.5"), nil, false}, []any{item["usdRate"], item["cnyRate"], item["stale"]})

	o.say("0xc", "0.155", now.Add(-2*time.Hour))
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

	o.say("0xe", "-1", w.clock.Now())
	refresh("not above zero")
	require.Equal(t, true, list()[0].(map[string]any)["stale"], "the one before, marked")
	o.say("0xe", "1", w.clock.Now().Add(time.Hour))
	refresh()
	require.Equal(t, true, list()[0].(map[string]any)["stale"], "nobody knows the price of tomorrow")
}

// Feeds go before the file, coin by coin and currency by currency; what only the file says stays.
func TestFeedsBesideAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rates.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"ethereum":{"usd":1,"cny":2},"vite":{"usd":0.03}}`), 0o600))
	cfg := feedsConfig()
	cfg.File = file
	o := newOracle()
	now := time.Now()
	o.say("0xe", "3", now)
	o.say("0xc", "0.5", now)
	r := newRates(cfg, o, func() time.Time { return now }, quiet())
	require.NoError(t, r.refresh(t.Context()))
	text := func(coin, currency string) string { return r.coin(coin)[currency].value.String() }
	require.Equal(t, []string{"3", "2", "0.03", "0.06"}, []string{text("ethereum", usd), text("ethereum", cny), text("vite", usd), text("vite", cny)})
	require.Empty(t, r.coin("bitcoin"))
}

func TestFeedsAreChecked(t *testing.T) {
	require.NoError(t, feedsConfig().Check())
	require.Equal(t, usd, feedsConfig().withDefaults().USDCNY)
	require.Equal(t, "tether", RatesConfig{}.withDefaults().USDCNY)
	good := FeedConfig{Coin: "a", Chain: "eth", Address: "0x1"}
	with := func(change func(*FeedConfig)) RatesConfig {
		f := good
		change(&f)
		return RatesConfig{Feeds: []FeedConfig{f}}
	}
	for name, c := range map[string]RatesConfig{
		"twice":     {Feeds: []FeedConfig{good, good}},
		"too many":  {Feeds: make([]FeedConfig, maxFeeds+1)},
		"coin":      with(func(f *FeedConfig) { f.Coin = "ETH/USD" }),
		"no coin":   with(func(f *FeedConfig) { f.Coin = "" }),
		"chain":     with(func(f *FeedConfig) { f.Chain = "" }),
		"address":   with(func(f *FeedConfig) { f.Address = "" }),
		"heartbeat": with(func(f *FeedConfig) { f.Heartbeat = -1 }),
		"itself":    with(func(f *FeedConfig) { f.Coin = "usd" }),
		"currency":  with(func(f *FeedConfig) { f.Currency = "eur" }),
	} {
		require.Error(t, c.Check(), name)
	}
	_, err := New(Config{Rates: feedsConfig()}, Parts{Keys: setup(t).keys})
	require.ErrorContains(t, err, "nothing reads price feeds")
}
