package exchangeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

func (r reply) refused(t testing.TB, c code, text string) {
	t.Helper()
	require.Equal(t, c, r.Code, r.body)
	require.Contains(t, r.Msg, text)
	require.Equal(t, http.StatusOK, r.status)
}

func TestPlaceSendsTheOrder(t *testing.T) {
	w := setup(t)
	placed := w.form("POST", api+"/order", w.sign("symbol", symbol, "amount", "100.50", "price", "02.5000", "side", "1"))
	w.fakeNode.available[w.owner] = whole(1)
	data := placed.object(t)
	calls := w.fakeNode.calls(w.key.Agent)
	require.Len(t, calls, 1)
	require.Equal(t, map[string]any{"symbol": symbol, "orderId": calls[0].Hash.String(), "status": json.Number("1")}, data)
	values, err := dex.FundPlaceAgentOrder.Unpack(calls[0].Data)
	require.NoError(t, err)
	quantity := whole(201)
	quantity.Rsh(&quantity, 1)
	m := w.index.markets[0]
	require.Equal(t, []any{w.owner, m.Trade, m.Quote, true, uint8(dex.Limit), "2.5", quantity}, values) // behaviour 34: nothing but limit orders
	require.Equal(t, []index.Placement{{
		Hash: calls[0].Hash, Owner: w.owner, Trade: m.Trade, Quote: m.Quote, Side: 1, Price: "2.5", Quantity: quantity,
	}}, w.index.placed)
}

func TestParametersAnywhere(t *testing.T) { // behaviour 6 and 7
	w := setup(t)
	flat := func(v url.Values, number bool) string {
		m := map[string]any{}
		for name := range v {
			m[name] = v.Get(name)
			if number && name != "signature" && name != "key" && name != "symbol" && name != "orderId" {
				m[name] = json.Number(v.Get(name))
			}
		}
		text, err := json.Marshal(m)
		require.NoError(t, err)
		return string(text)
	}
	operations := []struct {
		method, path string
		fields       func() []string
	}{
		{"POST", "/order/test", func() []string { return []string{"symbol", symbol, "amount", "100.50", "price", "1.50", "side", "0"} }},
		{"POST", "/order", func() []string { return []string{"symbol", symbol, "amount", "100.50", "price", "1.50", "side", "0"} }},
		{"DELETE", "/order", func() []string {
			return []string{"symbol", symbol, "orderId", w.addOrder(len(w.index.list), index.Open)}
		}},
		{"DELETE", "/orders", func() []string { return []string{"symbol", symbol} }},
	}
	for _, o := range operations {
		for _, place := range []string{"query", "form", "bare form", "form marked as json", "parts", "json", "json of numbers", "bare json", "split"} {
			w.clock.pass(time.Millisecond)
			v := w.sign(o.fields()...)
			target, body, media := o.path, "", ""
			switch place {
			case "query":
				target += "?" + v.Encode()
			case "form":
				body, media = v.Encode(), "application/x-www-form-urlencoded"
			case "bare form":
				body = v.Encode()
			case "form marked as json":
				body, media = v.Encode(), "application/json"
			case "parts":
				body, media = parts(t, v)
			case "json":
				body, media = flat(v, false), "application/json; charset=utf-8"
			case "json of numbers":
				body, media = flat(v, true), "application/json"
			case "bare json":
				body = flat(v, false)
			case "split":
				target += "?" + url.Values{"symbol": v["symbol"]}.Encode()
				v.Del("symbol")
				body = v.Encode()
			}
			request, err := http.NewRequest(o.method, w.url+api+target, strings.NewReader(body))
			require.NoError(t, err)
			request.Header.Set("Content-Type", media)
			require.Zero(t, w.do(request).Code, "%s %s %s", o.method, o.path, place)
		}
	}
}

// parts writes values as browsers do when a form has files.
func parts(t *testing.T, v url.Values) (body, media string) {
	var b strings.Builder
	w := multipart.NewWriter(&b)
	for name, list := range v {
		for _, value := range list {
			require.NoError(t, w.WriteField(name, value))
		}
	}
	require.NoError(t, w.Close())
	return b.String(), w.FormDataContentType()
}

func TestPartsAreChecked(t *testing.T) {
	w := setup(t)
	send := func(media, body string) reply {
		request, err := http.NewRequest(http.MethodPost, w.url+api+"/order", strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", media)
		return w.do(request)
	}
	v := w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0")
	body, media := parts(t, v)
	send(media, body[:len(body)/2]).refused(t, codeParameter, "malformed")
	send("multipart/form-data", body).refused(t, codeParameter, "malformed")
	send("multipart/form-data; boundary=other", body).refused(t, codeParameter, "malformed")
	v.Add("price", "2")
	body, media = parts(t, v)
	send(media, body).refused(t, codeParameter, "Parameter price stands twice")
	body, media = parts(t, url.Values{"symbol": {strings.Repeat("x", maxValue+1)}})
	send(media, body).refused(t, codeParameter, "too long")
	require.Empty(t, w.fakeNode.calls(w.key.Agent))
}

func TestAuthorisation(t *testing.T) {
	w := setup(t)
	fields := []string{"symbol", symbol, "amount", "100", "price", "1", "side", "0"}
	now := w.clock.Now().UnixMilli()
	stranger := fakeAgents{"test"}
	strangeKey, strangeSecret, err := w.keys.Issue(t.Context(), "test", w.owner, must(stranger.Agent(t.Context(), w.owner)))
	require.NoError(t, err)
	tests := []struct {
		name string
		make func() url.Values
		want string
	}{
		{"no key", func() url.Values { v := w.sign(fields...); v.Del("key"); return v }, "Parameter key is missing"},
		{"no timestamp", func() url.Values { v := w.sign(fields...); v.Del("timestamp"); return v }, "Parameter timestamp is missing"},
		{"no signature", func() url.Values { v := w.sign(fields...); v.Del("signature"); return v }, "Parameter signature is missing"},
		{"no price", func() url.Values { return w.sign("symbol", symbol, "amount", "1", "side", "0") }, "Parameter price is missing"},
		{"unknown key", func() url.Values { return w.sign(append(fields, "key", strings.Repeat("A", 32))...) }, "Invalid key"},
		{"key in small letters", func() url.Values { return w.sign(append(fields, "key", strings.ToLower(w.key.Key))...) }, "Invalid key"},
		{"seconds", func() url.Values { return w.sign(append(fields, "timestamp", strconv.FormatInt(now/1000, 10))...) }, textTimestamp},
		{"too old", func() url.Values { return w.sign(append(fields, "timestamp", strconv.FormatInt(now-5001, 10))...) }, textTimestamp},
		{"too new", func() url.Values { return w.sign(append(fields, "timestamp", strconv.FormatInt(now+1000, 10))...) }, textTimestamp},
		{"changed", func() url.Values { v := w.sign(fields...); v.Set("price", "2"); return v }, textSignature},
		{"added", func() url.Values { v := w.sign(fields...); v.Set("more", "2"); return v }, textSignature},
		{"another network's key", func() url.Values {
			v := w.sign(append(fields, "key", strangeKey.Key)...)
			v.Set("signature", hmacOf(strangeSecret, v.Encode()))
			return v
		}, "Invalid key"},
	}
	for _, tt := range tests {
		w.form("POST", api+"/order", tt.make()).refused(t, codeParameter, tt.want)
	}
	for _, at := range []int64{now + 999, now - 5000} {
		require.Zero(t, w.form("POST", api+"/order/test", w.sign(append(fields, "timestamp", strconv.FormatInt(at, 10))...)).Code)
	}
	require.Empty(t, w.fakeNode.calls(w.key.Agent))
	require.NoError(t, w.keys.Revoke(t.Context(), w.key.Key))
	w.buy("100", "1").refused(t, codeParameter, "Invalid key")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestRepeatsAreRefused(t *testing.T) { // behaviour 8
	w := setup(t)
	v := w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0")
	var wg sync.WaitGroup
	codes := make(chan code, 20) // one for each request
	for range cap(codes) {
		wg.Go(func() { codes <- w.form("POST", api+"/order", v).Code })
	}
	wg.Wait()
	close(codes)
	good := 0
	for c := range codes {
		if c == 0 {
			good++
		}
	}
	require.Equal(t, 1, good)
	require.Len(t, w.fakeNode.calls(w.key.Agent), 1)
	w.form("POST", api+"/order?"+v.Encode(), nil).refused(t, codeParameter, "Duplicate request")
	for _, path := range []string{"/order", "/orders"} { // what was signed for one thing is good for no other
		w.form("DELETE", api+path, v).refused(t, codeParameter, "")
	}
	require.Len(t, w.fakeNode.calls(w.key.Agent), 1)
}

// One signature fits every cut of its text into parameters; none of them is taken a second time, on
// either engine's guard.
func TestRecutParametersAreRepeats(t *testing.T) {
	shared := func(_ *Config, p *Parts) {
		keys, err := apikey.Open(t.Context(), apikey.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "keys.db"), Secret: testSecret, Shared: true, Now: p.Now})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, keys.Close()) })
		p.Keys = keys
	}
	for name, options := range map[string][]change{"memory": nil, "database": {shared}} {
		t.Run(name, func(t *testing.T) {
			w := setup(t, options...)
			signed := w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0", "xa", "1", "xb", "2")
			require.Zero(t, w.form("POST", api+"/order", signed).Code)
			signed.Del("xa")
			signed.Del("xb")
			for cut, value := range map[string]string{"xa": "1&xb=2", "xa=1&xb": "2"} {
				rest := maps.Clone(signed)
				w.form("POST", api+"/order?"+url.Values{cut: {value}}.Encode(), rest).refused(t, codeParameter, "Duplicate request")
				rest.Set(cut, value)
				w.form("POST", api+"/order", rest).refused(t, codeParameter, "Duplicate request")
			}
			require.Len(t, w.fakeNode.calls(w.key.Agent), 1)
		})
	}
}

// A script signs once, tests, and then places what it tested; neither is taken twice.
func TestTestedThenPlaced(t *testing.T) {
	w := setup(t)
	v := w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0")
	for _, path := range []string{"/order/test", "/order"} {
		require.Zero(t, w.form("POST", api+path, v).Code, path)
		w.form("POST", api+path, v).refused(t, codeParameter, "Duplicate request")
	}
	require.Len(t, w.fakeNode.calls(w.key.Agent), 1)
}

func TestTestOrder(t *testing.T) { // behaviour 9
	w := setup(t)
	test := func(fields ...string) reply {
		w.clock.pass(time.Millisecond)
		return w.form("POST", api+"/order/test", w.sign(fields...))
	}
	done := test("symbol", symbol, "amount", "100", "price", "1", "side", "0")
	require.Zero(t, done.Code)
	require.Nil(t, done.Data)
	test("symbol", symbol, "amount", "x", "price", "1", "side", "0").refused(t, codeParameter, "Invalid amount")
	test("symbol", other, "amount", "100", "price", "1", "side", "0").refused(t, codeParameter, "No permission for "+other)
	test("symbol", symbol, "amount", "1", "price", "1", "side", "0").refused(t, codeMinimum, textMinimum)
	test("symbol", symbol, "amount", "1000000", "price", "1", "side", "0").refused(t, codeFunds, textFunds)
	w.index.markets[0].Stopped = true
	test("symbol", symbol, "amount", "100", "price", "1", "side", "0").refused(t, codeParameter, "stopped")
	require.Empty(t, w.fakeNode.calls(w.key.Agent), "a test sends nothing")
	require.Empty(t, w.index.placed)
}

func TestPermission(t *testing.T) { // behaviour 10
	w := setup(t)
	w.index.grant(w.owner, w.key.Agent, symbol, false)
	w.index.grant(w.owner, w.key.Agent, other, true)
	w.buy("100", "1").refused(t, codeParameter, "No permission for "+symbol)
	w.cancelAll().refused(t, codeParameter, "No permission for "+symbol)
	w.cancel(symbol, w.addOrder(1, index.Open)).refused(t, codeParameter, "No permission for "+symbol)
	require.Empty(t, w.fakeNode.calls(w.key.Agent))
	require.Zero(t, w.form("POST", api+"/order", w.sign("symbol", other, "amount", "100", "price", "1", "side", "0")).Code)
}

func TestNoQuota(t *testing.T) { // behaviour 11
	w := setup(t)
	w.fakeNode.quota[w.key.Agent] = 0
	w.buy("100", "1").refused(t, codeNetwork, textQuota)
	w.cancel(symbol, w.addOrder(1, index.Open)).refused(t, codeNetwork, textQuota)
	require.Empty(t, w.index.placed)
	require.Empty(t, w.index.cancels)
}

func TestCallLimit(t *testing.T) { // behaviour 12
	w := setup(t, func(c *Config, _ *Parts) { c.CallLimit = 0 })
	test := func() reply {
		w.clock.pass(time.Second)
		return w.form("POST", api+"/order/test", w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0"))
	}
	usage := func(r reply) [3]string {
		return [3]string{r.header.Get(headerUsed), r.header.Get(headerLimit), r.header.Get(headerReset)}
	}
	require.NoError(t, w.keys.SetLimit(t.Context(), w.key.Key, 10))
	for i := range 10 {
		r := test()
		require.Zero(t, r.Code, i)
		require.Equal(t, [3]string{strconv.Itoa(i + 1), "10", strconv.Itoa(60 - i)}, usage(r))
	}
	eleventh := test()
	eleventh.refused(t, codeFrequent, textFrequent)
	require.Equal(t, "50", eleventh.header.Get("Retry-After"))
	require.Equal(t, [3]string{"10", "10", "50"}, usage(eleventh))
	require.Equal(t, [3]string{}, usage(w.get(api+"/time")))
	bad := w.sign("symbol", symbol)
	bad.Set("signature", strings.Repeat("0", 64))
	w.form("DELETE", api+"/orders", bad).refused(t, codeParameter, textSignature)
	w.clock.pass(49 * time.Second)
	require.NoError(t, w.keys.SetLimit(t.Context(), w.key.Key, 10))
	for i := range 10 {
		require.Zero(t, test().Code, i)
	}
	test().refused(t, codeFrequent, textFrequent)
	require.NoError(t, w.keys.SetLimit(t.Context(), w.key.Key, 11))
	require.Zero(t, test().Code)
	test().refused(t, codeFrequent, textFrequent)
}

// TestReconfigure: a running server takes other limits from its next call on, and refuses wrong
// ones.
func TestReconfigure(t *testing.T) {
	w := setup(t, func(c *Config, _ *Parts) { c.CallLimit = 2 })
	test := func() reply {
		w.clock.pass(time.Second)
		return w.form("POST", api+"/order/test", w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0"))
	}
	require.Zero(t, test().Code)
	require.Zero(t, test().Code)
	test().refused(t, codeFrequent, textFrequent)
	next := w.server.cfg
	next.CallLimit = -1
	require.ErrorContains(t, w.server.Reconfigure(next), "call_limit")
	test().refused(t, codeFrequent, textFrequent)
	next.CallLimit = 3
	require.NoError(t, w.server.Reconfigure(next))
	require.Zero(t, test().Code)
	test().refused(t, codeFrequent, textFrequent)
	next.CallCycle = 2 * time.Second
	require.NoError(t, w.server.Reconfigure(next))
	w.clock.pass(2 * time.Minute)
	for i := range 12 {
		require.Zero(t, test().Code, i)
	}
}

func TestUnknownPairOfAnOrder(t *testing.T) { // behaviour 13, private side
	w := setup(t)
	w.form("POST", api+"/order", w.sign("symbol", "NO_PAIR", "amount", "1", "price", "1", "side", "0")).refused(t, codeParameter, textSymbol)
	w.form("DELETE", api+"/orders", w.sign("symbol", strings.ToLower(symbol))).refused(t, codeParameter, textSymbol) // behaviour 58
}

func TestLimits(t *testing.T) { // behaviours 14, 16, 17
	w := setup(t)
	// 100 VITE with fee at 0.25 % (200 + 50): 99.76 x 1 + 0.2494 passes 100, 99.75 + 0.249375 does not.
	require.Zero(t, w.buy("99.76", "1").Code)
	w.buy("99.75", "1").refused(t, codeMinimum, textMinimum)
	w.buy("100.001", "1").refused(t, codeParameter, "Invalid amount: at most 2 decimals")
	w.buy("100", "1.00001").refused(t, codeParameter, "Invalid price: at most 4 decimals")
	require.Zero(t, w.buy("100.000", "1.00000").Code, "zeros behind are no decimals")
	need := whole(100)
	fee := whole(25)
	fee.Div(&fee, uint256Of(100))
	need.Add(&need, &fee)
	w.fakeNode.available[w.owner] = need
	require.Zero(t, w.buy("100", "1").Code)
	need.Sub(&need, uint256Of(1))
	w.fakeNode.available[w.owner] = need
	w.buy("100", "1").refused(t, codeFunds, textFunds)
}

func TestBadOrders(t *testing.T) { // behaviour 15
	w := setup(t)
	for _, price := range []string{"0", "-1", "1e1", "1.1234567890123", "1234567890123", "abc", ".", " 1", "0.0000"} {
		w.buy("100", price).refused(t, codeParameter, "Invalid price")
	}
	require.Zero(t, w.buy("1000", ".5").Code)
	for _, amount := range []string{"0", "-1", "1e3", "+1", "1.", "0.00", "1,5", strings.Repeat("9", 61), strings.Repeat("9", 59)} {
		w.buy(amount, "1").refused(t, codeParameter, "Invalid amount")
	}
	for _, side := range []string{"2", "buy", "00"} {
		w.clock.pass(time.Millisecond)
		w.form("POST", api+"/order", w.sign("symbol", symbol, "amount", "100", "price", "1", "side", side)).refused(t, codeParameter, "Invalid side")
	}
	require.Len(t, w.fakeNode.calls(w.key.Agent), 1)
}

func TestCancel(t *testing.T) { // behaviours 27, 28 and 31
	w := setup(t)
	for _, status := range []index.Status{index.PendingRequest, index.Received, index.Open, index.PartiallyFilled} {
		id := w.addOrder(int(status), status)
		done := w.cancel(symbol, strings.ToUpper(id)).object(t)
		calls := w.fakeNode.calls(w.key.Agent)
		request := calls[len(calls)-1]
		require.Equal(t, map[string]any{
			"symbol": symbol, "orderId": id, "cancelRequest": request.Hash.String(), "status": json.Number("6"),
		}, done)
		values, err := dex.FundCancelBySendHash.Unpack(request.Data)
		require.NoError(t, err)
		require.Equal(t, []any{must(core.ParseHash(id)), w.owner, w.index.markets[0].Trade, w.index.markets[0].Quote}, values)
		require.Equal(t, index.CancelRequest{Hash: request.Hash, Order: must(core.ParseHash(id))}, w.index.cancels[len(w.index.cancels)-1])
	}
	sent := len(w.fakeNode.calls(w.key.Agent))
	for _, status := range []index.Status{index.Filled, index.Cancelled, index.PartiallyCancelled, index.Failed, index.Expired} {
		w.cancel(symbol, w.addOrder(20+int(status), status)).refused(t, codeFailed, textTerminated)
	}
	w.cancel(symbol, w.addOrder(30, index.PendingCancel)).refused(t, codeFailed, "being cancelled")
	w.cancel(symbol, strings.Repeat("ab", 32)).refused(t, codeFailed, textNotOwner)
	w.cancel(other, w.addOrder(31, index.Open)).refused(t, codeParameter, textSymbol)
	w.cancel(symbol, "12").refused(t, codeParameter, "Invalid orderId")
	require.Len(t, w.fakeNode.calls(w.key.Agent), sent)
}

func TestCancelAll(t *testing.T) { // behaviour 29
	w := setup(t)
	require.Empty(t, w.cancelAll().list(t))
	for i := range 150 {
		w.addOrder(i, index.Open)
	}
	w.addOrder(200, index.PendingRequest)
	w.addOrder(201, index.PendingCancel)
	w.addOrder(202, index.Filled)
	before := w.index.orderQueries
	list := w.cancelAll().list(t)
	require.Len(t, list, 151)
	require.Equal(t, before+1, w.index.orderQueries, "orders are read once")
	require.Len(t, w.fakeNode.calls(w.key.Agent), 151)
	require.Len(t, w.index.cancels, 151)

	w.fakeNode.quota[w.key.Agent] = 3
	require.Len(t, w.cancelAll().list(t), 3, "what was taken is answered")
	w.cancelAll().refused(t, codeNetwork, textQuota)
}

func TestStoppedMarket(t *testing.T) { // behaviour 30
	w := setup(t)
	id := w.addOrder(1, index.Open)
	w.index.markets[0].Stopped = true
	w.buy("100", "1").refused(t, codeParameter, "stopped")
	require.Zero(t, w.cancel(symbol, id).Code)
}

func TestAccountThatIsNotOnTheChain(t *testing.T) {
	w := setup(t)
	chain := w.fakeNode.blocks[w.key.Agent]
	delete(w.fakeNode.blocks, w.key.Agent)
	w.buy("100", "1").refused(t, codeNetwork, w.key.Agent.String())
	w.fakeNode.waiting[w.key.Agent] = []client.AccountBlock{{Hash: chain[0].SendBlockHash}}
	require.Zero(t, w.buy("100", "1").Code)
	require.Len(t, w.fakeNode.blocks[w.key.Agent], 2)
	require.Equal(t, core.Receive, w.fakeNode.blocks[w.key.Agent][0].BlockType)
}

// A node that does not answer clearly: the order is placed once or not at all, and the client
// learns which, or where to look it up.
func TestUnclearAnswers(t *testing.T) {
	lost := errors.New("connection reset by peer")
	tests := []struct {
		name  string
		set   func(w *apiEnv)
		code  code
		text  string
		calls int
	}{
		{"taken, answer lost", func(w *apiEnv) { w.fakeNode.answer = func(error) error { return lost } }, 0, "ok", 1},
		{"not taken, answer lost", func(w *apiEnv) { w.fakeNode.before = func(*core.AccountBlock) error { return lost } }, codeNetwork, "may have been taken", 0},
		{"refused with words", func(w *apiEnv) {
			w.fakeNode.before = func(*core.AccountBlock) error {
				return &client.Error{Code: -32002, Message: "trade market not granted"}
			}
		}, codeParameter, "No permission", 0},
		{"refused", func(w *apiEnv) {
			w.fakeNode.before = func(*core.AccountBlock) error { return &client.Error{Code: -36010} }
		}, codeNetwork, "did not take", 0},
		{"tip used elsewhere", func(w *apiEnv) {
			once := false
			w.fakeNode.before = func(b *core.AccountBlock) error {
				if once {
					return nil
				}
				once = true
				rival := *b
				rival.Data = []byte("another program's")
				rival.SignWith(fakeAgents{"main"}.key(w.owner))
				return w.fakeNode.accept(&rival)
			}
		}, 0, "ok", 2},
		{"always behind", func(w *apiEnv) { w.fakeNode.before = func(*core.AccountBlock) error { return client.ErrPrevBlock } }, codeNetwork, "used elsewhere", 0},
	}
	for _, tt := range tests {
		w := setup(t)
		tt.set(w)
		answer := w.buy("100", "1")
		answer.refused(t, tt.code, tt.text)
		require.Len(t, w.fakeNode.calls(w.key.Agent), tt.calls, tt.name)
	}
}

func TestForeignWalletSignsNothing(t *testing.T) {
	w := setup(t, func(_ *Config, p *Parts) { p.Networks[0].Agents = fakeAgents{"another mnemonic"} })
	failed := w.buy("100", "1")
	require.Equal(t, codeService, failed.Code)
	require.Equal(t, http.StatusInternalServerError, failed.status)
	require.NotContains(t, failed.body, w.key.Agent.String())
	require.Empty(t, w.fakeNode.calls(w.key.Agent))
}

func TestManyAtOnce(t *testing.T) {
	w := setup(t)
	var wg sync.WaitGroup
	now := w.clock.Now().UnixMilli()
	for i := range 30 {
		v := w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0", "timestamp", fmt.Sprint(now-int64(i)))
		wg.Go(func() {
			if c := w.form("POST", api+"/order", v).Code; c != 0 {
				t.Errorf("code %d", c)
			}
		})
	}
	wg.Wait()
	require.Len(t, w.fakeNode.calls(w.key.Agent), 30)
}

func TestTestNetwork(t *testing.T) {
	w := setup(t)
	main := w.key
	agent := must(fakeAgents{"test"}.Agent(t.Context(), w.owner))
	var err error
	w.key, w.secret, err = w.keys.Issue(t.Context(), "test", w.owner, agent)
	require.NoError(t, err)
	w.index.grant(w.owner, agent, symbol, true)
	v := w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0")
	require.Zero(t, w.form("POST", "/test"+api+"/order/test", v).Code)
	require.NotEqual(t, main.Agent, agent)
	require.Equal(t, agent.String(), w.get("/test" + api + "/agent/info?address=" + w.owner.String()).object(t)["agentAddress"])
}

// TestCallCosts: a key has 60 calls a minute by default. Cancelling all orders of a pair costs five
// of them, or all that remain where there are fewer.
func TestCallCosts(t *testing.T) {
	w := setup(t, func(c *Config, _ *Parts) { c.CallLimit = 0 })
	require.Equal(t, []string{"1", "60"}, []string{w.buy("100", "1").header.Get(headerUsed), w.buy("100", "1").header.Get(headerLimit)})
	require.Equal(t, "3", w.cancel(symbol, w.addOrder(1, index.Open)).header.Get(headerUsed))
	require.Equal(t, "8", w.cancelAll().header.Get(headerUsed))
	require.NoError(t, w.keys.SetLimit(t.Context(), w.key.Key, 3))
	w.clock.pass(time.Minute)
	require.Equal(t, "3", w.cancelAll().header.Get(headerUsed))
	w.cancelAll().refused(t, codeFrequent, textFrequent)
}
