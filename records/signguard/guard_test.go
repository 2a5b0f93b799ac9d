package signguard_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

func TestGuard(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		ask := func(branch, number uint64, digest string, payment uint64, cancel bool) error {
			return g.Allow(t.Context(), "eth", signguard.Signature{
				Slot: chain.Slot{Account: "0xhot", Branch: branch, Nonce: number}, Digest: digest, PaymentID: payment, Cancel: cancel, Receive: true,
			})
		}
		require.NoError(t, ask(0, 7, "pay bob 5", 1, false))
		require.NoError(t, ask(0, 7, "pay bob 5", 1, false), "a replacement pays the same")
		require.ErrorIs(t, ask(0, 7, "pay eve 5", 1, false), signguard.ErrRefused, "another payee")
		require.ErrorIs(t, ask(0, 7, "pay bob 5", 2, false), signguard.ErrRefused, "another payment")
		require.ErrorIs(t, ask(0, 8, "pay bob 5", 1, false), signguard.ErrRefused, "the payment has a slot")
		require.NoError(t, ask(0, 7, "to self", 1, true), "a cancellation passes")
		require.NoError(t, ask(0, 7, "pay bob 5", 1, false))

		require.NoError(t, g.Close())
		g = open()
		require.ErrorIs(t, ask(0, 7, "pay eve 5", 3, false), signguard.ErrRefused, "a restart forgets nothing")
		require.NoError(t, g.Free(t.Context(), 1))
		require.NoError(t, g.Free(t.Context(), 1))
		require.NoError(t, ask(0, 8, "pay bob 5", 1, false), "after a final block voided the slot")
		require.ErrorIs(t, ask(0, 9, "pay bob 5", 1, false), signguard.ErrRefused)

		require.NoError(t, ask(0, 20, "to self", 0, true), "a number that nothing was signed for")
		require.ErrorIs(t, ask(0, 20, "pay carol 5", 4, false), signguard.ErrRefused)
		require.NoError(t, ask(1, 1, "pay dan 5", 5, false))
		require.NoError(t, ask(2, 1, "pay dan 5", 5, false), "a new lineage excludes the old one")
		require.ErrorIs(t, ask(2, 2, "pay dan 5", 5, false), signguard.ErrRefused)
		require.ErrorIs(t, ask(2, 3, "", 6, false), signguard.ErrRefused)
		require.ErrorIs(t, ask(2, 3, "x", 0, false), signguard.ErrRefused)
		require.NoError(t, g.Allow(t.Context(), "bsc", signguard.Signature{Slot: chain.Slot{Account: "0xhot", Nonce: 7}, Digest: "pay eve 5", PaymentID: 9, Receive: true}), "another chain")
	})
}

// TestGuardAllowsAllOrNone: a group with one forbidden signature is refused as a unit and no part
// of it is stored.
func TestGuardAllowsAllOrNone(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		at := func(number, payment uint64) signguard.Signature {
			return signguard.Signature{Slot: chain.Slot{Account: "0xhot", Nonce: number}, Digest: "pay", PaymentID: payment, Receive: true}
		}
		require.NoError(t, g.Allow(t.Context(), "eth", at(1, 1)))
		require.ErrorIs(t, g.Allow(t.Context(), "eth", at(2, 2), at(3, 1)), signguard.ErrRefused)
		_, next, _, err := g.Next(t.Context(), "eth", "0xhot")
		require.NoError(t, err)
		require.Equal(t, uint64(2), next)
		require.NoError(t, g.Allow(t.Context(), "eth", at(2, 3), at(3, 2)))
	})
}

func TestGuardNext(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		next := func(account string) []any {
			lineage, number, ok, err := g.Next(t.Context(), "vite", account)
			require.NoError(t, err)
			return []any{lineage, number, ok}
		}
		require.Equal(t, []any{uint64(0), uint64(0), false}, next("a"))
		for i, slot := range []chain.Slot{{Account: "a", Branch: 1, Nonce: 40}, {Account: "a", Branch: 2, Nonce: 12}, {Account: "a", Branch: 2, Nonce: 11}, {Account: "b", Nonce: 99}} {
			require.NoError(t, g.Allow(t.Context(), "vite", signguard.Signature{Slot: slot, Digest: "digest", PaymentID: uint64(i + 1), Receive: true}))
		}
		require.Equal(t, []any{uint64(2), uint64(13), true}, next("a"), "the newest lineage counts")
		require.Equal(t, []any{uint64(0), uint64(100), true}, next("b"))
	})
}

func TestGuardRelease(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		ask := func(number uint64, digest string, payment uint64) error {
			return g.Allow(t.Context(), "eth", signguard.Signature{Slot: chain.Slot{Account: "0xhot", Nonce: number}, Digest: digest, PaymentID: payment, Receive: true})
		}
		require.NoError(t, ask(7, "pay bob", 1))
		require.NoError(t, ask(8, "pay carol", 2))
		require.NoError(t, g.Release(t.Context(), "eth", "0xhot", 8))
		require.NoError(t, ask(9, "pay dan", 1), "after a restore the number of a payment means another one")
		require.ErrorIs(t, ask(10, "pay eve", 2), signguard.ErrRefused, "number 8 may still be mined")
		require.NoError(t, ask(11, "pay frank", 4))
		require.NoError(t, g.Release(t.Context(), "eth", "0xhot", 8))
		require.ErrorIs(t, ask(12, "pay frank", 4), signguard.ErrRefused, "number 11 as well")
		require.ErrorIs(t, ask(7, "pay eve", 3), signguard.ErrRefused, "what was signed where stays known")
		_, next, _, err := g.Next(t.Context(), "eth", "0xhot")
		require.NoError(t, err)
		require.Equal(t, uint64(12), next)
	})
}

// TestGuardGivesAnIndexOnce: the list of given addresses is stored with the key and outlives a
// restored database.
func TestGuardGivesAnIndexOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		require.NoError(t, g.GiveIndex(t.Context(), "eth", 0))
		require.ErrorIs(t, g.GiveIndex(t.Context(), "eth", 0), chain.ErrTaken)
		require.NoError(t, g.GiveIndex(t.Context(), "bsc", 0), "each chain has its own")
		require.NoError(t, g.Close())

		g = open()
		require.ErrorIs(t, g.GiveIndex(t.Context(), "eth", 0), chain.ErrTaken)
	})
}

func TestGuardPath(t *testing.T) {
	for _, path := range []string{"", ":memory:", "file:x", "a?b", filepath.Join(t.TempDir(), "missing", "guard.db")} {
		_, err := signguard.Open(path)
		require.Error(t, err, path)
	}
}
