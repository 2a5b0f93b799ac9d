package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/rates"
	"gatewayd/operator/doctor"
	"gatewayd/vite/core"
	"gatewayd/wallet"
)

// exchangeFindings are the doctor's findings for an exchange section, by their subject.
func exchangeFindings(t *testing.T, cfg config.Exchange) map[string]doctor.Finding {
	t.Helper()
	d := &doctor.Doctor{Config: config.Config{Exchange: &cfg}, Now: time.Now, Getenv: os.Getenv}
	d.ExchangeAPI(t.Context())
	found := map[string]doctor.Finding{}
	for _, f := range d.Findings {
		require.Empty(t, found[f.What], "two findings of one name")
		require.True(t, f.OK || f.Advice != "", f.What)
		found[f.What] = f
	}
	return found
}

func TestDoctorOfAnExchange(t *testing.T) {
	t.Parallel()
	var cfg config.Exchange
	serveTestExchange(t, func(c *config.Exchange) { cfg = *c })
	operator, err := dev.NewOperator(t.Context(), cfg.Node)
	require.NoError(t, err)
	defer operator.Node.Close()
	require.NoError(t, dev.Poll(t.Context(), func() (bool, error) {
		height, err := operator.Node.SnapshotHeight(t.Context())
		return height > 1, err // the first block of all may be of any time
	}))

	got := exchangeFindings(t, cfg)
	require.True(t, got["exchange node clock"].OK, got)
	require.Equal(t, doctor.Finding{What: "API keys", OK: true, Found: "0 in use, 0 revoked"}, got["API keys"])
	require.Equal(t, "told never", got["exchange clock"].Found)
	require.False(t, got["exchange markets"].OK)
	require.NotContains(t, got, "exchange contract "+core.DexFundContract.String(), "it is there")
	require.NotContains(t, got, "test exchange node")

	require.NoError(t, operator.Open(t.Context()))
	cfg.Test = &config.ExchangeTest{Node: "http://127.0.0.1:1"}
	got = exchangeFindings(t, cfg)
	require.True(t, got["exchange clock"].OK, got["exchange clock"])
	require.True(t, got["exchange markets"].OK)
	require.False(t, got["test exchange node"].OK)
}

func TestDoctorOfAPIKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := config.Exchange{}.WithDefaults(dir, []string{"http://127.0.0.1:1"})
	require.Equal(t, "created at the first start", exchangeFindings(t, cfg)["API keys"].Found)
	for _, file := range []string{"apikeys.db", "apikeys.secret"} {
		require.NoFileExists(t, filepath.Join(dir, file), "the doctor makes nothing")
	}

	store, err := daemon.OpenKeys(t.Context(), cfg, testStreams(t).getenv)
	require.NoError(t, err)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	owner, err := daemon.ExchangeAddress(keys, wallet.GatewayPath(0))
	require.NoError(t, err)
	key, _, err := store.Issue(t.Context(), config.MainExchange, owner, owner)
	require.NoError(t, err)
	require.NoError(t, store.Revoke(t.Context(), key.Key))
	_, _, err = store.Issue(t.Context(), config.MainExchange, owner, owner)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.Equal(t, "1 in use, 1 revoked", exchangeFindings(t, cfg)["API keys"].Found)

	require.NoError(t, os.WriteFile(cfg.SecretFile, []byte(strings.Repeat("ab", 32)), 0o600))
	got := exchangeFindings(t, cfg)["API keys"]
	require.False(t, got.OK)
	require.Contains(t, got.Found, apikey.ErrWrongSeal.Error())
	require.NoError(t, os.Remove(cfg.SecretFile))
	got = exchangeFindings(t, cfg)["API keys"]
	require.False(t, got.OK)
	require.Contains(t, got.Advice, "restore the secret")
	require.NoFileExists(t, cfg.SecretFile)
}

func TestDoctorOfListeners(t *testing.T) {
	t.Parallel()
	for listen, ok := range map[string]bool{"127.0.0.1:8090": true, "0.0.0.0:8090": false, "0.0.0.0:8091": true} {
		cfg := config.Exchange{}.WithDefaults(t.TempDir(), []string{"http://127.0.0.1:1"})
		cfg.Listen = listen
		if listen == "0.0.0.0:8091" {
			cfg.TrustProxy = []string{"10.0.0.0/8"}
		}
		require.Equal(t, ok, exchangeFindings(t, cfg)["exchange listener"].OK, listen)
	}
	cfg := config.Exchange{}.WithDefaults(t.TempDir(), []string{"http://127.0.0.1:1"})
	require.NotContains(t, exchangeFindings(t, cfg), "exchange listener")
	cfg.TLS.Cert, cfg.TLS.Key = "missing", "missing"
	require.Contains(t, exchangeFindings(t, cfg)["exchange certificate"].Advice, "exchange.tls.cert and key")
}

func TestDoctorOfRates(t *testing.T) {
	t.Parallel()
	f := newSourceFeed(t, 8)
	f.post(t, 310_050_000_000, time.Now().Add(-time.Minute))
	cfg := config.Exchange{}.WithDefaults(t.TempDir(), []string{"http://127.0.0.1:1"})
	cfg.Chains = config.Config{Ethereum: []ethereum.Config{f.source()}}.Chains()
	cfg.Rates = rates.Config{
		Feeds: []rates.FeedConfig{
			{Coin: "ethereum", Chain: "eth", Address: f.address.Hex()},
			{Coin: "bitcoin", Chain: "eth", Address: f.dev.Contracts().USDT.Hex()},
			{Coin: "vite", Chain: "eth", Address: f.address.Hex(), Heartbeat: time.Second},
		},
		Coins: map[string]string{"ETH": "ethereum"},
	}
	got := exchangeFindings(t, cfg)
	require.Regexp(t, `^3100\.5, 1m\d+s old$`, got["price feed ethereum in usd"].Found)
	require.True(t, got["price feed ethereum in usd"].OK)
	require.True(t, got["rate of ETH"].OK)
	require.False(t, got["price feed bitcoin in usd"].OK, "a token is no feed")
	require.False(t, got["price feed vite in usd"].OK, "stale")
	cfg.Chains = nil
	require.Contains(t, exchangeFindings(t, cfg)["price feeds"].Found, "not in the list ethereum")
}
