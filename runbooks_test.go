package gatewayd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	kindOfCondition = regexp.MustCompile(`(?m)^\t\w+\s+Kind = "(\w+)"`)
	errorRow        = regexp.MustCompile("(?m)^- `([^`]+)`[^:]*: .+$")
)

// TestEveryConditionHasARunbook requires one section for each condition under
// docs/operations/alerts.
func TestEveryConditionHasARunbook(t *testing.T) {
	code, err := os.ReadFile("status/kinds.go")
	require.NoError(t, err)
	pages, err := filepath.Glob("docs/operations/alerts/*.md")
	require.NoError(t, err)
	sections := map[string]int{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, section := range strings.Split(string(text), "\n## ")[1:] {
			name, body, _ := strings.Cut(section, "\n")
			require.NotEmpty(t, strings.TrimSpace(body), "%s: %s", page, name)
			sections[name]++
		}
	}
	kinds := kindOfCondition.FindAllSubmatch(code, -1)
	require.NotEmpty(t, kinds)
	for _, kind := range kinds {
		require.Equal(t, 1, sections[string(kind[1])], "sections of %s in docs/operations/alerts", kind[1])
	}
}

// TestTroubleshootingCitesErrors requires every error text of the troubleshooting page in the code.
func TestTroubleshootingCitesErrors(t *testing.T) {
	page, err := os.ReadFile("docs/operations/troubleshooting.md")
	require.NoError(t, err)
	rows := errorRow.FindAllSubmatch(page, -1)
	require.NotEmpty(t, rows)
	var code strings.Builder
	for name, text := range readRepository(t).text {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			code.WriteString(text)
		}
	}
	all := code.String()
	for _, row := range rows {
		if !strings.Contains(all, string(row[1])) {
			t.Errorf("docs/operations/troubleshooting.md: no code has the text %q", row[1])
		}
	}
}

// TestPagesOfOperatorsAreShort bounds the pages under docs/operations, which people read in a
// hurry.
func TestPagesOfOperatorsAreShort(t *testing.T) {
	for _, pattern := range []string{"docs/operations.md", "docs/operations/*.md", "docs/operations/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, pages)
		for _, page := range pages {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			if filepath.Base(page) != "configuration.md" { // generated, to look things up
				require.LessOrEqual(t, len(strings.Fields(string(text))), 1500, page)
			}
		}
	}
}
