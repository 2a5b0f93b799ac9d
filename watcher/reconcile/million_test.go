package reconcile

import (
	"context"
	"database/sql"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// millionAccounts is a chain with a million accounts that hold what the books say, but one. It
// counts what it is asked and how much memory is in use then.
type millionAccounts struct {
	chain.Chain
	calls int
	heap  uint64
}

const richAddress = "0x0000000000000000000000000000000000777777"

func (c *millionAccounts) ID() chain.ID         { return "eth" }
func (c *millionAccounts) AuditsBalances() bool { return true }
func (c *millionAccounts) BalancePage() int     { return 14_000 }

func (c *millionAccounts) BalancesAt(_ context.Context, _ uint64, accounts []string) ([]chain.Amount, error) {
	c.calls++
	out := make([]chain.Amount, len(accounts))
	for i, a := range accounts {
		if a == richAddress {
			out[i] = units(5000)
		}
	}
	if c.calls%10 == 0 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.heap = max(c.heap, m.HeapAlloc)
	}
	return out, nil
}

func (c *millionAccounts) PastBalances(context.Context, []chain.Moment) ([]*chain.Amount, error) {
	return nil, chain.ErrUnavailable
}

// TestMillionAccounts compares a million accounts in at most 120 calls, holding one page of them at
// a time.
func TestMillionAccounts(t *testing.T) {
	if testing.Short() {
		t.Skip("a million rows")
	}
	path := filepath.Join(t.TempDir(), "records.db")
	store := open(t, path)
	require.NoError(t, store.Update(t.Context(), func(tx *records.Tx) error {
		return tx.Chains().Start("eth", chain.Point{Height: 100, Hash: "h100"})
	}))
	fillMillion(t, path)
	c := new(millionAccounts)
	a := NewAuditor(Parts{
		Store: store, Chains: map[chain.ID]chain.Chain{"eth": c}, Networks: func() []records.Network { return nil }, Log: quiet(), Now: time.Now,
	}, "eth", time.Hour)
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	require.NoError(t, a.Round(t.Context()))
	require.LessOrEqual(t, c.calls, 120)
	grown := int64(c.heap) - int64(before.HeapAlloc)
	t.Logf("%d calls, %d KiB more in use", c.calls, grown>>10)
	require.Less(t, grown, int64(64<<20))
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
		found, err := books.Findings(tx, "eth")
		require.Len(t, found, 1)
		require.Equal(t, richAddress, found[0].Account)
		state, _, _ := tx.Balances().BalanceAudit("eth")
		require.EqualValues(t, 100, state.Audited)
		return err
	}))
	calls := c.calls
	require.NoError(t, a.Round(t.Context()))
	require.Equal(t, calls, c.calls, "nothing is due")
}

// fillMillion stores a million deposit addresses.
func fillMillion(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path+"?_busy_timeout=5000")
	require.NoError(t, err)
	defer db.Close()
	const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) `
	for _, s := range []string{
		`INSERT INTO accounts (chain, account, kind, network, key_path, state, seq, created_at) ` + numbers +
			`SELECT 'eth', '0x' || printf('%040d', i), 'deposit', 'main', 'm/' || i, 'new', i, 0 FROM n`,
		`INSERT INTO holdings (chain, account, since, opening) SELECT chain, account, 100, '0' FROM accounts`,
		`UPDATE cursors SET final_height = 100, final_hash = 'h100'`,
	} {
		_, err := db.Exec(s)
		require.NoError(t, err)
	}
}
