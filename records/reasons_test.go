package records_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// TestReasons: operators can filter by every reason that there is.
func TestReasons(t *testing.T) {
	source, err := os.ReadFile("model.go")
	require.NoError(t, err)
	var defined []string
	for _, m := range regexp.MustCompile(`(?m)^\tReason\w+ += "(\w+)"`).FindAllSubmatch(source, -1) {
		defined = append(defined, string(m[1]))
	}
	require.NotEmpty(t, defined)
	require.ElementsMatch(t, defined, records.Reasons())
}
