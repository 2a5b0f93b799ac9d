package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// TestRun runs the daemon as an operator does: keys made by `wallet recover` and a password file,
// an own configuration, a real node, the embedded exchange chain with a genesis file. It serves
// users, ends on a signal and continues from its state.
func TestRun(t *testing.T) {
	t.Parallel()
	n := startAnvil(t, 0)
	mineOn(t, n)
	dir := t.TempDir()
	w := testStreams(t)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	exchange := freeAddress(t)
	cfg := dev.Config(quickOptions(dir), n.URL(), n.ChainID(), "http://"+exchange)
	cfg.Log = config.Log{Level: "info", Format: "json"}
	cfg.Wallet = recoverWallet(t, dir)
	cfg.Gateway.Listen = freeAddress(t)
	cfg.Embedded = &config.Embedded{Dir: filepath.Join(dir, "exchange"), Listen: exchange, Genesis: filepath.Join(dir, "genesis.json")}
	writeGenesis(t, cfg.Embedded.Genesis, genesis)
	path := writeConfig(t, dir, cfg)
	info := dev.NewInfo(cfg, path, "")
	require.NoError(t, dev.FundSource(t.Context(), info, keys, nil))
	require.NoError(t, info.Write(filepath.Join(dir, "dev.json")))

	stop := startRun(t, path)
	u, err := newTestUser(t.Context(), waitForInfo(t, dir), info.Tokens[0], 0, t.Output())
	require.NoError(t, err)
	defer u.Close()
	require.NoError(t, demo.Walk(t.Context(), u.BridgeUser))
	stop()

	stop = startRun(t, path)
	waitForInfo(t, dir)
	require.NoError(t, demo.Walk(t.Context(), u.BridgeUser), "after a restart")
	w.stdin, w.stdout = strings.NewReader(""), t.Output()
	require.NoError(t, run(t.Context(), []string{"doctor", "-c", path}, w))
	require.NoError(t, run(t.Context(), []string{"audit", "-c", path}, w))
	stop()
}

// startRun is `gatewayd run` as a process; stop ends it politely and sees it end well.
func startRun(t *testing.T, config string) (stop func()) {
	t.Helper()
	cmd := exec.Command("gatewayd", "run", "-c", config)
	cmd.Stderr = t.Output()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	return func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait())
	}
}

func waitForInfo(t *testing.T, dir string) dev.Info {
	t.Helper()
	var info dev.Info
	waitFor(t, "a daemon that answers", func() (ok bool) {
		var err error
		info, err = dev.AwaitDaemon(t.Context(), filepath.Join(dir, "dev.json"), dev.Info{})
		return err == nil
	})
	return info
}

// freeAddress is a loopback address that was unused a moment ago. Its port is below the ephemeral
// ones, so that no other program gets it before the daemon listens there.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(22_000)))
		if err == nil {
			require.NoError(t, l.Close())
			return l.Addr().String()
		}
	}
	require.Fail(t, "no port is free")
	return ""
}

func writeGenesis(t *testing.T, path string, g ledger.Genesis) {
	t.Helper()
	file := node.GenesisFile{Time: g.Time}
	for _, k := range g.Tokens {
		file.Tokens = append(file.Tokens, node.GenesisToken{
			ID: k.ID, Name: k.Name, Symbol: k.Symbol, Decimals: k.Decimals, Index: k.Index, Owner: k.Owner,
			TotalSupply: chain.AmountOf(&k.TotalSupply), MaxSupply: chain.AmountOf(&k.MaxSupply), ReIssuable: k.ReIssuable,
		})
	}
	for _, a := range g.Accounts {
		account := node.GenesisAccount{Address: a.Address, Balances: map[core.TokenID]chain.Amount{}}
		for token, amount := range a.Balances {
			account.Balances[token] = chain.AmountOf(&amount)
		}
		file.Accounts = append(file.Accounts, account)
	}
	for _, s := range g.Stakes {
		file.Stakes = append(file.Stakes, node.GenesisStake{Staker: s.Staker, Beneficiary: s.Beneficiary, Amount: chain.AmountOf(&s.Amount)})
	}
	text, err := json.Marshal(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
}
