package watcher

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/signer"
	"gatewayd/transfers"
	"gatewayd/view"
)

// taxed is a ledger whose token moves less than a transfer says: its transactions succeed and do
// not keep what they say.
type taxed struct{ *chaintest.Chain }

func (c taxed) Block(ctx context.Context, height uint64) (chain.Block, error) {
	b, err := c.Chain.Block(ctx, height)
	for i := range b.OwnTxs {
		b.OwnTxs[i].OK = false
	}
	return b, err
}

// Something moved, so neither a second payout nor a refund may follow by itself.
func TestPayoutThatMovedSomethingElseIsHeld(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.parts.Chains["eth"] = taxed{r.eth}
	r.restart()
	payee := r.eth.Address("payee")
	hash := r.withdraw(owner, payee, 1000)
	r.rest()
	r.requireState(hash, records.Final, "")
	p := r.payment(hash)
	require.Equal(t, []any{chain.Credit, records.HeldPayment, records.ReasonPayoutDiffers}, []any{p.Purpose, p.State, p.Reason})
	r.requireHolding(r.eth, payee, usdEth, (1000-fee)*100)
}

// A signer with nodes of its own keeps what it signed, because no block shows that it pays nothing.
// The chain's other payments become final all the same.
func TestPayoutThatMovedSomethingElseStopsNoOther(t *testing.T) {
	r := setup(t)
	eth := taxed{r.eth}
	r.parts.Chains["eth"] = eth
	r.parts.Signer = signer.New(signer.Parts{
		Keys: chaintest.NoKeys{}, Guard: r.guard, Rules: rulesOf(r.eth, r.vite), Ledgers: map[chain.ID]signer.Ledger{"eth": eth, "vite": r.vite},
	})
	r.restart()
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	require.Equal(t, []any{records.HeldPayment, records.ReasonPayoutDiffers}, []any{r.payment(hash).State, r.payment(hash).Reason})

	other, address := r.user()
	deposited := r.deposit(address, minimum*100)
	r.rest()
	require.Equal(t, records.Paid, r.payment(deposited).State)
	r.requireHolding(r.vite, other, usd, minimum)
}

// proven is a ledger whose nodes prove by balances that a silent payment moved nothing.
type proven struct{ taxed }

func (c proven) Block(ctx context.Context, height uint64) (chain.Block, error) {
	b, err := c.taxed.Block(ctx, height)
	for i := range b.OwnTxs {
		b.OwnTxs[i].Void = true
	}
	return b, err
}

// The signer's nodes may have dropped the balances that prove a silent payment void. The payment is
// held, and the chain's other payments become final.
func TestVoidThatTheSignerDoesNotSeeStopsNoOther(t *testing.T) {
	r := setup(t)
	r.parts.Chains["eth"] = proven{taxed{r.eth}}
	r.parts.Signer = signer.New(signer.Parts{
		Keys: chaintest.NoKeys{}, Guard: r.guard, Rules: rulesOf(r.eth, r.vite), Ledgers: map[chain.ID]signer.Ledger{"eth": taxed{r.eth}, "vite": r.vite},
	})
	r.restart()
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	require.Equal(t, []any{records.HeldPayment, records.ReasonPayoutDiffers}, []any{r.payment(hash).State, r.payment(hash).Reason})

	other, address := r.user()
	deposited := r.deposit(address, minimum*100)
	r.rest()
	require.Equal(t, records.Paid, r.payment(deposited).State)
	r.requireHolding(r.vite, other, usd, minimum)
}

// What may be paid is neither made again nor given back, whoever orders it and under whatever
// reason it is held, until an operator has said what the transaction did.
func TestPayoutThatDiffersIsNotMadeAgain(t *testing.T) {
	for name, order := range map[string]func(*rig, *records.Tx, transfers.Order) error{
		"retry": func(r *rig, tx *records.Tx, o transfers.Order) error {
			return r.w.rules().Order(tx, transfers.OrderRetry, o)
		},
		"refund": func(r *rig, tx *records.Tx, o transfers.Order) error {
			return r.w.rules().Order(tx, transfers.OrderRefund, o)
		},
		"reject": func(r *rig, tx *records.Tx, o transfers.Order) error {
			return r.w.rules().Order(tx, transfers.OrderReject, o)
		},
		"held, then retried": func(r *rig, tx *records.Tx, o transfers.Order) error {
			if err := r.w.rules().Order(tx, transfers.OrderHold, o); err != nil {
				return err
			}
			return r.w.rules().Order(tx, transfers.OrderRetry, o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, hash, owner, payee := differing(t)
			before := r.vite.Holding(owner, usd)
			o := transfers.Order{Record: r.transfer(hash).ID, Why: "a test"}
			paid := r.attemptsOf(r.payment(hash))[0].Hash
			err := r.store.Update(t.Context(), func(tx *records.Tx) error { return order(r, tx, o) })
			require.ErrorIs(t, err, transfers.ErrNothingToDo)
			require.ErrorContains(t, err, paid)
			r.rest()
			r.requireHolding(r.eth, payee, usdEth, (1000-fee)*100)
			require.Equal(t, before, r.vite.Holding(owner, usd))

			r.parts.Chains["eth"] = r.eth
			r.restart()
			o.NothingMoved = true
			r.update(func(tx *records.Tx) error { return order(r, tx, o) })
			r.rest()
			moved := r.eth.Holding(payee, usdEth) != units((1000-fee)*100) || r.vite.Holding(owner, usd) != before
			require.True(t, moved, "the operator says that nothing had moved")
		})
	}
}

// An operator who has found that a transaction which differs did pay settles its payment by it,
// once.
func TestPayoutThatDiffersIsSettled(t *testing.T) {
	r, hash, owner, payee := differing(t)
	before := r.vite.Holding(owner, usd)
	paid := r.attemptsOf(r.payment(hash))[0].Hash
	ops, record := r.operatorRecovery(), r.transfer(hash).ID
	require.Error(t, ops.Settle(t.Context(), record, "another"))
	require.NoError(t, ops.Settle(t.Context(), record, paid))
	p := r.payment(hash)
	require.Equal(t, []any{records.Paid, paid}, []any{p.State, p.Tx})
	require.Error(t, ops.Settle(t.Context(), record, paid), "once")
	o := transfers.Order{Record: record, NothingMoved: true}
	for _, order := range []transfers.OrderName{transfers.OrderRetry, transfers.OrderRefund, transfers.OrderReject} {
		require.ErrorIs(t, r.store.Update(t.Context(), func(tx *records.Tx) error { return r.w.rules().Order(tx, order, o) }), transfers.ErrNothingToDo)
	}
	r.rest()
	r.requireHolding(r.eth, payee, usdEth, (1000-fee)*100)
	require.Equal(t, before, r.vite.Holding(owner, usd))
	r.requireSound()
}

// differing is a gateway with a withdrawal of 1000 whose payout moved something else than it says.
func differing(t *testing.T) (r *rig, hash, owner, payee string) {
	r = setup(t)
	owner, _ = r.user()
	r.parts.Chains["eth"] = taxed{r.eth}
	r.restart()
	payee = r.eth.Address("payee")
	hash = r.withdraw(owner, payee, 1000)
	r.rest()
	require.Equal(t, records.ReasonPayoutDiffers, r.payment(hash).Reason)
	return r, hash, owner, payee
}

func (r *rig) attemptsOf(p records.Payment) (list []view.SlotAttempt) {
	r.view(func(tx *records.Tx) (err error) {
		list, err = view.AttemptsOf(tx, p.ID)
		return err
	})
	return list
}
