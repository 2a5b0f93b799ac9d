package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDemoCustody has the demo's thief try thirty-seven ways through the signer's socket with real
// blocks, and shows what holds payments, on each source chain.
func TestDemoCustody(t *testing.T) {
	t.Parallel()
	program := filepath.Join(buildPrograms(t), "gatewaydemo")
	for source, period := range map[string]string{"embedded": "200ms", "geth": "1s"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			out, err := exec.CommandContext(t.Context(), program, "custody", "--source", source, "--period", period).CombinedOutput()
			require.NoError(t, err, string(out))
			for _, line := range []string{
				"shows no transfer", "pays out 12000000 at most", "the signer has no network", "it is for another payment", "fee per gas: ",
				"37 ways tried, no unit lost", "gatewayd approve ", "the limit of a day is 20 USDT-000", "is on the list sanctions", "refunded, all of it", "ok, retired",
				"came before its address or label was issued", "to another user on eth", "has no tokens worth a sweep", "is limited to", "more than 10m0s ago",
				"is retired and makes no payments", "the cold address of tti_", "behind what the limits have counted",
				"No funds left the gateway without a user's transfer.",
			} {
				require.Contains(t, string(out), line)
			}
		})
	}
}
