package recordstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

func testAccounts(t *testing.T, url string) {
	r := newRig(t, url)
	ensure := func(a records.Account) error {
		return r.Try(func(tx *records.Tx) error { return tx.Accounts().Ensure(a) })
	}
	a := records.Account{Chain: Source, Account: "0xnew", Kind: records.KindHot, Network: Network, KeyPath: "m/9"}
	require.NoError(t, ensure(a))
	require.NoError(t, ensure(a))
	other := a
	other.Kind = records.KindGas
	require.ErrorIs(t, ensure(other), records.ErrConflict)
	other = a
	other.KeyPath = "m/10"
	require.ErrorIs(t, ensure(other), records.ErrConflict)
	other = a
	other.Account = "0xclash"
	require.ErrorIs(t, ensure(other), records.ErrConflict, "the key path is taken")

	get := func() (got records.Account) {
		r.See(func(tx *records.Tx) (err error) { got, err = tx.Accounts().Get(Source, "0xnew"); return err })
		return got
	}
	require.Equal(t, records.AccountNew, get().State)
	adopt := func(base uint64) error {
		return r.Try(func(tx *records.Tx) error { return tx.Accounts().Adopt(Source, "0xnew", base, "") })
	}
	require.NoError(t, adopt(42))
	got := get()
	require.Equal(t, []any{records.AccountOK, uint64(0), uint64(42), uint64(42)}, []any{got.State, got.Branch, got.Base, got.Next})
	require.ErrorIs(t, adopt(43), records.ErrConflict, "it is in use")
	r.Do(func(tx *records.Tx) error {
		return tx.Accounts().SetState(Source, "0xnew", records.AccountRecovering, "database restored")
	})
	require.Equal(t, "database restored", get().Why)
	require.ErrorIs(t, adopt(41), records.ErrConflict, "numbers are never given twice")
	require.NoError(t, adopt(50))
	require.Equal(t, uint64(50), get().Next)
	_, open := r.Owe(records.Withdrawal, 500)
	r.Bind(open)
	r.stop(Source, Hot, records.AccountRecovering)
	err := r.Try(func(tx *records.Tx) error { return tx.Accounts().Adopt(Source, Hot, 8, "") })
	require.ErrorIs(t, err, records.ErrConflict, "its slot may still pay")

	r.See(func(tx *records.Tx) error {
		g, err := tx.Accounts().Get(Exchange, Gateway)
		require.NoError(t, err)
		require.Equal(t, []uint64{1, 1, 1}, []uint64{g.Branch, g.Base, g.Next}, "a ledger of linked blocks has lineages")
		hot, err := tx.Accounts().List(Source, records.KindHot)
		require.NoError(t, err)
		require.Len(t, hot, 2)
		all, err := tx.Accounts().List(Source)
		require.NoError(t, err)
		require.Len(t, all, 4)
		_, err = tx.Accounts().Get(Source, "0xnobody")
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
}

func derive(index uint32) (string, string, error) {
	return fmt.Sprintf("0xdeposit%d", index), fmt.Sprintf("m/0/%d", index), nil
}

// testBindingsBound: two bindings may be made in any hour, whatever their network and type.
func testBindingsBound(t *testing.T, url string) {
	r := newRig(t, url)
	wait := func() (d time.Duration) {
		r.See(func(tx *records.Tx) error {
			next, err := tx.Bindings().Next(2, time.Hour)
			d = next.Sub(r.Now())
			return err
		})
		return max(d, 0)
	}
	bind := func(network string) {
		r.Do(func(tx *records.Tx) error { _, err := BindAddress(tx, network, Source, Alice, derive); return err })
	}
	require.Zero(t, wait())
	bind(Network)
	r.Pass(20 * time.Minute)
	require.Zero(t, wait())
	r.Do(func(tx *records.Tx) error {
		_, err := BindLabel(tx, Network, Source, Alice, Shared, func() string { return "1" })
		return err
	})
	require.Equal(t, 40*time.Minute, wait())
	r.Pass(40 * time.Minute)
	require.Zero(t, wait())
	bind("other")
	require.Equal(t, 20*time.Minute, wait())
}

// testIndexesOfChains: source chains share their keys, so an index is one owner's on all of them,
// and an owner has the same on each.
func testIndexesOfChains(t *testing.T, url string) {
	r := newRig(t, url)
	bind := func(network string, id chain.ID, owner string, given ...uint32) (b records.Binding) {
		r.Do(func(tx *records.Tx) (err error) {
			b, err = BindAddress(tx, network, id, owner, func(index uint32) (string, string, error) {
				if slices.Contains(given, index) {
					return "", "", chain.ErrTaken
				}
				return derive(index)
			})
			return err
		})
		return b
	}
	require.Equal(t, uint32(0), bind(Network, Source, Alice).PathIndex)
	require.Equal(t, uint32(1), bind("side", "bsc", Bob).PathIndex, "0 is Alice's everywhere")
	require.Equal(t, uint32(0), bind("side", "bsc", Alice).PathIndex)
	require.Equal(t, uint32(2), bind(Network, Source, "vite_carol").PathIndex)
	require.Equal(t, uint32(1), bind(Network, Source, Bob).PathIndex)
	require.Equal(t, uint32(3), bind("second", Source, Alice).PathIndex, "a second network of the same chain")
	require.Equal(t, uint32(4), bind("side", "bsc", "vite_carol", 2).PathIndex, "what the sign-guard refuses of an older gateway")
}

func testBindings(t *testing.T, url string) {
	r := newRig(t, url)
	bind := func(owner string) (b records.Binding) {
		r.Do(func(tx *records.Tx) (err error) { b, err = BindAddress(tx, Network, Source, owner, derive); return err })
		return b
	}
	a := bind(Alice)
	require.Equal(t, "0xdeposit0", a.Address)
	require.Equal(t, a, bind(Alice))
	require.Equal(t, "0xdeposit1", bind(Bob).Address)
	broken := errors.New("no key")
	err := r.Try(func(tx *records.Tx) error {
		_, err := BindAddress(tx, Network, Source, "vite_carol", func(uint32) (string, string, error) { return "", "", broken })
		return err
	})
	require.ErrorIs(t, err, broken)
	require.Error(t, r.Try(func(tx *records.Tx) error { _, err := BindAddress(tx, Network, Source, "", derive); return err }))

	labels := []string{"", "1001", "1001", "1001", "1002"}
	label := func() (l string) { l, labels = labels[0], labels[1:]; return l }
	bindLabel := func(owner string) (b records.Binding) {
		r.Do(func(tx *records.Tx) (err error) {
			b, err = BindLabel(tx, Network, Source, owner, Shared, label)
			return err
		})
		return b
	}
	first, second := bindLabel(Alice), bindLabel(Bob)
	require.Equal(t, "1001", first.Label)
	require.Equal(t, "1002", second.Label, "a taken label is made anew")
	require.Equal(t, first, bindLabel(Alice))
	r.See(func(tx *records.Tx) error {
		all, err := tx.Bindings().List(0, 100)
		require.NoError(t, err)
		require.Contains(t, all, a)
		require.Contains(t, all, second)
		rest, err := tx.Bindings().List(all[0].ID, 1)
		require.Equal(t, all[1:2], rest)
		return err
	})
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error {
		_, err := BindLabel(tx, Network, Source, "vite_carol", Shared, func() string { return "1001" })
		return err
	}), records.ErrFull)

	r.See(func(tx *records.Tx) error {
		acc, err := tx.Accounts().Get(Source, a.Address)
		require.NoError(t, err)
		require.Equal(t, records.KindDeposit, acc.Kind)
		require.Equal(t, "m/0/0", acc.KeyPath)
		got, found, err := tx.Bindings().ByAddress(Source, a.Address)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, a, got)
		got, found, err = tx.Bindings().ByLabel(Network, "1002")
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, second, got)
		_, found, err = tx.Bindings().ByLabel(Network, "\xff\x00")
		require.NoError(t, err)
		require.False(t, found)
		_, found, err = tx.Bindings().ByOwner(Network, records.TypeAddress, "vite_carol")
		require.False(t, found)
		return err
	})
}

// testParallelBindings: 64 requests at once for one owner get one address, and for many owners as
// many.
func testParallelBindings(t *testing.T, url string) {
	r := newRig(t, url)
	const n = 64
	all := func(owner func(i int) string) map[string]bool {
		var wg sync.WaitGroup
		got, errs := make([]string, n), make([]error, n)
		for i := range n {
			wg.Go(func() {
				errs[i] = r.Try(func(tx *records.Tx) error {
					b, err := BindAddress(tx, Network, Source, owner(i), derive)
					got[i] = b.Address
					return err
				})
			})
		}
		wg.Wait()
		distinct := make(map[string]bool)
		for i := range n {
			require.NoError(t, errs[i])
			distinct[got[i]] = true
		}
		return distinct
	}
	require.Len(t, all(func(int) string { return Alice }), 1)
	require.Len(t, all(func(i int) string { return fmt.Sprint("vite_", i) }), n)
}

func testWatch(t *testing.T, url string) {
	r := newRig(t, url)
	w := records.NewWatch(r.Store)
	owned := func(id chain.ID, candidates ...string) map[string]bool {
		got, err := w.Owned(context.Background(), id, candidates)
		require.NoError(t, err)
		return got
	}
	require.Equal(t, map[string]bool{Hot: true, Shared: true}, owned(Source, Hot, "0xstranger", Shared, Gateway))
	require.Empty(t, owned(Source, "0xdeposit0"))
	r.Do(func(tx *records.Tx) error { _, err := BindAddress(tx, Network, Source, Alice, derive); return err })
	require.Equal(t, map[string]bool{"0xdeposit0": true}, owned(Source, "0xdeposit0"), "a row stored before the call counts")
	require.Empty(t, owned(Exchange, "0xdeposit0"), "on its chain only")
	require.Empty(t, owned(Source, "\xff", "a\x00b", strings.Repeat("x", 1000)))

	const many = 1200 // more than one batch of confirmations
	r.Do(func(tx *records.Tx) error {
		for i := range many {
			if _, err := BindAddress(tx, Network, Source, fmt.Sprint("vite_", i), derive); err != nil {
				return err
			}
		}
		return nil
	})
	var candidates []string
	for i := range 2 * many {
		candidates = append(candidates, fmt.Sprint("0xdeposit", i))
	}
	require.Len(t, owned(Source, candidates...), many+1)
	plain, err := w.Accounts(context.Background(), Source)
	require.NoError(t, err)
	require.Equal(t, []string{Hot, Shared, GasTank}, plain)
}
