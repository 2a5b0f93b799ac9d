package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
)

// TestDevDepth makes a deposit and a withdrawal in an environment with a given depth: users see it,
// and nothing is paid before.
func TestDevDepth(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.Confirmations, o.Finality = 12, 9 })
	require.EqualValues(t, 12, r.Info.Confirmations)
	require.EqualValues(t, 9, r.Info.Finality)
	u := r.newUser(t, "USDT")
	in := u.mustDeposit(t, u.Times(50))
	require.Equal(t, 9, in.InTxConfirmationCount)
	credit := u.block(t, in.OutTxHash)
	require.GreaterOrEqual(t, credit.Confirmations, uint64(12), "it is final when the record says so")
	require.NoError(t, u.Collect(t.Context(), u.Times(50)))

	to, sent := u.withdrawToPayee(t, u.Times(5))
	waitFor(t, "the payout's transaction", func() bool {
		shown, ok, err := u.Gateway.Record(t.Context(), "/withdraw-records", u.Token.Token, u.Vite.Address().String(), sent)
		require.NoError(t, err)
		return ok && shown.OutTxHash != ""
	})
	require.GreaterOrEqual(t, u.block(t, sent).Confirmations, uint64(12), "nothing is signed for a send that is not final")
	require.Equal(t, 12, u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED").InTxConfirmationCount)
	u.requirePaid(t, to, u.Times(5))
}
