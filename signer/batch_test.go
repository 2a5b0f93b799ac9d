package signer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records/signguard"
	"gatewayd/signer"
)

// batch is an order of several payments of five each.
func (w *env) batch(number uint64, ids ...uint64) chain.Order {
	w.t.Helper()
	all := chain.Payment{ID: ids[0], Purpose: chain.Batch, Asset: chain.Native, To: w.eth.BatchTo(chain.Native)}
	for _, id := range ids {
		all.Members = append(all.Members, w.pay(id, payeeOf(id), 5))
	}
	all.Amount = chain.NewAmount(5 * uint64(len(ids)))
	return w.order(w.eth, number, "", all)
}

func payeeOf(id uint64) string { return string(rune('a' + id)) }

// claimAll claims all payments of a batch.
func (w *env) claimAll(o chain.Order) {
	w.t.Helper()
	for _, m := range o.Payment.Members {
		w.claim("eth", chain.Order{Slot: o.Slot, Payment: m})
	}
}

// TestBatches: a batch is signed when each of its payments is authorized, as it is, and none of
// them is signed for another slot.
func TestBatches(t *testing.T) {
	w := setup(t)
	first := w.batch(0, 1, 2, 3)
	for _, m := range first.Payment.Members[:2] {
		w.claim("eth", chain.Order{Slot: first.Slot, Payment: m})
	}
	_, err := w.Signer.Sign(t.Context(), "eth", first)
	require.ErrorIs(t, err, signguard.ErrUnauthorized)
	require.ErrorContains(t, err, "payment 3 at 0")
	require.Zero(t, w.signed)
	w.claimAll(first)
	signed, err := w.Signer.Sign(t.Context(), "eth", first)
	require.NoError(t, err)
	again, err := w.Signer.Sign(t.Context(), "eth", first)
	require.NoError(t, err)
	require.Equal(t, signed, again)

	for name, o := range map[string]chain.Order{"one less": w.batch(0, 1, 2), "another order": w.batch(0, 2, 1, 3), "one of them alone": w.order(w.eth, 1, "", w.pay(2, payeeOf(2), 5)), "two of them": w.batch(1, 4, 3)} {
		w.claimAll(o)
		if len(o.Payment.Members) == 0 {
			w.claim("eth", o)
		}
		_, err := w.Signer.Sign(t.Context(), "eth", o)
		require.ErrorIs(t, err, signguard.ErrRefused, name)
	}
	altered := w.batch(0, 1, 2, 3)
	altered.Payment.Members[1].To = w.eth.Address("thief")
	_, err = w.Signer.Sign(t.Context(), "eth", altered)
	require.ErrorIs(t, err, signer.ErrRefused)
}

// TestBatchesMakePayoutsOnce: a batch makes payouts, each once, and at least one.
func TestBatchesMakePayoutsOnce(t *testing.T) {
	w := setup(t)
	twice := w.batch(0, 1, 1)
	sweep := w.batch(0, 1, 2)
	sweep.Payment.Members[1].Purpose = chain.Sweep
	empty := w.order(w.eth, 0, "", chain.Payment{ID: 1, Purpose: chain.Batch, Asset: chain.Native, To: w.eth.BatchTo(chain.Native)})
	for field, o := range map[string]chain.Order{"payment 1 is in the batch twice": twice, "a sweep is not paid in a batch": sweep, "the batch has no payments": empty} {
		_, err := w.Signer.Sign(t.Context(), "eth", o)
		require.ErrorIs(t, err, signer.ErrRefused)
		require.ErrorContains(t, err, "members: "+field)
	}
	long := w.batch(0, 1, 2)
	for range 5000 {
		long.Payment.Members = append(long.Payment.Members, long.Payment.Members[0])
	}
	_, err := w.Signer.Sign(t.Context(), "eth", long)
	require.ErrorContains(t, err, "5002 payments at once")
	require.Zero(t, w.signed)
}

// bentLedger shows other outcomes of batches.
type bentLedger struct {
	*chaintest.Chain
	made []chain.Outcome
}

func (l bentLedger) Block(ctx context.Context, height uint64) (chain.Block, error) {
	b, err := l.Chain.Block(ctx, height)
	for i := range b.OwnTxs {
		b.OwnTxs[i].Members = l.made
	}
	return b, err
}

// TestOutcomesOfBatches: a final block decides each payment of a batch by itself, and nothing about
// those for which something else moved or whose outcome it does not show.
func TestOutcomesOfBatches(t *testing.T) {
	const paid, free, undecided = "paid", "free", "undecided"
	for name, c := range map[string]struct {
		made []chain.Outcome
		want [3]string
	}{
		"all made":    {[]chain.Outcome{chain.MemberPaid, chain.MemberPaid, chain.MemberPaid}, [3]string{paid, paid, paid}},
		"one void":    {[]chain.Outcome{chain.MemberPaid, chain.MemberVoid, chain.MemberPaid}, [3]string{paid, free, paid}},
		"first void":  {[]chain.Outcome{chain.MemberVoid, chain.MemberPaid, chain.MemberPaid}, [3]string{free, paid, paid}},
		"one differs": {[]chain.Outcome{chain.MemberPaid, chain.MemberDiffers, chain.MemberVoid}, [3]string{paid, undecided, free}},
		"not shown":   {nil, [3]string{undecided, undecided, undecided}},
	} {
		t.Run(name, func(t *testing.T) {
			w := seeing(t)
			w.Signer = signer.New(signer.Parts{
				Keys: w, Guard: w.guard, Rules: map[chain.ID]chain.Rules{"eth": w.eth.Rules()}, Ledgers: map[chain.ID]signer.Ledger{"eth": bentLedger{w.eth, c.made}},
			})
			o := w.batch(0, 1, 2, 3)
			w.claimAll(o)
			require.NoError(t, w.ReadOutcomes(t.Context(), "eth", w.sendSigned(o)))
			for i, m := range o.Payment.Members {
				open, err := w.guard.Undecided(t.Context(), m.ID)
				require.NoError(t, err)
				verdict := w.verdicts(claimOf(chain.Order{Slot: o.Slot, Payment: m}))
				got := map[bool]string{true: undecided, false: paid}[open]
				if !open && verdict[0] == chain.Authorized {
					got = free
				}
				require.Equal(t, c.want[i], got, "payment %d", m.ID)
			}
		})
	}
}

// sendSigned signs and sends an order, and answers the height of its block.
func (w *env) sendSigned(o chain.Order) uint64 {
	w.t.Helper()
	signed, err := w.Signer.Sign(w.t.Context(), "eth", o)
	require.NoError(w.t, err)
	require.NoError(w.t, chaintest.Send(w.t.Context(), w.eth, chain.Attempt{Hash: signed[0].Hash, Raw: signed[0].Raw}))
	w.eth.Mine(1)
	height, _, ok := w.eth.Find(signed[0].Hash)
	require.True(w.t, ok)
	return height
}

// TestMergesAreBounded: a stolen daemon cannot burn fees by merges.
func TestMergesAreBounded(t *testing.T) {
	w := seeing(t)
	merge := func(number uint64, label string) error {
		pay := chain.Payment{ID: number + 1, Purpose: chain.Merge, Asset: chain.Native, To: w.eth.Address("hot"), Source: "a:0", Label: label}
		_, err := w.Signer.Sign(t.Context(), "eth", w.order(w.eth, number, "", pay))
		return err
	}
	require.ErrorIs(t, merge(0, "b"), signer.ErrRefused, "the label and the source could be mistaken for each other")
	for number := range uint64(16) {
		require.NoError(t, merge(number, ""))
		require.NoError(t, merge(number, ""), "what was signed is signed again without counting")
	}
	require.ErrorIs(t, merge(16, ""), chain.ErrNotNow)
	w.clock = w.clock.Add(time.Hour)
	for number := range uint64(12) {
		require.NoError(t, merge(16+number, ""))
	}
	require.ErrorIs(t, merge(28, ""), chain.ErrNotNow)
}

// TestNumbersWithCoinsAreBounded: on a ledger of coins a stolen daemon that has signed for a high
// number burns no more fees at the numbers below.
func TestNumbersWithCoinsAreBounded(t *testing.T) {
	for _, purpose := range []chain.Purpose{chain.Merge, chain.Cancel} {
		t.Run(string(purpose), func(t *testing.T) {
			w := seeing(t)
			sign := func(number uint64) error {
				o := w.order(w.eth, number, "", chain.Payment{ID: number + 1, Purpose: purpose, Asset: chain.Native, To: w.eth.Address("hot")})
				o.Slot.Coin = fmt.Sprintf("coin:%d", number)
				_, err := w.Signer.Sign(t.Context(), "eth", o)
				return err
			}
			require.NoError(t, sign(100))
			require.NoError(t, sign(100), "what was signed is signed again without counting")
			for number := range uint64(15) {
				require.NoError(t, sign(99-number))
			}
			require.ErrorIs(t, sign(50), chain.ErrNotNow)
			require.NoError(t, sign(99))
		})
	}
}

// TestAllowancesAreBounded: a stolen daemon cannot burn fees by allowances, nor take a far number.
func TestAllowancesAreBounded(t *testing.T) {
	w := seeing(t)
	allow := func(number uint64) error {
		pay := chain.Payment{ID: number + 1, Purpose: chain.Allow, Asset: "usd", To: w.eth.BatchTo("usd")}
		_, err := w.Signer.Sign(t.Context(), "eth", w.order(w.eth, number, "", pay))
		return err
	}
	require.NoError(t, allow(0))
	require.ErrorIs(t, allow(5_000_000), signer.ErrRefused)
	for number := range uint64(signer.MaxOrders) {
		require.NoError(t, allow(number), "what was signed is signed again without counting")
	}
	require.ErrorIs(t, allow(signer.MaxOrders), chain.ErrNotNow)
	require.NoError(t, allow(3))
	w.clock = w.clock.Add(time.Hour)
	require.NoError(t, allow(signer.MaxOrders))
}
