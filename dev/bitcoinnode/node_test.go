package bitcoinnode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that is not installed is named, with the command that installs it.
func TestMissingPrograms(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"PATH", "GATEWAYD_BTCD", "GATEWAYD_LITECOIND"} {
		t.Setenv(name, "")
	}
	_, err := Start(t.Context(), Config{Kind: Btcd})
	require.ErrorContains(t, err, "starting btcd: it is not installed: `scripts/go-tool.sh btcd` does that")
	_, err = Start(t.Context(), Config{Kind: Litecoind})
	require.ErrorContains(t, err, "starting litecoind: it is not installed: `scripts/litecoind.sh` does that")
}
