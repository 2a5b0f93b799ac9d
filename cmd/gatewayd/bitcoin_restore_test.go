package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/operator"
	"gatewayd/records"
)

// TestCoinsRestored: records that lack deposits, credits and payouts, of which one is still in the
// nodes' pools, are restored beside the newer sign-guard. After the documented recovery the books
// are exact.
func TestCoinsRestored(t *testing.T) {
	t.Parallel()
	w := newCoinRounds(t, 0)
	w.send(t)
	w.awaitAll(t)
	backup := filepath.Join(t.TempDir(), "backup.tar")
	w.command(t, "backup", backup)
	w.send(t)
	w.awaitAll(t)
	signed := w.signed(t)
	w.send(t)
	waitFor(t, "a payout that waits in the pool", func() bool { return w.signed(t) > signed })
	require.NoError(t, w.kill())
	require.Contains(t, w.command(t, "restore", backup, "--replace"), "kept, because it is as new or newer: ")
	require.NoError(t, w.start())
	w.mineUntil(t, "the pool to stop", func() bool { return w.stopped(t)[w.pool(t)] != "" })
	w.mineUntil(t, "the accounts to go on", func() bool {
		stopped := w.stopped(t)
		for address, id := range stopped {
			t.Logf("settle %s: %s", address, w.output(t, "account", "settle", id, address))
		}
		for address, id := range stopped {
			t.Logf("resume %s: %s", address, w.output(t, "account", "resume", id, address))
		}
		return len(stopped) == 0
	})
	w.awaitAll(t)
	w.send(t)
	w.checkBooks(t)
}

// stopped are the chains of the accounts that are stopped, by address.
func (w *bitcoinEnv) stopped(t *testing.T) map[string]string {
	t.Helper()
	var rows []operator.AccountRow
	require.NoError(t, json.Unmarshal([]byte(w.command(t, "account", "list", "--json")), &rows))
	found := map[string]string{}
	for _, r := range rows {
		if r.State != string(records.AccountOK) {
			found[r.Address] = r.Chain
		}
	}
	return found
}
