package records_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/recordstest"
)

func TestGuard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard.db")
	open := func() *records.Guard {
		g, err := records.OpenGuard(path)
		require.NoError(t, err)
		return g
	}
	g := open()
	ask := func(lineage, number uint64, digest string, payment uint64, cancel bool) error {
		return g.Allow(t.Context(), "eth", records.Signature{
			Slot: chain.Slot{Account: "0xhot", Lineage: lineage, Number: number}, Digest: digest, PaymentID: payment, Cancel: cancel,
		})
	}
	require.NoError(t, ask(0, 7, "pay bob 5", 1, false))
	require.NoError(t, ask(0, 7, "pay bob 5", 1, false), "a replacement pays the same")
	require.ErrorIs(t, ask(0, 7, "pay eve 5", 1, false), records.ErrGuard, "another payee")
	require.ErrorIs(t, ask(0, 7, "pay bob 5", 2, false), records.ErrGuard, "another payment")
	require.ErrorIs(t, ask(0, 8, "pay bob 5", 1, false), records.ErrGuard, "the payment has a slot")
	require.NoError(t, ask(0, 7, "to self", 1, true), "a cancellation passes")
	require.NoError(t, ask(0, 7, "pay bob 5", 1, false))

	require.NoError(t, g.Close())
	g = open()
	defer func() { require.NoError(t, g.Close()) }()
	require.ErrorIs(t, ask(0, 7, "pay eve 5", 3, false), records.ErrGuard, "a restart forgets nothing")
	require.NoError(t, g.Free(t.Context(), 1))
	require.NoError(t, g.Free(t.Context(), 1))
	require.NoError(t, ask(0, 8, "pay bob 5", 1, false), "after a final block voided the slot")
	require.ErrorIs(t, ask(0, 9, "pay bob 5", 1, false), records.ErrGuard)

	require.NoError(t, ask(0, 20, "to self", 0, true), "a number that nothing was signed for")
	require.ErrorIs(t, ask(0, 20, "pay carol 5", 4, false), records.ErrGuard)
	require.NoError(t, ask(1, 1, "pay dan 5", 5, false))
	require.NoError(t, ask(2, 1, "pay dan 5", 5, false), "a new lineage excludes the old one")
	require.ErrorIs(t, ask(2, 2, "pay dan 5", 5, false), records.ErrGuard)
	require.ErrorIs(t, ask(2, 3, "", 6, false), records.ErrGuard)
	require.ErrorIs(t, ask(2, 3, "x", 0, false), records.ErrGuard)
	require.NoError(t, g.Allow(t.Context(), "bsc", records.Signature{Slot: chain.Slot{Account: "0xhot", Number: 7}, Digest: "pay eve 5", PaymentID: 9}), "another chain")
}

// TestGuardAllowsAllOrNone: a group with one signature that must not be is refused as a whole and remembered in no part.
func TestGuardAllowsAllOrNone(t *testing.T) {
	g, err := records.OpenGuard(filepath.Join(t.TempDir(), "guard.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()
	at := func(number, payment uint64) records.Signature {
		return records.Signature{Slot: chain.Slot{Account: "0xhot", Number: number}, Digest: "pay", PaymentID: payment}
	}
	require.NoError(t, g.Allow(t.Context(), "eth", at(1, 1)))
	require.ErrorIs(t, g.Allow(t.Context(), "eth", at(2, 2), at(3, 1)), records.ErrGuard)
	_, next, _, err := g.Next(t.Context(), "eth", "0xhot")
	require.NoError(t, err)
	require.Equal(t, uint64(2), next)
	require.NoError(t, g.Allow(t.Context(), "eth", at(2, 3), at(3, 2)))
}

func TestGuardNext(t *testing.T) {
	g, err := records.OpenGuard(filepath.Join(t.TempDir(), "guard.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()
	next := func(account string) []any {
		lineage, number, ok, err := g.Next(t.Context(), "vite", account)
		require.NoError(t, err)
		return []any{lineage, number, ok}
	}
	require.Equal(t, []any{uint64(0), uint64(0), false}, next("a"))
	for i, slot := range []chain.Slot{{Account: "a", Lineage: 1, Number: 40}, {Account: "a", Lineage: 2, Number: 12}, {Account: "a", Lineage: 2, Number: 11}, {Account: "b", Number: 99}} {
		require.NoError(t, g.Allow(t.Context(), "vite", records.Signature{Slot: slot, Digest: "digest", PaymentID: uint64(i + 1)}))
	}
	require.Equal(t, []any{uint64(2), uint64(13), true}, next("a"), "the newest lineage counts")
	require.Equal(t, []any{uint64(0), uint64(100), true}, next("b"))
}

func TestGuardRelease(t *testing.T) {
	g, err := records.OpenGuard(filepath.Join(t.TempDir(), "guard.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()
	ask := func(number uint64, digest string, payment uint64) error {
		return g.Allow(t.Context(), "eth", records.Signature{Slot: chain.Slot{Account: "0xhot", Number: number}, Digest: digest, PaymentID: payment})
	}
	require.NoError(t, ask(7, "pay bob", 1))
	require.NoError(t, ask(8, "pay carol", 2))
	require.NoError(t, g.Release(t.Context(), "eth", "0xhot", 8))
	require.NoError(t, ask(9, "pay dan", 1), "after a restore the number of a payment means another one")
	require.ErrorIs(t, ask(10, "pay eve", 2), records.ErrGuard, "number 8 may still be mined")
	require.NoError(t, ask(11, "pay frank", 4))
	require.NoError(t, g.Release(t.Context(), "eth", "0xhot", 8))
	require.ErrorIs(t, ask(12, "pay frank", 4), records.ErrGuard, "number 11 as well")
	require.ErrorIs(t, ask(7, "pay eve", 3), records.ErrGuard, "what was signed where stays known")
	_, next, _, err := g.Next(t.Context(), "eth", "0xhot")
	require.NoError(t, err)
	require.Equal(t, uint64(12), next)
}

// TestGuardGivesAnIndexOnce: the memory of given addresses lies beside the key and outlives a restored database.
func TestGuardGivesAnIndexOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard.db")
	g, err := records.OpenGuard(path)
	require.NoError(t, err)
	require.NoError(t, g.GiveIndex(t.Context(), "eth", 0))
	require.ErrorIs(t, g.GiveIndex(t.Context(), "eth", 0), records.ErrTaken)
	require.NoError(t, g.GiveIndex(t.Context(), "bsc", 0), "each chain has its own")
	require.NoError(t, g.Close())

	g, err = records.OpenGuard(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()
	store := recordstest.Open(t) // a backup from before the first user
	var b records.Binding
	require.NoError(t, store.Update(t.Context(), func(tx *records.Tx) error {
		b, err = tx.BindAddress("main", "eth", "vite_newcomer", func(i uint32) (string, string, error) {
			return fmt.Sprint("0x", i), fmt.Sprint("m/", i), g.GiveIndex(t.Context(), "eth", i)
		})
		return err
	}))
	require.Equal(t, uint32(1), b.PathIndex, "the forgotten user's address is not given again")
}

func TestGuardPath(t *testing.T) {
	for _, path := range []string{"", ":memory:", "file:x", "a?b", filepath.Join(t.TempDir(), "missing", "guard.db")} {
		_, err := records.OpenGuard(path)
		require.Error(t, err, path)
	}
}
