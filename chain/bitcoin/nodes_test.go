package bitcoin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/internal/testing/faults"
)

// TestSyncingNode: a node that reads the past is not counted, and is not wrong.
func TestSyncingNode(t *testing.T) {
	t.Parallel()
	miner := newWallet(t, litecoins, "miner")
	node, fresh := start(t, bitcoinnode.Config{Kind: bitcoinnode.Litecoind}), start(t, bitcoinnode.Config{Kind: bitcoinnode.Litecoind})
	mine(t, node, 10, miner.address)
	live := func(c *bitcoin.Config) { c.OnDemand = false }
	three := open(t, litecoins, newBooks(), live, fresh.URL(), node.URL(), bitcoinnode.WithPassword(proxy(t, node).URL))
	require.EqualValues(t, 10, head(t, three).Latest.Height)
	state := three.Nodes()[0]
	require.Zero(t, state.Faults)
	require.True(t, state.Up)
	two := open(t, litecoins, newBooks(), live, fresh.URL(), node.URL())
	_, err := two.Head(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorContains(t, err, "still syncing: it has 0 of 0 blocks")

	require.NoError(t, fresh.Connect(node))
	follow(t, node, fresh)
	require.EqualValues(t, 5, head(t, two).Final.Height)
	require.Zero(t, two.Nodes()[0].Faults)
	for _, r := range two.Probe(t.Context()) {
		require.NoError(t, r.Err)
		require.Contains(t, r.Software, "/LitecoinCore:0.21")
		require.EqualValues(t, 10, r.Head.Height)
		require.WithinDuration(t, time.Now(), r.HeadTime, time.Hour)
		require.False(t, r.Syncing || r.Pruned)
	}
}

// TestProbeOfReplacement: what a node answers shows whether it replaces transactions, once its pool
// has one that may be replaced. It sends nothing.
func TestProbeOfReplacement(t *testing.T) {
	yes, no := true, false
	for name, tt := range map[string]struct {
		nodeKind
		want *bool
	}{"btcd": {payKinds[0], &yes}, "litecoind": {payKinds[1], &yes}, "litecoind without": {nodeKind{kind: bitcoinnode.Litecoind, network: litecoins}, &no}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPayer(t, tt.nodeKind, nil, 1_000_000)
			probe := func() *bool {
				r := p.Probe(t.Context())[0]
				require.NoError(t, r.Err)
				return r.Replaces
			}
			require.Nil(t, probe(), "its pool is empty")
			p.sent(p.slot(1), p.pay(1, 1, 500_000))
			require.Equal(t, tt.want, probe())
			require.Len(t, p.waiting(), 1)
			p.proxy.Fail(faults.Fault{Habit: &faults.Habit{After: func(_ *faults.Upstream, c faults.Call, a *faults.Answer) {
				if c.Method == "getmempoolinfo" {
					a.Return(map[string]any{"fullrbf": true})
				}
			}}})
			require.Equal(t, &yes, probe(), "bitcoind names it")
		})
	}
}

// TestPrunedNode: a node that has deleted a block names what it keeps; another has the block. The
// answers are those of bitcoind and litecoind. Their files of 128 MiB are too large for a test.
func TestPrunedNode(t *testing.T) {
	t.Parallel()
	miner := newWallet(t, bitcoins, "miner")
	node := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address})
	mine(t, node, 40, "")
	var old string
	require.NoError(t, node.Call(&old, "getblockhash", 20))
	pruned := proxy(t, node)
	pruned.Fail(faults.Fault{Habit: &faults.Habit{After: func(_ *faults.Upstream, q faults.Call, a *faults.Answer) {
		switch {
		case q.Method == "getblockchaininfo":
			var info map[string]any
			require.NoError(t, json.Unmarshal(a.Result, &info))
			info["pruned"], info["pruneheight"] = true, 30
			a.Return(info)
		case q.Method == "getblock" && q.Params[0] == old:
			a.Refuse(-1, "Block not available (pruned data)")
		}
	}}})
	c := open(t, bitcoins, newBooks(miner.address), nil, bitcoinnode.WithPassword(pruned.URL))
	require.EqualValues(t, 40, head(t, c).Latest.Height)
	_, err := c.Block(t.Context(), 20)
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorIs(t, err, bitcoin.ErrPruned)
	require.ErrorContains(t, err, "it keeps blocks from 30 on, not block 20")
	list, err := c.Blocks(t.Context(), 18, 25)
	require.ErrorIs(t, err, bitcoin.ErrPruned)
	require.Len(t, list, 2, "what is below")
	require.Len(t, blockAt(t, c, 31).Transfers, 1)
	require.Zero(t, c.Nodes()[0].Faults)
	require.True(t, c.Nodes()[0].Up)
	report := c.Probe(t.Context())[0]
	require.NoError(t, report.Err)
	require.True(t, report.Pruned)
	require.EqualValues(t, 30, report.Lowest)
	require.Regexp(t, `^\d+$`, report.Software)

	require.NoError(t, c.SetNodes([]string{bitcoinnode.WithPassword(pruned.URL), node.URL()}))
	require.Len(t, blockAt(t, c, 20).Transfers, 1)
}

// TestPasswords: in the URL, or in a file that a node writes anew; over TLS with its own
// certificate.
func TestPasswords(t *testing.T) {
	t.Parallel()
	miner := newWallet(t, bitcoins, "miner")
	node := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address, TLS: true})
	mine(t, node, 3, "")
	cookie := filepath.Join(t.TempDir(), ".cookie")
	withFile := func(c *bitcoin.Config) { c.CookieFile, c.CAFile = cookie, node.Certificate() }
	c := open(t, bitcoins, newBooks(), withFile, node.Address())
	_, err := c.Head(t.Context())
	require.ErrorContains(t, err, "cookie_file: open")
	require.NoError(t, os.WriteFile(cookie, []byte(bitcoinnode.Password()+"x"), 0o600))
	_, err = c.Head(t.Context())
	require.ErrorContains(t, err, "refuses the user and the password")
	require.NoError(t, os.WriteFile(cookie, []byte(bitcoinnode.Password()+"\n"), 0o600))
	require.EqualValues(t, 3, head(t, c).Latest.Height)

	require.EqualValues(t, 3, head(t, open(t, bitcoins, newBooks(), func(c *bitcoin.Config) { c.CAFile = node.Certificate() }, node.URL())).Latest.Height)
	_, err = open(t, bitcoins, newBooks(), nil, node.URL()).Head(t.Context())
	require.ErrorContains(t, err, "certificate")
	_, err = open(t, bitcoins, newBooks(), func(c *bitcoin.Config) { c.CAFile = node.Certificate() }, node.Address()).Head(t.Context())
	require.ErrorContains(t, err, "refuses the user and the password", "none is sent")
}

// TestSlowAndDeadNodes: the others serve, and a node that hangs is not wrong.
func TestSlowAndDeadNodes(t *testing.T) {
	t.Parallel()
	miner := newWallet(t, bitcoins, "miner")
	node := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address})
	top := mine(t, node, 10, "")
	slow := proxy(t, node)
	var calls atomic.Int64
	c := open(t, bitcoins, newBooks(miner.address), func(c *bitcoin.Config) {
		c.Timeout = time.Second
		c.Timed = func(node, _ string, _ time.Duration) {
			if strings.HasSuffix(slow.URL, node) {
				calls.Add(1)
			}
		}
	}, bitcoinnode.WithPassword(slow.URL), node.URL(), bitcoinnode.WithPassword(proxy(t, node).URL))
	slow.Fail(faults.Fault{Hangs: true})
	require.Equal(t, top, head(t, c).Latest.Height)
	require.Len(t, blockAt(t, c, top).Transfers, 1)
	slow.Fail(faults.Fault{Dead: true})
	require.Equal(t, top, head(t, c).Latest.Height)
	require.Zero(t, c.Nodes()[0].Faults)
	c.Close()
	require.NotZero(t, calls.Load())
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	good := func() bitcoin.Config {
		return bitcoin.Config{ID: "btc", Network: "bitcoin", Nodes: []string{"http://u:p@127.0.0.1:8332"}}
	}
	require.NoError(t, good().Check())
	require.Equal(t, []any{"bitcoin", uint64(6)}, good().Judges())
	for why, change := range map[string]func(*bitcoin.Config){
		"id: must not be empty":                    func(c *bitcoin.Config) { c.ID = "" },
		`network: "dogecoin"`:                      func(c *bitcoin.Config) { c.Network = "dogecoin" },
		"nodes: must be 1 to 16":                   func(c *bitcoin.Config) { c.Nodes = nil },
		"nodes[1]: the same node twice":            func(c *bitcoin.Config) { c.Nodes = append(c.Nodes, c.Nodes[0]) },
		`nodes[0]: scheme "ws"`:                    func(c *bitcoin.Config) { c.Nodes = []string{"ws://u:p@x"} },
		"nodes[0]: names no host":                  func(c *bitcoin.Config) { c.Nodes = []string{"http://u:p@"} },
		"nodes[0]: is not a URL":                   func(c *bitcoin.Config) { c.Nodes = []string{"http://a b"} },
		"cookie_file: must be an absolute path":    func(c *bitcoin.Config) { c.CookieFile = "x" },
		"ca_file: open /none":                      func(c *bitcoin.Config) { c.CAFile = "/none" },
		"ca_file: has no certificate":              func(c *bitcoin.Config) { c.CAFile = "config.go" },
		"confirmations: must be from 1 to 100":     func(c *bitcoin.Config) { c.Confirmations = 101 },
		"timeout: must be from 10 ms to 10 min":    func(c *bitcoin.Config) { c.Timeout = time.Hour },
		"max_response: must be from 64 KiB to 1 G": func(c *bitcoin.Config) { c.MaxResponse = 1 },
	} {
		c := good()
		change(&c)
		_, err := bitcoin.New(c, nil)
		require.ErrorContains(t, err, why)
	}
	c := open(t, "bitcoin", nil, nil, "http://u:p@127.0.0.1:1")
	_, err := c.Block(t.Context(), 1)
	require.ErrorContains(t, err, "our accounts are not known")
	require.Equal(t, chain.ID("coin"), c.ID())
}

// TestAnotherNodeAtTheAddress: a node of another network that answers at a node's address from some
// time on gives no head, and is named for as long as it does.
func TestAnotherNodeAtTheAddress(t *testing.T) {
	t.Parallel()
	miner := newWallet(t, bitcoins, "miner")
	node := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address})
	other := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: newWallet(t, bitcoins, "other").address})
	mine(t, node, 250, "")
	address, foreign := proxy(t, node), proxy(t, other)
	foreign.Fail(faults.Fault{Lie: func(method string, params []any, result json.RawMessage) any {
		if method == "getblockhash" && params[0] == 0.0 {
			return strings.Repeat("ab", 32)
		}
		return result
	}})
	only := open(t, bitcoins, newBooks(), nil, bitcoinnode.WithPassword(address.URL))
	three := open(t, bitcoins, newBooks(), nil, bitcoinnode.WithPassword(address.URL), node.URL(), bitcoinnode.WithPassword(proxy(t, node).URL))
	honest := head(t, only)
	require.Equal(t, honest, head(t, three))
	mine(t, other, 10, "") // below what is kept of the line, and later above it
	for range 2 {
		require.NoError(t, address.GoTo(foreign.URL))
		for range 3 {
			_, err := only.Head(t.Context())
			require.ErrorIs(t, err, chain.ErrUnavailable)
			require.Equal(t, honest, head(t, three))
		}
		_, err := only.Head(t.Context())
		require.ErrorIs(t, err, bitcoin.ErrWrongChain)
		require.Contains(t, three.Nodes()[0].LastFault, bitcoin.ErrWrongChain.Error())
		require.NoError(t, address.GoTo(node.URL()))
		require.Equal(t, honest, head(t, only))
		mine(t, other, 500, "")
	}
}
