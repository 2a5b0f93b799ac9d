package bitcoin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev/bitcoinnode"
)

// TestLitecoinExtension: blocks with an MWEB extension: what goes into it, moves in it and leaves
// it.
func TestLitecoinExtension(t *testing.T) {
	t.Parallel()
	node := start(t, bitcoinnode.Config{Kind: bitcoinnode.Litecoind})
	call := func(out any, method string, params ...any) {
		t.Helper()
		require.NoError(t, node.Call(out, method, params...))
	}
	call(nil, "createwallet", "w")
	var miner, hidden string
	call(&miner, "getnewaddress")
	call(&hidden, "getnewaddress", "", "mweb")
	mine(t, node, 6, miner) // a wallet with many coins is slow
	mine(t, node, 425, newWallet(t, litecoins, "other").address)
	call(nil, "sendtoaddress", hidden, 20)
	require.EqualValues(t, 432, mine(t, node, 1, miner))

	inboxes := kindsOf(t, litecoins, 40)
	own := newBooks(inboxes...)
	c := open(t, litecoins, own, nil, node.URL())
	require.EqualValues(t, 432, head(t, c).Latest.Height)
	require.Empty(t, blockAt(t, c, 432).Transfers)

	// A deposit of each kind, in a block with an extension.
	for i, address := range inboxes {
		call(nil, "sendtoaddress", address, 1+i)
	}
	pooled, err := c.Pooled(t.Context())
	require.NoError(t, err)
	require.Len(t, pooled, len(inboxes))
	height := mine(t, node, 1, miner)
	head(t, c)
	b := blockAt(t, c, height)
	require.Len(t, b.Transfers, len(inboxes))
	got := map[string]string{}
	for _, tr := range b.Transfers {
		got[tr.To] = tr.Amount.Whole(8)
	}
	for i, address := range inboxes {
		require.Equal(t, chain.NewAmount(uint64(1+i)*1e8).Whole(8), got[address])
	}

	// A wallet with nothing but coins of the extension pays an address outside of it.
	call(nil, "createwallet", "m")
	require.NoError(t, node.CallWallet("m", &hidden, "getnewaddress", "", "mweb"))
	require.NoError(t, node.CallWallet("w", nil, "sendtoaddress", hidden, 5))
	mine(t, node, 1, miner)
	require.NoError(t, node.CallWallet("m", nil, "sendtoaddress", inboxes[0], 2))
	pooled, err = c.Pooled(t.Context())
	require.NoError(t, err)
	require.Empty(t, pooled, "a part of the extension is not read")
	before, err := node.Height()
	require.NoError(t, err)
	mine(t, node, 2, miner)
	head(t, c)
	blocks, err := c.Blocks(t.Context(), before+1, before+2)
	require.NoError(t, err)
	var left []chain.Transfer
	for _, b := range blocks {
		left = append(left, b.Transfers...)
	}
	require.Len(t, left, 1, "it is an output of a HogEx")
	require.Equal(t, "2", left[0].Amount.Whole(8))
	require.Zero(t, c.Nodes()[0].Faults)
}
