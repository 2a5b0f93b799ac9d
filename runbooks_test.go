package gatewayd_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var kindOfCondition = regexp.MustCompile(`(?m)^\t\w+\s+Kind = "(\w+)"`)

// TestEveryConditionHasARunbook: an operator alerted by a condition finds a row with instructions.
func TestEveryConditionHasARunbook(t *testing.T) {
	code, err := os.ReadFile("operator/status/status.go")
	require.NoError(t, err)
	page, err := os.ReadFile("docs/operations.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(page), "\n## Runbooks\n")
	require.True(t, found)
	runbooks, _, _ := strings.Cut(after, "\n## ")
	kinds := kindOfCondition.FindAllSubmatch(code, -1)
	require.NotEmpty(t, kinds)
	for _, kind := range kinds {
		row := regexp.MustCompile("(?m)^\\| `" + string(kind[1]) + "`[^|]*\\| [^|]+ \\| [^|]+ \\|")
		if !row.MatchString(runbooks) {
			t.Errorf("docs/operations.md has no row for %s in \"Runbooks\" that says what it means and what to do", kind[1])
		}
	}
}
