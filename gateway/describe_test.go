package gateway

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// Every route is described and everything described is routed, on every base path.
func TestDescriptionFitsRoutes(t *testing.T) {
	r := setup(t)
	doc, err := openapi3.NewLoader().LoadFromData([]byte(r.get("/openapi.json").body))
	require.NoError(t, err)
	var described, routed []string
	for path, item := range doc.Paths.Map() {
		require.Equal(t, []string{http.MethodGet}, methodsOf(item), path)
		servers := doc.Servers
		if len(item.Servers) > 0 {
			servers = item.Servers
		}
		for _, s := range servers {
			described = append(described, strings.TrimSuffix(s.URL, "/")+path)
		}
	}
	for _, route := range r.server.echo.Routes() {
		if route.Method == http.MethodGet {
			routed = append(routed, route.Path)
		}
	}
	slices.Sort(described)
	slices.Sort(routed)
	require.Equal(t, routed, described)
	require.Len(t, routed, 2*7+5)
}

func methodsOf(item *openapi3.PathItem) (methods []string) {
	for m := range item.Operations() {
		methods = append(methods, m)
	}
	return methods
}

// The tables of docs/gateway-api.md are the code's.
func TestDocumentListsTheFaults(t *testing.T) {
	text, err := os.ReadFile("../docs/gateway-api.md")
	require.NoError(t, err)
	words, err := loadCatalogue()
	require.NoError(t, err)
	rows := map[int]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d{4}) \| (\d) \| (\d{3}) \| (.*?) \|`).FindAllStringSubmatch(string(text), -1) {
		subCode, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		rows[subCode] = strings.Join(row[2:5], "|")
	}
	want := map[int]string{}
	for f, key := range faultTexts {
		want[int(f)] = fmt.Sprintf("%d|%d|%s", f.code(), f.status(), words.text(english, key))
	}
	require.Equal(t, want, rows)
	doc, err := openapi3.NewLoader().LoadFromData(openapi)
	require.NoError(t, err)
	explained, _ := doc.Extensions["x-error-codes"].(map[string]any)
	for f := range faultTexts {
		require.Contains(t, explained, strconv.Itoa(int(f)))
	}
	require.Len(t, explained, len(faultTexts))
	for path := range endpoints() {
		require.Contains(t, string(text), "`"+path+"`")
	}
}
