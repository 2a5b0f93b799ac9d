package watcher

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
)

// payoutFee is what a payout costs at most on the rig's ledger, in its coin.
const payoutFee = 220

// leaves puts the hot account's coin at an amount.
func (r *rig) leaves(coin uint64) {
	r.t.Helper()
	r.emptyHot()
	r.topUp(units(coin))
	r.run(1)
}

func (r *rig) withdrawCoin(owner string, amount uint64) string {
	return r.order(owner, coin, amount, chain.Memo{Type: 1, Address: r.eth.Address("payee")})
}

// A payout of coin needs its amount and its fee. While there is too little for both, what comes
// behind it and would fit does not overtake it.
func TestCoinPaysItsValueAndItsFee(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.leaves(1000 - fee + payoutFee - 1)
	large := r.withdrawCoin(owner, 1000)
	r.rest()
	require.Equal(t, records.Queued, r.payment(large).State)
	require.Equal(t, records.WaitsNoCoin, r.payment(large).Reason)
	behind := []string{r.withdrawCoin(owner, 200), r.withdraw(owner, r.eth.Address("payee"), 1000)}
	r.rest()
	for _, hash := range behind {
		require.Equal(t, records.Queued, r.payment(hash).State)
	}
	r.topUp(units(stock))
	r.rest()
	for _, hash := range append(behind, large) {
		require.Equal(t, records.Paid, r.payment(hash).State)
	}
	r.requireSound()
}

// What an asset falls short for is not overtaken by what is smaller.
func TestLargePaymentIsNotOvertaken(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.parts.Chains["eth"] = limitedBalance{r.eth, r.net.Hot, usdEth, (1000-fee)*100 - 1}
	r.restart()
	large := r.withdraw(owner, r.eth.Address("payee"), 1000)
	small := r.withdraw(owner, r.eth.Address("payee"), 200)
	r.rest()
	require.Equal(t, []records.PaymentState{records.Queued, records.Queued}, []records.PaymentState{r.payment(large).State, r.payment(small).State})
}

// The coin for a fee is spent once: by what is chosen with it, by what is on its way, and by what
// is bound and not signed.
func TestCoinForFeesIsNotSpentTwice(t *testing.T) {
	for name, meanwhile := range map[string]func(r *rig, first func()){
		"chosen together": func(_ *rig, first func()) { first() },
		"on its way": func(r *rig, first func()) {
			r.eth.Hold(r.net.Hot, true)
			first()
			r.rest()
		},
		"not signed": func(r *rig, first func()) {
			r.parts.Signer = silentSigner{r.parts.Signer}
			r.restart()
			first()
			for range 3*finality + 6 {
				r.eth.Mine(1)
				r.vite.Mine(1)
				_ = r.w.Step(r.t.Context()) // the signer does not answer
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := setup(t)
			owner, _ := r.user()
			r.leaves(2*payoutFee - 1)
			var hash string
			meanwhile(r, func() { hash = r.withdraw(owner, r.eth.Address("payee"), 300) })
			next := r.withdraw(owner, r.eth.Address("payee"), 300)
			for range finality + 2 {
				r.vite.Mine(1)
				_ = r.w.Step(t.Context())
			}
			require.Equal(t, records.Bound, r.payment(hash).State)
			require.Equal(t, records.Queued, r.payment(next).State)
			require.Equal(t, records.WaitsNoCoin, r.payment(next).Reason)
		})
	}
}

var errSilent = errors.New("the signer does not answer")

// silentSigner signs nothing, and refuses nothing.
type silentSigner struct{ orderSigner }

func (silentSigner) Sign(context.Context, chain.ID, ...chain.Order) ([]chain.SignedTx, error) {
	return nil, errSilent
}

// While what is bound first cannot be signed, nothing is bound behind it.
func TestNothingIsBoundBehindWhatCannotBeSigned(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.parts.Signer = silentSigner{r.parts.Signer}
	r.restart()
	payee := r.eth.Address("a contract that changes its mind")
	first := r.withdraw(owner, payee, 300)
	steps := func() {
		for range finality + 2 {
			r.vite.Mine(1)
			_ = r.w.Step(t.Context()) // the signer does not answer
		}
	}
	steps()
	require.Equal(t, records.Bound, r.payment(first).State)
	r.eth.Reject(payee, true)
	next := r.withdraw(owner, r.eth.Address("payee"), 300)
	steps()
	require.Equal(t, records.Queued, r.payment(next).State)
	r.eth.Reject(payee, false)
	r.parts.Signer = signerOf(r.guard, r.eth, r.vite)
	r.restart()
	r.rest()
	require.Equal(t, []records.PaymentState{records.Paid, records.Paid}, []records.PaymentState{r.payment(first).State, r.payment(next).State})
	r.requireSound()
}

// An attempt that no pool has any more is sent again as it is, whatever its price, though its
// account could pay a better one.
func TestForgottenAttemptIsNotReplaced(t *testing.T) {
	r := setup(t)
	r.run(1)
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.vite.Mine(finality + 2)
	r.eth.Lie(chaintest.Always(chaintest.Fake, chaintest.CallBroadcast)) // it says yes and takes nothing
	r.step()
	r.run(20)
	require.Equal(t, records.Bound, r.payment(hash).State)
	require.Len(t, r.attempts(r.payment(hash)), 1)
	r.eth.Lie(chaintest.Honest)
	r.rest()
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireSound()
}

// A withdrawal whose payee refuses goes back only while its channel is open, also when it closes
// while the nodes are asked.
func TestRefusalWhileTheChannelCloses(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	payee := r.eth.Address("a contract that takes nothing")
	r.eth.Reject(payee, true)
	set := func(state string) func() {
		return func() {
			r.update(func(tx *records.Tx) error {
				return records.SetChannel(tx, r.net.Name, usd, records.Withdrawal, state, "a test", "operator:test")
			})
		}
	}
	r.parts.Chains["eth"] = &interrupted{r.eth, set("MAINTAIN")}
	r.restart()
	hash := r.withdraw(owner, payee, 300)
	r.rest()
	require.Equal(t, records.Queued, r.payment(hash).State)
	set("OPEN")()
	r.rest()
	r.requireState(hash, records.Refused, records.ReasonPayeeRefuses)
	r.requireHolding(r.vite, owner, usd, 300)
	r.requireSound()
}
