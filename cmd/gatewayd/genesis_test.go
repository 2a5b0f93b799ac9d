package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// example is a block of docs/genesis.md.
func example(t *testing.T, language string) string {
	text, err := os.ReadFile("../../docs/genesis.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(text)
	require.NotNil(t, found, language)
	return string(found[1])
}

// describe runs `gatewayd genesis -`.
func describe(t *testing.T, text string) (string, error) {
	var out bytes.Buffer
	err := run(t.Context(), []string{"genesis", "-"}, streams{stdin: strings.NewReader(text), stdout: &out, stderr: io.Discard})
	return out.String(), err
}

// TestGenesisStartsAChain: the manual's description becomes a chain with its contents.
func TestGenesisStartsAChain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	description, path := filepath.Join(dir, "chain.yaml"), filepath.Join(dir, "genesis.json")
	require.NoError(t, os.WriteFile(description, []byte(example(t, "yaml")), 0o600))
	var text bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"genesis", description}, streams{stdout: &text, stderr: io.Discard}))
	require.NoError(t, os.WriteFile(path, text.Bytes(), 0o600))

	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1) // run's one result
	go func() {
		err := run(ctx, []string{"chain", "run", "--genesis", path, "--listen", daemon.AnyPort, "--ws", daemon.AnyPort}, streams{stdout: in, stderr: io.Discard})
		in.CloseWithError(err)
		ended <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	n, err := client.Dial(t.Context(), regexp.MustCompile(`http://[^ ]+`).FindString(line), client.Options{})
	require.NoError(t, err)
	defer n.Close()
	requireManualChain(t, n)
	cancel()
	require.NoError(t, <-ended)
}

func requireManualChain(t *testing.T, n *client.Client) {
	owner, err := core.ParseAddress("vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e")
	require.NoError(t, err)
	info, err := n.AccountInfo(t.Context(), owner)
	require.NoError(t, err)
	held := map[string]string{}
	for _, b := range info.Balances {
		held[b.TokenInfo.Symbol] = b.Amount.Dec()
	}
	require.Equal(t, map[string]string{"VITE": "1000000000000000000000000", "ETH": "1000500000000000000000", "POINT": "7"}, held)
	stranger := core.UserAddress(core.PublicKey{1})
	work, err := n.PoWDifficulty(t.Context(), client.Intent{Address: stranger, BlockType: core.Receive})
	require.NoError(t, err)
	require.Equal(t, "1000", work.Difficulty.String())
	first, err := n.SnapshotBlockByHeight(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "2026-11-22", first.Time.Format("2006-01-02"))
}

// TestOtherGenesisIsNotDamage: the directory of another network is refused by its genesis hash. The
// error names the keys and flags to correct.
func TestOtherGenesisIsNotDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, kept := filepath.Join(dir, "genesis.json"), filepath.Join(dir, "exchange")
	require.NoError(t, os.WriteFile(path, []byte(example(t, "json")), 0o600))
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	other, err := dev.Genesis(keys)
	require.NoError(t, err)
	n, err := node.New(node.Config{Dir: kept, Genesis: other})
	require.NoError(t, err)
	require.NoError(t, n.Close())

	err = run(t.Context(), []string{"chain", "run", "--genesis", path, "--dir", kept, "--listen", daemon.AnyPort, "--ws", daemon.AnyPort}, testStreams(t))
	require.ErrorContains(t, err, "--genesis does not match the chain in --dir "+kept)
	cfg := dev.Config(quickOptions(dir), "http://127.0.0.1:1", 1, "http://127.0.0.1:1")
	cfg.Wallet, cfg.Gateway.Listen, cfg.Operators.Listen = recoverWallet(t, dir), daemon.AnyPort, daemon.AnyPort
	cfg.Embedded = &config.Embedded{Dir: kept, Listen: daemon.AnyPort, Genesis: path}
	err = run(t.Context(), []string{"run", "-c", writeConfig(t, dir, cfg)}, testStreams(t))
	require.ErrorContains(t, err, "embedded.genesis "+path+" does not match the chain in embedded.dir "+kept)
	require.Regexp(t, "genesis hash [0-9a-f]{64}, expected [0-9a-f]{64}", err.Error())
	require.NotContains(t, err.Error(), "damaged")
}

// TestGenesisFileOfTheManual: the JSON that the manual shows is one.
func TestGenesisFileOfTheManual(t *testing.T) {
	path := filepath.Join(t.TempDir(), "genesis.json")
	text := example(t, "json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	begun, err := node.ReadGenesis(path)
	require.NoError(t, err)
	require.NoError(t, begun.Check())
	require.EqualValues(t, 1000, begun.PoWDifficulty)

	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(text, "powDifficulty", "powTarget", 1)), 0o600))
	_, err = node.ReadGenesis(path)
	require.ErrorContains(t, err, "powTarget")
}

func TestGenesisRefusals(t *testing.T) {
	good := example(t, "yaml")
	for _, c := range []struct{ old, new, says string }{
		{"pow_difficulty:", "pow_target:", `unknown field "pow_target"`},
		{"    stake: 10_000", "    staked: 10_000", `unknown field "staked"`},
		{"    amount: 134", "    amount: 134\n    until: 5", `unknown field "until"`},
		{"    amount: 134", "    amount: 133", "below 134 VITE"},
		{"    amount: 134", "    amount: many", `amount "many"`},
		{"    amount: 134", "    amount: -134", `amount "-134"`},
		{"    amount: 134", "", `amount ""`},
		{"POINT: 7", "POINT: 7.5", "POINT: 7.5 has more than the 0 decimals"},
		{"POINT: 7", "XYZ: 7", "no token is named XYZ"},
		{"symbol: POINT", "symbol: ETH", "two tokens are named ETH"},
		{"symbol: POINT", "name: Point", "token 2 has no symbol"},
		{"    reissuable: true", "    max_supply: 9", "maximum of POINT"},
		{"    reissuable: true", "    supply: 6", "whose supply is 6"},
		{"pow_difficulty: 1000", "pow_difficulty: 1099511627777", "PoW difficulty"},
		{"vite_9010", "vite_9011", "address"},
	} {
		require.Contains(t, good, c.old)
		out, err := describe(t, strings.Replace(good, c.old, c.new, 1))
		require.ErrorContains(t, err, c.says)
		require.Empty(t, out)
	}
}

// TestGenesisDefaults: what a description leaves out.
func TestGenesisDefaults(t *testing.T) {
	out, err := describe(t, `
tokens:
  - {symbol: VX, owner: vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e, supply: "5.5"}
  - {symbol: A, decimals: 2, reissuable: true, max_supply: 90, owner: vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e}
`)
	require.NoError(t, err)
	require.JSONEq(t, `{"tokens":[
		{"id":"tti_564954455820434f494e69b5","name":"VX","symbol":"VX","decimals":18,"index":0,
			"owner":"vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e","totalSupply":"5500000000000000000","maxSupply":"0","isReIssuable":false},
		{"id":"tti_e57d20a5174a3690af7c5409","name":"A","symbol":"A","decimals":2,"index":0,
			"owner":"vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e","totalSupply":"0","maxSupply":"9000","isReIssuable":true}]}`, out)
}
