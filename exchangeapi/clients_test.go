package exchangeapi

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

// signedAs is a private request in a form in which a public client sends it
// (docs/adr/022-the-exchange-api.md).
type signedAs struct {
	client       string
	method, path string
	query        bool // parameters in the query string; else in the body
	media        string
	fields       []string
}

func signedForms(order string) []signedAs {
	wish := []string{"symbol", symbol, "amount", "100.00", "price", "1.0000", "side", "0"}
	return []signedAs{
		{"a connector on aiohttp: an empty body that is said to be bytes", "POST", "/order", true, "application/octet-stream", wish},
		{"a connector on aiohttp", "DELETE", "/order", true, "", []string{"symbol", symbol, "orderId", order}},
		{"a script that marks a form as text", "POST", "/order", false, "text/plain", wish},
		{"a wrapper on requests", "POST", "/order", false, "application/x-www-form-urlencoded", wish},
		{"a wrapper on requests", "DELETE", "/order", false, "application/x-www-form-urlencoded", []string{"symbol", symbol, "orderId", order}},
		{"a wrapper on requests", "DELETE", "/orders", false, "application/x-www-form-urlencoded", []string{"symbol", symbol}},
		{"a script without a media type", "POST", "/order", false, "", wish},
	}
}

func TestSignedRequestsOfPublicClients(t *testing.T) {
	w := setup(t)
	order := w.addOrder(1, index.Open)
	for _, tt := range signedForms(order) {
		w.clock.pass(time.Millisecond)
		text := w.sign(tt.fields...).Encode()
		target, body := tt.path, text
		if tt.query {
			target, body = tt.path+"?"+text, ""
		}
		request, err := http.NewRequest(tt.method, w.url+api+target, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", tt.media)
		require.Zero(t, w.do(request).Code, "%s: %s %s", tt.client, tt.method, tt.path)
	}
}

// Clients send parameters without a value, parameters of older versions, and limits beyond the
// greatest.
func TestReadsOfPublicClients(t *testing.T) {
	w := setup(t)
	who := "address=" + w.owner.String()
	token := w.index.tokens[0].ID
	for client, target := range map[string]string{
		"a connector probes":                       "/ping",
		"a connector's book":                       "/depth?limit=1000&symbol=" + symbol,
		"a wallet's book, merged by an older name": "/depth?symbol=" + symbol + "&step=2&limit=100",
		"a wallet's chart":                         "/klines?startTime=1&endTime=90001&limit=1500&interval=minute&symbol=" + symbol,
		"a wallet's history":                       "/orders?" + who + "&startTime=&endTime=&total=1&tradeTokenSymbol=&quoteTokenSymbol=&side=&offset=0&limit=30&status=",
		"a wallet's trades":                        "/trades/all?orderId=&symbol=" + symbol + "&offset=&limit=&side=",
		"a wallet's transfers":                     "/deposit-withdraw?pageSize=100&pageNo=1&tokenId=" + token + "&" + who,
		"a wallet without favourites":              "/ticker/24hr?symbols=",
		"a wallet's market":                        "/ticker/24hr?quoteTokenCategory=VITE",
		"a wallet's rates":                         "/exchange-rate?tokenIds=",
		"a collector asks for nothing":             "/ticker/24hr?",
		"a wrapper's ticker":                       "/ticker/24hr?symbol=" + symbol,
		"a script with a slash more":               "/time/",
		"a browser's escape":                       "/market?symbol=" + strings.Replace(symbol, "_", "%5F", 1),
	} {
		require.Zero(t, w.get(api+target).Code, client)
	}
}

// A wallet in a browser marks its reads as JSON, so the browser asks first; and it reads errors,
// too.
func TestPagesOfAnyOrigin(t *testing.T) {
	w := setup(t)
	ask := func(method, target string, header map[string]string) *http.Response {
		request, err := http.NewRequest(method, w.url+api+target, nil)
		require.NoError(t, err)
		request.Header.Set("Origin", "https://wallet.example")
		for name, value := range header {
			request.Header.Set(name, value)
		}
		answer, err := w.client.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, "https://wallet.example", answer.Header.Get("Access-Control-Allow-Origin"), target)
		return answer
	}
	first := ask(http.MethodOptions, "/depth?symbol="+symbol, map[string]string{
		"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "content-type",
	})
	require.Contains(t, first.Header.Get("Access-Control-Allow-Headers"), "content-type")
	for target, want := range map[string]int{"/depth?symbol=" + symbol: 200, "/depth?symbol=NO_PAIR": 200, "/nothing": 404, "/order/test": 405} {
		require.Equal(t, want, ask(http.MethodGet, target, map[string]string{"Content-Type": "application/json; charset=utf-8"}).StatusCode, target)
	}
}

// What a URL library of one language writes otherwise than that of another is signed by either.
func TestSignaturesOfEncodedText(t *testing.T) {
	w := setup(t)
	v := w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0", "note", "a b~c*d")
	for _, note := range []string{"a+b~c%2Ad", "a%20b~c%2Ad", "a b~c*d"} {
		w.clock.pass(time.Millisecond)
		v.Set("timestamp", strconv.FormatInt(w.clock.Now().UnixMilli(), 10))
		text := "amount=100&key=" + w.key.Key + "&note=" + note + "&price=1&side=0&symbol=" + symbol + "&timestamp=" + v.Get("timestamp")
		v.Set("signature", hmacOf(w.secret, text))
		require.Zero(t, w.form(http.MethodPost, api+"/order/test", v).Code, note)
	}
}
