package signguard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// TestSpendingIsRemembered: credits and fees of a period, oldest first, and all past payees. A
// slot's fee is the last counted one.
func TestSpendingIsRemembered(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		begin := time.UnixMilli(1_800_000_000_000)
		for i, purpose := range []string{"credit", "refund", "credit"} {
			id := uint64(i + 1)
			_, err := g.Authorize(t.Context(), []signguard.Authorization{{
				Key: purpose + string(rune('a'+i)), Digest: purpose + "|d", Chain: "eth", Account: "hot", PaymentID: id, User: "user", Payee: "payee" + string(rune('a'+i)),
				Asset: "token", Amount: chain.NewAmount(id), At: begin.Add(time.Duration(-i) * time.Hour),
			}})
			require.NoError(t, err)
		}
		past, err := g.CreditsSince(t.Context(), begin.Add(-3*time.Hour))
		require.NoError(t, err)
		require.Len(t, past, 2, "refunds are not counted")
		require.Equal(t, []chain.Amount{chain.NewAmount(3), chain.NewAmount(1)}, []chain.Amount{past[0].Amount, past[1].Amount})
		require.Equal(t, []any{chain.ID("eth"), chain.Asset("token"), "user", "payeec", begin.Add(-2 * time.Hour)}, []any{past[0].Chain, past[0].Asset, past[0].User, past[0].Payee, past[0].At})
		past, err = g.CreditsSince(t.Context(), begin.Add(-time.Hour))
		require.NoError(t, err)
		require.Len(t, past, 1)
		for _, c := range []struct {
			id    chain.ID
			payee string
			want  bool
		}{{"eth", "payeea", true}, {"eth", "payeeb", true}, {"bsc", "payeea", false}, {"eth", "nobody", false}} {
			known, err := g.PaidTo(t.Context(), c.id, c.payee)
			require.NoError(t, err)
			require.Equal(t, c.want, known, c)
		}

		first, second := chain.Slot{Account: "hot", Nonce: 1}, chain.Slot{Account: "hot", Nonce: 2}
		note := func(at time.Time, s chain.Slot, most uint64) {
			require.NoError(t, g.NoteFees(t.Context(), "eth", at, []signguard.Fee{{Slot: s, Most: chain.NewAmount(most)}}))
		}
		note(begin, first, 5)
		note(begin.Add(-time.Hour), second, 7)
		note(begin.Add(time.Hour), first, 9)
		most, err := g.Fees(t.Context(), "eth", []chain.Slot{second, first, {Account: "other", Nonce: 1}})
		require.NoError(t, err)
		require.Equal(t, []chain.Amount{chain.NewAmount(7), chain.NewAmount(9), {}}, most)
		fees, err := g.FeesSince(t.Context(), begin)
		require.NoError(t, err)
		require.Equal(t, []signguard.Fee{{Chain: "eth", Most: chain.NewAmount(9), At: begin.Add(time.Hour)}}, fees)
	})
}
