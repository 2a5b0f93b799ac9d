package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/status"
)

// TestTheftBeforeTheFirstPayment: coin leaves a gateway that has never paid, sent with the hot
// account's key. The account stops, every surface shows it, and an operator's order resumes it.
func TestTheftBeforeTheFirstPayment(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, nil)
	waitFor(t, "accounts at rest", func() bool { return w.accountState(t, w.hot(t)) == string(records.AccountOK) })
	w.steal(t, ether(50))
	waitFor(t, "the transaction to be final", func() bool {
		out, _ := w.runCommand(t, "account", "list")
		return strings.Contains(out, "was not signed by this daemon")
	})
	w.checkSurfaces(t, cell{
		kind: status.AccountStopped, chain: "eth", deposit: records.ChannelOpen, withdraw: records.ChannelMaintain,
		names: "was not signed by this daemon", stopsAccount: true,
	})
	out, ok := w.runCommand(t, "account", "resume", "eth", w.hot(t))
	require.False(t, ok, out)
	var detail operator.AccountDetail
	require.NoError(t, json.Unmarshal([]byte(w.mustCommand(t, "account", "show", "eth", w.hot(t), "--json")), &detail))
	require.Len(t, detail.UnknownTxs, 1)
	waitFor(t, "the word is taken", func() bool {
		_, ok := w.runCommand(t, "account", "resume", "eth", w.hot(t), "--accept", detail.UnknownTxs[0].Hash, "--why", "moved by hand")
		return ok
	})
	w.waitUntilWell(t)
	payee, sent := w.user.withdrawToPayee(t, units(w.user.Token, 5000))
	w.user.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	w.user.requirePaid(t, payee, units(w.user.Token, 5000))
}

// accountState is an account's state in `account list`.
func (w *faultyEnv) accountState(t *testing.T, address string) string {
	t.Helper()
	var rows []operator.AccountRow
	require.NoError(t, json.Unmarshal([]byte(w.mustCommand(t, "account", "list", "--json")), &rows))
	for _, a := range rows {
		if a.Address == address {
			return a.State
		}
	}
	return ""
}
