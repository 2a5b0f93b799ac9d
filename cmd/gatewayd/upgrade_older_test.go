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
	"gatewayd/chain/ethereum/devnode"
	"gatewayd/config"
	"gatewayd/devnet"
	"gatewayd/wallet"
)

// keptWorld is a data directory, with those of its chains, of a gateway that was killed while users bridged, and what they must have in the end.
type keptWorld struct {
	Dir, Source, Exchange, Gateway string // where it was, and where who listened
	Users                          []keptUser
}

type keptUser struct {
	Token     string                  `json:"token"`
	Deposited chain.Amount            `json:"deposited"`
	Spent     chain.Amount            `json:"spent"`
	Paid      map[string]chain.Amount `json:"paid"`
	Deposits  map[string]bool         `json:"deposits"`
	Wanted    map[string]string       `json:"wanted"`
}

// startSource runs the source chain whose blocks are in a world's directory.
func startSource(t *testing.T, dir string) *devnode.Node {
	t.Helper()
	n, err := devnode.Start(devnode.Config{Dir: filepath.Join(dir, "source"), Period: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Close() }) // it may be closed already
	return n
}

// unpacked lays out what testdata keeps, at other addresses.
func unpacked(t *testing.T) (v *victim, world keptWorld) {
	t.Helper()
	dir := t.TempDir()
	unpack(t, filepath.Join("testdata", "older.tar.gz"), dir)
	text, err := os.ReadFile(filepath.Join(dir, "world.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &world))
	v = &victim{dir: dir, args: []string{"run", "-c", filepath.Join(dir, "config.yaml")}}
	v.moved(t, map[string]string{world.Dir: dir, world.Exchange: freeAddress(t), world.Gateway: freeAddress(t)})
	return v, world
}

// moved puts other names into the configuration, and tells the users.
func (v *victim) moved(t *testing.T, names map[string]string) {
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
	require.NoError(t, devnet.NewInfo(cfg, path, "").Write(filepath.Join(v.dir, "dev.json")))
}

// again makes the users of a kept world, with what they have done. Their accounts on the exchange chain are those of their numbers.
func (v *victim) again(t *testing.T, users []keptUser) (crowd []*patient) {
	t.Helper()
	crowd = gather(t, v, len(users), 0)
	for i, k := range users {
		u := crowd[i]
		require.Equal(t, k.Token, u.Token.Symbol)
		u.deposited, u.spent, u.paid, u.deposits, u.wanted = k.Deposited, k.Spent, k.Paid, k.Deposits, k.Wanted
	}
	return crowd
}

// bridged lets every user deposit and withdraw once more at least.
func bridged(ctx context.Context, crowd []*patient) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, u := range crowd {
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

// olderWorld has users bridge at an older program and kills it while their last transfers are under way.
func olderWorld(t *testing.T, program, dir string) keptWorld {
	t.Helper()
	source := startSource(t, dir)
	keys, err := wallet.FromMnemonic(devnet.Mnemonic)
	require.NoError(t, err)
	genesis, err := devnet.Genesis(keys)
	require.NoError(t, err)
	genesis.PoWDifficulty = 0 // which older ones do not know
	writeGenesis(t, filepath.Join(dir, "genesis.json"), genesis)
	store := recoverWallet(t, dir).Store
	world := keptWorld{Dir: dir, Source: source.URL(), Exchange: freeAddress(t), Gateway: freeAddress(t)}
	text := fmt.Sprintf(olderConfig, dir, store, source.ChainID(), source.URL(), world.Exchange, world.Gateway, devnet.FaucetAddress())
	for _, k := range devnet.Config(quick(dir), source.URL(), source.ChainID(), "").Networks[0].Tokens {
		text += fmt.Sprintf("      - {token: %s, symbol: %s, decimals: %d, asset: %q, asset_decimals: %[3]d, type: %[5]d, label_name: %q, min_deposit: %q, min_withdraw: %q, max_withdraw: %q, "+
			"deposit_confirmations: {count: 3}, withdraw_confirmations: {count: 2}, fee: {kind: flat, amount: %q}}\n",
			k.Token, k.Symbol, k.Decimals, k.Asset, k.Type, k.LabelName, k.MinDeposit, k.MinWithdraw, k.MaxWithdraw, k.Fee.Amount)
	}
	path := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	v := &victim{dir: dir, program: program, args: []string{"run", "-c", path}}
	v.moved(t, nil)
	info, err := devnet.ReadInfo(filepath.Join(dir, "dev.json"))
	require.NoError(t, err)
	require.NoError(t, devnet.FundSource(t.Context(), info, keys, nil))
	v.start(t)
	crowd := gather(t, v, 3, seedOf(t))
	patience, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	require.NoError(t, bridged(patience, crowd))
	v.kill(t)
	require.NoError(t, source.Close())
	for _, u := range crowd {
		world.Users = append(world.Users, keptUser{u.Token.Symbol, u.deposited, u.spent, u.paid, u.deposits, u.wanted})
	}
	if to := os.Getenv(keepOlder); to != "" {
		keep(t, world, to)
	}
	return world
}

// keep packs a world up for testdata.
func keep(t *testing.T, world keptWorld, to string) {
	t.Helper()
	text, err := json.Marshal(world)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(world.Dir, "world.json"), text, 0o600))
	out, err := exec.CommandContext(t.Context(), "tar", "-C", world.Dir, "--owner=0", "--group=0", "--exclude=*-shm", "-czf", to, ".").CombinedOutput()
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
