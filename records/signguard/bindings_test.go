package signguard_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// TestBindings: an address and a label belong to one user permanently, for every caller, and also
// after the file was reopened.
func TestBindings(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		address := func(index uint32, place, user string) error {
			return g.GiveAddress(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: index, Address: place, User: user})
		}
		label := func(network, name, user string) error {
			return g.GiveLabel(t.Context(), signguard.Binding{Network: network, Chain: "eth", Label: name, User: user, Since: 7})
		}
		require.NoError(t, address(0, "0xa", "alice"))
		require.ErrorIs(t, address(0, "0xa", "eve"), chain.ErrTaken)
		require.ErrorIs(t, address(0, "0xe", "eve"), chain.ErrTaken)
		require.ErrorIs(t, address(1, "0xa", "eve"), chain.ErrTaken)
		require.NoError(t, g.GiveIndex(t.Context(), "eth", 2))
		require.ErrorIs(t, address(2, "0xc", "eve"), chain.ErrTaken, "given before the sign-guard kept to whom")
		require.ErrorIs(t, address(3, "0xd", ""), signguard.ErrRefused)
		require.ErrorIs(t, address(3, "", "eve"), signguard.ErrRefused)

		require.NoError(t, label("main", "L", "alice"))
		require.NoError(t, label("main", "L", "alice"))
		require.ErrorIs(t, label("main", "L", "eve"), chain.ErrTaken)
		require.NoError(t, label("other", "L", "eve"))
		require.ErrorIs(t, label("main", "", "eve"), signguard.ErrRefused)

		require.NoError(t, g.Close())
		g = open()
		b, ok, err := g.OfAddress(t.Context(), "eth", "0xa")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, signguard.Binding{Network: "main", Chain: "eth", Address: "0xa", User: "alice"}, b)
		b, ok, err = g.OfLabel(t.Context(), "main", "L")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, []any{"alice", uint64(7)}, []any{b.User, b.Since})
		owned, err := g.Owned(t.Context(), "eth", append(make([]string, 1200), "0xa", "0xe"))
		require.NoError(t, err)
		require.Equal(t, map[string]bool{"0xa": true}, owned)
		_, ok, err = g.OfAddress(t.Context(), "bsc", "0xa")
		require.NoError(t, err)
		require.False(t, ok)
	})
}

// TestSettle: a binding that was given without a block gets one once, and no other does.
func TestSettle(t *testing.T) {
	eachStore(t, func(t *testing.T, g *signguard.Guard) {
		address := signguard.Binding{Network: "main", Chain: "eth", Index: 1, Address: "0xa", User: "alice", Since: signguard.SinceUnknown}
		label := signguard.Binding{Network: "main", Chain: "eth", Label: "L", User: "alice", Since: signguard.SinceUnknown}
		known := signguard.Binding{Network: "main", Chain: "eth", Index: 2, Address: "0xb", User: "bob", Since: 3}
		require.NoError(t, g.GiveAddress(t.Context(), address))
		require.NoError(t, g.GiveLabel(t.Context(), label))
		require.NoError(t, g.GiveAddress(t.Context(), known))
		list, err := g.Unsettled(t.Context(), "eth", 5)
		require.NoError(t, err)
		require.ElementsMatch(t, []signguard.Binding{address, label}, list)
		require.NoError(t, g.Settle(t.Context(), append(list, known), 8))
		require.NoError(t, g.Settle(t.Context(), list, 9), "the first stays")
		for text, want := range map[string]uint64{"0xa": 8, "0xb": 3} {
			b, _, err := g.OfAddress(t.Context(), "eth", text)
			require.NoError(t, err)
			require.Equal(t, want, b.Since, text)
		}
		b, _, err := g.OfLabel(t.Context(), "main", "L")
		require.NoError(t, err)
		require.Equal(t, uint64(8), b.Since)
		list, err = g.Unsettled(t.Context(), "eth", 5)
		require.NoError(t, err)
		require.Empty(t, list)
		openings, err := g.Unopened(t.Context(), "eth", 8, 5)
		require.NoError(t, err)
		require.ElementsMatch(t, []signguard.Opening{{Address: "0xa", Since: 8}, {Address: "0xb", Since: 3}}, openings)
	})
}

// TestAnIndexHasOneOwner: the chains of one kind share their keys, so an index is one user's on all
// of them.
func TestAnIndexHasOneOwner(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		give := func(id chain.ID, index uint32, user string) error {
			return g.GiveAddress(t.Context(), signguard.Binding{Network: "n " + string(id), Chain: id, Index: index, Address: fmt.Sprint("0x", index), User: user})
		}
		require.NoError(t, give("eth", 7, "alice"))
		require.ErrorIs(t, give("bsc", 7, "eve"), chain.ErrTaken)
		require.NoError(t, give("bsc", 7, "alice"), "she has the same address on both")
		require.ErrorIs(t, give("arb", 7, "eve"), chain.ErrTaken)
		require.NoError(t, g.GiveIndex(t.Context(), "eth", 8))
		require.ErrorIs(t, give("bsc", 8, "eve"), chain.ErrTaken, "given before the sign-guard kept to whom")
		require.NoError(t, g.PassOver(t.Context(), "eth", 3))
		require.ErrorIs(t, give("bsc", 11, "eve"), chain.ErrTaken, "forgotten by a backup on any chain")
		require.NoError(t, give("bsc", 12, "eve"))
		require.NoError(t, g.PassOver(t.Context(), "eth", 1))
		require.ErrorIs(t, give("eth", 13, "alice"), chain.ErrTaken, "after the last of all chains")

		both := []signguard.Binding{{Network: "main", Chain: "eth", Index: 20, Address: "0x20", User: "alice"}, {Network: "side", Chain: "bsc", Index: 20, Address: "0x20", User: "bob"}}
		_, err := g.Import(t.Context(), both)
		require.NoError(t, err, "two users of an older gateway share an index, and each keeps his address")
		for _, b := range both {
			known, found, err := g.OfAddress(t.Context(), b.Chain, b.Address)
			require.NoError(t, err)
			require.True(t, found)
			require.Equal(t, b.User, known.User)
		}
		require.ErrorIs(t, give("arb", 20, "alice"), chain.ErrTaken, "bob sends there too")
	})
}

// TestImportedBindings are added to what is known, and contradict none of it.
func TestImportedBindings(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		require.NoError(t, g.GiveIndex(t.Context(), "eth", 0))
		list := []signguard.Binding{
			{Network: "main", Chain: "eth", Index: 0, Address: "0xa", User: "alice"}, {Network: "main", Chain: "eth", Label: "L", User: "bob"},
		}
		added, err := g.Import(t.Context(), list)
		require.NoError(t, err)
		require.Equal(t, 2, added)
		added, err = g.Import(t.Context(), list)
		require.NoError(t, err)
		require.Zero(t, added)
		list = append(list, signguard.Binding{Network: "main", Chain: "eth", Label: "M", User: "bob"})
		list[1].User = "eve"
		_, err = g.Import(t.Context(), list)
		require.ErrorIs(t, err, chain.ErrTaken)
		_, ok, err := g.OfLabel(t.Context(), "main", "M")
		require.NoError(t, err)
		require.False(t, ok, "all or none")
		_, err = g.Import(t.Context(), []signguard.Binding{{Network: "main", Chain: "eth", Address: "0xb", Label: "B", User: "bob"}})
		require.ErrorIs(t, err, signguard.ErrRefused)
	})
}

// TestWatchedFromTheFirstTime: the start of checking is set once.
func TestWatchedFromTheFirstTime(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		away := errors.New("the nodes are away")
		_, err := g.Watched(t.Context(), "eth", func() (uint64, error) { return 0, away })
		require.ErrorIs(t, err, away)
		for _, height := range []uint64{40, 10, 90} {
			since, err := g.Watched(t.Context(), "eth", func() (uint64, error) { return height, nil })
			require.NoError(t, err)
			require.Equal(t, uint64(40), since)
		}
	})
}
