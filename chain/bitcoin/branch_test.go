package bitcoin_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/dev/bitcoinnode"
)

const (
	bitcoins  = bitcoinnode.BitcoinNetwork
	litecoins = bitcoinnode.LitecoinNetwork
)

// TestBranches: a node leaves its newest blocks for others.
func TestBranches(t *testing.T) {
	for _, kind := range []struct {
		bitcoinnode.Kind
		network string
	}{{bitcoinnode.Btcd, bitcoins}, {bitcoinnode.Litecoind, litecoins}} {
		t.Run(string(kind.Kind), func(t *testing.T) {
			t.Parallel()
			inbox := newWallet(t, kind.network, "inbox")
			own := newBooks(inbox.address)
			node := start(t, bitcoinnode.Config{Kind: kind.Kind, Miner: inbox.address})
			c := open(t, kind.network, own, nil, node.URL())
			height := mine(t, node, 10, inbox.address)
			for _, depth := range []uint64{1, 3, 5} {
				before := head(t, c)
				require.Equal(t, height, before.Latest.Height)
				old := blockAt(t, c, height)
				require.Len(t, old.Transfers, 1)
				require.NoError(t, node.Leave(height-depth+1))
				left := head(t, c)
				require.Equal(t, height-depth, left.Latest.Height, "the node has a shorter line now")

				other := newWallet(t, kind.network, fmt.Sprint("branch of ", depth))
				own.own(other.address)
				height = mine(t, node, int(depth)+1, other.address)
				after := head(t, c)
				require.Equal(t, height, after.Latest.Height)
				require.Equal(t, height-5, after.Final.Height)
				parent := blockAt(t, c, height-depth-1)
				list, err := c.Blocks(t.Context(), height-depth, height+10)
				require.NoError(t, err)
				require.Len(t, list, int(depth)+1)
				for _, b := range list {
					require.Equal(t, parent.Hash, b.Parent)
					require.NotEqual(t, old.Hash, b.Hash)
					parent = b
				}
				require.Equal(t, after.Latest, parent.Point)
			}
			require.Zero(t, c.Nodes()[0].Faults)
		})
	}
}

// TestMostWorkWins: one of three nodes has the line with the most work. The others are behind.
func TestMostWorkWins(t *testing.T) {
	t.Parallel()
	miner := newWallet(t, bitcoins, "miner")
	var nodes []*bitcoinnode.Node
	var urls []string
	for range 3 {
		n := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address})
		nodes, urls = append(nodes, n), append(urls, n.URL())
	}
	mine(t, nodes[0], 20, "")
	for _, n := range nodes[1:] {
		require.NoError(t, n.Copy(nodes[0], 1))
	}
	c := open(t, bitcoins, newBooks(miner.address), nil, urls...)
	first := head(t, c)
	require.EqualValues(t, 20, first.Latest.Height)
	require.EqualValues(t, 15, first.Final.Height)

	mine(t, nodes[2], 30, "")
	ahead := head(t, c)
	require.EqualValues(t, 50, ahead.Latest.Height)
	require.EqualValues(t, 20, ahead.Final.Height, "a majority has the final block")
	require.Len(t, blockAt(t, c, 50).Transfers, 1, "from the only node that has it")

	// The two make a branch of their own, with less work at first.
	mine(t, nodes[0], 10, "")
	require.NoError(t, nodes[1].Copy(nodes[0], 21))
	forked := head(t, c)
	require.Equal(t, ahead, forked)
	for _, n := range c.Nodes() {
		require.Zero(t, n.Faults, n.LastFault)
	}
	mine(t, nodes[0], 25, "")
	require.NoError(t, nodes[1].Copy(nodes[0], 31))
	joined := head(t, c)
	require.EqualValues(t, 55, joined.Latest.Height)
	require.EqualValues(t, 50, joined.Final.Height)
	require.Equal(t, uint64(1), c.Nodes()[2].Faults, "it stays on a branch with less work")
	require.Contains(t, c.Nodes()[2].LastFault, "left the line after block 20")
	head(t, c)
	require.Equal(t, uint64(1), c.Nodes()[2].Faults, "once for each block")
}

// TestMajorityMustAnswer: the only living node of three gives no head.
func TestMajorityMustAnswer(t *testing.T) {
	t.Parallel()
	miner := newWallet(t, bitcoins, "miner")
	node := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address})
	mine(t, node, 10, "")
	c := open(t, bitcoins, newBooks(), func(c *bitcoin.Config) { c.Timeout = time.Second }, node.URL(), "http://u:p@127.0.0.1:1/private", "http://u:p@127.0.0.1:2")
	_, err := c.Head(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorContains(t, err, "127.0.0.1:1")
	require.NotContains(t, fmt.Sprint(err, c.Nodes()), "u:p", "no password is shown")
	require.NotContains(t, fmt.Sprint(err, c.Nodes()), "private", "nor is a key in the path")
}

// TestFarAndDeep: heights below the kept headers, a node that is far ahead, and one that is behind
// the kept headers.
func TestFarAndDeep(t *testing.T) {
	t.Parallel()
	miner := newWallet(t, bitcoins, "miner")
	node := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address})
	late := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address})
	mine(t, node, 600, "")
	require.NoError(t, late.Copy(node, 1))
	c := open(t, bitcoins, newBooks(miner.address), nil, node.URL(), late.URL())
	require.EqualValues(t, 600, head(t, c).Latest.Height)
	list, err := c.Blocks(t.Context(), 380, 420)
	require.NoError(t, err)
	require.Len(t, list, 41)
	for i, b := range list {
		require.Equal(t, uint64(380+i), b.Height)
		require.Len(t, b.Transfers, 1)
		require.True(t, i == 0 || b.Parent == list[i-1].Hash)
	}
	mine(t, node, 300, "") // many headers at a time
	require.EqualValues(t, 900, head(t, c).Latest.Height)
	require.EqualValues(t, 600, head(t, c).Final.Height)
	require.NoError(t, late.Copy(node, 601))
	require.EqualValues(t, 895, head(t, c).Final.Height)
	for _, n := range c.Nodes() {
		require.Zero(t, n.Faults, n.LastFault)
	}

	fresh := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address})
	three := open(t, bitcoins, newBooks(), nil, node.URL(), late.URL(), fresh.URL())
	require.EqualValues(t, 900, head(t, three).Latest.Height)
	require.Zero(t, three.Nodes()[2].Faults, "a node that is far behind is not wrong")
	require.NoError(t, c.SetNodes([]string{node.URL(), fresh.URL()}))
	_, err = c.Head(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorContains(t, err, "far behind: it is at block 0")

	// Both leave our line below the kept headers: it is begun again.
	require.NoError(t, c.SetNodes([]string{node.URL(), late.URL()}))
	require.EqualValues(t, 900, head(t, c).Latest.Height)
	for _, n := range []*bitcoinnode.Node{node, late} {
		require.NoError(t, n.Leave(100))
	}
	mine(t, node, 950, "")
	require.NoError(t, late.Copy(node, 100))
	require.EqualValues(t, 1049, head(t, c).Latest.Height)
}
