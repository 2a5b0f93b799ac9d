package rates

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"
)

func quiet() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(&strings.Builder{})
	return log
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

func feedsConfig() Config {
	return Config{
		Feeds: []FeedConfig{
			{Coin: "ethereum", Chain: "eth", Address: "0xe", Heartbeat: time.Hour},
			{Coin: "cny", Chain: "eth", Address: "0xc", Heartbeat: 24 * time.Hour},
		},
		Coins: map[string]string{"ETH": "ethereum", "VITE": "vite"},
	}
}

func TestRatesFromAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rates.json")
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	r := New(Config{File: file, Coins: map[string]string{"BTC": "bitcoin"}}, nil, func() time.Time { return old.Add(2 * time.Hour) }, quiet())
	require.Error(t, r.Refresh(t.Context()))
	require.NoError(t, os.WriteFile(file, []byte(`{"bitcoin":{"usd":1,"cny":null}}`), 0o600))
	require.NoError(t, os.Chtimes(file, old, old))
	require.NoError(t, r.Refresh(t.Context()))
	q := r.Of("", "BTC-000", "BTC")
	require.Len(t, q, 1)
	require.Equal(t, old.Unix(), q[usd].At.Unix(), "as old as the file")
	require.True(t, q[usd].Stale(r.now()))
}

func TestRatesConfig(t *testing.T) {
	require.NoError(t, Config{}.Check())
	require.NoError(t, Config{URL: "https://x.example/p", Refresh: "*/5 * * * *"}.Check())
	for _, c := range []Config{
		{URL: "https://x.example", File: "a"}, {URL: "ftp://x"}, {URL: "x"}, {Refresh: "CRON_TZ=UTC"}, {Refresh: "often"},
		{Coins: map[string]string{"A": "b,c"}}, {Currencies: []string{"USD"}}, {USDCNY: "a b"},
	} {
		require.Error(t, c.Check(), "%+v", c)
	}
}

// FuzzRates: no source's text panics or gives a price that is none.
func FuzzRates(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"a":{"usd":1}}`, `{"a":{"usd":1e999999999}}`, `{"a":{"usd":-1}}`, `{"a":{"usd":0}}`, `{"a":{"usd":"1"}}`, `{"a":{"last_updated_at":1e30}}`,
		`[]`, `{"a":null}`, `{"a":{"usd":` + strings.Repeat("9", 50) + `}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		quotes, err := parseQuotes(text, time.Unix(0, 0), time.Hour)
		if err != nil {
			require.Empty(t, quotes)
			return
		}
		for _, q := range quotes {
			for _, p := range q {
				require.True(t, p.Value.IsPositive())
				_, err := json.Marshal(json.Number(p.Value.String()))
				require.NoError(t, err)
			}
		}
	})
}

// Feeds take precedence over the file, coin by coin and currency by currency; other prices of the
// file remain.
func TestFeedsBesideAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rates.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"ethereum":{"usd":1,"cny":2},"vite":{"usd":0.03}}`), 0o600))
	cfg := feedsConfig()
	cfg.File = file
	o := newOracle()
	now := time.Now()
	o.set("0xe", "3", now)
	o.set("0xc", "0.5", now)
	r := New(cfg, o, func() time.Time { return now }, quiet())
	require.NoError(t, r.Refresh(t.Context()))
	text := func(coin, currency string) string { return r.coin(coin)[currency].Value.String() }
	require.Equal(t, []string{"3", "2", "0.03", "0.06"}, []string{text("ethereum", usd), text("ethereum", cny), text("vite", usd), text("vite", cny)})
	require.Empty(t, r.coin("bitcoin"))
}

// Prices of bitcoin come from a contract on an EVM chain, those of litecoin from the file; tokens
// of the gateway have them by their symbol without suffix.
func TestRatesOfBitcoinAndLitecoin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rates.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"bitcoin":{"usd":1},"litecoin":{"usd":84.25,"cny":600.5}}`), 0o600))
	cfg := feedsConfig()
	cfg.File = file
	cfg.Feeds = append(cfg.Feeds, FeedConfig{Coin: "bitcoin", Chain: "eth", Address: "0xb", Heartbeat: time.Hour})
	cfg.Coins["BTC"], cfg.Coins["LTC"] = "bitcoin", "litecoin"
	require.NoError(t, cfg.Check())
	o, now := newOracle(), time.Now()
	o.set("0xb", "91234.56789012", now.Add(-time.Minute))
	o.set("0xc", "0.125", now)
	r := New(cfg, o, func() time.Time { return now }, quiet())
	require.Error(t, r.Refresh(t.Context()), "the feed of ether does not answer")
	btc, ltc := r.Of("", "BTC-000", "BTC"), r.Of("", "LTC-000", "LTC")
	require.Equal(t, []string{"91234.56789012", "84.25", "600.5"}, []string{btc[usd].Value.String(), ltc[usd].Value.String(), ltc[cny].Value.String()})
	require.Equal(t, "729876.54312096", btc[cny].Value.String(), "by the feed of cny")
	require.Equal(t, now.Add(-time.Minute).Unix(), btc[usd].At.Unix())
}

func TestFeedsAreChecked(t *testing.T) {
	require.NoError(t, feedsConfig().Check())
	require.Equal(t, usd, feedsConfig().withDefaults().USDCNY)
	require.Equal(t, "tether", Config{}.withDefaults().USDCNY)
	good := FeedConfig{Coin: "a", Chain: "eth", Address: "0x1"}
	with := func(change func(*FeedConfig)) Config {
		f := good
		change(&f)
		return Config{Feeds: []FeedConfig{f}}
	}
	for name, c := range map[string]Config{
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
}

func TestProbeRates(t *testing.T) {
	now := time.Unix(1614571200, 0)
	clock := func() time.Time { return now }
	require.Empty(t, Probe(t.Context(), Config{}, nil, clock))

	file := filepath.Join(t.TempDir(), "rates.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"vite":{"usd":0.03,"last_updated_at":1614567000}}`), 0o600))
	cfg := feedsConfig()
	cfg.File, cfg.Coins["BTC"] = file, "bitcoin"
	o := newOracle()
	o.set("0xe", "3100.5", now.Add(-90*time.Second))
	got := Probe(t.Context(), cfg, o, clock)
	require.Len(t, got, 6)
	for i, want := range []Report{
		{What: "rates of the file or service", Found: "1 coins"},
		{What: "price feed ethereum in usd", Found: "3100.5, 1m30s old"},
		{What: "price feed cny in usd"},
		{What: "rate of BTC"},
		{What: "rate of ETH", Found: "3100.5 usd, 1m30s old"},
		{What: "rate of VITE", Found: "0.03 usd, 1h10m0s old", Stale: true},
	} {
		want.Err = got[i].Err
		require.Equal(t, want, got[i])
		require.Equal(t, i == 2 || i == 3, got[i].Err != nil, got[i].What)
	}
	require.NoError(t, os.Remove(file))
	require.ErrorIs(t, Probe(t.Context(), cfg, o, clock)[0].Err, os.ErrNotExist)
}

// Processes that started at different times ask at the same time.
func TestRefreshByTheCalendar(t *testing.T) {
	for _, text := range []string{"@every 5m", "*/5 * * * *"} {
		s, err := schedule(text)
		require.NoError(t, err)
		for _, second := range []int64{1, 100, 299} {
			require.Equal(t, int64(1614571500), s.Next(time.Unix(1614571200+second, 0)).Unix(), text)
		}
	}
}
