package exchangeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

func request(t testing.TB, method, target string) *http.Request {
	r, err := http.NewRequest(method, target, nil)
	require.NoError(t, err)
	return r
}

func quiet() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(&strings.Builder{})
	return log
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
	cfg := RatesConfig{URL: source.URL + "/simple/price?key=1", Coins: map[string]string{"VITE": "vite"}, Currencies: []string{"eur"}}
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
	require.ErrorContains(t, w.server.rates.refresh(t.Context()), "HTTP 429")
	answer.Store(strings.Repeat(" ", maxRates+1))
	require.ErrorContains(t, w.server.rates.refresh(t.Context()), "more than")
	require.Len(t, list(), 1, "the old ones stay, marked")
	answer.Store(`{"vite":{"usd":0.04}}`)
	require.NoError(t, w.server.rates.refresh(t.Context()))
	item = list()[0].(map[string]any)
	require.Equal(t, []any{json.Number("0.04"), nil, false}, []any{item["usdRate"], item["cnyRate"], item["stale"]})
	source.Close()
	err := w.server.rates.refresh(t.Context())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "key=1")
}

func TestNoRates(t *testing.T) {
	w := setup(t)
	require.Empty(t, w.get(api+"/exchange-rate").list(t))
	w.get(api+"/usd-cny").refused(t, codeGeneral, "No USD-CNY rate")
}

func TestRatesFromAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rates.json")
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	r := newRates(RatesConfig{File: file, Coins: map[string]string{"BTC": "bitcoin"}}, nil, func() time.Time { return old.Add(2 * time.Hour) }, quiet())
	require.Error(t, r.refresh(t.Context()))
	require.NoError(t, os.WriteFile(file, []byte(`{"bitcoin":{"usd":1,"cny":null}}`), 0o600))
	require.NoError(t, os.Chtimes(file, old, old))
	require.NoError(t, r.refresh(t.Context()))
	q := r.of(index.Token{Symbol: "BTC-000", OriginalSymbol: "BTC"})
	require.Len(t, q, 1)
	require.Equal(t, old.Unix(), q[usd].at.Unix(), "as old as the file")
	require.True(t, q[usd].stale(r.now()))
}

func TestRatesConfig(t *testing.T) {
	require.NoError(t, RatesConfig{}.Check())
	require.NoError(t, RatesConfig{URL: "https://x.example/p", Refresh: "*/5 * * * *"}.Check())
	for _, c := range []RatesConfig{
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
		quotes, err := parseRates(text, time.Unix(0, 0), time.Hour)
		if err != nil {
			require.Empty(t, quotes)
			return
		}
		for _, q := range quotes {
			for _, p := range q {
				require.True(t, p.value.IsPositive())
				_, err := json.Marshal(json.Number(p.value.String()))
				require.NoError(t, err)
			}
		}
	})
}
