package exchangeapi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
	"gatewayd/exchangeapi/rates"
	"gatewayd/vite/core"
)

type sampleFile struct {
	Endpoints []struct {
		Method, Path string
		Params       map[string]any
		Response     struct {
			Code int
			Msg  string
			Data any
		}
		More []struct {
			Response struct{ Data any }
		} `json:"more_samples"`
	}
	Errors []struct {
		Case     string
		HTTP     int `json:"http"`
		Response struct {
			Code code
			Msg  string
			Data any
		}
	}
}

func samples(t testing.TB) (f sampleFile) {
	text, err := os.ReadFile("testdata/rest_samples.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &f))
	require.Equal(t, 28, len(f.Endpoints))
	return f
}

// Members that our answers have in addition to some samples: the parameter's text promises total,
// one sample of two has website, the others are marks of ours.
var ours = map[string]bool{"total": true, "website": true, "stale": true, "updateTime": true}

// Members that a directory of tokens would fill: null here, and in the first samples.
var directory = map[string]bool{"urlIcon": true, "gateway": true, "links": true, "overview": true}

// sameShape reports where an answer differs from a sample in its members and their types. A null of
// the sample may be anything. Lists and maps by symbol are compared by their first elements.
func sameShape(at string, sample, got any) error {
	switch s := sample.(type) {
	case nil:
		return nil
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: %T for an object", at, got)
		}
		for name, v := range s {
			if _, ok := g[name]; !ok {
				return fmt.Errorf("%s.%s is missing", at, name)
			}
			if g[name] == nil && directory[name] {
				continue
			}
			if err := sameShape(at+"."+name, v, g[name]); err != nil {
				return err
			}
		}
		for name := range g {
			if _, ok := s[name]; !ok && !ours[name] {
				return fmt.Errorf("%s.%s is too much", at, name)
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(s) > 0 && len(g) == 0 {
			return fmt.Errorf("%s: %T for a list with elements", at, got)
		}
		if len(s) > 0 {
			return sameShape(at+"[0]", s[0], g[0])
		}
	case float64:
		if _, ok := got.(json.Number); !ok {
			return fmt.Errorf("%s: %T for a number", at, got)
		}
	default:
		if fmt.Sprintf("%T", s) != fmt.Sprintf("%T", got) {
			return fmt.Errorf("%s: %T for %T", at, got, s)
		}
	}
	return nil
}

// newSampleEnv is an environment in which every sample's question has an answer.
func newSampleEnv(t testing.TB) *apiEnv {
	file := filepath.Join(t.TempDir(), "rates.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"vite":{"usd":0.03,"cny":0.16},"tether":{"usd":1.0,"cny":6.849,"last_updated_at":1614571100}}`), 0o600))
	w := setup(t, func(c *Config, _ *Parts) {
		c.Rates = rates.Config{File: file, Coins: map[string]string{"VITE": "vite"}}
	})
	pair := w.index.markets[0].Pair
	w.index.tokens = append(w.index.tokens, index.Token{
		ID: core.TokenID([]byte("VTT.......")).String(), Name: "Vite Test Token", Symbol: "VTT-000", OriginalSymbol: "VTT", TotalSupply: "1", Owner: w.owner.String(),
	})
	w.addOrder(1, index.Open)
	w.index.trades = []index.Trade{{
		Pair: pair, ID: strings.Repeat("ab", 20), Price: "0.0002", Quantity: "0.01", Amount: "0.00000002", Time: 1586944732,
		BuyFee: "0.00000010", SellFee: "0.00000020", BlockHeight: 260,
	}}
	w.index.bars = []index.Bar{{Symbol: symbol, Interval: index.Minute, Time: 1554207060, Open: "1.0000", Close: "1.0", High: "1.0", Low: "1.0", Volume: "12970.80"}}
	w.index.transfers = []index.Transfer{{Time: 1555057049, TokenSymbol: "VITE", Amount: "1000000.00000000", Type: 1}}
	w.index.depth = index.Depth{Symbol: symbol, Time: 1588170501936, Asks: []index.Level{{Price: "1.0000", Quantity: "2.00"}}, Bids: []index.Level{{Price: "0.9000", Quantity: "1.00"}}}
	w.index.best = index.BookTicker{Symbol: symbol, BidPrice: "0.9000", AskPrice: "1.0000", BidQuantity: "1.00", AskQuantity: "2.00"}
	w.index.tickers = []index.Ticker{{
		Pair: pair, QuoteType: 1, OpenPrice: "1.0000", PrevClosePrice: "1.0000", ClosePrice: "1.0000", PriceChange: "-0.1000", ChangePercent: "-0.01908244",
		HighPrice: "1.0000", LowPrice: "1.0000", Quantity: "2.0000", Amount: "2.0000",
	}}
	w.index.balances[w.owner] = []index.Balance{{Token: core.VITE, Symbol: "VITE", Decimals: 18, Available: "30047.62090072", Locked: "0.00000000"}}
	return w
}

// Every sample of every endpoint: the same members with the same types. The samples' pairs and
// accounts become the environment's.
func TestSamples(t *testing.T) {
	w := newSampleEnv(t)
	require.Eventually(t, func() bool { return len(w.server.rates.Of("VITE")) > 0 }, waiting, tick)
	id := w.index.list[0].ID
	for _, e := range samples(t).Endpoints {
		fields := map[string]string{}
		for name, v := range e.Params {
			fields[name] = fmt.Sprint(v)
		}
		for name, v := range map[string]string{
			"symbol": symbol, "symbols": symbol, "address": w.owner.String(), "orderId": id, "tokenId": core.VITE.String(), "tokenSymbolLike": "v",
			"status": "3", "key": w.key.Key, "amount": "1000", "price": "1", "timestamp": "", "signature": "",
		} {
			if _, has := fields[name]; has {
				fields[name] = v
			}
		}
		if e.Path == "/api/v2/token/mapped" || e.Path == "/api/v2/token/unmapped" {
			w.index.markets = w.index.markets[:2]
			if e.Path == "/api/v2/token/unmapped" {
				w.index.markets = w.index.markets[:1]
			}
		}
		got := w.ask(e.Method, e.Path, fields)
		require.Equal(t, "ok", got.Msg, "%s %s: %s", e.Method, e.Path, got.body)
		got.Data = renamed(got.Data)
		require.NoError(t, sameShape(e.Method+" "+e.Path, e.Response.Data, only(e.Path, got.Data)), got.body)
		for _, more := range e.More {
			if e.Path != "/api/v2/limit" { // its second sample has two bots' answers in one
				require.NoError(t, sameShape(e.Path, more.Response.Data, got.Data), got.body)
			}
		}
	}
}

// renamed gives the quote token of the environment the name that the limit sample has.
func renamed(data any) any {
	if o, ok := data.(map[string]any); ok {
		if least, ok := o["minAmount"].(map[string]any); ok {
			for _, name := range []string{"BTC-000", "USDT-000", "ETH-000"} {
				least[name] = least["VITE"]
			}
			delete(least, "VITE")
		}
	}
	return data
}

// only gives the balance the symbols of the sample.
func only(path string, data any) any {
	if path != "/api/v2/balance" {
		return data
	}
	o := data.(map[string]any)
	for _, name := range []string{"VX", "VCP", "BTC-000", "USDT-000", "ETH-000"} {
		o[name] = o["VITE"]
	}
	return o
}

// ask sends a sample's request, signed if it asks for that.
func (w *apiEnv) ask(method, path string, fields map[string]string) reply {
	w.t.Helper()
	var pairs []string
	_, signed := fields["signature"]
	v := url.Values{}
	for name, value := range fields {
		if name == "signature" || name == "timestamp" {
			continue
		}
		pairs = append(pairs, name, value)
		v.Set(name, value)
	}
	if !signed {
		return w.get(path + "?" + v.Encode())
	}
	return w.form(method, path, w.sign(pairs...))
}

// The error samples, word by word.
func TestErrorSamples(t *testing.T) {
	makers := map[string]func(w *apiEnv) reply{
		"unknown pair": func(w *apiEnv) reply { return w.get(api + "/market?symbol=NO_PAIR") },
		"bad signature": func(w *apiEnv) reply {
			v := w.sign("symbol", symbol)
			v.Set("symbol", other)
			return w.form("DELETE", api+"/orders", v)
		},
		"timestamp outside the window": func(w *apiEnv) reply {
			return w.form("DELETE", api+"/orders", w.sign("symbol", symbol, "timestamp", "1567755178560"))
		},
		"pair not delegated": func(w *apiEnv) reply {
			w.index.markets[0].Pair.Symbol = "VX_VITE"
			w.index.grant(w.owner, w.key.Agent, "VX_VITE", false)
			return w.buy("100", "1")
		},
		"trigger limit reached": func(w *apiEnv) reply {
			require.NoError(t, w.keys.SetLimit(t.Context(), w.key.Key, 1))
			w.buy("100", "1")
			return w.buy("100", "1")
		},
		"delegation address has no quota":           func(w *apiEnv) reply { w.fakeNode.quota[w.key.Agent] = 0; return w.buy("100", "1") },
		"cancel of an order that is already closed": func(w *apiEnv) reply { return w.cancel(symbol, w.addOrder(1, index.Filled)) },
		"cancel of somebody else's order": func(w *apiEnv) reply {
			id := w.addOrder(1, index.Open)
			w.index.list[0].Address = core.AssetContract.String()
			return w.cancel(symbol, id)
		},
		"below minimum amount": func(w *apiEnv) reply { return w.buy("1", "1") },
		"balance too small":    func(w *apiEnv) reply { return w.buy("1000000", "1") },
	}
	for _, e := range samples(t).Errors {
		make, ok := makers[e.Case]
		require.True(t, ok, e.Case)
		got := make(setup(t))
		require.Equal(t, []any{e.HTTP, e.Response.Code, e.Response.Msg, e.Response.Data}, []any{got.status, got.Code, got.Msg, got.Data}, e.Case)
	}
}
