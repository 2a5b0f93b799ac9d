package signguard_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/budget"
	"gatewayd/records/signguard"
)

const (
	benchPast  = 20_000
	benchGroup = 256
)

// BenchmarkBudgetGuard measures the sign-guard's cost per payment, in groups of 256, of a signer
// with its own nodes and of one without. The cost does not depend on earlier signatures.
func BenchmarkBudgetGuard(b *testing.B) {
	for _, past := range []int{0, benchPast} {
		for _, evidence := range []bool{false, true} {
			b.Run(fmt.Sprintf("past=%d/evidence=%t", past, evidence), func(b *testing.B) {
				g, err := signguard.Open(filepath.Join(b.TempDir(), "guard.db"))
				require.NoError(b, err)
				defer g.Close()
				number := uint64(1)
				pay := func() {
					var leaves []signguard.Authorization
					var list []signguard.Signature
					for range benchGroup {
						a, s := leave(fmt.Sprint("transfer|eth|0x", number), fmt.Sprint("credit|0xusd|0xpayee", number), number), signature(number, fmt.Sprint("credit|0xusd|0xpayee", number), number)
						a.Evidence, s.Evidence = evidence, evidence
						leaves, list = append(leaves, a), append(list, s)
						number++
					}
					_, err := g.States(b.Context(), leaves)
					require.NoError(b, err)
					_, err = g.Authorize(b.Context(), leaves)
					require.NoError(b, err)
					require.NoError(b, g.Allow(b.Context(), "eth", list...))
				}
				for number < uint64(past) {
					pay()
				}
				cost := budget.Measure(benchGroup*b.N, func() {
					for range b.N {
						pay()
					}
				})
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(cost.PerCPU(), "cpu-ns/payment")
			})
		}
	}
}
