package recordstest_test

import (
	"path/filepath"
	"testing"

	"gatewayd/internal/testing/recordstest"
)

// BenchmarkFill reports what a past payment costs to fill in.
func BenchmarkFill(b *testing.B) {
	const payments = 20_000
	for b.Loop() {
		_, err := recordstest.Fill(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "records.db"), recordstest.Plan{Network: network(), Payments: payments, At: at()})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/payments, "µs/payment")
}
