package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFaultsInTheFilesTerms: who reads them knows YAML and the example, not Go's types, and finds
// the place.
func TestFaultsInTheFilesTerms(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../config.example.yaml")
	require.NoError(t, err)
	for _, c := range []struct{ old, wrong, says string }{
		{"chain_id: 1\n", "chain_id: one\n", "] must be an integer\n"},
		{"poll: 1s", "poll: 1", "] must be a time with its unit, such as 30s\n"},
		{"on_demand: false", "on_demand: maybe", "] must be true or false\n"},
		{"level: info", "level: [a]", "] must be a text\n"},
		{"max_unmined: 16", "max_unmined: 99999999999999999999", "] a number out of range\n"},
		{`min_deposit: "5000000"`, `min_deposit: "5.5"`, `: min_deposit "5.5": not an amount: decimal digits only`},
		{`min: "1000000", max`, `min: "1e6", max`, `: min "1e6": not an amount: decimal digits only`},
		{`min_refund: "100000000000000"`, `min_refund: "-1"`, `: min_refund "-1": not an amount: decimal digits only`},
		{"level: info", "level: loud", `log: level "loud": must be error, warn, info or debug`},
		{"url: sqlite:data/gatewayd.db", "url: mysql://db/gatewayd", "database: records url: must be sqlite:PATH or a postgres:// address"},
		{"max_age: 1h", "max_age: -1h", "exchange: rates: max_age must be above zero"},
	} {
		require.Contains(t, string(example), c.old)
		path := filepath.Join(t.TempDir(), "config.yaml")
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(example), c.old, c.wrong, 1)), 0o600))
		_, err := Load(path)
		require.ErrorContains(t, err, c.says, c.wrong)
		require.NotContains(t, err.Error(), "unmarshal")
	}
}
