package signguard_test

import (
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// arrivals is a sign-guard with an address that held 30 when it was given out at block 10.
func arrivals(t *testing.T, g *signguard.Guard) (take func(id uint64, a chain.Arrival) signguard.State) {
	t.Helper()
	require.NoError(t, g.GiveAddress(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Address: "0xin", User: "bob", Since: 10}))
	list, err := g.Unopened(t.Context(), "eth", 10, 5)
	require.NoError(t, err)
	require.Equal(t, []signguard.Opening{{Address: "0xin", Since: 10}}, list)
	require.NoError(t, g.Open(t.Context(), "eth", "0xin", 10, chain.NewAmount(30)))
	require.NoError(t, g.Open(t.Context(), "eth", "0xin", 20, chain.NewAmount(0)), "the first stays")
	list, err = g.Unopened(t.Context(), "eth", 10, 5)
	require.NoError(t, err)
	require.Empty(t, list)
	return func(id uint64, a chain.Arrival) signguard.State {
		t.Helper()
		a.Chain, a.Address = "eth", "0xin"
		w := leave(string(a.Proof)+a.Amount.String()+string(rune('a'+id)), "credit|bob", id)
		w.Arrival = &a
		states, err := g.Authorize(t.Context(), []signguard.Authorization{w})
		require.NoError(t, err)
		return states[0]
	}
}

func limit(n uint64) *chain.Amount { a := chain.NewAmount(n); return &a }

func byBalance(units, most uint64) chain.Arrival {
	return chain.Arrival{Amount: chain.NewAmount(units), Height: 11, Proof: chain.ByBalance, Limit: limit(most)}
}

func byBlock(units, height uint64, most *chain.Amount) chain.Arrival {
	return chain.Arrival{Amount: chain.NewAmount(units), Height: height, Proof: chain.ByBlock, Limit: most}
}

// eachStore runs a test on a file and on a server.
func eachStore(t *testing.T, test func(t *testing.T, g *signguard.Guard)) {
	t.Run("file", func(t *testing.T) { test(t, openGuard(t, filepath.Join(t.TempDir(), "guard.db"))) })
	t.Run("server", func(t *testing.T) { test(t, openServer(t, emptyDatabase(t))) })
}

// TestCoinIsCounted: the sum of what is credited at an address stays within the limit of each
// claim, in the commit that authorizes it.
func TestCoinIsCounted(t *testing.T) {
	eachStore(t, func(t *testing.T, g *signguard.Guard) {
		take := arrivals(t, g)
		require.Equal(t, signguard.Living, take(1, byBlock(40, 12, nil)), "nothing was found here yet")
		require.Equal(t, signguard.Overdrawn, take(2, byBalance(61, 100)))
		require.Equal(t, signguard.Living, take(3, byBalance(60, 100)))
		require.Equal(t, signguard.Uncounted, take(4, byBlock(1, 13, nil)), "its limit is to be read first")
		require.Equal(t, signguard.Overdrawn, take(5, byBlock(1, 13, limit(100))))
		require.Equal(t, signguard.Living, take(6, byBlock(1, 13, limit(101))))
		require.Equal(t, signguard.Living, take(7, byBlock(25, 10, nil)), "part of the opening balance")
		require.Equal(t, signguard.Uncounted, take(8, chain.Arrival{Amount: chain.NewAmount(1), Proof: chain.ByBalance}))

		require.NoError(t, g.NoteSpent(t.Context(), []signguard.Spending{
			{Chain: "eth", Address: "0xin", Number: 0, Amount: chain.NewAmount(5), Height: 10}, // before the opening
			{Chain: "eth", Address: "0xin", Number: 1, Amount: chain.NewAmount(7), Height: 15}, {Chain: "eth", Address: "0xin", Number: 1, Amount: chain.NewAmount(99), Height: 15},
			{Chain: "eth", Address: "0xin", Number: 2, Amount: chain.NewAmount(11), Height: 21}, {Chain: "bsc", Address: "0xin", Number: 3, Amount: chain.NewAmount(50), Height: 15},
		}))
		c, err := g.CoinAt(t.Context(), "eth", "0xin", "", 20)
		require.NoError(t, err)
		require.Equal(t, signguard.Coin{Opened: true, Since: 10, Opening: chain.NewAmount(30), Spent: chain.NewAmount(7), Counted: chain.NewAmount(101)}, c)
		most, err := c.Limit(chain.NewAmount(50))
		require.NoError(t, err)
		require.Equal(t, chain.NewAmount(27), most)
		most, err = c.Limit(chain.NewAmount(1))
		require.NoError(t, err)
		require.Zero(t, most)
	})
}

// TestApprovedCoinCounts: an amount that people have approved is not credited again by the balance,
// and our own coin for fees never is.
func TestApprovedCoinCounts(t *testing.T) {
	eachStore(t, func(t *testing.T, g *signguard.Guard) {
		take := arrivals(t, g)
		require.Equal(t, signguard.Living, take(1, chain.Arrival{Amount: chain.NewAmount(70), Proof: chain.ByPeople}))
		require.Equal(t, signguard.Living, take(2, byBlock(1, 13, nil)), "what people approve binds no deposit that a block shows")
		require.Equal(t, signguard.Overdrawn, take(3, byBalance(30, 100)))
		require.Equal(t, signguard.Living, take(4, byBalance(20, 100)))
		gas := leave("gas", "gas|native|0xin", 5)
		gas.Payee, gas.Asset, gas.Amount, gas.Chain = "0xin", chain.Native, chain.NewAmount(4), "eth"
		states, err := g.Authorize(t.Context(), []signguard.Authorization{gas})
		require.NoError(t, err)
		require.Equal(t, []signguard.State{signguard.Living}, states)
		require.Equal(t, signguard.Overdrawn, take(6, byBalance(6, 100)))
		require.Equal(t, signguard.Living, take(7, byBalance(5, 100)))
	})
}

// TestOpeningsAfterADowngrade: an earlier version gives addresses without an opening. The next
// start of this version makes one, from a block that is still to be read: the books have nothing of
// before.
func TestOpeningsAfterADowngrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard.db")
	g := openGuard(t, path)
	arrivals(t, g)
	require.NoError(t, g.Close())
	earlier, err := sqlx.Open("sqlite3", path)
	require.NoError(t, err)
	_, err = earlier.Exec(`INSERT INTO bindings (network, chain, path_index, address, label, user_account, since) VALUES ('main', 'eth', 5, '0xlate', '', 'alice', 12)`)
	require.NoError(t, err)
	require.NoError(t, earlier.Close())

	g = openGuard(t, path)
	list, err := g.Unopened(t.Context(), "eth", 100, 5)
	require.NoError(t, err)
	require.Equal(t, []signguard.Opening{{Address: "0xlate"}}, list)
	require.NoError(t, g.OpenFrom(t.Context(), "eth", 40))
	require.NoError(t, g.OpenFrom(t.Context(), "eth", 50), "the first stays")
	list, err = g.Unopened(t.Context(), "eth", 39, 5)
	require.NoError(t, err)
	require.Empty(t, list, "not final yet")
	list, err = g.Unopened(t.Context(), "eth", 40, 5)
	require.NoError(t, err)
	require.Equal(t, []signguard.Opening{{Address: "0xlate", Since: 40}}, list)
	c, err := g.CoinAt(t.Context(), "eth", "0xin", "", 0)
	require.NoError(t, err)
	require.Equal(t, uint64(10), c.Since, "what was opened stays")
}
