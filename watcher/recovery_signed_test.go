package watcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/transfers"
)

// alike orders two withdrawals that only their transfers tell apart, while payouts are stopped.
func (r *rig) alike() (first, second string) {
	r.t.Helper()
	owner := r.paidBefore()
	r.setChannel(records.Withdrawal, "MAINTAIN")
	first = r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(1)
	second = r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 3)
	require.Less(r.t, r.payment(first).ID, r.payment(second).ID)
	return first, second
}

// signedAtTheNext has the payment of a record signed at the hot account's next number and mined,
// and the records know nothing of that: they were restored. Its number is the one that it had
// before.
func (r *rig) signedAtTheNext(claim chain.Claim) (hash string) {
	r.t.Helper()
	verdicts, err := r.parts.Signer.Authorize(r.t.Context(), "eth", claim)
	require.NoError(r.t, err)
	require.Equal(r.t, chain.Authorized, verdicts[0].State)
	slot := chain.Slot{Account: r.net.Hot, Key: "hot", Nonce: r.account("eth", r.net.Hot).Next}
	require.NoError(r.t, r.guard.Allow(r.t.Context(), "eth", signguard.Signature{Slot: slot, Digest: signer.Fingerprint(claim.Payment), PaymentID: claim.Payment.ID}))
	hash = r.eth.SendUnknownTx("hot", claim.Payment.To, claim.Payment.Asset, claim.Payment.Amount)
	r.run(finality + 3)
	require.Equal(r.t, records.AccountHalted, r.account("eth", r.net.Hot).State)
	return hash
}

// TestSettlesWhatWasSigned: of payments alike, that one is paid which the sign-guard has signed
// for, whatever number the records give it now. The other still waits.
func TestSettlesWhatWasSigned(t *testing.T) {
	r := setup(t)
	first, second := r.alike()
	was := transfers.ClaimOf(r.payment(second), r.transfer(second))
	was.Payment.ID = 1000
	hash := r.signedAtTheNext(was)
	ops := r.operatorRecovery()
	f := r.unknownTx(ops, "eth", r.net.Hot)
	require.Len(t, f.Pays, 1)
	require.Equal(t, r.payment(second).ID, f.Pays[0].ID)
	require.Contains(t, f.Signed, r.transfer(second).Ref)
	require.ErrorIs(t, ops.Settle(t.Context(), r.transfer(first).ID, hash), transfers.ErrNothingToDo)
	done, err := ops.SettleAll(t.Context(), "eth", r.net.Hot, 0)
	require.NoError(t, err)
	require.Len(t, done, 1)
	require.Equal(t, []any{r.payment(second).ID, hash, true}, []any{done[0].Payment, done[0].Tx, done[0].Signed})
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
	r.setChannel(records.Withdrawal, "OPEN")
	r.rest()
	require.Equal(t, []any{records.Paid, records.Paid, hash}, []any{r.payment(first).State, r.payment(second).State, r.payment(second).Tx})
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 2*(1000-fee)*100)
	r.requireSound()
}

// TestSettlesNobodyElses: what was signed for a transfer whose payment does not wait here settles
// no payment alike of another transfer.
func TestSettlesNobodyElses(t *testing.T) {
	r := setup(t)
	first, second := r.alike()
	claim := transfers.ClaimOf(r.payment(second), r.transfer(second))
	claim.Cause.Ref = "a transfer that these records do not have"
	hash := r.signedAtTheNext(claim)
	ops := r.operatorRecovery()
	f := r.unknownTx(ops, "eth", r.net.Hot)
	require.Empty(t, f.Pays)
	done, err := ops.SettleAll(t.Context(), "eth", r.net.Hot, 0)
	require.NoError(t, err)
	require.Empty(t, done)
	require.ErrorIs(t, ops.Settle(t.Context(), r.transfer(first).ID, hash), transfers.ErrNothingToDo)
	require.ErrorContains(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0), "a transfer that these records do not have")
	require.NoError(t, ops.Accept(t.Context(), "eth", r.net.Hot, hash, "looked at", 0))
	require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
}

// TestSettlesTheOldestAlike: where the sign-guard does not tell, payments alike are the same to
// their payee, and the answer says that one was chosen.
func TestSettlesTheOldestAlike(t *testing.T) {
	r := setup(t)
	first, second := r.alike()
	hash := r.strangerPays(r.eth.Address("payee"), (1000-fee)*100)
	done, err := r.operatorRecovery().SettleAll(t.Context(), "eth", r.net.Hot, 0)
	require.NoError(t, err)
	require.Len(t, done, 1)
	require.Equal(t, []any{r.payment(first).ID, hash, false}, []any{done[0].Payment, done[0].Tx, done[0].Signed})
	require.Equal(t, records.Queued, r.payment(second).State)
}
