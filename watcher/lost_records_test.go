package watcher

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// loseRecords begins an empty database beside the same sign-guard, as a daemon does whose
// database's file is gone.
func (r *rig) loseRecords() {
	r.t.Helper()
	store, err := records.Open(r.t.Context(), records.Config{
		URL: "sqlite:" + filepath.Join(r.t.TempDir(), "records.db"), Now: func() time.Time { return r.now },
	})
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, store.Close()) })
	r.store, r.parts.Store = store, store
	r.update(func(tx *records.Tx) error { return ensureAccounts(tx, r.net) })
	r.restart()
	r.step()
}

// What the sign-guard knows was paid in blocks that the records have not read may be what they owe:
// a withdrawal is decided before its block is final, paid in a block that is, and shows again in an
// empty database, which its payout does not.
func TestLostRecordsPayNothingTwice(t *testing.T) {
	r := setupAt(t, 1, finality)
	for i := range r.net.Tokens {
		r.net.Tokens[i].Policy.WithdrawConfirmations = records.Depth{Count: 1}
	}
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	owner, _ := r.user()
	payee := r.eth.Address("payee")
	in := r.withdraw(owner, payee, 1000)
	r.vite.Mine(1)
	for range 6 {
		r.step()
		r.eth.Mine(1)
	}
	require.Equal(t, records.Paid, r.payment(in).State)

	r.loseRecords()
	r.rest()
	require.Equal(t, records.Queued, r.payment(in).State, "it is seen again")
	require.Equal(t, records.AccountRecovering, r.account("eth", r.net.Hot).State)
	ops := r.operatorRecovery()
	_, err := ops.SettleAll(t.Context(), "vite", r.net.Gateway, 0)
	require.NoError(t, err, "its receive stands in a block that is read")
	done, err := ops.SettleAll(t.Context(), "eth", r.net.Hot, 0)
	require.NoError(t, err)
	require.Empty(t, done)
	require.NoError(t, ops.Resume(t.Context(), "vite", r.net.Gateway, 0), "all that it ever signed is read")
	require.ErrorContains(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), "put a backup of them back")
	s, err := ops.Position(t.Context(), "eth", r.net.Hot)
	require.NoError(t, err)
	why, err := ops.Unread(t.Context(), s)
	require.NoError(t, err)
	require.Contains(t, why, "used 1 numbers since 0, final blocks that we have read show 0")
	r.rest()
	r.requireHolding(r.eth, payee, usdEth, (1000-fee)*100)
}
