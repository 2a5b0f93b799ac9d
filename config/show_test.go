package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShowIsEffectiveAndHidesSecrets: the shown file loads again to the same configuration, apart
// from what may be secret in URLs.
func TestShowIsEffectiveAndHidesSecrets(t *testing.T) {
	c := liveConfig()
	text, err := c.Show()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "shown.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	again, err := Load(path)
	require.NoError(t, err, string(text))
	require.Equal(t, print(t, c), print(t, again))

	c.Ethereum[0].Nodes = []string{"https://mainnet.example/v3/KEY", "wss://user:KEY@b.example", "http://c.example:8545"}
	c.Database.URL = "postgres://gatewayd:KEY@db.example/gateway?sslpassword=KEY"
	text, err = c.Show()
	require.NoError(t, err)
	require.NotContains(t, string(text), "KEY")
	for _, shown := range []string{
		"https://mainnet.example/...", "wss://b.example/...", "http://c.example:8545\n", "postgres://gatewayd@db.example/gateway\n", "https://etherscan.io/tx/{$tx}",
	} {
		require.Contains(t, string(text), shown)
	}
}

// TestChangesHideSecrets: a reload's report goes to the log and to clients of the records.
func TestChangesHideSecrets(t *testing.T) {
	was, now := liveConfig(), liveConfig()
	now.Ethereum[0].Nodes = []string{"https://mainnet.example/v3/KEY"}
	changes, err := Changes(was, now)
	require.NoError(t, err)
	require.Equal(t, []Change{{"ethereum.eth.nodes", "[http://a]", "[https://mainnet.example/...]"}}, changes)
}
