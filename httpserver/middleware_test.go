package httpserver

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
)

var (
	errPlain   = echo.NewHTTPError(http.StatusForbidden, "https only")
	errTooMuch = echo.NewHTTPError(http.StatusTooManyRequests, "later")
)

// counter is a front with all its steps before an echo that answers every path with it.
func counter(t *testing.T, cfg Config, now func() time.Time) (*Middleware, *echo.Echo) {
	t.Helper()
	f, err := NewMiddleware(cfg.Or(defaults()), now)
	require.NoError(t, err)
	e := echo.New()
	e.Pre(
		CatchPanics(), f.CORS(Pages{Methods: []string{http.MethodGet}, Expose: []string{"version"}}),
		f.OnlyHTTPS(func() error { return errPlain }), CleanPath,
		f.LimitRate(func(time.Duration) error { return errTooMuch }),
	)
	answer := func(c echo.Context) error {
		if c.Request().URL.Path == "/panic" {
			panic(errors.New("in a handler"))
		}
		return c.String(http.StatusOK, c.Request().URL.Path)
	}
	e.GET("/*", answer)
	e.HEAD("/*", answer)
	return f, e
}

func ask(h http.Handler, method, url, remote string, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, url, nil)
	request.RemoteAddr, request.Host = remote, "gateway.example:8080"
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, request)
	return answer
}

func TestPlainHTTPFromOutside(t *testing.T) {
	const redirected = "https://gateway.example/a?b=c"
	tests := []struct {
		name, policy, method, remote, proto string
		status                              int
		location                            string
	}{
		{"refused", Refuse, "GET", "192.0.2.1:999", "", 403, ""},
		{"redirected", Redirect, "GET", "192.0.2.1:999", "", 308, redirected},
		{"redirected head", Redirect, "HEAD", "192.0.2.1:999", "", 308, redirected},
		{"never a post", Redirect, "POST", "192.0.2.1:999", "", 403, ""},
		{"a stranger's word is not taken", Refuse, "GET", "192.0.2.1:999", "https", 403, ""},
		{"this machine", Refuse, "GET", "127.0.0.1:999", "", 200, ""},
		{"this machine, IPv6", Refuse, "GET", "[::1]:999", "", 200, ""},
		{"this machine, IPv4 in IPv6", Refuse, "GET", "[::ffff:127.0.0.1]:999", "", 200, ""},
		{"https at the proxy", Refuse, "GET", "10.0.0.1:999", "https", 200, ""},
		{"http at the proxy", Redirect, "GET", "10.0.0.1:999", "http", 308, redirected},
		{"proxy that says nothing", Refuse, "GET", "10.0.0.1:999", "", 200, ""},
		{"no address", Refuse, "GET", "", "", 403, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, e := counter(t, Config{PlainHTTP: tt.policy, TrustProxy: []string{"10.0.0.0/8"}}, time.Now)
			headers := []string{}
			if tt.proto != "" {
				headers = []string{"X-Forwarded-Proto", tt.proto}
			}
			answer := ask(e, tt.method, "/a?b=c", tt.remote, headers...)
			require.Equal(t, tt.status, answer.Code)
			require.Equal(t, tt.location, answer.Header().Get("Location"))
		})
	}
}

func TestRedirectNamesThePort(t *testing.T) {
	files := TLS{Cert: "cert.pem", Key: "key.pem"}
	for listen, want := range map[string]string{":443": "gateway.example", ":8443": "gateway.example:8443", "[::]:https": "gateway.example"} {
		f := &Middleware{cfg: Config{Listen: listen, TLS: files}}
		require.Equal(t, want, f.httpsHost("gateway.example:80"), listen)
		require.Equal(t, want, f.httpsHost("gateway.example"), listen)
	}
}

func TestClientsBehindProxies(t *testing.T) {
	tests := []struct{ name, remote, forwarded, want string }{
		{"the peer", "192.0.2.1:999", "", "192.0.2.1"},
		{"this machine", "127.0.0.1:999", "", ""},
		{"a stranger's word is not taken", "192.0.2.1:999", "198.51.100.1", "192.0.2.1"},
		{"behind the proxy", "10.1.2.3:999", "198.51.100.1", "198.51.100.1"},
		{"behind two proxies", "10.1.2.3:999", "198.51.100.1, 10.7.7.7", "198.51.100.1"},
		{"what a client writes in front counts for nothing", "10.1.2.3:999", "6.6.6.6, 198.51.100.1", "198.51.100.1"},
		{"IPv6 by customer", "10.1.2.3:999", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"the proxy's own", "10.1.2.3:999", "", "10.1.2.3"},
		{"a proxy in IPv6", "[fd00::1]:999", "198.51.100.1", "198.51.100.1"},
	}
	f, _ := counter(t, Config{TrustProxy: []string{"10.0.0.0/8", "fd00::1/128"}}, time.Now)
	for _, tt := range tests {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.RemoteAddr = tt.remote
		if tt.forwarded != "" {
			request.Header.Set("X-Forwarded-For", tt.forwarded)
		}
		require.Equal(t, tt.want, f.Client(request), tt.name)
		require.Equal(t, tt.want, ClientOf(f.WithClient(request)), tt.name)
	}
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.RemoteAddr = "10.1.2.3:999"
	request.Header.Set("X-Forwarded-For", "198.51.100.1")
	require.Equal(t, "10.1.2.3", ClientOf(request), "without a front no header is believed")
}

func TestLimitRate(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cfg := Config{TrustProxy: []string{"10.0.0.0/8"}, RatePerSecond: 0.5, Burst: 2}
	_, e := counter(t, cfg, func() time.Time { return now })
	code := func(client string, headers ...string) int {
		return ask(e, "GET", "/a", "10.0.0.1:999", append(headers, "X-Forwarded-For", client)...).Code
	}
	require.Equal(t, []int{200, 200, 429}, []int{code("192.0.2.1"), code("192.0.2.1"), code("192.0.2.1")})
	require.Equal(t, 200, code("192.0.2.2"), "others are served")
	pre := ask(e, "OPTIONS", "/a", "10.0.0.1:999", "X-Forwarded-For", "192.0.2.1", "Origin", "https://x.example", "Access-Control-Request-Method", "GET")
	require.Equal(t, 204, pre.Code, "preflights are not counted")
	now = now.Add(2 * time.Second)
	require.Equal(t, []int{200, 429}, []int{code("192.0.2.1"), code("192.0.2.1")})
}

func TestPages(t *testing.T) {
	_, e := counter(t, Config{Origins: []string{"https://x.example"}}, time.Now)
	allowed := func(origin string) string {
		pre := ask(e, "OPTIONS", "/a", "127.0.0.1:1", "Origin", origin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "lang,version")
		require.Equal(t, 204, pre.Code)
		if pre.Header().Get("Access-Control-Allow-Origin") != "" {
			require.Equal(t, "lang,version", pre.Header().Get("Access-Control-Allow-Headers"))
		}
		return pre.Header().Get("Access-Control-Allow-Origin")
	}
	require.Equal(t, "https://x.example", allowed("https://x.example"))
	require.Empty(t, allowed("https://evil.example"))
	plain := ask(e, "GET", "/a", "192.0.2.1:1", "Origin", "https://x.example")
	require.Equal(t, 403, plain.Code)
	require.Equal(t, "https://x.example", plain.Header().Get("Access-Control-Allow-Origin"), "the page may read why")
	require.Equal(t, "version", plain.Header().Get("Access-Control-Expose-Headers"))
	_, e = counter(t, Config{}, time.Now)
	require.Equal(t, "https://any.example", allowed("https://any.example"))
}

func TestPathsAndPanics(t *testing.T) {
	_, e := counter(t, Config{}, time.Now)
	for url, want := range map[string]string{"/a//b": "/a/b", "//a/b": "/a/b", "/a/b/": "/a/b", "/a%2Fb": "/a/b", "/a/../b": "/b"} {
		answer := ask(e, "GET", url, "127.0.0.1:1")
		require.Equal(t, []any{200, want}, []any{answer.Code, answer.Body.String()}, url)
	}
	require.Equal(t, 500, ask(e, "GET", "/panic", "127.0.0.1:1").Code)
	for in, want := range map[string]string{"": "", "/": "", "terra": "/terra", "/gateway/eth/": "/gateway/eth", "//a//b//": "/a/b"} {
		require.Equal(t, want, CleanBase(in), in)
	}
}

func TestFrontNeedsNetworks(t *testing.T) {
	_, err := NewMiddleware(Config{TrustProxy: []string{"10.0.0.1"}}, time.Now)
	require.ErrorContains(t, err, "trust_proxy")
}

// FuzzClient: whatever a stranger writes into headers, he is counted by his own address and his
// plain HTTP stays plain.
func FuzzClient(f *testing.F) {
	for _, seed := range [][2]string{{"198.51.100.1", "https"}, {"127.0.0.1", ""}, {", ,", "HTTPS"}, {"[::1]", "x"}, {"10.0.0.1, 127.0.0.1", "https,https"}, {"::ffff:10.0.0.1", ""}} {
		f.Add("192.0.2.1:999", seed[0], seed[1])
		f.Add("10.0.0.1:999", seed[0], seed[1])
		f.Add("[fe80::1%eth0]:1", seed[0], seed[1])
		f.Add("@", seed[0], seed[1])
	}
	proxies := []string{"10.0.0.0/8", "fd00::/8"}
	front, err := NewMiddleware(Config{TrustProxy: proxies}.Or(defaults()), time.Now)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, remote, forwarded, proto string) {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.RemoteAddr = remote
		own, secure := front.Client(request), front.Secure(request)
		request.Header["X-Forwarded-For"], request.Header["X-Forwarded-Proto"] = []string{forwarded}, []string{proto}
		client := front.Client(request)
		from, err := netip.ParseAddrPort(remote)
		if err != nil {
			require.False(t, front.Secure(request), "nobody knows where it comes from")
			return
		}
		trusted, err := prefixes(proxies)
		require.NoError(t, err)
		if slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(from.Addr().Unmap()) }) {
			return // believed
		}
		require.Equal(t, []any{own, secure}, []any{client, front.Secure(request)})
	})
}
