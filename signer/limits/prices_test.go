package limits_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/signer/limits"
)

// TestPricesOfTheFuture: a price dated further ahead than price_age does not count.
func TestPricesOfTheFuture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices")
	w := setup(t, limits.Config{GatewayDay: "100", Prices: path, PriceAge: 12 * time.Hour})
	for at, counts := range map[string]bool{"2026-11-24T00:00:00Z": true, "2026-11-24T00:00:01Z": false} {
		require.NoError(t, os.WriteFile(path, []byte("tti_1 1 "+at+"\n"), 0o600))
		require.Equal(t, counts, len(w.Report().Unpriced) == 0, at)
		require.Equal(t, counts, len(w.Check([]limits.Use{payout("a", 101)})[0]) > 0, at)
		require.NoError(t, os.Remove(path))
		w.Report()
	}
}

// TestPriceOfZero: a token worth nothing would not be limited, so the file is refused and the
// earlier prices stay.
func TestPriceOfZero(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices")
	require.NoError(t, os.WriteFile(path, []byte("tti_1 1 2026-11-23T12:00:00Z\n"), 0o600))
	w := setup(t, limits.Config{GatewayDay: "100", Prices: path, PriceAge: 12 * time.Hour})
	require.Len(t, w.pays(payout("a", 101)), 1)
	for _, zero := range []string{"0", "0.00", "."} {
		require.NoError(t, os.WriteFile(path, []byte("tti_1 "+zero+" 2026-11-23T12:00:00Z\n"), 0o600))
		require.Contains(t, w.Report().Fault, "reading the prices: line 1", zero)
		require.Len(t, w.pays(payout("a", 101)), 1)
	}
}
