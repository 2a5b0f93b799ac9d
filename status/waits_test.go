package status

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// TestWaitsAreLate reports payments that the signer cannot judge or that a silent asset delays, in
// both directions; they close no channel.
func TestWaitsAreLate(t *testing.T) {
	r := recordstest.NewRig(t)
	n := records.Network{Name: recordstest.Network, Source: recordstest.Source, Exchange: recordstest.Exchange}
	for id, d := range map[chain.ID]records.Direction{n.Source: records.Withdrawal, n.Exchange: records.Deposit} {
		_, payment := r.Owe(d, 500)
		var found []Condition
		see := func() {
			r.See(func(tx *records.Tx) (err error) { found, err = waiting(tx, n, id); return err })
		}
		see()
		require.Empty(t, found)
		for reason, says := range map[records.Reason]string{records.WaitsSigner: "wait for the signer", records.WaitsAsset: "the nodes do not report", records.WaitsTokenLimit: "refuses their amounts"} {
			require.NoError(t, r.Try(func(tx *records.Tx) error { return tx.Payments().NoteWaiting(payment, reason) }))
			see()
			require.Len(t, found, 1)
			require.Equal(t, []any{PaymentsLate, id, d, false}, []any{found[0].Kind, found[0].Chain, found[0].Direction, found[0].Stops})
			require.Contains(t, found[0].Detail, says)
		}
	}
}

// TestLatePayouts: half an hour without a block is late, but not on a ledger of coins.
func TestLatePayouts(t *testing.T) {
	r := recordstest.NewRig(t)
	r.Owe(records.Withdrawal, 500)
	n := records.Network{Name: recordstest.Network, Source: recordstest.Source, Exchange: recordstest.Exchange}
	coins := n
	coins.NoSenders = true
	of := func(n records.Network) (found []Condition) {
		r.See(func(tx *records.Tx) (err error) { found, err = late(tx, []records.Network{n}); return err })
		return found
	}
	r.Pass(lateAfter)
	require.Len(t, of(n), 1)
	require.Empty(t, of(coins))
	r.Pass(lateMined - lateAfter)
	require.Equal(t, PaymentsLate, of(coins)[0].Kind)
}
