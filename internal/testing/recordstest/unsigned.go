package recordstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// testUnsigned: people may approve what is bound as long as nothing is signed for it. A number of
// it is cancelled, or left by a new line.
func testUnsigned(t *testing.T, url string) {
	r := newRig(t, url)
	approve := func(payment uint64) error {
		return r.Try(func(tx *records.Tx) error {
			return tx.Payments().Approve(payment, chain.Approval{Key: "ann", Expires: r.Now().Add(time.Hour).Unix(), Nonce: "nonce", Signature: "signature"})
		})
	}
	cancel := func(s records.Slot) error {
		return r.Try(func(tx *records.Tx) error { return tx.Slots().OrderCancel(s, "test") })
	}
	leave := func(s records.Slot) error {
		return r.Try(func(tx *records.Tx) error { return tx.Slots().ForkUnsigned(s, "test") })
	}
	_, signed := r.Owe(records.Withdrawal, 500)
	_, unsigned := r.Owe(records.Withdrawal, 600)
	first, second := r.Bind(signed), r.Bind(unsigned)
	r.Sign(first, records.AttemptPay)
	require.ErrorIs(t, approve(signed), records.ErrConflict)
	require.NoError(t, approve(unsigned))
	require.ErrorIs(t, cancel(first), records.ErrConflict, "it is signed")
	require.NoError(t, cancel(second))
	require.ErrorIs(t, cancel(second), records.ErrConflict, "it is ordered")
	require.Equal(t, []any{records.Bound, records.Reason(records.Cancelling)}, []any{r.Payment(unsigned).State, r.Payment(unsigned).Reason})
	require.ErrorIs(t, approve(unsigned), records.ErrConflict, "it pays there no more")
	require.ErrorIs(t, leave(second), records.ErrConflict, "nonces have no lines")

	_, credit := r.Owe(records.Deposit, 500)
	_, next := r.Owe(records.Deposit, 600)
	held, behind := r.Bind(credit), r.Bind(next)
	require.ErrorIs(t, cancel(held), records.ErrConflict, "an unsigned block uses up nothing")
	require.ErrorIs(t, leave(behind), records.ErrConflict, "another waits before it")
	require.NoError(t, leave(held))
	require.Equal(t, []records.PaymentState{records.Queued, records.Queued}, states(r, credit, next))
	again := r.Bind(next)
	require.Equal(t, held.Nonce, again.Nonce)
	r.Sign(again, records.AttemptPay)
	require.ErrorIs(t, leave(again), records.ErrConflict, "it is signed")
}
