package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
)

const (
	key    = "913423DE46E97751CCC734F018F09217"
	secret = "F6BED9F34912C0B658B58C73B6531721"
)

// sample is a published request and its answer.
type sample struct {
	Method   string
	Path     string
	Params   map[string]any
	Response json.RawMessage
}

func readFile(t testing.TB, name string, to any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, to))
}

// publisher answers with the samples and keeps what it was asked last.
type publisher struct {
	t       *testing.T
	samples map[string]sample // by method and path
	asked   url.Values
	answer  []byte // in place of the sample
	status  int
}

func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, ok := p.samples[r.Method+" "+r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	require.NoError(p.t, err)
	p.asked, err = url.ParseQuery(r.URL.RawQuery + string(body))
	require.NoError(p.t, err)
	if p.status != 0 {
		w.WriteHeader(p.status)
	}
	if p.answer != nil {
		_, _ = w.Write(p.answer)
		return
	}
	_, _ = w.Write(s.Response)
}

func setup(t *testing.T) (*publisher, *Client) {
	var file struct{ Endpoints []sample }
	readFile(t, "rest_samples.json", &file)
	p := &publisher{t: t, samples: map[string]sample{}}
	for _, s := range file.Endpoints {
		p.samples[s.Method+" "+s.Path] = s
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	now := func() time.Time { return time.UnixMilli(1567755178560) }
	return p, &Client{Base: server.URL, Key: key, Secret: secret, Now: now}
}

// calls is a call for each endpoint, with the parameters of its sample.
func calls(ctx context.Context, c *Client) map[string]func() (any, error) {
	const owner = "vite_ff38174de69ddc63b2e05402e5c67c356d7d17e819a0ffadee"
	d := decimal.RequireFromString
	partly := PartiallyFilled
	nothing := func(err error) (any, error) { return nil, err }
	id := "c35dd9868ea761b22fc76ba35cf8357db212736ecb56399523126c515113f19d"
	first := Page{Limit: 30}
	return map[string]func() (any, error){
		"POST order/test": func() (any, error) {
			return nothing(c.TestOrder(ctx, NewOrder{Symbol: "ETH-000_BTC-000", Amount: d("10"), Price: d("0.09")}))
		},
		"POST order": func() (any, error) {
			return c.Place(ctx, NewOrder{Symbol: "VX_ETH-000", Side: Sell, Amount: d("100"), Price: d("0.000228")})
		},
		"DELETE order":       func() (any, error) { return c.Cancel(ctx, "VX_ETH-000", id) },
		"DELETE orders":      func() (any, error) { return c.CancelAll(ctx, "VX_ETH-000") },
		"GET limit":          func() (any, error) { return c.Limit(ctx) },
		"GET tokens":         func() (any, error) { return c.Tokens(ctx, "all", "BTC", Page{Limit: 500}) },
		"GET token/detail":   func() (any, error) { return c.Token(ctx, "", "tti_322862b3f8edae3b02b110b1") },
		"GET token/mapped":   func() (any, error) { return c.Mapped(ctx, "VITE") },
		"GET token/unmapped": func() (any, error) { return c.Unmapped(ctx, "VITE") },
		"GET market":         func() (any, error) { return c.Market(ctx, "GRIN-000_BTC-000") },
		"GET markets":        func() (any, error) { return c.Markets(ctx, Page{Limit: 500}) },
		"GET orders/open": func() (any, error) {
			return c.OpenOrders(ctx, OrderFilter{Address: owner, Symbol: "BTC-000_USDT-000"}, first)
		},
		"GET orders":            func() (any, error) { return c.Orders(ctx, OrderFilter{Address: owner, Status: &partly}, first) },
		"GET ticker/24hr":       func() (any, error) { return c.Tickers(ctx, "", "BTC-000_USDT-000") },
		"GET ticker/bookTicker": func() (any, error) { return c.BookTicker(ctx, "BTC-000_USDT-000") },
		"GET trades":            func() (any, error) { return c.Trades(ctx, "BTC-000_USDT-000", 2) },
		"GET trades/all":        func() (any, error) { return c.TradeRecords(ctx, TradeFilter{Symbol: "VX_ETH-000"}, first) },
		"GET depth":             func() (any, error) { return c.Depth(ctx, "BTC-000_USDT-000", 100, nil) },
		"GET klines": func() (any, error) {
			return c.Klines(ctx, KlineFilter{Symbol: "VITE_BTC-000", Interval: "minute", Limit: 500})
		},
		"GET deposit-withdraw": func() (any, error) { return c.Transfers(ctx, owner, "tti_5649544520544f4b454e6e40", Page{Limit: 100}) },
		"GET exchange-rate":    func() (any, error) { return c.Rates(ctx, "VITE") },
		"GET usd-cny":          func() (any, error) { return c.USDCNY(ctx) },
		"GET balance":          func() (any, error) { return c.Balance(ctx, owner) },
		"GET trade_fee_info":   func() (any, error) { return c.TradeFeeInfo(ctx) },
		"GET ping":             func() (any, error) { return nothing(c.Ping(ctx)) },
		"GET order": func() (any, error) {
			return c.Order(ctx, "vite_228f578d58842437fb52104b25750aa84a6f8558b6d9e970b1", "0dfbafac33fbccf5c65d44d5d80ca0b73bc82ae0bbbe8a4d0ce536d340738e93")
		},
		"GET time": func() (any, error) {
			now, err := c.Time(ctx)
			return now.UnixMilli(), err
		},
	}
}

// Every published endpoint is called as its sample is, and every figure of the answer arrives.
func TestSamples(t *testing.T) {
	p, c := setup(t)
	table := calls(context.Background(), c)
	require.Len(t, table, len(p.samples)-1, "all but timestamp, which is time")
	for name, call := range table {
		method, path, _ := strings.Cut(name, " ")
		s, ok := p.samples[method+" /api/v2/"+path]
		require.True(t, ok, name)
		got, err := call()
		require.NoError(t, err, name)
		requireAsked(t, name, s, p.asked)
		var want struct{ Data any }
		decode(t, s.Response, &want)
		text, err := json.Marshal(got)
		require.NoError(t, err)
		var have any
		decode(t, text, &have)
		requireContains(t, name, want.Data, have)
	}
}

func decode(t *testing.T, text []byte, to any) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	require.NoError(t, d.Decode(to))
}

// requireAsked compares parameters; zeros that are the API's defaults need not be sent.
func requireAsked(t *testing.T, name string, s sample, asked url.Values) {
	t.Helper()
	for n, v := range s.Params {
		text, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			require.NoError(t, err)
			text = string(b)
		}
		switch {
		case n == "signature":
			require.Len(t, asked.Get(n), 64, name)
		case text != "0" || asked.Has(n):
			require.Equal(t, text, asked.Get(n), "%s: %s", name, n)
		}
	}
	for n := range asked {
		require.Contains(t, s.Params, n, name)
	}
}

// requireContains finds every figure of the sample, unless it is null, in what was read.
func requireContains(t *testing.T, at string, want, have any) {
	t.Helper()
	switch w := want.(type) {
	case nil:
	case map[string]any:
		for n, v := range w {
			if v != nil {
				require.Contains(t, have, n, at)
				requireContains(t, at+"."+n, v, have.(map[string]any)[n])
			}
		}
	case []any:
		require.Len(t, have, len(w), at)
		for i := range w {
			requireContains(t, at, w[i], have.([]any)[i])
		}
	default:
		requireSame(t, at, want, have)
	}
}

// requireSame compares texts, and numbers by value.
func requireSame(t *testing.T, at string, want, have any) {
	t.Helper()
	a, errA := decimal.NewFromString(text(want))
	b, errB := decimal.NewFromString(text(have))
	if errA == nil && errB == nil {
		require.True(t, a.Equal(b), "%s: %s is not %s", at, b, a)
		return
	}
	require.Equal(t, want, have, at)
}

func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	}
	return ""
}

// The published signatures are reproduced.
func TestSign(t *testing.T) {
	var file struct {
		Vectors []struct {
			Name, Secret, Signature, Verdict string
			Params                           map[string]string
			StringToSign                     string `json:"string_to_sign"`
		}
	}
	readFile(t, "signature_vectors.json", &file)
	n := 0
	for _, v := range file.Vectors {
		sorted := strings.HasPrefix(v.StringToSign, "amount") || strings.HasPrefix(v.StringToSign, "key=")
		if v.Verdict != "accept" || !sorted {
			continue
		}
		n++
		require.Equal(t, strings.ToLower(v.Signature), Sign(v.Secret, v.Params), v.Name)
	}
	require.GreaterOrEqual(t, n, 9)
}

// Rates are asked for by symbol or by id.
func TestRatesByID(t *testing.T) {
	p, c := setup(t)
	list, err := c.RatesByID(context.Background(), "tti_a", "tti_b")
	require.NoError(t, err)
	require.NotEmpty(t, list)
	require.Equal(t, url.Values{"tokenIds": {"tti_a,tti_b"}}, p.asked)
}

// The sample order is signed as the published one.
func TestPrivateCallsAreSigned(t *testing.T) {
	p, c := setup(t)
	require.NoError(t, c.TestOrder(context.Background(), NewOrder{Symbol: "ETH-000_BTC-000", Amount: decimal.NewFromInt(10),
		Price: decimal.RequireFromString("0.09")}))
	require.Equal(t, "47033f6086b2afc54a0a1f837dccb4ea6fe56a0312bab311e0bbc3941efaf8d6", p.asked.Get("signature"))
	require.NotContains(t, p.asked.Encode(), secret)
}

func TestErrors(t *testing.T) {
	p, c := setup(t)
	for answer, want := range map[string]Error{
		`{"code":1004,"msg":"The order status has been terminated","data":{}}`: {Code: CodeOther, HTTP: 200, Msg: "The order status has been terminated"},
		`{"code":1001,"msg":"Too frequent request","data":null}`:               {Code: CodeTooFrequent, HTTP: 200, Msg: "Too frequent request"},
		`<html>`: {HTTP: 200, Msg: "the answer is no envelope"},
		`{}`:     {HTTP: 200, Msg: "the answer is no envelope"},
		``:       {HTTP: 200, Msg: "the answer is no envelope"},
	} {
		p.answer = []byte(answer)
		_, err := c.Cancel(context.Background(), "VX_VITE", "00")
		var got *Error
		require.ErrorAs(t, err, &got, answer)
		require.Equal(t, want, *got)
	}
	p.answer, p.status = []byte(`{"code":0,"msg":"ok","data":1}`), http.StatusBadGateway
	_, err := c.Time(context.Background())
	require.ErrorContains(t, err, "HTTP 502")
	p.answer, p.status = []byte(`{"code":0,"msg":"ok","data":"x"}`), 0
	_, err = c.Time(context.Background())
	require.ErrorContains(t, err, "reading the answer of time")
	p.answer = []byte(`{"code":0,"msg":"ok","data":null}`)
	unknown, err := c.Order(context.Background(), "vite_", "00")
	require.NoError(t, err)
	require.Nil(t, unknown)
}

// An error of the network contains nothing that could be replayed.
func TestErrorsKeepSignatures(t *testing.T) {
	c := &Client{Base: "http://127.0.0.1:1", Key: key, Secret: secret}
	_, err := c.CancelAll(context.Background(), "VX_VITE")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "signature")
	require.NotContains(t, err.Error(), key)
}
