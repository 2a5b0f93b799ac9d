package httpserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// TestPagesOfBothAPIs: each operation and each shape of the documents is on its page, and no part
// of it needs a script or another server.
func TestPagesOfBothAPIs(t *testing.T) {
	for path, want := range map[string][]string{
		"../gateway/openapi.yaml":     {"GET /deposit-info", "OPPOSITE_CONFIRMED: final there", "minimumDepositAmount", "bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
		"../exchangeapi/openapi.yaml": {"POST /order", "(signed)", "clientOrderId", "8 Partially Cancelled: the end", "HMAC-SHA-256"},
	} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var doc map[string]any
		require.NoError(t, yaml.Unmarshal(text, &doc))
		encoded, err := json.Marshal(doc)
		require.NoError(t, err)
		h, err := Handler(encoded)
		require.NoError(t, err)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/docs", nil))
		html := answer.Body.String()
		for _, one := range want {
			require.Contains(t, html, one)
		}
		paths, _ := doc["paths"].(map[string]any)
		for path, operations := range paths {
			for method := range operations.(map[string]any) {
				if method != "servers" {
					require.Contains(t, html, "<b>"+strings.ToUpper(method)+" "+path+"</b>")
				}
			}
		}
		components, _ := doc["components"].(map[string]any)
		for name := range components["schemas"].(map[string]any) {
			require.Contains(t, html, `id="schema-`+name+`"`)
		}
		require.NotContains(t, html, "<script")
		require.NotContains(t, html, "ZgotmplZ", "nothing was taken out for its safety")
		policy := answer.Header().Get("Content-Security-Policy")
		require.True(t, strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-"), policy)
		require.NotContains(t, policy, "unsafe")
		require.Less(t, len(html), 120_000)
	}
}

func TestUnreadableDocument(t *testing.T) {
	_, err := Handler([]byte("no document"))
	require.ErrorContains(t, err, "making the page")
}

// TestDescriptionsAreRead: a document's lines and marks are those of its source, not of a page.
func TestDescriptionsAreRead(t *testing.T) {
	require.Equal(t, "<p>A <code>code</code> of\ntwo lines.</p><p>A &lt;b&gt; ` b.</p>", string(prose("A `code` of\ntwo lines.\n\nA <b> ` b.\n")))
}
