package exchangeapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// dice turn bytes into choices, so that a fuzzer's bytes are a request.
type dice struct{ rest []byte }

// roll is a number below n; 0 when the bytes are used up.
func (d *dice) roll(n int) int {
	if len(d.rest) == 0 {
		return 0
	}
	v := int(d.rest[0])
	d.rest = d.rest[1:]
	return v % n
}

// text is a few of the bytes themselves.
func (d *dice) text() string {
	n := min(d.roll(48), len(d.rest))
	out := string(d.rest[:n])
	d.rest = d.rest[n:]
	return out
}

func (d *dice) of(list []string) string { return list[d.roll(len(list))] }

// operation is one of the description, with the names of what it takes.
type operation struct {
	method, path string
	names        []string
	choices      map[string][]string // by name: what the schema allows
}

// operations reads every operation of the description.
func operations(t require.TestingT, doc *openapi3.T) (list []operation) {
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			op := operation{method: method, path: path, choices: map[string][]string{}}
			for _, p := range o.Parameters {
				op.add(p.Value.Name, p.Value.Schema.Value)
			}
			if o.RequestBody != nil {
				body := o.RequestBody.Value.Content.Get("application/json").Schema.Value
				require.NotEmpty(t, body.Properties)
				for name, schema := range body.Properties {
					op.add(name, schema.Value)
				}
			}
			slices.Sort(op.names)
			list = append(list, op)
		}
	}
	slices.SortFunc(list, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return list
}

// add notes a parameter and the edges of its schema.
func (o *operation) add(name string, schema *openapi3.Schema) {
	o.names = append(o.names, name)
	var allowed []string
	for _, v := range schema.Enum {
		allowed = append(allowed, fmt.Sprint(v))
	}
	for _, edge := range []*float64{schema.Min, schema.Max} {
		if edge != nil {
			allowed = append(allowed, strconv.FormatFloat(*edge, 'f', -1, 64))
		}
	}
	if schema.Type.Is("integer") {
		allowed = append(allowed, "1", "5", "30")
	}
	o.choices[name] = allowed
}

// wrongValues are values that are nearly right for something.
func wrongValues() []string {
	return []string{
		"", " ", "0", "-0", "-1", "+1", "01", "1.", ".5", "1e1", "1e400", "0x10", "NaN", "Infinity", "null", "true", "9223372036854775807", "9223372036854775808",
		"18446744073709551616", "253402300799", "253402300800", "115792089237316195423570985008687907853269984665640564039457584007913129639935",
		"0.0000000000001", "1.1234567890123", "1,5", "１", "\x00", "a\x00b", "\xff\xfe", "\u202e", "%", "%00", "%zz", "'", "' OR 1=1 --", "_", "%_", "\\", "a,b,,c", ",",
		"<script>", "../../etc/passwd", "{}", "[]", "a&b=c", "a=b", "\r\nX-Evil: 1", strings.Repeat("9", 60), strings.Repeat("A", 4096), strings.Repeat("é", 3000),
	}
}

// fuzzRequest is a request that is about to be sent.
type fuzzRequest struct {
	operation
	values map[string]string
	signed bool // properly
}

// newRequest makes a request out of dice. Most of its values are right, else nothing behind the
// first check is ever reached.
func (r *fuzzEnv) newRequest(d *dice) fuzzRequest {
	s := fuzzRequest{operation: r.operations[d.roll(len(r.operations))], values: map[string]string{}}
	for _, name := range s.names {
		if v, there := r.value(d, name, s.choices[name]); there {
			s.values[name] = v
		}
	}
	if d.roll(16) == 0 {
		s.values[d.text()] = d.text()
	}
	if slices.Contains(s.names, "signature") && slices.Contains(s.names, "key") {
		r.sign(d, &s)
	}
	if d.roll(16) == 0 {
		s.method = d.of([]string{"GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH", "TRACE"})
	}
	return s
}

// value is one of a parameter's values, or none.
func (r *fuzzEnv) value(d *dice, name string, allowed []string) (string, bool) {
	good := append(slices.Clone(allowed), r.pool(name)...)
	switch n := d.roll(16); {
	case n < 12 && len(good) > 0:
		return d.of(good), true
	case n == 12:
		return "", false
	case n == 13 && len(good) > 0:
		return corrupt(d, d.of(good)), true
	case n < 15:
		return d.of(wrongValues()), true
	default:
		return d.text(), true
	}
}

// corrupt changes a good value a little.
func corrupt(d *dice, v string) string {
	switch d.roll(7) {
	case 0:
		return strings.ToLower(v)
	case 1:
		return strings.ToUpper(v)
	case 2:
		return v + d.of(wrongValues())
	case 3:
		return v[:len(v)/2]
	case 4:
		return " " + v
	case 5:
		return v + v
	}
	at := len(v) / 2
	return v[:at] + "\x00" + v[at:]
}

// sign adds key, time and signature: mostly the right ones.
func (r *fuzzEnv) sign(d *dice, s *fuzzRequest) {
	r.clock.pass(time.Millisecond)
	now := r.clock.Now().UnixMilli()
	kind := d.roll(16)
	secret := r.secret
	if kind > 2 {
		s.values["key"] = r.key.Key
		s.values["timestamp"] = strconv.FormatInt(now, 10)
	}
	switch kind {
	case 0, 1: // what the dice have given
	case 2:
		s.values["key"] = r.key.Key
	case 3:
		s.values["timestamp"] = strconv.FormatInt(now-int64(d.roll(3))*5001+int64(d.roll(3))*1000, 10)
	case 4:
		secret = strings.ToLower(secret)
	case 5:
		s.values["key"] = corrupt(d, r.key.Key)
	}
	if kind == 6 {
		return // whatever signature there is
	}
	delete(s.values, "signature")
	s.values["signature"] = hmacOf(secret, signedText(s.values))
	s.signed = kind > 6
}

// pool are values of a parameter that exist on this exchange.
func (r *fuzzEnv) pool(name string) []string {
	switch name {
	case "symbol", "symbols":
		return []string{pairOnChain, pairOnChain, pairOnChain + "," + pairOnChain, "VITE_" + pairOnChain}
	case "address":
		return []string{r.owner.String(), r.admin.key.Address().String(), r.poor.key.Address().String(), core.DexFundContract.String()}
	case "agentAddress":
		return []string{r.user.agent.String()}
	case "orderId":
		return r.orders.list()
	case "tokenId", "tokenIds":
		return []string{core.VITE.String(), r.gold.String(), core.VITE.String() + "," + r.gold.String()}
	case "tokenSymbol", "tokenSymbols", "quoteTokenSymbol", "tradeTokenSymbol", "tokenSymbolLike":
		return []string{"VITE", "GOLD-000", "GOLD", "VITE,GOLD-000"}
	case "amount":
		return []string{"100", "100.5", "150.25", "1000000000", "1"}
	case "price":
		return []string{"1", "1.5", "1.2345", "0.0001"}
	case "startTime", "endTime":
		return []string{"0", "1614571200", strconv.FormatInt(r.clock.Now().Unix(), 10)}
	case "timestamp":
		return []string{strconv.FormatInt(r.clock.Now().Unix(), 10)}
	}
	return nil
}

// request puts the values where clients put them, and where they do not.
func (s *fuzzRequest) request(d *dice, base string) *http.Request {
	where := d.roll(8)
	if s.method == http.MethodGet || s.method == http.MethodHead {
		where = 0
	}
	query, body := map[string]string{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		to := query
		if where > 2 || where == 2 && d.roll(2) == 0 {
			to = body
		}
		to[name] = s.values[name]
	}
	text, media := "", ""
	switch {
	case where == 7:
		text, media = d.text(), d.text()
	case len(body) > 0 && where%2 == 0:
		text, media = encoded(body), "application/x-www-form-urlencoded"
	case len(body) > 0:
		flat, _ := json.Marshal(body) // a map of strings
		text, media = string(flat), "application/json"
	}
	u := base + s.path
	r, err := http.NewRequest(s.method, u, bytes.NewReader([]byte(text)))
	if err != nil {
		return nil
	}
	r.URL.RawQuery = encoded(query)
	if media != "" {
		r.Header["Content-Type"] = []string{printable(media)}
	}
	s.addHeaders(d, r)
	return r
}

func encoded(values map[string]string) string {
	v := url.Values{}
	for name, value := range values {
		v.Set(name, value)
	}
	return v.Encode()
}

// printable drops the bytes that a header may not contain; raw requests cover those.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// addHeaders adds headers that change how requests are read.
func (s *fuzzRequest) addHeaders(d *dice, r *http.Request) {
	headers := [][2]string{
		{"Origin", "https://page.example"}, {"Origin", "null"}, {"X-Forwarded-For", "10.1.2.3, ::1, x"}, {"X-Forwarded-Proto", "http"}, {"Range", "bytes=0-1"},
		{"Accept-Encoding", "gzip, br"}, {"Content-Encoding", "gzip"}, {"Expect", "100-continue"}, {"Access-Control-Request-Method", "DELETE"},
		{"Authorization", "Basic !!!"}, {"Cookie", strings.Repeat("a=b;", 500)}, {"X-HTTP-Method-Override", "DELETE"}, {"If-None-Match", "*"},
		{"Accept", "text/html"}, {"X-Real-IP", "no address"}, {"X-Big", strings.Repeat("x", 20_000)},
	}
	for range d.roll(4) {
		h := headers[d.roll(len(headers))]
		r.Header.Set(h[0], h[1])
	}
	if d.roll(16) == 0 {
		r.Host = printable(d.text())
	}
}

// rawRequest are requests that no HTTP library would send.
func rawRequest(d *dice) string {
	line := d.of([]string{"GET", "POST", "DELETE", "get", "", "\x00", "G E T", "CONNECT", "PRI"}) + " " +
		d.of([]string{api + "/order", api + "/time", "*", "http://[::1]:namedport/", api + "/../../etc", api + "/time?%zz", "/ws", "//", "", "\x00"}) + " " +
		d.of([]string{"HTTP/1.1", "HTTP/1.0", "HTTP/9.9", "HTTP/2.0", "", "HTTX"}) + "\r\n"
	heads := []string{
		"Host: x\r\n", "Host: x\r\nHost: y\r\n", "Content-Length: 10\r\n", "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n",
		"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "X: " + strings.Repeat("y", 40_000) + "\r\n",
		"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n", "Upgrade: websocket\r\nConnection: Upgrade\r\n",
		"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x\r\n", ": no name\r\n", " folded\r\n", "Expect: something\r\n", "\x00: \x01\r\n", "Connection: close\r\n",
	}
	for range d.roll(4) {
		line += heads[d.roll(len(heads))]
	}
	return line + d.of([]string{"\r\n", "\r\n\r\n", "\n\n", ""}) + d.of([]string{"", "5\r\nhello\r\n0\r\n\r\n", "ZZ\r\n", "-1\r\n", "ffffffffffffffff\r\n", "{}"}) + d.text()
}
