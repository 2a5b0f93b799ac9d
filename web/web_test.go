package web

import (
	"io"
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

func ask(t *testing.T, target string) *http.Response {
	t.Helper()
	asked := httptest.NewRequest(http.MethodGet, target, nil)
	h := Keys()[path.Clean(asked.URL.Path)]
	require.NotNil(t, h, target)
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, asked)
	return answer.Result()
}

func text(t *testing.T, target string) string {
	t.Helper()
	body, err := io.ReadAll(ask(t, target).Body)
	require.NoError(t, err)
	return string(body)
}

func TestHeaders(t *testing.T) {
	for target, mime := range map[string]string{
		"/keys": "text/html; charset=utf-8", "/keys/keys.js": "text/javascript; charset=utf-8", "/keys/keys.css": "text/css; charset=utf-8",
		"/keys/keys.svg": "image/svg+xml",
	} {
		answer := ask(t, target)
		require.Equal(t, 200, answer.StatusCode)
		require.Equal(t, mime, answer.Header.Get("Content-Type"))
		require.Equal(t, []string{"nosniff", "DENY", "no-referrer", "no-store"}, []string{
			answer.Header.Get("X-Content-Type-Options"), answer.Header.Get("X-Frame-Options"), answer.Header.Get("Referrer-Policy"),
			answer.Header.Get("Cache-Control"),
		})
		csp := strings.Split(answer.Header.Get("Content-Security-Policy"), "; ")
		for _, rule := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			require.Contains(t, csp, rule)
		}
		require.NotContains(t, answer.Header.Get("Content-Security-Policy"), "unsafe")
	}
}

// A slash behind would make the page's links point elsewhere.
func TestSlashBehind(t *testing.T) {
	for target, want := range map[string]string{"/keys/": "../keys", "/keys/?a=/": "../keys", "/keys/keys.js/": "../keys.js"} {
		answer := ask(t, target)
		require.Equal(t, []any{308, want}, []any{answer.StatusCode, answer.Header.Get("Location")}, target)
	}
	require.Equal(t, 200, ask(t, "/keys?a=b/").StatusCode)
}

// The policy would break a page with anything inline, and the page loads nothing from elsewhere.
func TestNothingInlineNothingForeign(t *testing.T) {
	html := text(t, "/keys")
	require.NotRegexp(t, `(?i)<style|\sstyle=|\son[a-z]+=|javascript:|<iframe|<base`, html)
	for _, tag := range regexp.MustCompile(`<script[^>]*>`).FindAllString(html, -1) {
		require.Contains(t, tag, `src="keys/`)
	}
	for _, link := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		require.NotNil(t, Keys()["/"+link[1]], link[1])
	}
	for _, file := range []string{html, text(t, "/keys/keys.css"), text(t, "/keys/keys.js"), strings.ReplaceAll(text(t, "/keys/keys.svg"), "http://www.w3.org/2000/svg", "")} {
		require.NotContains(t, file, "//fonts")
		require.NotRegexp(t, `https?://`, file)
		require.NotRegexp(t, `innerHTML|document\.write|eval\(|localStorage|sessionStorage|document\.cookie`, file)
	}
}

func found(t *testing.T, pattern, text string) (list []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	require.NotEmpty(t, list, pattern)
	return list
}

// What the script asks for is there, each once, and whoever cannot see the page hears what each field is.
func TestElements(t *testing.T) {
	html, script := text(t, "/keys"), text(t, "/keys/keys.js")
	ids := found(t, `\sid="([^"]+)"`, html)
	slices.Sort(ids)
	require.Len(t, slices.Compact(slices.Clone(ids)), len(ids), "an id twice")
	wanted := append(found(t, `(?:at|say|during)\("([a-z-]+)"`, script), "copy-agent", "copy-text", "copy-command", "copy-key", "copy-secret")
	wanted = append(wanted, found(t, `(?:for|aria-labelledby|aria-describedby)="([^"]+)"`, html)...)
	for _, id := range wanted {
		if id != "copy-" {
			require.Contains(t, ids, id)
		}
	}
	labelled := found(t, `<label for="([^"]+)"`, html)
	for _, field := range found(t, `<(?:input|textarea)[^>]*id="([^"]+)"`, html) {
		require.Contains(t, labelled, field)
	}
	require.Contains(t, html, `<html lang="en">`)
	require.Contains(t, html, `name="viewport"`)
	require.Contains(t, text(t, "/keys/keys.css"), "prefers-color-scheme: dark")
}

// TestDecisions runs the script's functions under Node.
func TestDecisions(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the page's script cannot run")
	}
	module, err := filepath.Abs("keys/keys.js")
	require.NoError(t, err)
	output, err := exec.CommandContext(t.Context(), node, "testdata/keys.mjs", "file://"+module).CombinedOutput()
	require.NoError(t, err, string(output))
}
