package exchangeapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// Every route is described and everything described is routed, on every base path.
func TestDescriptionFitsRoutes(t *testing.T) {
	w := setup(t)
	response, err := w.client.Get(w.url + "/openapi.json")
	require.NoError(t, err)
	defer response.Body.Close()
	doc, err := openapi3.NewLoader().LoadFromIoReader(response.Body)
	require.NoError(t, err)
	described := []string{"GET /test/openapi.json", "GET /test/openapi-3.0.json"} // for the pages of the network
	var routed []string
	for path, item := range doc.Paths.Map() {
		servers := doc.Servers
		if len(item.Servers) > 0 {
			servers = item.Servers
		}
		for method := range item.Operations() {
			for _, s := range servers {
				described = append(described, method+" "+strings.TrimSuffix(s.URL, "/")+path)
			}
		}
	}
	for _, route := range w.server.echo.Routes() {
		if route.Method != http.MethodHead {
			routed = append(routed, route.Method+" "+route.Path)
		}
	}
	slices.Sort(described)
	slices.Sort(routed)
	require.Equal(t, routed, described)
	n := &network{}
	require.Len(t, routed, 2*(len(n.public())+len(n.private())+len(n.proving()))+4+2)
}

// Every code is explained.
func TestDescriptionExplainsTheCodes(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi)
	require.NoError(t, err)
	explained, _ := doc.Extensions["x-error-codes"].(map[string]any)
	for _, c := range []code{codeGeneral, codeFrequent, codeParameter, codeNetwork, codeFailed, codeService, codeMinimum, codeFunds} {
		require.Contains(t, explained, strconv.Itoa(int(c)))
	}
	require.Len(t, explained, 8)
}
