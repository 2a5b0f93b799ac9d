package watcher

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/budget"
	"gatewayd/records"
)

// BenchmarkBudgetBatches is about what a payout costs that shares a transaction with 49 others: at
// most half of the CPU of a payout by itself. It is what BenchmarkBudgetPayments measures, from the
// moment when the payouts are queued until they are settled; withdrawals are read and received
// before.
func BenchmarkBudgetBatches(b *testing.B) {
	sides := map[int]*simRig{}
	for _, batch := range []int{0, 50} {
		sides[batch] = openSim(b, fillHistory(b, sqliteFiles{b}.fresh(), 0))
		sides[batch].source.batch, sides[batch].source.most = batch, 16 // as on an EVM chain
		sides[batch].depth = 1
	}
	costs := map[int][]float64{}
	for range b.N {
		for batch, s := range sides {
			costs[batch] = append(costs[batch], s.payouts(b, scaled(benchBlock)*benchBlocks).PerCPU())
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, list := range costs {
		slices.Sort(list)
	}
	middle := b.N / 2
	b.ReportMetric(costs[0][middle], "cpu-ns/single")
	b.ReportMetric(costs[50][middle], "cpu-ns/batched")
	b.ReportMetric(costs[50][middle]/costs[0][middle], "x/batched")
	b.ReportMetric(0.5, "budget")
}

// payouts measures payouts that wait for their channel to open.
func (s *simRig) payouts(b *testing.B, count int) budget.Cost {
	s.setChannel(b, "MAINTAIN")
	before := s.exchange.sentSoFar()
	s.mine(0, count)
	s.stepUntil(b, func() bool { return s.exchange.sentSoFar()-before >= count })
	s.stepUntil(b, func() bool { return s.exchange.settledSoFar() == s.exchange.sentSoFar() })
	s.setChannel(b, "OPEN")
	before = s.source.sentSoFar()
	return budget.Measure(count, func() {
		s.stepUntil(b, func() bool {
			return s.source.sentSoFar()-before >= count && s.source.settledSoFar() == s.source.sentSoFar()
		})
	})
}

// stepUntil makes blocks and works until something holds.
func (s *simRig) stepUntil(b *testing.B, holds func() bool) {
	b.Helper()
	for i := 0; !holds(); i++ {
		require.Less(b, i, 1000)
		s.mine(0, 0)
		s.finalize(false)
		require.NoError(b, s.w.Step(b.Context()))
	}
	require.NoError(b, s.w.Step(b.Context()))
}

func (s *simRig) setChannel(b *testing.B, state string) {
	b.Helper()
	require.NoError(b, s.store.Update(b.Context(), func(tx *records.Tx) error {
		return records.SetChannel(tx, s.network.Name, benchToken, records.Withdrawal, state, "test", "operator:test")
	}))
}
