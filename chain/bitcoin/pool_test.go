package bitcoin_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/internal/testing/faults"
)

// TestPool: a transfer is shown while it waits, and is the same in its block.
func TestPool(t *testing.T) {
	t.Parallel()
	miner, hot := newWallet(t, bitcoins, "miner"), newWallet(t, bitcoins, "hot")
	node := start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: miner.address})
	blocks, err := node.Mine(104, "")
	require.NoError(t, err)
	inbox := kindsOf(t, bitcoins, 3)[0]
	own := newBooks(inbox, hot.address)
	front := proxy(t, node)
	c := open(t, bitcoins, own, nil, bitcoinnode.WithPassword(front.URL), node.URL())
	pooled := func() []chain.Transfer {
		t.Helper()
		list, err := c.Pooled(t.Context())
		require.NoError(t, err)
		return list
	}
	send := func(w wallet, coin bitcoinnode.Coin, address string, amount int64) *wire.MsgTx {
		t.Helper()
		tx, err := w.Spend([]bitcoinnode.Coin{coin}, output(t, bitcoins, address, amount))
		require.NoError(t, err)
		require.NoError(t, node.Send(tx))
		return tx
	}
	coinbase := func(i int) bitcoinnode.Coin {
		t.Helper()
		coin, err := node.Coinbase(blocks[i])
		require.NoError(t, err)
		return coin
	}
	require.Empty(t, pooled())
	send(miner, coinbase(0), inbox, 70_000)
	send(miner, coinbase(1), miner.address, 60_000)
	first := pooled()
	require.Len(t, first, 1)
	require.Equal(t, inbox, first[0].To)
	require.EqualValues(t, "70000", first[0].Amount.String())
	funding := send(miner, coinbase(2), hot.address, 90_000)
	asked := own.asked
	require.Len(t, pooled(), 2)
	require.Equal(t, asked+1, own.asked)
	pooled()
	require.Equal(t, asked+1, own.asked, "nothing is new")

	height := mine(t, node, 1, "")
	require.Empty(t, pooled())
	head(t, c)
	require.Contains(t, blockAt(t, c, height).Transfers, first[0])

	// What we pay ourselves is no deposit.
	send(hot, bitcoinnode.Coin{Out: wire.OutPoint{Hash: funding.TxHash()}, Amount: 90_000}, inbox, 80_000)
	require.Empty(t, pooled())

	t.Run("another transaction", func(t *testing.T) {
		other := send(miner, coinbase(3), inbox, 50_000).TxHash().String()
		front.Fail(faults.Fault{Lie: func(method string, _ []any, result json.RawMessage) any {
			if method == "getrawmempool" {
				return []string{other, strings.Repeat("ab", 32)}
			}
			return result
		}})
		require.Len(t, pooled(), 1, "one that is gone is left out")
		var raw bytes.Buffer
		require.NoError(t, funding.Serialize(&raw))
		front.Fail(faults.Fault{Lie: func(method string, _ []any, result json.RawMessage) any {
			if method == "getrawtransaction" {
				return hex.EncodeToString(raw.Bytes())
			}
			return result
		}})
		fresh := open(t, bitcoins, own, nil, bitcoinnode.WithPassword(front.URL), node.URL())
		list, err := fresh.Pooled(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, list, "of the other node")
		require.Contains(t, fresh.Nodes()[0].LastFault, "it shows transaction "+funding.TxHash().String()+" as ")
		front.Fail(faults.Fault{Lie: func(method string, _ []any, result json.RawMessage) any {
			if method == "getrawmempool" {
				return []string{"zz"}
			}
			return result
		}})
		fresh = open(t, bitcoins, own, nil, bitcoinnode.WithPassword(front.URL), node.URL())
		list, err = fresh.Pooled(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, list)
		require.Contains(t, fresh.Nodes()[0].LastFault, "its pool has")
	})
}
