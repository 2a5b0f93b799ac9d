package signer_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records/signguard"
	"gatewayd/signer"
)

func TestDigestTellsOrdersApart(t *testing.T) {
	first := chain.Payment{Purpose: chain.Credit, Asset: "a", To: "b", Amount: chain.NewAmount(1), Label: "c", Source: "d"}
	seen := map[string]bool{signer.Fingerprint(first): true}
	for _, change := range []func(*chain.Payment){
		func(p *chain.Payment) { p.Purpose = chain.Refund },
		func(p *chain.Payment) { p.Asset = "x" },
		func(p *chain.Payment) { p.To = "x" },
		func(p *chain.Payment) { p.Amount = chain.NewAmount(2) },
		func(p *chain.Payment) { p.Label = "x" },
		func(p *chain.Payment) { p.Source = "x" },
	} {
		other := first
		change(&other)
		require.False(t, seen[signer.Fingerprint(other)], "%+v", other)
		seen[signer.Fingerprint(other)] = true
	}
}

// env is a signer with a real sign-guard for two ledgers in memory.
type env struct {
	*signer.Signer
	t         *testing.T
	guard     *signguard.Guard
	eth, vite *chaintest.Chain
	signed    int       // by the keys
	clock     time.Time // of a signer that sees its ledgers
}

// Sign counts.
func (w *env) Sign(context.Context, string, []byte) (public, signature []byte, err error) {
	w.signed++
	return nil, nil, nil
}

func setup(t *testing.T) *env {
	t.Helper()
	w := &env{t: t, eth: chaintest.New(chaintest.Config{ID: "eth"}), vite: chaintest.New(chaintest.Config{ID: "vite", Linked: true})}
	var err error
	w.guard, err = signguard.Open(filepath.Join(t.TempDir(), "guard.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.guard.Close()) })
	for _, c := range []*chaintest.Chain{w.eth, w.vite} {
		c.Endow(c.Address("hot"), chain.Native, chain.NewAmount(1_000_000))
	}
	w.Signer = signer.New(signer.Parts{Keys: w, Guard: w.guard, Rules: map[chain.ID]chain.Rules{"eth": w.eth.Rules(), "vite": w.vite.Rules()}})
	return w
}

// pay is payment id of an amount to somebody.
func (w *env) pay(id uint64, to string, amount uint64) chain.Payment {
	return chain.Payment{ID: id, Purpose: chain.Credit, Asset: chain.Native, To: w.eth.Address(to), Amount: chain.NewAmount(amount)}
}

// order is a payment as the adapter of a ledger prepares it.
func (w *env) order(c *chaintest.Chain, number uint64, prev string, pay chain.Payment) chain.Order {
	w.t.Helper()
	slot := chain.Slot{Account: c.Address("hot"), Key: "hot", Nonce: number, Prev: prev}
	if prev != "" {
		slot.Branch = 1
	}
	a, err := c.Prepare(w.t.Context(), slot, pay, nil)
	require.NoError(w.t, err)
	return chain.Order{Slot: slot, Payment: pay, Unsigned: a.Raw}
}

// sign claims the orders' payments for a transfer each, whatever the verdicts are, and has them
// signed.
func (w *env) sign(orders ...chain.Order) ([]chain.SignedTx, error) {
	w.t.Helper()
	w.claim("eth", orders...)
	return w.Signer.Sign(w.t.Context(), "eth", orders...)
}

func (w *env) claim(id chain.ID, orders ...chain.Order) {
	w.t.Helper()
	var claims []chain.Claim
	for _, o := range orders {
		if o.Payment.Purpose != chain.Cancel {
			claims = append(claims, claimOf(o))
		}
	}
	_, err := w.Authorize(w.t.Context(), id, claims...)
	require.NoError(w.t, err)
}

func claimOf(o chain.Order) chain.Claim {
	return chain.Claim{Account: o.Slot.Account, Payment: o.Payment, Cause: chain.Cause{Chain: "vite", Height: 1, Ref: fmt.Sprint("transfer ", o.Payment.ID)}}
}

// TestOrdersAreSignedOnce: the same order again is the same signature, another at its slot and the
// same at another slot are none.
func TestOrdersAreSignedOnce(t *testing.T) {
	w := setup(t)
	first := w.order(w.eth, 0, "", w.pay(1, "payee", 5))
	signed, err := w.sign(first)
	require.NoError(t, err)
	require.NoError(t, chaintest.Send(t.Context(), w.eth, chain.Attempt{Hash: signed[0].Hash, Raw: signed[0].Raw}))
	again, err := w.sign(first)
	require.NoError(t, err)
	require.Equal(t, signed, again)

	for name, o := range map[string]chain.Order{
		"another payee":                w.order(w.eth, 0, "", w.pay(1, "thief", 5)),
		"another amount":               w.order(w.eth, 0, "", w.pay(1, "payee", 6)),
		"another payment":              w.order(w.eth, 0, "", w.pay(2, "payee", 5)),
		"the payment at another nonce": w.order(w.eth, 1, "", w.pay(1, "payee", 5)),
	} {
		_, err := w.sign(o)
		require.ErrorIs(t, err, signguard.ErrRefused, name)
	}
	require.Equal(t, 2, w.signed)
}

// TestAlteredTransactionsAreNotSigned: neither key nor sign-guard is asked for a transaction that
// is not its payment.
func TestAlteredTransactionsAreNotSigned(t *testing.T) {
	w := setup(t)
	o := w.order(w.eth, 0, "", w.pay(1, "payee", 5))
	o.Unsigned = w.order(w.eth, 0, "", w.pay(1, "thief", 5)).Unsigned
	_, err := w.sign(o)
	require.ErrorIs(t, err, signer.ErrRefused)
	require.ErrorContains(t, err, "the signer refuses payment 1 at 0 of "+w.eth.Address("hot"))
	_, err = w.Signer.Sign(t.Context(), "bsc", o)
	require.ErrorIs(t, err, signer.ErrRefused)
	_, err = w.Signer.Sign(t.Context(), "eth", make([]chain.Order, signer.MaxOrders+1)...)
	require.ErrorIs(t, err, signer.ErrRefused)
	_, _, known, err := w.Next(t.Context(), "eth", w.eth.Address("hot"))
	require.NoError(t, err)
	require.False(t, known)
	require.Zero(t, w.signed)
}

// TestGroupsAreSignedUpToTheFirstRefusal: what comes before an order that the rules refuse is
// signed. What the sign-guard refuses stops the group.
func TestGroupsAreSignedUpToTheFirstRefusal(t *testing.T) {
	w := setup(t)
	group := func(from uint64) (list []chain.Order) {
		for n := from; n < from+4; n++ {
			list = append(list, w.order(w.eth, n, "", w.pay(n+1, "payee", 5)))
		}
		return list
	}
	altered := group(0)
	altered[2].Payment.Amount = chain.NewAmount(6)
	signed, err := w.sign(altered...)
	require.ErrorIs(t, err, signer.ErrRefused)
	require.Len(t, signed, 2)

	repeated := group(2)
	repeated[3] = w.order(w.eth, 5, "", w.pay(1, "payee", 5)) // payment 1 has number 0
	signed, err = w.sign(repeated...)
	require.ErrorIs(t, err, signguard.ErrRefused)
	require.Empty(t, signed)
	require.Equal(t, 2, w.signed)
}

// TestLinkedGroupsAreSignedAtOnce: the hash of a block that wants a signature is known, so the next
// can follow it.
func TestLinkedGroupsAreSignedAtOnce(t *testing.T) {
	w := setup(t)
	tip, err := w.vite.AccountHead(t.Context(), w.vite.Address("hot"))
	require.NoError(t, err)
	var orders []chain.Order
	prev := tip.Hash
	for n := range uint64(3) {
		o := w.order(w.vite, tip.Next+n, prev, w.pay(n+1, "payee", 5))
		orders = append(orders, o)
		a, err := w.vite.Prepare(t.Context(), o.Slot, o.Payment, nil)
		require.NoError(t, err)
		prev = a.Hash
	}
	w.claim("vite", orders...)
	signed, err := w.Signer.Sign(t.Context(), "vite", orders...)
	require.NoError(t, err)
	for _, tx := range signed {
		require.NoError(t, chaintest.Send(t.Context(), w.vite, chain.Attempt{Hash: tx.Hash, Raw: tx.Raw}))
	}
	require.Len(t, signed, 3)
	require.Equal(t, prev, signed[2].Hash)
}

// TestCancellationsTakeTheirSlots: a cancellation is signed at any slot, and keeps one that nothing
// was signed for.
func TestCancellationsTakeTheirSlots(t *testing.T) {
	w := setup(t)
	hot := w.eth.Address("hot")
	cancel := chain.Payment{Purpose: chain.Cancel, Asset: chain.Native, To: hot}
	_, err := w.sign(w.order(w.eth, 3, "", cancel))
	require.NoError(t, err)
	_, next, known, err := w.Next(t.Context(), "eth", hot)
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, uint64(4), next)
	_, err = w.sign(w.order(w.eth, 3, "", w.pay(1, "payee", 5)))
	require.ErrorIs(t, err, signguard.ErrRefused)
}
