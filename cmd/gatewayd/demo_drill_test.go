package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/devnet/drill"
)

// TestDrill does all drills, as `make drill` does. What this system does not allow is left out, and said to be.
func TestDrill(t *testing.T) {
	t.Parallel()
	c := exec.CommandContext(t.Context(), "gatewayd", "demo", "drill", "--binary", lookUp(t, "gatewayd"), "--postgres", os.Getenv("GATEWAYD_TEST_POSTGRES"))
	c.Dir = "../.." // where anvil is
	out, err := c.CombinedOutput()
	if strings.Contains(string(out), "starting anvil: it is not installed") {
		t.Skip("anvil is not installed: scripts/npm-install.sh does that")
	}
	require.NoError(t, err, "%s", out)
	for _, d := range drill.Drills() {
		t.Run(d.Name, func(t *testing.T) {
			_, told, found := strings.Cut(string(out), ". "+d.Title+"\n")
			require.True(t, found)
			told, _, _ = strings.Cut(told, "\n\n")
			t.Log(told)
			if _, why, skipped := strings.Cut(told, "left out: "); skipped {
				t.Skip(why)
			}
			require.Contains(t, told, "money moves")
			require.Contains(t, told, string(d.Alert))
		})
	}
	require.Equal(t, 3, strings.Count(string(out), " checks, 0 differences"))
}

func lookUp(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	require.NoError(t, err)
	return path
}

func TestDrillRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "gatewayd", "demo", "drill", "--only", "flood").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "--only flood: there is no such drill")
	require.Contains(t, string(out), "deep-reorg")
}
