package daemon

import (
	"maps"
	"testing"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/records"
)

// Payments without a record are named by number and address.
func TestHeldPaymentsAreNamed(t *testing.T) {
	require.Equal(t, "record 17", nameOf(records.Payment{ID: 81, TransferID: 17, Purpose: chain.Refund}))
	moved := records.Payment{ID: 81, Chain: "eth", Account: "0xA", Payee: "0xB", Asset: "native", Purpose: chain.Sweep}
	require.Equal(t, "payment 81, the sweep of native for 0xA on eth", nameOf(moved))
	moved.Purpose = chain.Gas
	require.Equal(t, "payment 81, the gas of native for 0xB on eth", nameOf(moved))
}

// TestPolicyDifferencesAreLoggedOnce: each difference between the signer's configuration and the
// daemon's is a line of the log, and its end another one.
func TestPolicyDifferencesAreLoggedOnce(t *testing.T) {
	cfg, err := config.Load("../config/testdata/short/config.yaml")
	require.NoError(t, err)
	log, hook := logtest.NewNullLogger()
	d := &Daemon{log: log, deps: Dependencies{Operators: &Operators{cfg: cfg}}}
	own, err := cfg.Policy()
	require.NoError(t, err)
	other := maps.Clone(own)
	other["network eth"] = "another hash"
	delete(other, "chain bsc")
	compare := func(signers config.Policy) (lines []string) {
		hook.Reset()
		require.NoError(t, d.comparePolicy(signers))
		for _, e := range hook.AllEntries() {
			lines = append(lines, e.Message)
		}
		return lines
	}
	require.Empty(t, compare(nil), "a signer of an older version")
	require.Empty(t, compare(own))
	require.Equal(t, []string{"the signer's configuration differs from the daemon's in chain bsc, network eth"}, compare(other))
	require.Empty(t, compare(other))
	require.Equal(t, []string{"the signer's policy is the daemon's again"}, compare(own))
}
