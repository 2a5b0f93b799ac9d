package watcher

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
	"gatewayd/records/signguard"
)

// exchangedSigner is a signer that a test exchanges under a running watcher.
type exchangedSigner struct{ Signer }

// TestGuardThatForgets: a sign-guard that is exchanged for an older one under a running daemon is
// noticed before anything more is signed, by the accounts that it has forgotten something of.
func TestGuardThatForgets(t *testing.T) {
	r := setup(t)
	s := &exchangedSigner{r.parts.Signer}
	r.parts.Signer = s
	r.restart()
	owner, _ := r.user()
	r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	path := filepath.Join(t.TempDir(), "guard.db")
	older, err := signguard.Open(path)
	require.NoError(t, err)
	require.NoError(t, r.guard.CopyTo(t.Context(), older))
	t.Cleanup(func() { require.NoError(t, older.Close()) })
	_, err = os.Stat(path)
	require.NoError(t, err)

	r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 2*(1000-fee)*100)
	s.Signer = signerOf(older, r.eth, r.vite)
	waits := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	require.Equal(t, records.Queued, r.payment(waits).State)
	require.Equal(t, records.AccountRecovering, r.account("eth", r.net.Hot).State)
	require.Contains(t, r.account("eth", r.net.Hot).Why, "it was replaced by an older one")
	require.Equal(t, records.AccountOK, r.account("eth", r.net.Gas).State)

	ops := r.operatorRecoveryWith(older)
	for _, a := range []records.Account{r.account("vite", r.net.Gateway), r.account("eth", r.net.Hot)} {
		if a.Stopped() {
			require.NoError(t, ops.Resume(t.Context(), a.Chain, a.Account, 0), a.Account)
		}
	}
	r.rest()
	require.Equal(t, records.Paid, r.payment(waits).State)
	r.requireSound()
}
