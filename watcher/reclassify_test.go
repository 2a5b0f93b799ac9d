package watcher

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// reclassify orders a record to be decided again.
func (r *rig) reclassify(hash string) error {
	id := r.transfer(hash).ID
	return r.store.Update(r.t.Context(), func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderReclassify, transfers.Order{Record: id, Why: "configured since"})
	})
}

// TestReclassify: what is held as a stranger's becomes what it would be today, once, and the books
// stay whole.
func TestReclassify(t *testing.T) {
	r := setup(t)
	whole := r.net
	fewer := r.net
	fewer.Tokens = slices.Clone(fewer.Tokens[:1])
	r.w.Reconfigure([]records.Network{fewer})
	payee := r.eth.Address("payee")
	owner, label := r.labelled()
	memo := chain.Memo{Type: -1, Label: label}
	send := func(from string, amount uint64, memo chain.Memo) string {
		return r.eth.Deposit(r.eth.Address(from), r.net.Shared, chain.Native, units(amount), memo)
	}
	order := func(amount uint64, memo chain.Memo) string { return r.order(owner, coin, amount, memo) }
	stray := r.eth.Deposit(r.eth.Address("new treasury"), r.net.Hot, usdEth, units(50_000), chain.Memo{Type: -1})
	r.vite.Endow(owner, coin, units(10_000))
	deposit, small, unlabelled := send("x", 1000, memo), send("x", minimum-1, memo), send("x", 1000, chain.Memo{Type: -1})
	paid := order(1000, chain.Memo{Type: 1, Address: payee, Label: "7"})
	wrong := order(2000, chain.Memo{Type: 0, Address: "nowhere"})
	everything := []string{stray, deposit, small, unlabelled, paid, wrong}
	r.rest()
	for _, hash := range everything {
		require.Equal(t, records.Held, r.transfer(hash).State)
		require.ErrorIs(t, r.reclassify(hash), transfers.ErrNothingToDo, "nothing has changed")
	}

	whole.Funders = append(slices.Clone(whole.Funders), r.eth.Address("new treasury"))
	r.w.Reconfigure([]records.Network{whole})
	for _, hash := range everything {
		if hash == unlabelled {
			require.ErrorIs(t, r.reclassify(hash), transfers.ErrNothingToDo)
			continue
		}
		require.NoError(t, r.reclassify(hash))
		require.ErrorIs(t, r.reclassify(hash), transfers.ErrNothingToDo, "twice")
	}
	r.rest()
	r.requireState(stray, records.Final, records.ReasonOperator)
	require.Equal(t, records.Funding, r.transfer(stray).Direction)
	require.Empty(t, r.payments(stray))
	r.requireState(deposit, records.Final, records.ReasonOperator)
	require.Equal(t, records.Paid, r.payment(deposit).State)
	r.requireState(small, records.Refused, records.ReasonBelowMinimum)
	r.requireState(paid, records.Final, records.ReasonOperator)
	require.Equal(t, []any{chain.Credit, records.Paid}, []any{r.payment(paid).Purpose, r.payment(paid).State})
	r.requireHolding(r.eth, payee, chain.Native, 1000-fee)
	r.requireState(wrong, records.Refused, records.ReasonWrongComment)
	require.Equal(t, []any{chain.Refund, records.Paid}, []any{r.payment(wrong).Purpose, r.payment(wrong).State})
	r.requireState(unlabelled, records.Held, records.ReasonUnknownLabel)
	r.requireSound()
}

// TestReclassifyWhatLeftTheConfiguration: a transfer whose token was taken out before it was final
// goes on when the token is back, by its own policy.
func TestReclassifyWhatLeftTheConfiguration(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	hash := r.deposit(address, minimum*100)
	r.run(1)
	none := r.net
	none.Tokens = nil
	r.w.Reconfigure([]records.Network{none})
	r.rest()
	r.requireState(hash, records.Held, records.ReasonUnknownToken)
	require.ErrorIs(t, r.reclassify(hash), transfers.ErrNothingToDo)
	dearer := r.net
	dearer.Tokens = slices.Clone(dearer.Tokens)
	dearer.Tokens[0].Policy.MinDeposit = units(1000 * minimum)
	r.w.Reconfigure([]records.Network{dearer})
	require.NoError(t, r.reclassify(hash))
	require.ErrorIs(t, r.reclassify(hash), transfers.ErrNothingToDo)
	r.rest()
	r.requireHolding(r.vite, owner, usd, minimum)
	r.requireSound()
}
