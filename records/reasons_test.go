package records_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// TestReasons: every constant has its line in the table, and each reason of the table its line in
// the operators' document.
func TestReasons(t *testing.T) {
	source, err := os.ReadFile("reasons.go")
	require.NoError(t, err)
	document, err := os.ReadFile("../docs/operations/held.md")
	require.NoError(t, err)
	defined := regexp.MustCompile(`(?m)^\t((?:Reason|Waits|Held)\w+) +Reason = `).FindAllSubmatch(source, -1)
	require.Len(t, records.AllReasons(), len(defined))
	for _, m := range defined {
		require.Regexp(t, `\{Reason: `+string(m[1])+`,`, string(source))
	}
	for _, info := range records.AllReasons() {
		require.Contains(t, string(document), "`"+string(info.Reason)+"`")
		got, known := records.ReasonOf(info.Reason)
		require.True(t, known)
		require.Equal(t, info, got)
	}
	_, known := records.ReasonOf("bad_luck")
	require.False(t, known)
}
