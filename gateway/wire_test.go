package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/httpserver"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// page is a script of another origin that sends credentials and three headers no browser lets
// through unasked: the web wallet on a vite.net host.
type page struct {
	*rig
	origin string
}

// fetch does what a browser does: preflight, judge, request, judge. What the script may not see
// comes back as a reason.
func (p page) fetch(target string) (got reply, blocked string) {
	asked := []string{"content-type", "lang", "version"}
	pre := p.do(http.MethodOptions, target, "Origin", p.origin, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", strings.Join(asked, ","))
	allowed := strings.Split(strings.ToLower(strings.ReplaceAll(pre.header.Get("Access-Control-Allow-Headers"), " ", "")), ",")
	switch {
	case pre.status < 200 || pre.status > 299:
		return pre, "preflight status"
	case !p.allows(pre):
		return pre, "preflight origin"
	case !slices.Contains(strings.Split(pre.header.Get("Access-Control-Allow-Methods"), ","), "GET"):
		return pre, "method"
	}
	for _, name := range asked {
		if !slices.Contains(allowed, name) {
			return pre, name
		}
	}
	got = p.get(target, "Origin", p.origin, "Content-Type", "application/json; charset=utf-8", "lang", "undefined", "version", "v1.0")
	if !p.allows(got) {
		return got, "origin"
	}
	if !slices.Contains(strings.Split(got.header.Get("Access-Control-Expose-Headers"), ","), "version") {
		return got, "version hidden"
	}
	return got, ""
}

func (p page) allows(a reply) bool {
	return a.header.Get("Access-Control-Allow-Origin") == p.origin && a.header.Get("Access-Control-Allow-Credentials") == "true"
}

func TestBrowser(t *testing.T) {
	r := setup(t)
	query := "?tokenId=" + token + "&walletAddress=" + alice
	tests := []struct {
		name, url    string
		status, code int
	}{
		{"meta-info", eth + "/meta-info" + query, 200, 0},
		{"base with a slash behind", eth + "//meta-info" + query, 200, 0},
		{"double slashes in front", "/" + eth + "/deposit-info" + query, 200, 0},
		{"base registered with a slash", bsc + "//withdraw-info" + query, 200, 0},
		{"slash behind", eth + "/meta-info/" + query, 200, 0},
		{"escaped slash", eth + "%2Fmeta-info" + query, 200, 0},
		{"two parts", eth + "/withdraw-address//verification" + query + "&withdrawAddress=0xuser", 200, 0},
		{"wrong parameter", eth + "/meta-info", 200, 1},
		{"unknown path under the base", eth + "/meta-inf" + query, 404, 1},
		{"the base itself", eth + "/", 404, 1},
		{"unknown base", "/meta-info" + query, 404, 1},
		{"root", "/", 404, 1},
		{"description", "/openapi.json", 200, 0},
		{"health", "/health", 200, 0},
	}
	for _, origin := range []string{"https://x.vite.net", "null", "http://localhost:9080"} {
		for _, tt := range tests {
			got, blocked := page{r, origin}.fetch(tt.url)
			require.Empty(t, blocked, tt.name)
			require.Equal(t, []int{tt.status, tt.code}, []int{got.status, got.Code}, tt.name)
			require.Equal(t, "v1.0", got.header.Get("version"), tt.name)
		}
	}
}

func TestOriginsCanBeNamed(t *testing.T) {
	r := setup(t, func(c *Config, _ *Parts) { c.Origins = []string{"https://x.vite.net"} })
	url := at(eth, "/meta-info", "tokenId", token)
	_, blocked := page{r, "https://x.vite.net"}.fetch(url)
	require.Empty(t, blocked)
	_, blocked = page{r, "https://evil.example"}.fetch(url)
	require.Equal(t, "preflight origin", blocked)
	require.Zero(t, r.get(url).Code, "apps send no origin")
}

func TestMethods(t *testing.T) {
	r := setup(t)
	url := at(eth, "/meta-info", "tokenId", token)
	head := r.do(http.MethodHead, url)
	require.Equal(t, []any{200, ""}, []any{head.status, head.body})
	require.Equal(t, "application/json", head.header.Get("Content-Type"))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		got := r.do(method, url)
		require.Equal(t, []int{405, 1, int(methodUnknown)}, []int{got.status, got.Code, got.SubCode}, method)
		require.Equal(t, "v1.0", got.header.Get("version"))
	}
	options := r.do(http.MethodOptions, url)
	require.Equal(t, []any{204, "GET, HEAD, OPTIONS"}, []any{options.status, options.header.Get("Allow")})
}

func TestBodiesAreIgnored(t *testing.T) {
	r := setup(t)
	request, err := http.NewRequest(http.MethodGet, r.url+at(eth, "/meta-info", "tokenId", token), strings.NewReader(`tokenId=tti_x`))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := r.client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, 200, response.StatusCode)
}

func TestHugeHeadersAreRefused(t *testing.T) {
	r := setup(t)
	request, err := http.NewRequest(http.MethodGet, r.url+eth+"/meta-info", nil)
	require.NoError(t, err)
	request.Header.Set("lang", strings.Repeat("x", 2*httpserver.MaxHeader))
	response, err := r.client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, response.StatusCode)
}

func TestLanguages(t *testing.T) {
	r := setup(t)
	const inEnglish, inChinese = "The parameter tokenId is missing.", "缺少参数 tokenId。"
	tests := map[string]string{
		"zh-cn": inChinese, "zh-CN": inChinese, "zh_cn": inChinese, "zh": inChinese, "zh-Hans": inChinese,
		"en": inEnglish, "": inEnglish, "undefined": inEnglish, "id_ID": inEnglish, "zh-tw": inEnglish, "\x80": inEnglish,
	}
	for lang, want := range tests {
		require.Equal(t, want, *r.get(eth+"/meta-info", "lang", lang).Msg, lang)
	}
	require.Equal(t, inEnglish, *r.get(eth + "/meta-info").Msg)
	require.Equal(t, "该地址不存在。", *r.get("/nothing", "lang", "zh-cn").Msg, "errors of routing too")
}

// Clients of other versions are served: none acts on the header.
func TestVersions(t *testing.T) {
	r := setup(t)
	for _, version := range []string{"", "v1.0", "v1.0,v2.0", "v9.9"} {
		got := r.get(at(eth, "/meta-info", "tokenId", token), "version", version)
		require.Equal(t, []any{0, "v1.0"}, []any{got.Code, got.header.Get("version")})
	}
}

func TestPanicsEndNothing(t *testing.T) {
	r := setup(t, func(_ *Config, p *Parts) {
		p.Routes[0].Source = panicking{}
		p.Routes[0].Derive = func(context.Context, string, uint32) (string, string, error) { panic("while it gives an address") }
	})
	for _, url := range []string{
		at(eth, "/withdraw-address/verification", "tokenId", token, "withdrawAddress", "0xa"),
		at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice),
	} {
		got := r.get(url)
		require.Equal(t, []int{200, 2, int(internal)}, []int{got.status, got.Code, got.SubCode})
		require.Equal(t, "The gateway has an internal error. Please try again later.", *got.Msg)
	}
	require.Contains(t, r.logged.String(), "while it gives an address")
	require.Zero(t, r.get(at(eth, "/meta-info", "tokenId", token)).Code)
}

type panicking struct{}

func (panicking) CheckAddress(string, string) (string, error) { panic("in a handler") }

func TestHealth(t *testing.T) {
	r := setup(t)
	const chains = `"chains":[{"id":"bsc","height":0,"head":0,"halted":false},{"id":"eth","height":101,"head":101,"halted":%HALTED},{"id":"vite","height":100,"head":100,"halted":false}]}`
	r.Mine(recordstest.Source, "")
	got := r.get("/health")
	require.Equal(t, 200, got.status)
	require.JSONEq(t, `{"status":"ok","reasons":[],"blocked":[],"warnings":[],`+strings.Replace(chains, "%HALTED", "false", 1), got.body)
	r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(recordstest.Source, "a secret reason") })
	got = r.get("/health")
	require.Equal(t, 200, got.status, "the other network works")
	var health struct {
		Status  string
		Reasons []struct{ Kind, Chain string }
		Blocked []struct{ Network string }
	}
	require.NoError(t, json.Unmarshal([]byte(got.body), &health))
	require.Equal(t, "degraded", health.Status)
	require.Equal(t, []struct{ Kind, Chain string }{{"chain_halted", "eth"}}, health.Reasons)
	require.Len(t, health.Blocked, 3)
	require.Equal(t, recordstest.Network, health.Blocked[0].Network)
	require.NotContains(t, got.body, "secret")
	r.Mine(recordstest.Exchange, "")
	r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(recordstest.Exchange, "a secret reason") })
	got = r.get("/health")
	require.Equal(t, 503, got.status, "every network needs the exchange chain")
	require.Contains(t, got.body, `{"status":"halted"`)
	require.Equal(t, 503, r.do(http.MethodHead, "/health").status)
	require.NoError(t, r.Try(func(tx *records.Tx) error { return tx.Chains().Resume(recordstest.Exchange) }))
	require.NoError(t, r.Try(func(tx *records.Tx) error { return tx.Chains().Resume(recordstest.Source) }))
	require.Equal(t, 200, r.get("/health").status)
}

func TestRoot(t *testing.T) {
	r := setup(t, func(_ *Config, p *Parts) {
		p.Routes = []Route{routeOf("/", recordstest.Network, chain.ID("eth"))}
	})
	for _, url := range []string{"/meta-info?tokenId=" + token, "//meta-info?tokenId=" + token} {
		require.Zero(t, r.get(url).Code)
	}
}
