package main

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/wallet"
)

// TestKeyPage gets a key by what the page of API keys decides, on a real server, with the wallet
// command that the page shows.
func TestKeyPage(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the page's script cannot run")
	}
	dir, store, password := recovered(t)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	address, err := daemon.ExchangeAddress(keys, wallet.GatewayPath(0))
	require.NoError(t, err)
	url := serveTestExchange(t, func(c *config.Exchange) {
		c.Test = &config.ExchangeTest{Node: c.Node, Index: index.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "test.db")}}
	})
	module, err := filepath.Abs("../../web/ui/src/keys/exchange.js")
	require.NoError(t, err)
	agents := map[string]bool{}
	for _, base := range []string{"", "/test"} {
		requireKeyPage(t, url+base+"/keys")
		cmd := exec.CommandContext(t.Context(), node, "testdata/keys_page.mjs", "file://"+module, url+base, address.String(), store, dir, password)
		cmd.Stderr = t.Output()
		output, err := cmd.Output()
		require.NoError(t, err)
		var made struct {
			Key, Secret, Agent string
			Stake, Grant       struct{ To, Units, Data string }
			Orders             [][2]uint64
		}
		require.NoError(t, json.Unmarshal(output, &made))
		require.Len(t, made.Secret, 32)
		for _, stake := range made.Orders {
			quota := core.QuotaForStake(*new(uint256.Int).Mul(uint256.NewInt(stake[0]), uint256.NewInt(1e18)))
			require.Equal(t, quota*core.QuotaWindow/30_000, stake[1], "orders at once of a stake of %d VITE", stake[0])
		}
		agents[made.Agent] = true
		agent, err := core.ParseAddress(made.Agent)
		require.NoError(t, err)
		stake, err := core.StakeForQuota.Pack(agent)
		require.NoError(t, err)
		grant, err := dex.FundConfigAgents.Pack(uint8(dev.GrantPair), agent, []core.TokenID{dev.MustToken("tti_687d8a93915393b219212c73")}, []core.TokenID{core.VITE})
		require.NoError(t, err)
		require.Equal(t, []string{core.QuotaContract.String(), "10000000000000000000000", hex.EncodeToString(stake)}, []string{made.Stake.To, made.Stake.Units, made.Stake.Data})
		require.Equal(t, []string{core.DexFundContract.String(), "0", hex.EncodeToString(grant)}, []string{made.Grant.To, made.Grant.Units, made.Grant.Data})
	}
	require.Len(t, agents, 2, "each network has delegation addresses of its own")
}

func requireKeyPage(t *testing.T, url string) {
	t.Helper()
	page, err := http.Get(url)
	require.NoError(t, err)
	html, err := io.ReadAll(page.Body)
	require.NoError(t, err)
	require.NoError(t, page.Body.Close())
	require.Contains(t, string(html), "<title>API keys</title>")
	require.Contains(t, page.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Equal(t, "no-store", page.Header.Get("Cache-Control"))
}

func TestKeyPageTurnedOff(t *testing.T) {
	t.Parallel()
	off := false
	url := serveTestExchange(t, func(c *config.Exchange) { c.KeyPage = &off })
	answer, err := http.Get(url + "/keys")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusNotFound, answer.StatusCode)
}
