package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/exchangeapi/rates"
)

// A bot finds prices in a development environment, of every initial token.
func TestDevelopmentRates(t *testing.T) {
	t.Parallel()
	url := newRig(t, func(o *dev.Options) { o.API = "127.0.0.1:0" }).Info.API
	var rates []struct {
		TokenSymbol      string
		USDRate, CNYRate json.Number
		Stale            bool
	}
	require.Eventually(t, func() bool {
		return fetchData(t, url+"/exchange-rate", &rates) && len(rates) == len(dev.Tokens())+1 // and VITE
	}, time.Minute, 10*time.Millisecond)
	for _, r := range rates {
		require.NotEmpty(t, r.USDRate, r.TokenSymbol)
		require.NotEmpty(t, r.CNYRate, r.TokenSymbol)
		require.False(t, r.Stale)
	}
	var cny json.Number
	require.True(t, fetchData(t, url+"/usd-cny", &cny))
	require.Equal(t, json.Number("7.1"), cny)
}

// fetchData reads the data of an answer; false for an answer without success.
func fetchData(t *testing.T, url string, data any) bool {
	t.Helper()
	answer, err := http.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	envelope := struct {
		Code int
		Data any
	}{Data: data}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&envelope))
	return envelope.Code == 0
}

func TestDevelopmentRatesAreKept(t *testing.T) {
	t.Parallel()
	cfg := dev.Rates(t.TempDir())
	require.NoError(t, cfg.Check())
	require.NoError(t, dev.WritePrices(cfg.File))
	require.NoError(t, os.WriteFile(cfg.File, []byte(`{"vite":{"usd":7}}`), 0o600))
	require.NoError(t, dev.WritePrices(cfg.File))
	later := func() time.Time { return time.Now().AddDate(50, 0, 0) }
	reports := map[string]rates.Report{}
	for _, r := range rates.Probe(t.Context(), cfg, nil, later) {
		reports[r.What] = r
	}
	require.NoError(t, reports["rate of VITE"].Err)
	require.Contains(t, reports["rate of VITE"].Found, "7 usd", "what was edited")
	require.False(t, reports["rate of VITE"].Stale, "it does not grow old")
	require.Error(t, reports["rate of ETH"].Err)
	require.ErrorContains(t, dev.WritePrices(filepath.Join(t.TempDir(), "missing", "rates.json")), "writing the price list")
}
