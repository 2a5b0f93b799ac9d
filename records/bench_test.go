package records_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/recordstest"
	"gatewayd/records/watch"
)

// BenchmarkWatch asks a set of 100,000 addresses about the 1,000 candidates of a block, and reports what an address costs in memory.
func BenchmarkWatch(b *testing.B) {
	r := recordstest.NewRig(b)
	const addresses = 100_000
	r.Do(func(tx *records.Tx) error {
		for i := range addresses {
			a := records.Account{Chain: recordstest.Source, Account: fmt.Sprintf("0x%040x", i), Kind: records.KindDeposit, Network: "eth", KeyPath: fmt.Sprint("m/", i)}
			if err := tx.EnsureAccount(a); err != nil {
				return err
			}
		}
		return nil
	})
	candidates := make([]string, 1000)
	for i := range candidates {
		candidates[i] = fmt.Sprintf("0x%040x", addresses+i)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := watch.New(r.Store)
	ask := func() {
		_, err := w.Owned(context.Background(), recordstest.Source, candidates)
		require.NoError(b, err)
	}
	ask()
	runtime.GC()
	runtime.ReadMemStats(&after)
	for b.Loop() {
		ask()
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/addresses, "B/address")
}

// BenchmarkUpdate is one durable commit that takes a deposit in.
func BenchmarkUpdate(b *testing.B) {
	r := recordstest.NewRig(b)
	block := r.Mine(recordstest.Source, "")
	for b.Loop() {
		in := r.Incoming(records.Deposit, 500, chain.Block{Point: block.Point})
		r.Do(func(tx *records.Tx) error { _, _, err := tx.SeeTransfer(in); return err })
	}
}
