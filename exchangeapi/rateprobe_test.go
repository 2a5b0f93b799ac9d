package exchangeapi

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProbeRates(t *testing.T) {
	now := time.Unix(1614571200, 0)
	clock := func() time.Time { return now }
	require.Empty(t, ProbeRates(t.Context(), RatesConfig{}, nil, clock))

	file := filepath.Join(t.TempDir(), "rates.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"vite":{"usd":0.03,"last_updated_at":1614567000}}`), 0o600))
	cfg := feedsConfig()
	cfg.File, cfg.Coins["BTC"] = file, "bitcoin"
	o := newOracle()
	o.say("0xe", "3100.5", now.Add(-90*time.Second))
	got := ProbeRates(t.Context(), cfg, o, clock)
	require.Len(t, got, 6)
	for i, want := range []RateReport{
		{What: "rates of the file or service", Found: "1 coins"},
		{What: "price feed ethereum in usd", Found: "3100.5, 1m30s old"},
		{What: "price feed cny in usd"},
		{What: "rate of BTC"},
		{What: "rate of ETH", Found: "3100.5 usd, 1m30s old"},
		{What: "rate of VITE", Found: "0.03 usd, 1h10m0s old", Stale: true},
	} {
		want.Err = got[i].Err
		require.Equal(t, want, got[i])
		require.Equal(t, i == 2 || i == 3, got[i].Err != nil, got[i].What)
	}
	require.NoError(t, os.Remove(file))
	require.ErrorIs(t, ProbeRates(t.Context(), cfg, o, clock)[0].Err, os.ErrNotExist)
}
