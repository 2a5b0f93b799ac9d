package signer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records/signguard"
	"gatewayd/signer"
)

// seeing is an env whose signer reads the ledgers itself.
func seeing(t *testing.T) *env {
	t.Helper()
	w := setup(t)
	w.eth.Own(w.eth.Address("hot"))
	w.vite.Own(w.vite.Address("hot"))
	w.Signer = signer.New(signer.Parts{
		Keys: w, Guard: w.guard, Rules: map[chain.ID]chain.Rules{"eth": w.eth.Rules(), "vite": w.vite.Rules()},
		Ledgers: map[chain.ID]signer.Ledger{"eth": w.eth, "vite": w.vite}, Now: func() time.Time { return w.clock },
	})
	return w
}

// send signs an order, sends it and mines, and answers the height of its block.
func (w *env) send(c *chaintest.Chain, o chain.Order) uint64 {
	w.t.Helper()
	w.claim(c.ID(), o)
	signed, err := w.Signer.Sign(w.t.Context(), c.ID(), o)
	require.NoError(w.t, err)
	require.NoError(w.t, chaintest.Send(w.t.Context(), c, chain.Attempt{Hash: signed[0].Hash, Raw: signed[0].Raw}))
	c.Mine(1)
	height, _, ok := c.Find(signed[0].Hash)
	require.True(w.t, ok)
	return height
}

// TestOnlyFinalBlocksFree: the daemon's word frees nothing where the signer has nodes of its own.
func TestOnlyFinalBlocksFree(t *testing.T) {
	w := seeing(t)
	first := w.order(w.eth, 0, "", w.pay(1, "payee", 5))
	height := w.send(w.eth, first)
	require.ErrorIs(t, w.Free(t.Context(), 1), signer.ErrRefused)
	require.NoError(t, w.Release(t.Context(), "eth", first.Slot.Account, 1))
	renumbered := claimOf(first)
	renumbered.Payment.ID = 9
	require.Equal(t, states(chain.LaterClaim, chain.LaterClaim), w.verdicts(claimOf(first), renumbered), "signed, and not decided")
	require.ErrorIs(t, w.ReadOutcomes(t.Context(), "eth", height+1), chain.ErrNotNow)

	require.NoError(t, w.ReadOutcomes(t.Context(), "eth", height))
	require.NoError(t, w.Free(t.Context(), 1), "it frees the number, and not the cause")
	require.Equal(t, states(chain.RefusedClaim, chain.RefusedClaim), w.verdicts(claimOf(first), renumbered))
	refund := claimOf(first)
	refund.Payment.Purpose = chain.Refund
	require.Equal(t, states(chain.RefusedClaim), w.verdicts(refund))
}

// TestNumbersComeAgainWhenDecided: records that were restored give the number of what is paid, or
// taken in, to another payment, which is signed for.
func TestNumbersComeAgainWhenDecided(t *testing.T) {
	w := seeing(t)
	first := w.order(w.eth, 0, "", w.pay(1, "payee", 5))
	height := w.send(w.eth, first)
	other := claimOf(w.order(w.eth, 1, "", w.pay(1, "other payee", 5)))
	other.Cause.Ref = "transfer 2"
	require.Equal(t, states(chain.LaterClaim), w.verdicts(other), "the number is the first one's as long as it is not decided")
	require.NoError(t, w.ReadOutcomes(t.Context(), "eth", height))
	require.Equal(t, states(chain.Authorized), w.verdicts(other))
	_, err := w.Signer.Sign(t.Context(), "eth", w.order(w.eth, 1, "", other.Payment))
	require.NoError(t, err)
	require.Equal(t, states(chain.RefusedClaim), w.verdicts(claimOf(first)), "what is paid stays so")
	require.ErrorIs(t, w.Free(t.Context(), 1), signer.ErrRefused, "the number is the other one's now")
}

// TestMarksTellPaymentsApart: a payment between our own accounts that has the number of a paid one,
// in records that were restored, is another payment. The paid one stays paid, and so does what was
// authorized before payments had marks.
func TestMarksTellPaymentsApart(t *testing.T) {
	w := seeing(t)
	gas := func(id uint64, to, mark string) chain.Claim {
		p := w.pay(id, to, 5)
		p.Purpose = chain.Gas
		return chain.Claim{Account: w.eth.Address("hot"), Payment: p, Cause: chain.Cause{Network: "main", Mark: mark}}
	}
	for number, first := range []chain.Claim{gas(7, "deposit address", "a mark"), gas(8, "deposit address", "")} {
		require.Equal(t, states(chain.Authorized), w.verdicts(first))
		o := w.order(w.eth, uint64(number), "", first.Payment)
		signed, err := w.Signer.Sign(t.Context(), "eth", o)
		require.NoError(t, err)
		require.NoError(t, chaintest.Send(t.Context(), w.eth, chain.Attempt{Hash: signed[0].Hash, Raw: signed[0].Raw}))
		again := gas(first.Payment.ID, "another deposit address", "another mark")
		require.Equal(t, states(chain.LaterClaim), w.verdicts(again), "the number is the first one's as long as it is not decided")
		w.eth.Mine(1)
		height, _, ok := w.eth.Find(signed[0].Hash)
		require.True(t, ok)
		require.NoError(t, w.ReadOutcomes(t.Context(), "eth", height))
		require.Equal(t, states(chain.RefusedClaim), w.verdicts(first), "it is paid")
		require.Equal(t, states(chain.Authorized), w.verdicts(again))
		again.Payment.To = w.eth.Address("deposit address")
		require.Equal(t, states(chain.Authorized), w.verdicts(again), "also to the same payee")
	}
}

// TestVoidByAFinalBlock: what failed on its chain, or was cancelled, may be paid another way.
func TestVoidByAFinalBlock(t *testing.T) {
	w := seeing(t)
	payee := w.eth.Address("payee")
	w.eth.RejectUnseen(payee, true)
	failed := w.order(w.eth, 0, "", w.pay(1, "payee", 5))
	require.NoError(t, w.ReadOutcomes(t.Context(), "eth", w.send(w.eth, failed)))
	require.NoError(t, w.Free(t.Context(), 1))
	refund := claimOf(failed)
	refund.Payment.ID, refund.Payment.Purpose, refund.Payment.To = 2, chain.Refund, w.eth.Address("sender")
	require.Equal(t, states(chain.Authorized), w.verdicts(refund))

	lost := w.order(w.eth, 1, "", w.pay(3, "payee", 5))
	_, err := w.sign(lost)
	require.NoError(t, err)
	cancel := w.order(w.eth, 1, "", chain.Payment{Purpose: chain.Cancel, Asset: chain.Native, To: w.eth.Address("hot")})
	require.NoError(t, w.ReadOutcomes(t.Context(), "eth", w.send(w.eth, cancel)))
	require.NoError(t, w.Free(t.Context(), 3))
	require.Equal(t, states(chain.Authorized), w.verdicts(claimOf(lost)))
}

// TestNoOtherLineHasIt: a payment that is signed in one line of a linked ledger is signed in
// another only when a final block has ended the first.
func TestNoOtherLineHasIt(t *testing.T) {
	w := seeing(t)
	tip, err := w.vite.AccountHead(t.Context(), w.vite.Address("hot"))
	require.NoError(t, err)
	pay := func(id, branch, number uint64, prev string) chain.Order {
		o := w.order(w.vite, number, prev, w.pay(id, "payee", 5)) // only the numbers that blocks carry tell them apart
		o.Slot.Branch = branch
		return o
	}
	first := pay(1, 1, tip.Next, tip.Hash)
	w.claim("vite", first)
	signed, err := w.Signer.Sign(t.Context(), "vite", first)
	require.NoError(t, err)
	_, err = w.Signer.Sign(t.Context(), "vite", pay(1, 2, tip.Next+1, signed[0].Hash))
	require.ErrorIs(t, err, signguard.ErrUnauthorized)

	other := pay(2, 2, tip.Next, tip.Hash) // the new line's first block takes the place
	height := w.send(w.vite, other)
	require.NoError(t, w.ReadOutcomes(t.Context(), "vite", height))
	tip, err = w.vite.AccountHead(t.Context(), w.vite.Address("hot"))
	require.NoError(t, err)
	again := pay(1, 2, tip.Next, tip.Hash)
	w.claim("vite", again)
	_, err = w.Signer.Sign(t.Context(), "vite", again)
	require.NoError(t, err, "the block was the other one's")
	paid, err := w.Authorize(t.Context(), "vite", claimOf(other))
	require.NoError(t, err)
	require.Equal(t, chain.RefusedClaim, paid[0].State)
}

// TestFirstUnsignedNumberIsCancelled: a signer with nodes of its own cancels the first numbers that
// nothing was signed for, some in an hour, and none far above them.
func TestFirstUnsignedNumberIsCancelled(t *testing.T) {
	w := seeing(t)
	_, err := w.sign(w.order(w.eth, 0, "", w.pay(1, "payee", 5)))
	require.NoError(t, err)
	cancel := func(number uint64) error {
		_, err := w.Signer.Sign(t.Context(), "eth", w.order(w.eth, number, "", chain.Payment{Purpose: chain.Cancel, Asset: chain.Native, To: w.eth.Address("hot")}))
		return err
	}
	require.ErrorIs(t, cancel(17), signer.ErrRefused)
	require.NoError(t, cancel(3), "1 and 2 may be another party's")
	for n := uint64(1); n <= 16; n++ {
		require.NoError(t, cancel(n))
		require.NoError(t, cancel(n), "for another fee")
	}
	require.ErrorIs(t, cancel(17), chain.ErrNotNow)
	require.NoError(t, cancel(16))
	_, err = w.sign(w.order(w.eth, 1, "", w.pay(2, "payee", 5)))
	require.ErrorIs(t, err, signguard.ErrRefused, "a cancelled number pays nobody")
}
