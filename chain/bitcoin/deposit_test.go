package bitcoin_test

import (
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/dev/bitcoinnode"
)

// kindsOf are addresses of all kinds.
func kindsOf(t *testing.T, of string, seed byte) (list []string) {
	t.Helper()
	for kind, size := range map[network.Kind]int{network.P2PKH: 20, network.P2SH: 20, network.P2WPKH: 20, network.P2WSH: 32, network.P2TR: 32} {
		program := make([]byte, size)
		for i := range program {
			program[i] = seed + byte(i)
		}
		a, err := network.Named(of).Make(kind, program)
		require.NoError(t, err)
		list = append(list, a.Text)
	}
	return list
}

// TestDepositsAndOwnTransactions: deposits to all kinds of addresses, several of one transaction; a
// payment of ours with change; a coinbase.
func TestDepositsAndOwnTransactions(t *testing.T) {
	const of = bitcoinnode.BitcoinNetwork
	miner := newWallet(t, of, "miner")
	node := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address})
	blocks, err := node.Mine(102, "")
	require.NoError(t, err)
	coin, err := node.Coinbase(blocks[0])
	require.NoError(t, err)

	inboxes, hot := kindsOf(t, of, 7), newWallet(t, of, "hot")
	own := newBooks(append(inboxes, hot.address)...)
	c := open(t, of, own, nil, node.URL())
	var outs []*wire.TxOut
	for i, address := range inboxes {
		outs = append(outs, output(t, of, address, 100_000+int64(i)))
	}
	outs = append(outs, output(t, of, inboxes[0], 55_000), output(t, of, hot.address, 3_000_000), output(t, of, kindsOf(t, of, 9)[0], 777_000))
	deposit, err := miner.Spend([]bitcoinnode.Coin{coin}, outs...)
	require.NoError(t, err)
	require.NoError(t, node.Send(deposit))
	height := mine(t, node, 1, "")

	h := head(t, c)
	require.Equal(t, height, h.Latest.Height)
	require.Equal(t, height-5, h.Final.Height, "the 6th from the top is final")
	b := blockAt(t, c, height)
	require.Equal(t, h.Latest, b.Point)
	require.Empty(t, b.OwnTxs)
	require.Len(t, b.Transfers, len(inboxes)+2)
	require.Len(t, b.Coins, len(inboxes)+2)
	txid := deposit.TxHash().String()
	for i, tr := range b.Transfers {
		out := wire.OutPoint{Hash: deposit.TxHash(), Index: uint32(i)}.String()
		to, ok := network.Named(of).Of(outs[i].PkScript)
		require.True(t, ok)
		require.Equal(t, chain.Transfer{
			Ref: out, Tx: txid, To: to.Text, Asset: chain.Native, Amount: chain.NewAmount(uint64(outs[i].Value)), Memo: chain.Memo{Type: -1},
		}, tr)
		require.Equal(t, chain.Coin{Out: out, Address: to.Text, Amount: tr.Amount, Made: bare(t, deposit)}, b.Coins[i])
		require.Same(t, &b.Coins[0].Made[0], &b.Coins[i].Made[0], "one copy for all coins of a transaction")
	}
	require.Equal(t, 1, own.asked, "all addresses of a block are asked for at once")

	t.Run("a payment of ours", func(t *testing.T) {
		mined := bitcoinnode.Coin{Out: wire.OutPoint{Hash: deposit.TxHash(), Index: 6}, Amount: 3_000_000}
		payee := kindsOf(t, of, 11)[0]
		pay, err := hot.Spend([]bitcoinnode.Coin{mined}, output(t, of, payee, 1_000_000), output(t, of, hot.address, 1_990_000))
		require.NoError(t, err)
		require.NoError(t, node.Send(pay))
		// The change is spent in the same block, for two payees.
		change := bitcoinnode.Coin{Out: wire.OutPoint{Hash: pay.TxHash(), Index: 1}, Amount: 1_990_000}
		batch, err := hot.Spend([]bitcoinnode.Coin{change}, output(t, of, payee, 500_000), output(t, of, payee, 500_000), output(t, of, hot.address, 980_000))
		require.NoError(t, err)
		require.NoError(t, node.Send(batch))
		height := mine(t, node, 1, "")
		head(t, c)
		want := []chain.OwnTx{ // without accounts no output is change
			{
				Account: hot.address, Tx: pay.TxHash().String(), OK: true, Fee: chain.NewAmount(10_000),
				Members: []chain.Outcome{chain.MemberPaid, chain.MemberPaid}, Spent: []string{mined.Out.String()},
			}, {
				Account: hot.address, Tx: batch.TxHash().String(), OK: true, Fee: chain.NewAmount(10_000),
				Members: []chain.Outcome{chain.MemberPaid, chain.MemberPaid, chain.MemberPaid}, Spent: []string{change.Out.String()},
			},
		}
		b := blockAt(t, c, height)
		require.Equal(t, want, b.OwnTxs, "the coins of blocks that were read before are known")
		require.Empty(t, b.Transfers, "change is no deposit")
		require.Len(t, b.Coins, 2)
		require.Equal(t, chain.Coin{Out: change.Out.String(), Address: hot.address, Amount: chain.NewAmount(1_990_000), Own: true, Made: bare(t, pay)}, b.Coins[0])

		fresh := open(t, of, newBooks(hot.address), nil, node.URL())
		require.Equal(t, want[1:], blockAt(t, fresh, height).OwnTxs, "an unknown coin is not ours")
		all, err := fresh.Blocks(t.Context(), height-1, height)
		require.NoError(t, err)
		require.Equal(t, want, all[1].OwnTxs, "a range knows the coins of its blocks")
		stored := newBooks(hot.address)
		stored.coins[mined.Out.String()] = chain.Coin{Out: mined.Out.String(), Address: hot.address, Amount: chain.NewAmount(3_000_000)}
		require.Equal(t, want, blockAt(t, open(t, of, stored, nil, node.URL()), height).OwnTxs, "the records know coins")
	})

	t.Run("a coinbase", func(t *testing.T) {
		own.own(miner.address)
		b := blockAt(t, c, 50)
		require.Len(t, b.Transfers, 1)
		require.EqualValues(t, 150, b.Transfers[0].Matures)
		require.EqualValues(t, 150, b.Coins[0].Matures)
		require.EqualValues(t, 50_0000_0000, b.Transfers[0].Amount.Uint256().Uint64())
	})

	t.Run("beyond the line", func(t *testing.T) {
		_, err := c.Block(t.Context(), 1_000)
		require.ErrorIs(t, err, chain.ErrNotFound)
	})

	t.Run("the time between blocks", func(t *testing.T) {
		_, err := c.BlockInterval(t.Context())
		require.NoError(t, err)
	})
	require.Equal(t, uint64(0), c.Nodes()[0].Faults)
	require.NotZero(t, c.Nodes()[0].Head)

	t.Run("addresses", func(t *testing.T) {
		for _, address := range inboxes {
			got, err := c.CheckAddress(address, "")
			require.NoError(t, err)
			require.Equal(t, address, got)
		}
		_, err := c.CheckAddress(inboxes[0], "label")
		require.ErrorIs(t, err, chain.ErrLabel)
		_, err = c.CheckAddress("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "")
		require.ErrorIs(t, err, chain.ErrAddress)
	})
}
