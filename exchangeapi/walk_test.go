package exchangeapi

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/core"
)

// Whatever is asked wherever, signed or not, the answer fits the description and never is a fault
// of the service.
func TestWalk(t *testing.T) {
	w := newSampleEnv(t)
	id := w.addOrder(2, index.Open)
	n := &network{}
	routes := []string{"GET /", "GET /nothing", "PUT /order", "GET /../order"}
	for path := range n.public() {
		routes = append(routes, "GET "+path)
	}
	routes = slices.AppendSeq(routes, maps.Keys(n.private()))
	for path := range n.proving() {
		routes = append(routes, "POST "+path)
	}
	slices.Sort(routes)
	values := map[string][]string{
		"symbol": {symbol, other}, "symbols": {symbol}, "address": {w.owner.String()}, "orderId": {id}, "tokenId": {core.VITE.String()},
		"amount": {"100", "1000"}, "price": {"1", ".5"}, "side": {"0", "1"}, "interval": {"minute", "week"}, "limit": {"1", "1000"}, "offset": {"0", "1"},
		"total": {"0", "1"}, "status": {"3"}, "startTime": {"1"}, "endTime": {"1614571200"}, "precision": {"2"}, "quoteTokenSymbol": {"VITE"},
		"tokenSymbol": {"VX"}, "category": {"quote"}, "tokenSymbolLike": {"v"}, "agentAddress": {w.key.Agent.String()}, "quoteTokenCategory": {"ETH"},
	}
	names := append(slices.Sorted(maps.Keys(values)), "key", "timestamp", "signature", "pubKey", "other")
	good := 0
	rapid.Check(t, func(rt *rapid.T) {
		v := url.Values{}
		for _, name := range names {
			switch known := values[name]; {
			case rapid.IntRange(0, 9).Draw(rt, "absent") < 2:
			case len(known) > 0 && rapid.IntRange(0, 19).Draw(rt, "wild") > 0:
				v.Set(name, rapid.SampledFrom(known).Draw(rt, name))
			case len(known) > 0 || rapid.IntRange(0, 9).Draw(rt, "wilder") == 0:
				v.Set(name, rapid.String().Draw(rt, name))
			}
		}
		route := rapid.SampledFrom(routes).Draw(rt, "route")
		method, path, _ := strings.Cut(route, " ")
		if _, private := n.private()[route]; private && rapid.IntRange(0, 9).Draw(rt, "signed") > 0 {
			w.clock.pass(time.Millisecond)
			v.Del("key")
			v.Del("timestamp")
			v.Del("signature")
			var fields []string
			for name := range v {
				fields = append(fields, name, v.Get(name))
			}
			v = w.signPlain(fields)
		}
		request := place(rt, method, path, v)
		answer := httptest.NewRecorder()
		w.server.Handler().ServeHTTP(answer, request)
		require.Contains(rt, []int{200, 404, 405, 413}, answer.Code, "%s: %s", route, w.logged)
		out := w.read(rt, request, answer.Code, answer.Header(), answer.Body.Bytes())
		require.NotEqual(rt, codeService, out.Code, "%s: %s", route, w.logged)
		if out.Code == 0 {
			good++
		}
	})
	require.Positive(t, good, "some of it was right")
}

// signPlain signs fields whose values may be anything.
func (w *apiEnv) signPlain(fields []string) url.Values {
	p := params{query: map[string]string{}}
	v := w.sign(fields...)
	for name := range v {
		p.query[name] = v.Get(name)
	}
	v.Set("signature", hmacOf(w.secret, signedText(p.query)))
	return v
}

// place puts parameters into the query string, a form or JSON.
func place(rt *rapid.T, method, path string, v url.Values) *http.Request {
	target := "http://exchange.example" + api
	where := rapid.IntRange(0, 3).Draw(rt, "where")
	body := ""
	query := ""
	switch {
	case where == 0 || method == http.MethodGet:
		query = v.Encode()
	case where == 1:
		body = v.Encode()
	case where == 2:
		flat := map[string]string{}
		for name := range v {
			flat[name] = v.Get(name)
		}
		text, err := json.Marshal(flat)
		require.NoError(rt, err)
		body = string(text)
	default:
		body = rapid.String().Draw(rt, "body")
	}
	request := httptest.NewRequestWithContext(context.Background(), method, target, strings.NewReader(body))
	request.URL.Path, request.URL.RawQuery = api+path, query
	request.RemoteAddr = "127.0.0.1:1"
	return request
}

// FuzzParams: no query string or body panics, and what is read is within its bounds.
func FuzzParams(f *testing.F) {
	for _, signed := range []map[string]string{
		{"symbol": "VX_VITE", "amount": "100", "price": "1.5", "side": "0", "key": "0A1B", "timestamp": "1614571200000"},
		{"a": "x y&z", "b": "ü", "orderId": ""},
	} {
		form := url.Values{}
		for name, value := range signed {
			form.Set(name, value)
		}
		text, err := json.Marshal(signed)
		require.NoError(f, err)
		f.Add(form.Encode(), "", "")
		f.Add("", form.Encode(), "application/x-www-form-urlencoded")
		f.Add("", string(text), "application/json")
	}
	for _, body := range []string{`{"a":1e400}`, `{"a":[1]}`, `{"a":null}`, `{"a":true}{`, `{"a":"1","a":"2"}`, `[`, `{`, "a=1&a=2", "%", `{"` + strings.Repeat("a", 5000) + `":1}`} {
		f.Add("limit=1&offset=x", body, "application/json")
	}
	for _, body := range []string{"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n", "--x\r\n\r\n1\r\n--x--", "--x"} {
		f.Add("", body, "multipart/form-data; boundary=x")
	}
	f.Fuzz(func(t *testing.T, query, body, media string) {
		r := &http.Request{
			Method: http.MethodPost, URL: &url.URL{RawQuery: query}, Body: http.NoBody, Header: http.Header{"Content-Type": {media}},
		}
		if body != "" {
			r.Body = readCloser{strings.NewReader(body)}
		}
		p, err := readParams(r)
		if err != nil {
			require.Equal(t, codeParameter, apiErrorOf(err).code)
			return
		}
		all := maps.Clone(p.query)
		maps.Copy(all, p.body)
		for name, value := range all {
			require.LessOrEqual(t, len(name), maxValue)
			require.LessOrEqual(t, len(value), maxValue)
		}
		_, ok := apikey.Request{Query: p.query, Body: p.body}.Verify("s", hmacOf("s", signedText(all)))
		require.True(t, ok)
		if offset, limit, err := p.window(30, 100); err == nil {
			require.True(t, offset >= 0 && limit >= 1 && limit <= 100)
		}
		apikey.SignedAt(p.get("timestamp"), time.UnixMilli(1614571200000))
		if q, err := readQuantity(p.get("amount"), marketOf(1, symbol, 4, 2)); err == nil {
			require.False(t, q.IsZero())
		}
		if price, err := readPrice(p.get("price"), 4); err == nil {
			require.False(t, price.IsZero())
			require.Zero(t, price.Frac%1e8)
		}
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
