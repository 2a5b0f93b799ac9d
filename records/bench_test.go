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
)

// BenchmarkPage reads a wallet's page of 20 of a user who has 100,000 records: the first and the last.
func BenchmarkPage(b *testing.B) {
	r := recordstest.NewRig(b)
	const rows = 100_000
	block := r.Mine(recordstest.Source, "")
	for done := 0; done < rows; done += 10_000 {
		r.Do(func(tx *records.Tx) error {
			for range 10_000 {
				if _, _, err := tx.SeeTransfer(r.Incoming(records.Deposit, 500, block)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, offset := range []int{0, rows - 20} {
		b.Run(fmt.Sprint("offset ", offset), func(b *testing.B) {
			for b.Loop() {
				r.See(func(tx *records.Tx) error {
					list, total, err := tx.Page(recordstest.Network, recordstest.Token, recordstest.Alice, records.Deposit, offset, 20)
					require.Len(b, list, 20)
					require.Equal(b, rows, total)
					return err
				})
			}
		})
	}
}

// BenchmarkSmallPage reads all of a user who has 20 deposits, half of them paid.
func BenchmarkSmallPage(b *testing.B) {
	r := recordstest.NewRig(b)
	for range 10 {
		_, p := r.Owe(records.Deposit, 500)
		r.Pay(p)
		r.Receive(records.Deposit, 500)
	}
	for b.Loop() {
		r.See(func(tx *records.Tx) error {
			list, _, err := tx.Page(recordstest.Network, recordstest.Token, recordstest.Alice, records.Deposit, 0, 20)
			require.Len(b, list, 20)
			return err
		})
	}
}

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
	w := records.NewWatch(r.Store)
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
