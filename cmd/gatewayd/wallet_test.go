package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"github.com/goccy/go-yaml"
	"github.com/holiman/uint256"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	viterpc "gatewayd/vite/rpc"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
	"gatewayd/wallet/rpc"
)

// The public test mnemonic and its first two accounts.
const (
	walletMnemonic = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
	walletFirst    = "vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e"
	walletSecond   = "vite_9010ff594b2aa3b14f2b7f0e9ef7eaba6f13fafedeac49d8e7"
)

// walletRun is `gatewayd wallet args...` with lines typed in.
func walletRun(t *testing.T, typed string, args ...string) (stdout string, err error) {
	t.Helper()
	var out, asked bytes.Buffer
	w := streams{stdin: strings.NewReader(typed), stdout: &out, stderr: &asked, getenv: func(name string) string {
		return map[string]string{"WALLET_PASSWORD": "from the environment"}[name]
	}}
	err = run(t.Context(), append([]string{"wallet"}, args...), w)
	for _, line := range strings.Split(strings.TrimSpace(typed), "\n") {
		if line != "" {
			require.NotContains(t, asked.String(), line, "what is typed is not shown")
		}
	}
	return out.String(), err
}

func walletJSON[T any](t *testing.T, typed string, args ...string) (v T) {
	t.Helper()
	out, err := walletRun(t, typed, append(args, "--json")...)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(out), &v), out)
	return v
}

// TestWalletCommands is the life of a store, at the standard cost: a second for each password.
func TestWalletCommands(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wallet")
	made := walletJSON[storeInfo](t, walletMnemonic+"\nfirst password\n", "recover", "--dir", dir)
	require.Equal(t, storeInfo{Primary: walletFirst, Path: filepath.Join(dir, walletFirst)}, made, "the words are not repeated")

	listed := walletJSON[[]storeInfo](t, "", "list", "--dir", dir)
	require.Len(t, listed, 1)
	require.Equal(t, walletFirst, listed[0].Primary)
	require.Less(t, time.Since(listed[0].Created), time.Hour)

	addresses := walletJSON[[]string](t, "first password\n", "addresses", walletFirst, "--dir", dir, "--count", "2")
	require.Equal(t, []string{walletFirst, walletSecond}, addresses)
	table, err := walletRun(t, "first password\n", "addresses", walletFirst, "--dir", dir, "--from", "1", "--count", "1")
	require.NoError(t, err)
	require.Regexp(t, `(?s)INDEX.*ADDRESS.*1\s+`+walletSecond, table)

	changed, err := walletRun(t, "first password\n", "passwd", made.Path, "--dir", dir, "--new-password-env", "WALLET_PASSWORD")
	require.NoError(t, err)
	require.Contains(t, changed, made.Path)
	_, err = walletRun(t, "first password\n", "export", walletFirst, "--dir", dir)
	require.ErrorIs(t, err, keystore.ErrPassword)
	require.EqualError(t, err, "the password does not open "+walletFirst)
	words, err := walletRun(t, "", "export", walletFirst, "--dir", dir, "--password-env", "WALLET_PASSWORD")
	require.NoError(t, err)
	require.Equal(t, walletMnemonic+"\n", words)

	key := walletJSON[exported](t, "", "export", walletFirst, "--dir", dir, "--password-env", "WALLET_PASSWORD", "--index", "1")
	require.Equal(t, walletSecond, key.Address)
	require.Len(t, key.PrivateKey, 128)

	second := filepath.Join(t.TempDir(), "second")
	copied := walletJSON[storeInfo](t, "from the environment\n", "import", made.Path, "--dir", second)
	require.Equal(t, filepath.Join(second, walletFirst), copied.Path)
}

func TestWalletNewShowsTheWordsOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wallet")
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("from a file\n"), 0o600))
	made := walletJSON[storeInfo](t, "", "new", "--dir", dir, "--password-file", file)
	require.Len(t, strings.Fields(made.Mnemonic), 24)
	keys, err := wallet.Unlock(made.Path, "from a file")
	require.NoError(t, err)
	address, err := keys.Address(wallet.GatewayPath(0))
	require.NoError(t, err)
	require.Equal(t, made.Primary, address)
	out, err := walletRun(t, "", "list", "--dir", dir)
	require.NoError(t, err)
	require.NotContains(t, out, strings.Fields(made.Mnemonic)[0]+" ")
}

func TestWalletCommandsRefuse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wallet")
	for _, c := range []struct {
		typed string
		args  []string
		want  string
	}{
		{"abandon abandon\npw\n", []string{"recover"}, "Invalid mnenomic"},
		{"\n", []string{"new"}, "the password must not be empty"},
		{"", []string{"new"}, "reading from standard input: EOF"},
		{"", []string{"new", "--password-env", "NONE"}, "environment variable NONE is empty"},
		{"", []string{"new", "--password-file", "/none"}, "--password-file: open /none"},
		{"pw\n", []string{"addresses", "none"}, "no such file"},
		{"pw\n", []string{"import", "/none"}, "no such file"},
		{"", []string{"export"}, "accepts 1 arg"},
		{"pw\n", []string{"export", "none", "--index", "-5"}, "--index -5: must be 0 or more"},
		{"pw\n", []string{"addresses", "none", "--count", "5001"}, "at most 5000 addresses are listed at once"},
		{"pw\n", []string{"sign", "none"}, "--text: must have 1 to 1024 characters"},
		{"", []string{"serve", "--http", "0.0.0.0:1"}, "not an address of this machine alone"},
		{"", []string{"serve", "--http", "127.0.0.1:0"}, "jwt_secret_file"},
	} {
		_, err := walletRun(t, c.typed, append(c.args, "--dir", dir)...)
		require.ErrorContains(t, err, c.want, "%v", c.args)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// walletChain is an exchange chain on which the first account has money.
func walletChain(t *testing.T) string {
	first, err := core.ParseAddress(walletFirst)
	require.NoError(t, err)
	vite := func(n uint64) uint256.Int { return *new(uint256.Int).Mul(uint256.NewInt(n), uint256.NewInt(1e18)) }
	n, err := node.New(node.Config{SnapshotInterval: 10 * time.Millisecond, Genesis: ledger.Genesis{
		Tokens: []ledger.TokenInfo{{
			ID: core.VITE, Name: "Vite Token", Symbol: "VITE", Decimals: 18, ReIssuable: true, Owner: first,
			TotalSupply: vite(1e9), MaxSupply: *new(uint256.Int).SetAllOne(),
		}},
		Accounts: []ledger.GenesisAccount{{Address: first, Balances: map[core.TokenID]uint256.Int{core.VITE: vite(1e9 - 1e6)}}},
		Stakes:   []ledger.GenesisStake{{Staker: first, Beneficiary: first, Amount: vite(1e6)}},
	}})
	require.NoError(t, err)
	s, err := viterpc.New(n, viterpc.Config{HTTP: "127.0.0.1:0"})
	require.NoError(t, err)
	require.NoError(t, s.Listen())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2) // one of each Run
	go func() { ended <- n.Run(ctx) }()
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
		require.NoError(t, n.Close())
	})
	return "http://" + s.HTTPAddr()
}

// TestWalletServes: a store of a directory is used over the socket, and a transaction reaches the
// node.
func TestWalletServes(t *testing.T) {
	root := t.TempDir()
	m, err := wallet.NewManager(wallet.Config{Dir: filepath.Join(root, "wallet"), Cost: keystore.LightCost()})
	require.NoError(t, err)
	made, err := m.Recover(t.Context(), walletMnemonic, "pw")
	require.NoError(t, err)
	log := logrus.New()
	log.SetOutput(t.Output())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	socket := filepath.Join(root, "w.ipc")
	nodes := []string{walletChain(t)}
	go func() {
		ended <- daemon.ServeWalletRPC(ctx, config.WalletRPC{Config: rpc.Config{IPC: socket}}, made.Path, daemon.NewWalletLedger(nodes, nil), daemon.Dependencies{Log: log})
	}()
	var c *gethrpc.Client
	require.Eventually(t, func() bool {
		c, err = gethrpc.DialContext(ctx, socket)
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	defer c.Close()

	order := map[string]string{"selfAddr": walletFirst, "toAddr": walletSecond, "tokenTypeId": core.VITE.String(), "passphrase": "pw", "amount": "5"}
	send := func(change ...string) (hash string, err error) {
		own := map[string]string{}
		for name, value := range order {
			own[name] = value
		}
		for i := 0; i < len(change); i += 2 {
			own[change[i]] = change[i+1]
		}
		err = c.CallContext(ctx, &hash, "wallet_createTxWithPassphrase", own)
		return hash, err
	}
	require.Eventually(t, func() bool { // quota comes with snapshot blocks
		hash, err := send()
		return err == nil && len(hash) == 64
	}, time.Minute, 100*time.Millisecond)
	for _, bad := range []struct{ name, value, want string }{
		{"tokenTypeId", "tti_82b16ac306f0d98bf9ccf7e7", "tokenId doesn’t exist"},
		{"amount", strings.Repeat("9", 40), "insufficient balance for transfer"},
		{"passphrase", "wrong", "error decrypt store"},
	} {
		_, err := send(bad.name, bad.value)
		require.EqualError(t, err, bad.want)
	}
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, daemon.ServeWalletRPC(t.Context(), config.WalletRPC{}, made.Path, daemon.WalletLedger{}, daemon.Dependencies{Log: log}), "off by default")
}

func TestWalletServesOnlyThisMachine(t *testing.T) {
	err := daemon.ServeWalletRPC(t.Context(), config.WalletRPC{Config: rpc.Config{HTTP: "0.0.0.0:1", JWTSecretFile: "x"}}, "x", daemon.WalletLedger{}, daemon.Dependencies{Log: logrus.New()})
	require.ErrorContains(t, err, "wallet.rpc: http")
}

// TestWalletRPCInTheConfiguration: the section of the complete tree, its unknown keys refused.
func TestWalletRPCInTheConfiguration(t *testing.T) {
	section := "wallet:\n  store: s\n  rpc:\n    ipc: data/w.ipc\n    http: 127.0.0.1:8645\n    ws: 127.0.0.1:8646\n    jwt_secret_file: data/jwt.hex\n    auto_lock: 5m\n"
	var c config.Config
	require.NoError(t, yaml.NewDecoder(strings.NewReader(section), yaml.Strict()).Decode(&c))
	require.Equal(t, config.WalletRPC{
		Config:   rpc.Config{IPC: "data/w.ipc", HTTP: "127.0.0.1:8645", WS: "127.0.0.1:8646", JWTSecretFile: "data/jwt.hex"},
		AutoLock: 5 * time.Minute,
	}, c.Wallet.RPC)
	require.Error(t, yaml.NewDecoder(strings.NewReader(section+"    cors: '*'\n"), yaml.Strict()).Decode(&c))
}
