package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/wallet"
)

// archivedEnv describes the data directory of a gateway that was killed while users bridged, with
// those of its chains, and the users' correct final balances.
type archivedEnv struct {
	Dir, Source, Exchange, Gateway string // the directory and the addresses as they were
	Users                          []archivedUser
}

type archivedUser struct {
	Token     string                  `json:"token"`
	Deposited chain.Amount            `json:"deposited"`
	Spent     chain.Amount            `json:"spent"`
	Paid      map[string]chain.Amount `json:"paid"`
	Deposits  map[string]bool         `json:"deposits"`
	Wanted    map[string]string       `json:"wanted"`
}

// startSource runs the source chain whose blocks are in an environment's directory.
func startSource(t *testing.T, dir string) *ethnode.Node {
	t.Helper()
	n, err := ethnode.Start(ethnode.Config{Dir: filepath.Join(dir, "source"), Period: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Close() }) // it may be closed already
	return n
}

// unpackEnv unpacks the archive in testdata and gives it other addresses.
func unpackEnv(t *testing.T) (v *daemonProcess, env archivedEnv) {
	t.Helper()
	dir := t.TempDir()
	unpack(t, filepath.Join("testdata", "older.tar.gz"), dir)
	text, err := os.ReadFile(filepath.Join(dir, "world.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &env))
	v = &daemonProcess{dir: dir, args: []string{"run", "-c", filepath.Join(dir, "config.yaml")}}
	v.replaceInConfig(t, map[string]string{env.Dir: dir, env.Exchange: freeAddress(t), env.Gateway: freeAddress(t)})
	return v, env
}

// replaceInConfig replaces texts in the configuration and writes dev.json for the users, whose
// mnemonic stays.
func (v *daemonProcess) replaceInConfig(t *testing.T, names map[string]string) {
	t.Helper()
	path := filepath.Join(v.dir, "config.yaml")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for before, now := range names {
		require.Contains(t, string(text), before)
		text = []byte(strings.ReplaceAll(string(text), before, now))
	}
	require.NoError(t, os.WriteFile(path, text, 0o600))
	cfg, err := config.Load(path)
	require.NoError(t, err)
	info := dev.NewInfo(cfg, path, "")
	if before, err := dev.ReadInfo(filepath.Join(v.dir, "dev.json")); err == nil {
		info.Mnemonic = before.Mnemonic
	}
	require.NoError(t, info.Write(filepath.Join(v.dir, "dev.json")))
}

// restoreUsers makes the archived users, with what they have done. Their keys follow from their
// numbers.
func (v *daemonProcess) restoreUsers(t *testing.T, users []archivedUser) (clients []*retryingUser) {
	t.Helper()
	clients = newUsers(t, v, len(users), 0)
	for i, k := range users {
		u := clients[i]
		require.Equal(t, k.Token, u.Token.Symbol)
		u.deposited, u.spent, u.paid, u.deposits, u.withdrawals = k.Deposited, k.Spent, k.Paid, k.Deposits, k.Wanted
	}
	return clients
}

// bridgeMore has every user deposit and withdraw a few times.
func bridgeMore(ctx context.Context, clients []*retryingUser) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, u := range clients {
		g.Go(func() error {
			for range 4 {
				if err := errors.Join(u.depositSome(ctx), u.withdrawSome(ctx)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// olderConfig is a configuration as every version takes it.
const olderConfig = `data: %[1]s
log: {level: warn}
wallet: {store: %[2]s, password_file: %[1]s/password}
ethereum: [{id: eth, chain_id: %[3]d, nodes: ["%[4]s"], finality: "3"}]
vite: [{id: vite, nodes: ["http://%[5]s"], confirmations: 2}]
embedded: {dir: %[1]s/exchange, listen: "%[5]s", genesis: %[1]s/genesis.json}
gateway: {listen: "%[6]s"}
networks:
  - name: eth
    path: /gateway/eth
    source: eth
    exchange: vite
    funders: ["%[7]s"]
    tokens:
`

// makeOlderEnv has users bridge by an older program and kills it while their last transfers are
// under way.
func makeOlderEnv(t *testing.T, program, dir string) archivedEnv {
	t.Helper()
	source := startSource(t, dir)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	genesis.PoWDifficulty = 0 // which older ones do not know
	writeGenesis(t, filepath.Join(dir, "genesis.json"), genesis)
	store := recoverWallet(t, dir).Store
	env := archivedEnv{Dir: dir, Source: source.URL(), Exchange: freeAddress(t), Gateway: freeAddress(t)}
	text := fmt.Sprintf(olderConfig, dir, store, source.ChainID(), source.URL(), env.Exchange, env.Gateway, dev.FaucetAddress())
	for _, k := range dev.Config(quickOptions(dir), source.URL(), source.ChainID(), "").Networks[0].Tokens {
		text += fmt.Sprintf("      - {token: %s, symbol: %s, decimals: %d, asset: %q, asset_decimals: %[3]d, type: %[5]d, label_name: %q, min_deposit: %q, min_withdraw: %q, max_withdraw: %q, "+
			"deposit_confirmations: {count: 3}, withdraw_confirmations: {count: 2}, fee: {kind: flat, amount: %q}}\n",
			k.Token, k.Symbol, k.Decimals, k.Asset, k.Type, k.LabelName, k.MinDeposit, k.MinWithdraw, k.MaxWithdraw, k.Fee.Amount)
	}
	path := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	v := &daemonProcess{dir: dir, program: program, args: []string{"run", "-c", path}}
	v.replaceInConfig(t, nil)
	info, err := dev.ReadInfo(filepath.Join(dir, "dev.json"))
	require.NoError(t, err)
	require.NoError(t, dev.FundSource(t.Context(), info, keys, nil))
	v.start(t)
	clients := newUsers(t, v, 3, seedOf(t))
	deadline, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	require.NoError(t, bridgeMore(deadline, clients))
	v.kill(t)
	require.NoError(t, source.Close())
	for _, u := range clients {
		env.Users = append(env.Users, archivedUser{u.Token.Symbol, u.deposited, u.spent, u.paid, u.deposits, u.withdrawals})
	}
	if to := os.Getenv(keepOlder); to != "" {
		archiveEnv(t, env, to)
	}
	return env
}

// archiveEnv packs an environment for testdata.
func archiveEnv(t *testing.T, env archivedEnv, to string) {
	t.Helper()
	text, err := json.Marshal(env)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(env.Dir, "world.json"), text, 0o600))
	out, err := exec.CommandContext(t.Context(), "tar", "-C", env.Dir, "--owner=0", "--group=0", "--exclude=*-shm", "-czf", to, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// unpack writes the files of a tar.gz of this repository's.
func unpack(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		at := filepath.Join(to, filepath.Clean("/"+h.Name))
		if h.FileInfo().IsDir() {
			require.NoError(t, os.MkdirAll(at, 0o700))
			continue
		}
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(at, text, 0o600))
	}
}
