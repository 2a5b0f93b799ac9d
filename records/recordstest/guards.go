package recordstest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/control"
)

// testGuards: the first sign-guard is taken, another one is not, and one that is adopted stops every account that pays.
func testGuards(t *testing.T, url string) {
	r := newRig(t, url)
	read := func() (g control.Guard, found bool) {
		r.See(func(tx *records.Tx) (err error) { g, found, err = control.GuardOf(tx); return err })
		return g, found
	}
	note := func(g control.Guard) error {
		return r.Store.Update(context.Background(), func(tx *records.Tx) error { return control.NoteGuard(tx, g) })
	}
	_, found := read()
	require.False(t, found)
	require.NoError(t, note(control.Guard{ID: "a", Commits: 3}))
	require.NoError(t, note(control.Guard{ID: "a", Commits: 2}))
	require.ErrorIs(t, note(control.Guard{ID: "b", Commits: 9}), control.ErrOtherGuard)
	g, found := read()
	require.True(t, found)
	require.Equal(t, control.Guard{ID: "a", Commits: 3}, g, "it never falls by itself")

	fresh := records.Account{Chain: Source, Account: "0xNew", Kind: records.KindGas, Network: Network, KeyPath: "m/9", State: records.AccountNew}
	var halted []records.Account
	r.Do(func(tx *records.Tx) (err error) {
		if err := tx.EnsureAccount(fresh); err != nil {
			return err
		}
		halted, err = control.AdoptGuard(tx, control.Guard{ID: "b"}, []chain.ID{Source, Exchange}, "a test")
		return err
	})
	require.Len(t, halted, 2)
	g, _ = read()
	require.Equal(t, control.Guard{ID: "b"}, g)
	r.See(func(tx *records.Tx) error {
		for _, a := range halted {
			now, err := tx.Account(a.Chain, a.Account)
			require.NoError(t, err)
			require.Equal(t, []any{records.AccountHalted, "a test"}, []any{now.State, now.Why})
		}
		now, err := tx.Account(fresh.Chain, fresh.Account)
		require.Equal(t, records.AccountNew, now.State, "it has signed nothing")
		return err
	})
}
