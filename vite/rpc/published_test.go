package rpc

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unserved reads the list of docs/node-differences.md of published methods that are not served.
func unserved(t *testing.T) map[string]bool {
	doc, err := os.ReadFile("../../docs/node-differences.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(doc), "### Published methods that are not served")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n#")
	listed := map[string]bool{}
	for _, name := range regexp.MustCompile("`([a-zA-Z]+_[a-zA-Z0-9]+)`").FindAllStringSubmatch(section, -1) {
		listed[name[1]] = true
	}
	return listed
}

// TestPublishedMethods: a method that documents or public clients name is served or listed, and
// none is both.
func TestPublishedMethods(t *testing.T) {
	f, listed := start(t, nil), unserved(t)
	names, err := os.ReadFile("testdata/published-methods.txt")
	require.NoError(t, err)
	published := map[string]bool{}
	for name := range strings.FieldsSeq(string(names)) {
		published[name] = true
		answer := f.invoke(name, `[]`).shown(t)
		require.Equal(t, listed[name], strings.Contains(answer, `"code":-32601`), "%s: %s", name, answer)
	}
	for name := range listed {
		require.True(t, published[name], "%s is listed and not published", name)
	}
}
