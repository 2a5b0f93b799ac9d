package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// every is all that is served on one listener with all pages.
func every() map[string]http.Handler {
	return Join(Console(true), Keys(), Bridge(""), Trade(), Reference(Site{}), Start(Site{Keys: "keys", Demo: true}))
}

func request(t *testing.T, method, target string, header ...string) *http.Response {
	t.Helper()
	asked := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		asked.Header.Set(header[i], header[i+1])
	}
	h := every()[path.Clean(asked.URL.Path)]
	require.NotNil(t, h, target)
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, asked)
	return answer.Result()
}

func bodyOf(t *testing.T, answer *http.Response) []byte {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return body
}

// pages are the built pages and the paths that they are at.
var pages = []string{"/", "/bridge", "/trade", "/console", "/keys", "/design", "/docs"}

// The names of a page's files contain a hash of their content: browsers cache them permanently, and
// revalidate the page itself.
func TestWhatBrowsersKeep(t *testing.T) {
	for at := range every() {
		answer := request(t, http.MethodGet, at)
		want := "no-cache"
		switch {
		case at == "/keys":
			want = "no-store"
		case strings.HasPrefix(at, "/assets/") && path.Ext(at) != ".txt":
			want = "public, max-age=31536000, immutable"
			require.Regexp(t, `-[\w-]{8}\.\w+$`, at)
		}
		require.Equal(t, want, answer.Header.Get("Cache-Control"), at)
		require.NotEmpty(t, answer.Header.Get("Content-Type"), at)
		policy := answer.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "script-src 'self'; style-src 'self'", at)
		if at == "/docs" { // its library makes styles
			policy = strings.Replace(policy, "style-src 'self' 'unsafe-inline'", "", 1)
		}
		require.NotContains(t, policy, "unsafe", at)
	}
}

func TestHeaders(t *testing.T) {
	for _, at := range pages {
		answer := request(t, http.MethodGet, at)
		require.Equal(t, []any{200, "text/html; charset=utf-8", "nosniff", "DENY", "no-referrer"}, []any{
			answer.StatusCode, answer.Header.Get("Content-Type"), answer.Header.Get("X-Content-Type-Options"), answer.Header.Get("X-Frame-Options"), answer.Header.Get("Referrer-Policy"),
		})
		csp := strings.Split(answer.Header.Get("Content-Security-Policy"), "; ")
		if at == "/docs" {
			require.Equal(t, "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", answer.Header.Get("Content-Security-Policy"))
			continue
		}
		for _, rule := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			require.Contains(t, csp, rule)
		}
	}
}

// Of all pages the bridge page alone asks another origin: for rates.
func TestRatesOfAnotherOrigin(t *testing.T) {
	answer := httptest.NewRecorder()
	Bridge("https://exchange.example")["/bridge"].ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/bridge", nil))
	require.Contains(t, strings.Split(answer.Header().Get("Content-Security-Policy"), "; "), "connect-src 'self' https://exchange.example")
}

// A slash behind would make the page's links point elsewhere.
func TestSlashBehind(t *testing.T) {
	for target, want := range map[string]string{"/keys/": "../keys", "/keys/?a=/": "../keys", "/trade/": "../trade"} {
		answer := request(t, http.MethodGet, target)
		require.Equal(t, []any{308, want}, []any{answer.StatusCode, answer.Header.Get("Location")}, target)
	}
	require.Equal(t, 200, request(t, http.MethodGet, "/keys?a=b/").StatusCode)
}

// TestNoSecretIsKept: nothing of the page of keys puts anything where a browser keeps it, and
// nothing of any page makes elements or programs of text.
func TestNoSecretIsKept(t *testing.T) {
	for at, kept := range map[string]bool{"/keys": true, "/console": true, "/bridge": false} {
		script := regexp.MustCompile(`assets/(?:keys|console|bridge)-[\w-]{8}\.js`).FindString(string(bodyOf(t, request(t, http.MethodGet, at))))
		require.NotEmpty(t, script, at)
		text := string(bodyOf(t, request(t, http.MethodGet, "/"+script)))
		require.NotRegexp(t, `innerHTML|document\.write|eval\(`, text, at)
		if kept {
			require.NotRegexp(t, `localStorage|sessionStorage|document\.cookie`, text, at)
		}
	}
}

func TestUnchangedIsNotSentAgain(t *testing.T) {
	for at := range every() {
		if at == "/site.json" {
			continue
		}
		tag := request(t, http.MethodGet, at).Header.Get("ETag")
		require.Regexp(t, `^W/"[0-9a-f]{32}"$`, tag)
		for _, list := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag, "*"} {
			answer := request(t, http.MethodGet, at, "If-None-Match", list)
			require.Equal(t, http.StatusNotModified, answer.StatusCode, list)
			require.Empty(t, bodyOf(t, answer))
		}
		require.Equal(t, http.StatusOK, request(t, http.MethodGet, at, "If-None-Match", `"other"`).StatusCode)
	}
}

func TestCompressed(t *testing.T) {
	for at := range every() {
		plain := request(t, http.MethodGet, at)
		require.Empty(t, plain.Header.Get("Content-Encoding"))
		text := bodyOf(t, plain)
		require.NotEmpty(t, text, at)
		if len(text) < 500 || path.Ext(at) == ".woff2" {
			continue
		}
		for _, accepts := range []string{"gzip", "br, gzip;q=0.8", "deflate, GZIP"} {
			zipped := request(t, http.MethodGet, at, "Accept-Encoding", accepts)
			require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"), at)
			require.Equal(t, "Accept-Encoding", zipped.Header.Get("Vary"))
			r, err := gzip.NewReader(zipped.Body)
			require.NoError(t, err)
			whole, err := io.ReadAll(r)
			require.NoError(t, err)
			require.True(t, bytes.Equal(text, whole), at)
		}
		for _, accepts := range []string{"br", "gzip;q=0", "gzip;q=0.0", "xgzip"} {
			require.Empty(t, request(t, http.MethodGet, at, "Accept-Encoding", accepts).Header.Get("Content-Encoding"), accepts)
		}
		head := request(t, http.MethodHead, at, "Accept-Encoding", "gzip")
		require.Equal(t, request(t, http.MethodGet, at, "Accept-Encoding", "gzip").Header.Get("Content-Length"), head.Header.Get("Content-Length"))
		require.Empty(t, bodyOf(t, head))
	}
}

var (
	linked   = regexp.MustCompile(`(?:src|href)="\./([^"]*)"`)
	imported = regexp.MustCompile(`(?:import|from)\s*["']\./([^"']+)["']`)
	styled   = regexp.MustCompile(`url\(([^):]+)\)`)
	linksIn  = map[string]*regexp.Regexp{".js": imported, ".css": styled}
)

// firstLoad lists the files that a browser fetches to show a page: the page, its links, and the
// imports of its scripts and styles.
func firstLoad(t *testing.T, at string) []string {
	t.Helper()
	loads := map[string]bool{at: true}
	var follow func(name string, found [][]string, below string)
	follow = func(name string, found [][]string, below string) {
		for _, link := range found {
			next := path.Join(below, link[1])
			require.NotNil(t, every()[next], "%s loads %s", name, next)
			if !loads[next] {
				loads[next] = true
				if links := linksIn[path.Ext(next)]; links != nil {
					follow(next, links.FindAllStringSubmatch(string(bodyOf(t, request(t, http.MethodGet, next))), -1), path.Dir(next))
				}
			}
		}
	}
	follow(at, linked.FindAllStringSubmatch(string(bodyOf(t, request(t, http.MethodGet, at))), -1), "/")
	return slices.Sorted(maps.Keys(loads))
}

// mostLoaded bounds the first load of a page in bytes, compressed.
const mostLoaded = 300_000

func TestFirstLoadIsSmall(t *testing.T) {
	for _, at := range pages {
		total := 0
		loads := firstLoad(t, at)
		for _, one := range loads {
			total += len(bodyOf(t, request(t, http.MethodGet, one, "Accept-Encoding", "gzip")))
		}
		t.Logf("%s: %d bytes in %d files", at, total, len(loads))
		require.Less(t, total, mostLoaded, at)
		require.Greater(t, len(loads), 2, "script and style")
	}
}

// The policy would break a page with anything inline, and a page loads nothing from elsewhere.
func TestBuiltPagesHaveNothingInline(t *testing.T) {
	for _, at := range pages {
		html := string(bodyOf(t, request(t, http.MethodGet, at)))
		require.NotRegexp(t, `(?i)<style|\sstyle=|\son[a-z]+=|javascript:|<iframe|<base`, html)
		require.NotRegexp(t, `(?:src|href)="(?:https?:)?//`, html)
		for _, tag := range regexp.MustCompile(`<script[^>]*>[^<]*`).FindAllString(html, -1) {
			require.Regexp(t, `src="\./assets/[^"]*">$`, tag)
		}
	}
}

// The console's listener has its own root, which leads to the console, and links to no other page.
func TestConsoleListener(t *testing.T) {
	for at, want := range map[string][]any{"/": {http.StatusFound, "/console"}, "/site.json": {http.StatusOK, ""}} {
		answer := httptest.NewRecorder()
		Console(false)[at].ServeHTTP(answer, httptest.NewRequest(http.MethodGet, at, nil))
		require.Equal(t, want, []any{answer.Code, answer.Header().Get("Location")}, at)
		if at == "/site.json" {
			require.JSONEq(t, `{"console":"console"}`, answer.Body.String())
		}
	}
}

func TestSite(t *testing.T) {
	var site Site
	require.NoError(t, json.Unmarshal(bodyOf(t, request(t, http.MethodGet, "/site.json")), &site))
	require.Equal(t, Site{Keys: "keys", Design: "design", Demo: true}, site)
}

// TestSourcesAndBuild builds the pages and compares them with the committed ones, and runs the
// sources' logic under Node.
func TestSourcesAndBuild(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the pages cannot be built")
	}
	output, err := exec.CommandContext(t.Context(), "../scripts/web.sh", "--check").CombinedOutput()
	require.NoError(t, err, string(output))
	sources, err := filepath.Abs("../build/web/src") // where their packages are found
	require.NoError(t, err)
	output, err = exec.CommandContext(t.Context(), node, "testdata/pages.mjs", "file://"+sources).CombinedOutput()
	require.NoError(t, err, string(output))
}
