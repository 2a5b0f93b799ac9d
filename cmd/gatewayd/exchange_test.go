package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/exchangeapi/apikey"
	"gatewayd/vite/core"
	"gatewayd/wallet"
)

func TestDelegationAddresses(t *testing.T) {
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	seen := map[core.Address]string{}
	for _, network := range []string{config.MainExchange, config.TestExchange} {
		for i := range uint32(20) {
			owner, err := daemon.ExchangeAddress(keys, wallet.GatewayPath(i))
			require.NoError(t, err)
			d := daemon.DelegationOf(keys, network)
			agent, err := d.Agent(t.Context(), owner)
			require.NoError(t, err)
			again, err := d.Agent(t.Context(), owner)
			require.NoError(t, err)
			require.Equal(t, agent, again)
			require.Empty(t, seen[agent], "%s and %s", seen[agent], owner)
			seen[agent] = owner.String()
			b := &core.AccountBlock{BlockType: core.Receive, Address: agent, Height: 1, SendBlockHash: core.Hash{1}}
			b.Hash = b.ComputeHash()
			public, signature, err := d.SignAgent(t.Context(), owner, b)
			require.NoError(t, err)
			require.Equal(t, agent, core.UserAddress(core.PublicKey(public)))
			require.True(t, core.Verify(public, b.Hash[:], signature))
		}
	}
}

func TestNodeOverHTTP(t *testing.T) {
	nodes := []string{"ws://a:1", "data/node.ipc", "http://b:48132/key", "https://b:2"}
	for node, want := range map[string]string{"ws://b:41420": "http://b:48132/key", "ws://a:1": "", "data/node.ipc": "", "wss://c": ""} {
		require.Equal(t, want, daemon.OverHTTP(node, nodes), node)
	}
}

func TestExchangeSecret(t *testing.T) {
	dir := t.TempDir()
	c := config.Exchange{}.WithDefaults(dir, []string{"http://127.0.0.1:1"})
	require.NoError(t, c.Check())
	first, err := daemon.ExchangeSecret(c, os.Getenv)
	require.NoError(t, err)
	require.Len(t, first, apikey.SecretSize)
	again, err := daemon.ExchangeSecret(c, os.Getenv)
	require.NoError(t, err)
	require.Equal(t, first, again)
	info, err := os.Stat(filepath.Join(dir, "apikeys.secret"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	c.SecretEnv = "SECRET"
	env := func(text string) func(string) string {
		return func(name string) string { return map[string]string{"SECRET": text}[name] }
	}
	given, err := daemon.ExchangeSecret(c, env(strings.Repeat("0a", 32)))
	require.NoError(t, err)
	require.Equal(t, bytes.Repeat([]byte{10}, 32), given)
	for _, bad := range []string{"", "xyz", strings.Repeat("0a", 31)} {
		_, err = daemon.ExchangeSecret(c, env(bad))
		require.ErrorContains(t, err, "64 hexadecimal digits")
		require.True(t, bad == "" || !strings.Contains(err.Error(), bad), "no secret in errors")
	}
}

func TestExchangeConfigCheck(t *testing.T) {
	require.ErrorContains(t, config.Exchange{}.WithDefaults("data", nil).Check(), "node is required")
	c := config.Exchange{Test: &config.ExchangeTest{}}.WithDefaults("data", []string{"x"})
	require.ErrorContains(t, c.Check(), "test.node")
	require.Equal(t, "sqlite:data/exchange-test.db", c.Test.Index.URL)
	c = config.Exchange{}.WithDefaults("data", []string{"x"})
	c.MaxConnections, c.Sockets.Connections = 100, 100
	require.ErrorContains(t, c.Check(), "no room for requests")
	c.MaxConnections = 101
	require.NoError(t, c.Check())
}

// TestAPIKeys issues, lists, limits and revokes keys as an operator does.
func TestAPIKeys(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "password"), []byte("secret\n"), 0o600))
	do := func(stdin string, args ...string) (string, error) {
		var out bytes.Buffer
		w := streams{stdin: strings.NewReader(stdin), stdout: &out, stderr: &out, getenv: os.Getenv}
		err := run(t.Context(), args, w)
		return out.String(), err
	}
	made, err := do(dev.Mnemonic+"\n", "wallet", "recover", "--dir", filepath.Join(dir, "wallet"), "--password-file", filepath.Join(dir, "password"), "--json")
	require.NoError(t, err, made)
	var store storeInfo
	require.NoError(t, json.Unmarshal([]byte(made[strings.Index(made, "{"):]), &store))
	file := apikeyConfig(t, dir, store.Path)
	issue := func(args ...string) (string, error) {
		return do("", append([]string{"apikey", "-c", file}, args...)...)
	}
	owner := store.Primary

	text, err := issue("issue", owner, "--json")
	require.NoError(t, err, text)
	var key shownKey
	require.NoError(t, json.Unmarshal([]byte(text), &key))
	require.Regexp(t, "^[0-9A-F]{32}$", key.Secret)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	account, err := core.ParseAddress(owner)
	require.NoError(t, err)
	agent, err := daemon.DelegationOf(keys, config.MainExchange).Agent(t.Context(), account)
	require.NoError(t, err)
	require.Equal(t, agent.String(), key.Agent)
	_, err = issue("issue", owner)
	require.ErrorIs(t, err, apikey.ErrExists)
	text, err = issue("issue", owner, "--network", "test")
	require.NoError(t, err)
	require.Contains(t, text, "API secret, shown only now: ")
	_, err = issue("issue", owner, "--network", "other")
	require.ErrorContains(t, err, "main or test")
	_, err = issue("issue", "vite_1")
	require.ErrorContains(t, err, `ADDRESS "vite_1": must be an address of the exchange chain`)
	require.Equal(t, exitUsage, exitCode(err))

	text, err = issue("limit", key.Key, "25")
	require.NoError(t, err)
	require.Contains(t, text, key.Key+" has 25 calls in a cycle")
	_, err = issue("limit", key.Key, "-1")
	require.Error(t, err)
	text, err = issue("list")
	require.NoError(t, err)
	require.Regexp(t, key.Key+` +main +`+owner+` +`+key.Agent+` +25 `, text)
	require.NotContains(t, text, key.Secret)
	text, err = issue("revoke", key.Key)
	require.NoError(t, err)
	require.Contains(t, text, key.Key+" is revoked")
	_, err = issue("revoke", key.Key)
	require.ErrorIs(t, err, apikey.ErrUnknown)
	text, err = issue("list", "--json")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(text, `"revoked"`))
}

// apikeyConfig is the example with a wallet and a data directory of its own.
func apikeyConfig(t *testing.T, dir, store string) string {
	text, err := os.ReadFile("../../config.example.yaml")
	require.NoError(t, err)
	path := filepath.Join(dir, "config.yaml")
	edited := strings.ReplaceAll(string(text), "sqlite:data/", "sqlite:"+dir+"/")
	edited = strings.ReplaceAll(edited, "data/apikeys.secret", dir+"/apikeys.secret")
	var lines []string
	inWallet := false
	for line := range strings.Lines(edited) {
		switch {
		case strings.HasPrefix(line, "wallet:"):
			inWallet = true
		case inWallet && strings.HasPrefix(strings.TrimSpace(line), "store:"):
			line = "  store: " + store + "\n"
		case inWallet && strings.HasPrefix(strings.TrimSpace(line), "password_file:"):
			line = "  password_file: " + filepath.Join(dir, "password") + "\n"
		case inWallet && !strings.HasPrefix(line, " "):
			inWallet = false
		}
		lines = append(lines, line)
	}
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	return path
}
