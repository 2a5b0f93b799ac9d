package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeFiles writes files of a configuration and returns the path of the one named config.yaml.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return filepath.Join(dir, "config.yaml")
}

// TestShortFormIsTheLongForm: three source chains and 21 tokens, written for daemon and signer with
// one policy file, are the same configurations as with every key in both files.
func TestShortFormIsTheLongForm(t *testing.T) {
	lines := map[string]int{}
	count := func(form, name string) {
		text, err := os.ReadFile(filepath.Join("testdata", form, name))
		require.NoError(t, err)
		lines[form] += bytes.Count(text, []byte("\n"))
	}
	for _, name := range []string{"config.yaml", "signer.yaml"} {
		long, err := Load(filepath.Join("testdata", "long", name))
		require.NoError(t, err)
		short, err := Load(filepath.Join("testdata", "short", name))
		require.NoError(t, err)
		changes, err := Changes(long, short)
		require.NoError(t, err)
		require.Empty(t, changes)
		require.Equal(t, print(t, long), print(t, short))
		require.Len(t, short.Networks, 3)
		tokens := 0
		for _, n := range short.Networks {
			tokens += len(n.Tokens)
		}
		require.Equal(t, 21, tokens)
		require.Equal(t, []string{filepath.Join("testdata", "short", "policy.yaml")}, short.Included)
		count("long", name)
		count("short", name)
	}
	count("short", "policy.yaml")
	require.Less(t, 2*lines["short"], lines["long"], "%v", lines)
	t.Log(lines)
}

// TestIncludeFaults: each fault names the files and what to change.
func TestIncludeFaults(t *testing.T) {
	base, err := os.ReadFile("testdata/config.yaml")
	require.NoError(t, err)
	for _, c := range []struct {
		name, include string
		part, want    string
	}{
		{"an unknown key", "part.yaml", "networks:\n  - name: eth\n    pth: /x\n", "part.yaml:\n[3:5] unknown field \"pth\""},
		{"a wrong amount", "part.yaml", "networks:\n  - name: eth\n    tokens:\n      - token: tti_687d8a93915393b219212c73\n        hot_min: 1.5\n", `part.yaml: line 5: hot_min "1.5": not an amount`},
		{"a key of both", "part.yaml", "\ndata: y\n", "data is defined twice: config.yaml line 2 and part.yaml line 2"},
		{"a network's key of both", "part.yaml", "networks:\n  - name: eth\n    path: /y\n", "networks.eth.path is defined twice: config.yaml line 20 and part.yaml line 3"},
		{
			"a token's key of both", "part.yaml", "networks:\n  - name: eth\n    tokens:\n      - token: tti_687d8a93915393b219212c73\n        symbol: X\n",
			"networks.eth.tokens.tti_687d8a93915393b219212c73.symbol is defined twice: config.yaml line 30 and part.yaml line 5",
		},
		{"a missing file", "other.yaml", "", "include: stat other.yaml: no such file"},
		{"the file itself", "config.yaml", "", "include: config.yaml is the file itself, or is listed twice"},
		{"twice", "part.yaml, ./part.yaml", "log: {format: json}\n", "part.yaml is the file itself, or is listed twice"},
		{"a cycle", "part.yaml", "include: [config.yaml]\n", "part.yaml includes files itself: only config.yaml may"},
		{"a directory", ".", "", " is not a regular file"},
		{"a large file", "part.yaml", strings.Repeat("#", maxIncludedSize+1), "part.yaml is larger than 1048576 bytes"},
		{"an anchor of both", "part.yaml", "alerts:\n  gateway: &name x\n", "the anchor &name is in config.yaml and in part.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "include: [" + c.include + "]\n" + strings.Replace(string(base), "level: warn", "level: &name warn", 1)
			path := writeFiles(t, map[string]string{"config.yaml": text, "part.yaml": c.part})
			_, err := Load(path)
			require.Error(t, err)
			require.Contains(t, strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", ""), c.want)
			require.NotErrorIs(t, err, os.ErrNotExist)
		})
	}
	many, files := []string{}, map[string]string{}
	for i := range MaxIncluded + 1 {
		many = append(many, fmt.Sprintf("%d.yaml", i))
		files[many[i]] = ""
	}
	files["config.yaml"] = "include: [" + strings.Join(many, ", ") + "]\n" + string(base)
	_, err = Load(writeFiles(t, files))
	require.ErrorContains(t, err, "include: at most 16 files")
	files["config.yaml"] = "include: [" + strings.Join(many[1:], ", ") + "]\n" + string(base)
	_, err = Load(writeFiles(t, files))
	require.NoError(t, err)
}

// TestIncludesJoin: files contribute keys to one network and one token, and further networks.
func TestIncludesJoin(t *testing.T) {
	base, err := os.ReadFile("testdata/config.yaml")
	require.NoError(t, err)
	part := `
ethereum:
- {id: bsc, chain_id: 56, nodes: [http://c]}
networks:
- name: eth
  tokens:
  - {token: tti_687d8a93915393b219212c73, hot_min: "7"}
- name: bsc
  path: /gateway/bsc
  source: bsc
  exchange: vite
  account: 1
`
	c, err := Load(writeFiles(t, map[string]string{"config.yaml": "include: [part.yaml]\n" + string(base), "part.yaml": part}))
	require.NoError(t, err)
	require.Equal(t, []string{"eth", "bsc"}, c.NetworkNames())
	require.Equal(t, []string{
		"ethereum.bsc", "networks.bsc", "networks.eth.tokens.ETH-000.hot_min",
	}, keys(t, liveConfig(), c))
}

// TestTokenDefaults: a token takes a key of its network's defaults unless it has the key, even with
// an empty value.
func TestTokenDefaults(t *testing.T) {
	base, err := os.ReadFile("testdata/config.yaml")
	require.NoError(t, err)
	load := func(defaults, change string) (Config, error) {
		text := strings.Replace(string(base), "  tokens:\n", "  token_defaults:\n"+defaults+"  tokens:\n", 1)
		return Load(writeFiles(t, map[string]string{"config.yaml": strings.Replace(text, "    type: 1\n", "    type: 1\n"+change, 1)}))
	}
	c, err := load("    frozen_deposits: true\n    min_refund: \"5\"\n    fee: {kind: percent, ppm: 7}\n", "    frozen_deposits: false\n    min_refund: \"0\"\n")
	require.NoError(t, err)
	eth, dai := c.Networks[0].Tokens[0], c.Networks[0].Tokens[2]
	require.True(t, eth.FrozenDeposits)
	require.Equal(t, "5", eth.MinRefund.String())
	require.False(t, dai.FrozenDeposits)
	require.Equal(t, "0", dai.MinRefund.String())
	require.Equal(t, "flat", dai.Fee.Kind)
	require.Zero(t, dai.Fee.PPM, "a key is taken completely or not at all")

	_, err = load("    min_depth: 3\n", "")
	require.ErrorContains(t, err, "config.yaml:\n[28:5] unknown field \"min_depth\"")
	_, err = load("    symbol: X\n", "")
	require.ErrorContains(t, err, "networks: eth: token_defaults: line 28: symbol: each token has its own")
	_, err = load("    min_refund: x\n", "")
	require.ErrorContains(t, err, `line 28: min_refund "x": not an amount`)
}

// TestPolicyDifferences: the hashes cover what daemon and signer must agree on, and nothing else.
func TestPolicyDifferences(t *testing.T) {
	load := func(name string) Policy {
		c, err := Load(filepath.Join("testdata", name))
		require.NoError(t, err)
		p, err := c.Policy()
		require.NoError(t, err)
		return p
	}
	daemon, signer := load("short/config.yaml"), load("long/signer.yaml")
	require.Empty(t, daemon.Differences(signer), "nodes, listeners and the form of the files do not count")
	require.Equal(t, daemon.Hash(), signer.Hash())
	require.Len(t, daemon, 3+1+3+21)
	for name, change := range map[string]func(*Config){
		"chain eth":   func(c *Config) { c.Ethereum[0].Finality = "12" },
		"network eth": func(c *Config) { c.Networks[0].Funders = nil },
		"network eth token tti_687d8a93915393b219212c73": func(c *Config) { c.Networks[0].Tokens[0].MinDeposit = c.Networks[0].Tokens[0].MaxWithdraw },
		"network eth token tti_80f3751485e4e83456059473": func(c *Config) { c.Networks[0].Tokens = append(c.Networks[0].Tokens[:1], c.Networks[0].Tokens[2:]...) },
	} {
		was, now := liveConfig(), liveConfig()
		change(&now)
		a, err := was.Policy()
		require.NoError(t, err)
		b, err := now.Policy()
		require.NoError(t, err)
		require.Equal(t, []string{name}, a.Differences(b))
		require.NotEqual(t, a.Hash(), b.Hash())
	}
}
