package records_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// watchedAddress returns an address of ours below the number of those, another party's above.
func watchedAddress(i int) string { return fmt.Sprintf("0x%040x", 1<<40+i*7) }

// watched is a store with so many addresses of ours, written behind its back, in bulk.
func watched(b *testing.B, n int) *records.Store {
	file := filepath.Join(b.TempDir(), "records.db")
	store, err := records.Open(b.Context(), records.Config{URL: "sqlite:" + file})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	db, err := sqlx.Open("sqlite3", file+"?_synchronous=OFF&_foreign_keys=off")
	require.NoError(b, err)
	defer db.Close()
	_, err = db.Exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
		INSERT INTO accounts (chain, account, kind, network, key_path, state, seq, created_at)
		SELECT 'eth', printf('0x%040x', (1 << 40) + i * 7), 'deposit', 'eth', 'm/' || i, 'new', i + 1, 0 FROM n`, n)
	require.NoError(b, err)
	return store
}

// BenchmarkBudgetWatched queries a set of 1,000,000 addresses for the receivers of a block of 250
// transactions and of the payments in their logs, two of which are ours: 5 ms; the set may have 120
// MB.
func BenchmarkBudgetWatched(b *testing.B) {
	addresses, candidates := 1_000_000, make([]string, 500)
	if testing.Short() {
		addresses = 10_000
	}
	store := watched(b, addresses)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := records.NewWatch(store)
	ask := func(block int) {
		for i := range candidates {
			candidates[i] = watchedAddress(addresses + block*len(candidates) + i)
		}
		candidates[100], candidates[300] = watchedAddress(block%addresses), watchedAddress((block*31+1)%addresses)
		owned, err := w.Owned(context.Background(), "eth", candidates)
		require.NoError(b, err)
		require.Len(b, owned, 2)
	}
	ask(0) // loads the set
	runtime.GC()
	runtime.ReadMemStats(&after)
	block := 0
	for b.Loop() {
		block++
		ask(block)
	}
	b.ReportMetric(5e6, "ns/budget")
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/(1<<20), "MB")
	b.ReportMetric(120, "MB/budget")
}

// BenchmarkUpdate is one durable commit that takes a deposit in.
func BenchmarkUpdate(b *testing.B) {
	r := recordstest.NewRig(b)
	block := r.Mine(recordstest.Source, "")
	for b.Loop() {
		in := r.Incoming(records.Deposit, 500, chain.Block{Point: block.Point})
		r.Do(func(tx *records.Tx) error { _, _, err := tx.Transfers().See(in); return err })
	}
}
