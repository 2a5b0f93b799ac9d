package exchangeapi

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/holiman/uint256"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/httpserver"
	"gatewayd/internal/testing/specs"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

const (
	symbol = "VX_VITE" // price 4 and quantity 2 decimals
	other  = "ETH-000_VITE"
	api    = prefix
)

// apiEnv is a server that listens, on a fake index and a fake node, with an account that has a key
// and all it needs.
type apiEnv struct {
	t        testing.TB
	index    *fakeIndex
	fakeNode *fakeNode
	clock    *clock
	keys     *apikey.Store
	server   *Server
	url      string
	client   *http.Client
	logged   *bytes.Buffer
	specs    []routers.Router

	owner  core.Address
	key    apikey.Key
	secret string
}

type change func(*Config, *Parts)

func marketOf(id uint32, name string, price, quantity int) index.Market {
	trade, quote, _ := strings.Cut(name, "_")
	m := index.Market{
		Pair: index.Pair{Symbol: name, TradeSymbol: trade, QuoteSymbol: quote, PricePrecision: price, QuantityPrecision: quantity},
		ID:   id, Trade: core.TokenID([]byte((trade + "..........")[:10])), Quote: core.VITE, TradeDecimals: 18, QuoteDecimals: 18, QuoteType: dex.QuoteVITE,
		Operator: core.AssetContract.String(), TakerFee: 50, MakerFee: 20,
	}
	m.TradeToken, m.QuoteToken = m.Trade.String(), m.Quote.String()
	for _, p := range []*string{&m.HighPrice, &m.LowPrice, &m.LastPrice, &m.Volume, &m.BaseVolume, &m.BidPrice, &m.AskPrice} {
		*p = "0.0000"
	}
	return m
}

func setup(t testing.TB, changes ...change) *apiEnv {
	t.Helper()
	w := &apiEnv{
		t: t, fakeNode: newFakeNode(), clock: &clock{now: time.UnixMilli(1614571200000)}, logged: &bytes.Buffer{},
		index: &fakeIndex{
			markets:  []index.Market{marketOf(1, symbol, 4, 2), marketOf(2, other, 4, 4)},
			granted:  map[string]bool{},
			balances: map[core.Address][]index.Balance{},
		},
		owner: keyOf("alice").Address(),
	}
	w.index.tokens = []index.Token{
		{ID: w.index.markets[1].TradeToken, Name: "Ether", Symbol: "ETH-000", OriginalSymbol: "ETH", TotalSupply: "1000", Owner: w.owner.String(), Decimals: 18, QuoteType: dex.QuoteETH},
		{ID: core.VITE.String(), Name: "Vite", Symbol: "VITE", OriginalSymbol: "VITE", TotalSupply: "1000", Owner: w.owner.String(), Decimals: 18, QuoteType: dex.QuoteVITE, ReIssuable: true},
		{ID: w.index.markets[0].TradeToken, Name: "Vite X", Symbol: "VX", OriginalSymbol: "VX", TotalSupply: "1000", Owner: w.owner.String(), Decimals: 8},
	}
	log := logrus.New()
	log.SetOutput(w.logged)
	w.keys = openKeys(t, "sqlite:"+filepath.Join(t.TempDir(), "keys.db"), w.clock.Now)
	agents := fakeAgents{"main"}
	cfg := Config{Config: httpserver.Config{Listen: "127.0.0.1:0"}, CallLimit: 1000}
	parts := Parts{
		Keys: w.keys, Log: log, Now: w.clock.Now,
		Networks: []Network{
			{Name: "main", Index: w.index, Node: w.fakeNode, Agents: agents},
			{Name: "test", BasePath: "/test", Index: w.index, Node: w.fakeNode, Agents: fakeAgents{"test"}},
		},
	}
	for _, c := range changes {
		c(&cfg, &parts)
	}
	var err error
	w.keys = parts.Keys
	w.server, err = New(cfg, parts)
	require.NoError(t, err)
	w.run(t)
	w.url = "http://" + w.server.Addr()
	w.client = &http.Client{}
	w.specs = specsOf(t, w.server)
	w.equip(agents)
	return w
}

var testSecret = bytes.Repeat([]byte{7}, apikey.SecretSize)

func openKeys(t testing.TB, url string, now func() time.Time) *apikey.Store {
	t.Helper()
	keys, err := apikey.Open(t.Context(), apikey.Config{URL: url, Secret: testSecret, Now: now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, keys.Close()) })
	return keys
}

// equip gives the account a key, its delegation address a first block and quota, the pair's
// permission and funds.
func (w *apiEnv) equip(a agents) {
	agent, err := a.Agent(w.t.Context(), w.owner)
	require.NoError(w.t, err)
	w.key, w.secret, err = w.keys.Issue(w.t.Context(), "main", w.owner, agent)
	require.NoError(w.t, err)
	w.index.grant(w.owner, agent, symbol, true)
	w.fakeNode.quota[agent] = 1000
	w.fakeNode.available[w.owner] = whole(1_000_000)
	first := &core.AccountBlock{BlockType: core.Receive, SendBlockHash: core.Hash{1}, Address: agent, Height: 1}
	first.SignWith(fakeAgents{"main"}.key(w.owner))
	require.NoError(w.t, w.fakeNode.accept(first))
}

// whole returns an amount of n tokens with 18 decimals.
func whole(n uint64) uint256.Int {
	var z uint256.Int
	z.Mul(uint256.NewInt(n), uint256.NewInt(1e18))
	return z
}

// run serves until the test ends, and then must end well.
func (w *apiEnv) run(t testing.TB) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.server.Run(ctx) }()
	require.NoError(t, w.server.Ready(t.Context()))
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		stop()
		require.NoError(t, <-done)
	})
}

// specsOf reads both forms of the description that the server serves.
func specsOf(t testing.TB, s *Server) []routers.Router {
	var bases []string
	for _, n := range s.Networks {
		bases = append(bases, httpserver.CleanBase(n.BasePath))
	}
	description, err := describe(bases)
	require.NoError(t, err)
	return specs.Of(t, description.V31, description.V30)
}

// reply is one answer.
type reply struct {
	status int
	header http.Header
	body   string
	Code   code
	Msg    string
	Data   any
}

// object is the data of a reply as an object.
func (r reply) object(t testing.TB) map[string]any {
	t.Helper()
	require.Zero(t, r.Code, r.body)
	o, ok := r.Data.(map[string]any)
	require.True(t, ok, r.body)
	return o
}

// list is the data of a reply as a list.
func (r reply) list(t testing.TB) []any {
	t.Helper()
	require.Zero(t, r.Code, r.body)
	l, ok := r.Data.([]any)
	require.True(t, ok, r.body)
	return l
}

func (w *apiEnv) get(target string) reply {
	w.t.Helper()
	request, err := http.NewRequest(http.MethodGet, w.url+target, nil)
	require.NoError(w.t, err)
	return w.do(request)
}

// do sends a request and holds the answer against the description.
func (w *apiEnv) do(request *http.Request) reply {
	w.t.Helper()
	response, err := w.client.Do(request)
	require.NoError(w.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	return w.read(w.t, request, response.StatusCode, response.Header, body)
}

func (w *apiEnv) read(t require.TestingT, request *http.Request, status int, header http.Header, body []byte) reply {
	out := reply{status: status, header: header, body: string(body)}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	require.NoError(t, d.Decode(&out), out.body)
	clean := request.Clone(context.Background())
	clean.URL = &url.URL{Path: path.Clean("/" + request.URL.Path)}
	for _, spec := range w.specs {
		route, values, err := spec.FindRoute(clean)
		if err != nil { // unknown path or method: the answer contains the error
			require.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, status, out.body)
			require.NotEmpty(t, out.Msg)
			return out
		}
		err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: clean, Route: route, PathParams: values},
			Status:                 status, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
			Options: &openapi3filter.Options{IncludeResponseStatus: true},
		})
		require.NoError(t, err, out.body)
	}
	return out
}

// sign adds key, timestamp and signature to fields, which are names and values by turns.
func (w *apiEnv) sign(fields ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		v.Set(fields[i], fields[i+1])
	}
	if v.Get("key") == "" {
		v.Set("key", w.key.Key)
	}
	if v.Get("timestamp") == "" {
		v.Set("timestamp", strconv.FormatInt(w.clock.Now().UnixMilli(), 10))
	}
	text, err := url.QueryUnescape(v.Encode())
	require.NoError(w.t, err)
	v.Set("signature", hmacOf(w.secret, text))
	return v
}

func quiet() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// signedText is the text of parameters that clients sign.
func signedText(values map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name != apikey.SignatureName {
			pairs = append(pairs, name+"="+values[name])
		}
	}
	return strings.Join(pairs, "&")
}

func hmacOf(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// form sends values as a form.
func (w *apiEnv) form(method, endpoint string, v url.Values) reply {
	w.t.Helper()
	request, err := http.NewRequest(method, w.url+endpoint, strings.NewReader(v.Encode()))
	require.NoError(w.t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return w.do(request)
}

// buy places a buy order of the account; each has a timestamp of its own, so that none is a
// repetition.
func (w *apiEnv) buy(amount, price string) reply {
	w.t.Helper()
	w.clock.pass(time.Millisecond)
	return w.form(http.MethodPost, api+"/order", w.sign("symbol", symbol, "amount", amount, "price", price, "side", "0"))
}

// addOrder puts an order of the account into the index.
func (w *apiEnv) addOrder(n int, status index.Status) string {
	id := core.Hash(sha256.Sum256([]byte(strconv.Itoa(n)))).String()
	w.index.list = append([]index.Order{{
		Pair: w.index.markets[0].Pair, Address: w.owner.String(), ID: id, Price: "1.0000", Quantity: "1.00", Amount: "1.00000000",
		ExecutedQuantity: "0.00", ExecutedAmount: "0.0000", ExecutedPercent: "0.0000", ExecutedAvgPrice: "0.0000", Fee: "0.0000",
		Status: status, CreateTime: 1614571200,
	}}, w.index.list...)
	return id
}

func (w *apiEnv) cancel(name, id string) reply {
	w.t.Helper()
	w.clock.pass(time.Millisecond)
	return w.form(http.MethodDelete, api+"/order", w.sign("symbol", name, "orderId", id))
}

func (w *apiEnv) cancelAll() reply {
	w.t.Helper()
	w.clock.pass(time.Millisecond)
	return w.form(http.MethodDelete, api+"/orders", w.sign("symbol", symbol))
}
