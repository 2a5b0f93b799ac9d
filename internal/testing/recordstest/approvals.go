package recordstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// testApprovals: an approver approves a payment that waits, once as long as that counts.
func testApprovals(t *testing.T, url string) {
	r := newRig(t, url)
	_, id := r.Owe(records.Deposit, 500)
	_, other := r.Owe(records.Deposit, 600)
	approve := func(payment uint64, key string, until time.Duration) error {
		return r.Try(func(tx *records.Tx) error {
			return tx.Payments().Approve(payment, chain.Approval{Key: key, Expires: r.Now().Add(until).Unix(), Nonce: "nonce", Signature: "signature"})
		})
	}
	require.NoError(t, approve(id, "ben", time.Hour))
	require.NoError(t, approve(id, "ann", 2*time.Hour))
	require.NoError(t, approve(other, "ann", time.Hour))
	byPasskey := chain.Approval{Key: "carl", Expires: r.Now().Add(time.Minute).Unix(), Nonce: "nonce", Signature: "signature", AuthenticatorData: "data", ClientData: "client"}
	r.Do(func(tx *records.Tx) error { return tx.Payments().Approve(other, byPasskey) })
	require.ErrorIs(t, approve(id, "ann", time.Hour), records.ErrConflict)
	require.ErrorIs(t, approve(99, "ann", time.Hour), records.ErrNotFound)
	r.See(func(tx *records.Tx) error {
		got, err := tx.Payments().Approvals([]uint64{id, other, 99})
		require.Len(t, got, 2)
		require.Equal(t, chain.Approval{Key: "ann", Expires: r.Now().Add(2 * time.Hour).Unix(), Nonce: "nonce", Signature: "signature"}, got[id][0])
		require.Equal(t, "ben", got[id][1].Key)
		require.Equal(t, byPasskey, got[other][1])
		return err
	})
	r.Pass(90 * time.Minute)
	require.ErrorIs(t, approve(id, "ann", time.Hour), records.ErrConflict)
	require.NoError(t, approve(id, "ben", time.Hour), "after it has ended")
	for i := range 14 {
		require.NoError(t, approve(id, fmt.Sprint("approver", i), time.Hour))
	}
	require.ErrorIs(t, approve(id, "one too many", time.Hour), records.ErrConflict)
	r.Bind(id)
	require.ErrorIs(t, approve(id, "carl", time.Hour), records.ErrConflict, "it waits no more")
}

// testReports: the last word counts.
func testReports(t *testing.T, url string) {
	r := newRig(t, url)
	var got map[string]int
	r.See(func(tx *records.Tx) error {
		_, ever, err := records.ReadReport(tx, "limits", &got)
		require.False(t, ever)
		return err
	})
	for i := range 2 {
		r.Pass(time.Minute)
		r.Do(func(tx *records.Tx) error { return records.NoteReport(tx, "limits", map[string]int{"used": i}) })
	}
	r.See(func(tx *records.Tx) error {
		at, ever, err := records.ReadReport(tx, "limits", &got)
		require.True(t, ever)
		require.Equal(t, r.Now(), at.UTC())
		require.Equal(t, map[string]int{"used": 1}, got)
		return err
	})
}

// testEarlier: payouts to a payee that were paid on the chain count. Waiting ones and deposits do
// not.
func testEarlier(t *testing.T, url string) {
	r := newRig(t, url)
	earlier := func(id chain.ID, payee string) (e records.Earlier) {
		r.See(func(tx *records.Tx) (err error) { e, err = tx.Payments().Earlier(id, payee); return err })
		return e
	}
	waiting, _ := r.Owe(records.Withdrawal, 500)
	require.Zero(t, earlier(Source, waiting.Payee))
	_, one := r.Owe(records.Withdrawal, 600)
	r.Pay(one)
	_, deposit := r.Owe(records.Deposit, 700)
	r.Pay(deposit)
	require.Equal(t, records.Earlier{Count: 1, Last: r.Payment(one).ChangedAt}, earlier(Source, waiting.Payee))
	require.Zero(t, earlier(Exchange, waiting.Payee))
	require.Zero(t, earlier(Source, ""))
}
