package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/dev/bitcoinnode"
)

// TestConfigInitOfLitecoin: nodes tell which chain they are of. `config init` writes a
// configuration for it that `config check` and `doctor` accept, with and without a separate signer.
func TestConfigInitOfLitecoin(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node, err := bitcoinnode.Start(ctx, bitcoinnode.Config{Kind: bitcoinnode.Litecoind})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, node.Close()) })
	miner, err := dev.Coin{Node: node.URL(), Network: bitcoinnode.LitecoinNetwork}.User("miner")
	require.NoError(t, err)
	_, err = node.Mine(7, miner.Address())
	require.NoError(t, err)
	r := newRig(t)
	r.newCustomer(t, "ETH") // the exchange chain's newest block is no longer the first, which is old
	exchange := r.Info.Exchange
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	command := func(args ...string) string {
		out, text := testStreams(t), new(bytes.Buffer)
		out.stdout = text
		require.NoError(t, run(t.Context(), args, out), "%s", text)
		return text.String()
	}
	token := "native," + dev.Tokens()[0].ID.String() + ",0.01,100,network"
	common := []string{
		"config", "init", "--source-node", node.URL(), "--exchange-node", exchange, "--token", token, "--funder", dev.FaucetAddress(),
		"--data", at("data"), "--listen", "127.0.0.1:0", "--store", "", "--password-file", "",
	}
	out := command(append(common, "-c", at("made.yaml"), "--signer", "")...)
	require.Contains(t, out, "source chain ltc")
	require.Regexp(t, `ok +chain ltc node 1 .*network`, out)
	require.NotContains(t, out, "FIX")
	text, err := os.ReadFile(at("made.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(text), "network: litecoin-regtest # as its nodes say\n    confirmations: 6 ")
	require.Contains(t, string(text), "asset_decimals: 8\n")
	require.NotContains(t, string(text), "ethereum:")
	require.Contains(t, command("config", "check", "-c", at("made.yaml")), "network ltc")

	out = command(append(common, "-c", at("apart.yaml"), "--signer", "unix:"+at("s.sock"), "--signer-config", at("signer.yaml"), "--signer-data", at("guard"), "--signer-peer", "",
		"--signer-source-node", node.URL(), "--signer-exchange-node", exchange)...)
	require.NotContains(t, out, "FIX")
	for _, name := range []string{"apart.yaml", "signer.yaml"} {
		require.Contains(t, command("config", "check", "-c", at(name)), "litecoin-regtest by 1 node", name)
	}
}
