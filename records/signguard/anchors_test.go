package signguard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// TestAnchors: on a ledger of coins a number is signed for with one coin, and a coin for one
// number.
func TestAnchors(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		sign := func(id chain.ID, number uint64, coin string, payment uint64) error {
			return g.Allow(t.Context(), id, signguard.Signature{
				Slot: chain.Slot{Account: "pool", Nonce: number, Coin: coin}, Digest: "pay", PaymentID: payment, Receive: true,
			})
		}
		require.NoError(t, sign("btc", 7, "a:0", 1))
		require.NoError(t, sign("btc", 7, "a:0", 1), "a replacement")
		require.ErrorIs(t, sign("btc", 7, "b:0", 1), signguard.ErrRefused, "both could be in the chain")
		require.ErrorIs(t, sign("btc", 8, "a:0", 2), signguard.ErrRefused, "it is another number's")
		require.NoError(t, sign("btc", 8, "b:0", 2), "nothing of what was refused is stored")
		require.NoError(t, sign("ltc", 7, "a:0", 3), "another chain")

		list, err := g.Anchors(t.Context(), "btc", "a:0", "b:0", "c:0")
		require.NoError(t, err)
		require.ElementsMatch(t, []signguard.Anchor{{Coin: "a:0", Account: "pool", Number: 7}, {Coin: "b:0", Account: "pool", Number: 8}}, list)
		coins, err := g.Coins(t.Context(), "btc", []string{"a:0", "c:0"})
		require.NoError(t, err)
		require.Equal(t, map[string]chain.Coin{"a:0": {Out: "a:0", Address: "pool"}}, coins)
	})
}
