package signer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
	"gatewayd/signer"
)

// TestNumbersOutOfRange: a number or text that the sign-guard's database cannot keep is refused in
// words, by every call, before the database sees it.
func TestNumbersOutOfRange(t *testing.T) {
	w := seeing(t)
	hot := w.eth.Address("hot")
	for _, n := range []uint64{1 << 63, math.MaxInt64, math.MaxUint64} {
		for name, err := range map[string]error{
			"free":    w.Free(t.Context(), n),
			"release": w.Release(t.Context(), "eth", hot, n),
			"decide":  w.ReadOutcomes(t.Context(), "eth", n),
		} {
			require.ErrorIs(t, err, signer.ErrRefused, name)
			require.ErrorContains(t, err, "is above the maximum", name)
		}
		_, err := w.SignedAt(t.Context(), "eth", hot, n)
		require.ErrorIs(t, err, signer.ErrRefused)
		for name, change := range map[string]func(*chain.Order){
			"number": func(o *chain.Order) { o.Slot.Nonce = n }, "branch": func(o *chain.Order) { o.Slot.Branch = n }, "payment": func(o *chain.Order) { o.Payment.ID = n },
			"number of a cancellation": func(o *chain.Order) { o.Slot.Nonce, o.Payment.Purpose = n, chain.Cancel },
		} {
			o := w.order(w.eth, 0, "", w.pay(1, "payee", 5))
			change(&o)
			_, err := w.Signer.Sign(t.Context(), "eth", o)
			require.ErrorIs(t, err, signer.ErrRefused, name)
			require.ErrorContains(t, err, "is above the maximum", name)
		}
		for name, change := range map[string]func(*chain.Claim){
			"payment": func(c *chain.Claim) { c.Payment.ID = n }, "height": func(c *chain.Claim) { c.Cause.Height = n },
		} {
			c := claimOf(w.order(w.eth, 0, "", w.pay(1, "payee", 5)))
			change(&c)
			verdicts, err := w.Authorize(t.Context(), "eth", c)
			require.NoError(t, err, name)
			require.Equal(t, chain.RefusedClaim, verdicts[0].State, name)
			require.Contains(t, verdicts[0].Text, "are kept", name)
		}
	}
	receive := signguard.Signature{Slot: chain.Slot{Account: hot, Branch: 1}, Digest: "receive|", PaymentID: 1, Receive: true, Evidence: true}
	require.ErrorContains(t, w.guard.Allow(t.Context(), "vite", receive), "no number 0", "what came before it would have number 2^64 - 1")
	for _, text := range []string{"0x\x00", "\xff", strings.Repeat("a", 100_000)} {
		_, _, _, err := w.Next(t.Context(), "eth", text)
		require.ErrorIs(t, err, signer.ErrRefused)
		_, _, err = w.First(t.Context(), "eth", text)
		require.ErrorIs(t, err, signer.ErrRefused)
		_, err = w.SignedAt(t.Context(), "eth", text, 1)
		require.ErrorIs(t, err, signer.ErrRefused)
		require.ErrorIs(t, w.Release(t.Context(), "eth", text, 1), signer.ErrRefused)
		require.ErrorIs(t, w.GiveLabel(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Label: "ABCD2345", User: text}), signer.ErrRefused)
		o := w.order(w.eth, 0, "", w.pay(1, "payee", 5))
		o.Slot.Account = text
		_, err = w.Signer.Sign(t.Context(), "eth", o)
		require.ErrorIs(t, err, signer.ErrRefused)
	}
}
