package spend

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/dev/bitcoinnode"
)

// nodeEnv is an env whose coins are in the chain of a real node.
type nodeEnv struct {
	*env
	node  *bitcoinnode.Node
	kind  bitcoinnode.Kind
	coins []Coin // of P2WPKH, in blocks
}

func onNode(t *testing.T, kind bitcoinnode.Kind) *nodeEnv {
	t.Helper()
	w := &nodeEnv{env: newEnv(t), kind: kind}
	config := bitcoinnode.Config{Kind: kind, Args: []string{"-mempoolreplacement=1"}}
	if kind == bitcoinnode.Btcd {
		w.useNetwork(bitcoinnode.BitcoinNetwork)
		config = bitcoinnode.Config{Kind: kind, Miner: w.own(network.P2WPKH, 0, 0).Text, Args: []string{"--minrelaytxfee=0.00001"}}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var err error
	w.node, err = bitcoinnode.Start(ctx, config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.node.Close()) })
	for _, hash := range w.mine(30) {
		tx := w.block(hash).Transactions[0]
		w.coins = append(w.coins, Coin{Outpoint: wire.OutPoint{Hash: tx.TxHash()}, Amount: tx.TxOut[0].Value, Own: w.own(network.P2WPKH, 0, 0), Height: uint64(len(w.coins)) + 1})
	}
	w.mine(100)
	return w
}

// useNetwork derives the accounts on another network.
func (w *env) useNetwork(name string) {
	w.net = network.Named(name)
	for i, a := range w.accounts {
		key, err := w.keys.AccountKey(a.Path)
		require.NoError(w.t, err)
		w.accounts[i], err = w.net.NewAccount(a.Path, key)
		require.NoError(w.t, err)
	}
	w.Builder.Network = w.net
	w.rules = NewRules(w.net, w.accounts, w.Limits)
}

func (w *nodeEnv) mine(count int) []string {
	hashes, err := w.node.Mine(count, w.own(network.P2WPKH, 0, 0).Text)
	require.NoError(w.t, err)
	return hashes
}

// block reads a block and its transactions.
func (w *nodeEnv) block(hash string) *wire.MsgBlock {
	var text string
	require.NoError(w.t, w.node.Call(&text, "getblock", hash, 0))
	raw, err := hex.DecodeString(text)
	require.NoError(w.t, err)
	var b wire.MsgBlock
	require.NoError(w.t, b.Deserialize(bytes.NewReader(raw)))
	for _, tx := range b.Transactions {
		w.made[tx.TxHash()] = tx
	}
	return &b
}

// take removes a coin of P2WPKH from those that are left.
func (w *nodeEnv) take() Coin {
	coin := w.coins[0]
	w.coins = w.coins[1:]
	return coin
}

// taproot pays amounts to addresses of ours by P2TR, and returns the coins in a block.
func (w *nodeEnv) taproot(amounts ...int64) (coins []Coin) {
	var pays []chain.Payment
	for i, amount := range amounts {
		pays = append(pays, w.pay(uint64(i)+1, w.own(network.P2TR, 0, uint32(i)).Text, amount))
	}
	pay := batch(pays...)
	d, err := w.Pay(w.funds(network.P2WPKH, w.take()), pay, 5_000)
	require.NoError(w.t, err)
	_, tx := w.sign(d, pay)
	require.NoError(w.t, w.node.Send(tx))
	w.mined(tx)
	for i, amount := range amounts {
		coins = append(coins, Coin{Outpoint: wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}, Amount: amount, Own: w.own(network.P2TR, 0, uint32(i)), Height: 131})
	}
	return coins
}

// mined mines a block and wants transactions in it.
func (w *nodeEnv) mined(txs ...*wire.MsgTx) {
	b := w.block(w.mine(1)[0])
	for _, tx := range txs {
		found := false
		for _, in := range b.Transactions {
			found = found || in.TxHash() == tx.TxHash()
		}
		require.True(w.t, found, "transaction %s is in the block", tx.TxHash())
	}
}

func (w *nodeEnv) pool() (ids []string) {
	require.NoError(w.t, w.node.Call(&ids, "getrawmempool"))
	return ids
}

// size is what the node takes for the virtual size of a transaction in its pool.
func (w *nodeEnv) size(tx *wire.MsgTx) int64 {
	var pool map[string]struct{ VSize int64 }
	require.NoError(w.t, w.node.Call(&pool, "getrawmempool", true))
	require.Contains(w.t, pool, tx.TxHash().String())
	return pool[tx.TxHash().String()].VSize
}

var nodeKinds = []bitcoinnode.Kind{bitcoinnode.Litecoind, bitcoinnode.Btcd}

// TestNodesTakePayments: a node takes and mines what pays all kinds of payees, dust limits
// included, from coins of both kinds, and computes the same sizes.
func TestNodesTakePayments(t *testing.T) {
	for _, kind := range nodeKinds {
		t.Run(string(kind), func(t *testing.T) {
			w := onNode(t, kind)
			taproot := w.taproot(10_000_000, 20_000_000, 30_000_000)
			var pays []chain.Payment
			for i, kind := range payeeKinds {
				to := w.payee(kind, 1)
				a, err := w.net.Parse(to)
				require.NoError(t, err)
				pays = append(pays, w.pay(uint64(2*i), to, w.net.Dust(a.Script)), w.pay(uint64(2*i)+1, to, 12_000_000))
			}
			pay := batch(pays...)
			d, err := w.Pay(w.funds(network.P2TR, taproot[0], taproot[1], taproot[2], w.take()), pay, 2_000)
			require.NoError(t, err)
			_, tx := w.sign(d, pay)
			require.NoError(t, w.node.Send(tx))
			require.Equal(t, SizeOf(tx), w.size(tx))
			require.LessOrEqual(t, w.size(tx), d.Size)
			w.mined(tx)
			for i, out := range tx.TxOut {
				var coin struct {
					Value        float64
					ScriptPubKey struct{ Hex string }
				}
				require.NoError(t, w.node.Call(&coin, "gettxout", tx.TxHash().String(), i))
				require.Equal(t, hex.EncodeToString(out.PkScript), coin.ScriptPubKey.Hex)
				require.InDelta(t, float64(out.Value)/1e8, coin.Value, 1e-9)
			}
		})
	}
}

// TestNodesRefuseDust: one satoshi below the limit of a kind is not relayed.
func TestNodesRefuseDust(t *testing.T) {
	w := onNode(t, bitcoinnode.Litecoind)
	for _, kind := range payeeKinds {
		pay := w.pay(1, w.payee(kind, 1), 100_000)
		d, err := w.Pay(w.funds(network.P2TR, w.coins[0]), pay, 2_000)
		require.NoError(t, err)
		d.Outputs[0].Value = w.net.Dust(d.Outputs[0].PkScript) - 1
		require.ErrorContains(t, w.node.Send(w.blindly(d)), "dust (-26)", kind)
		d.Outputs[0].Value++
		require.NoError(t, w.node.Send(w.blindly(d)), kind)
		w.mine(1)
		w.take()
	}
}

// blindly signs a draft as a wallet without rules would.
func (w *env) blindly(d Draft) *wire.MsgTx {
	tx := d.Tx()
	p := &proven{tx: tx, spent: map[wire.OutPoint]*wire.TxOut{}}
	for _, c := range d.Coins {
		p.inputs = append(p.inputs, c.Own)
		p.spent[c.Outpoint] = wire.NewTxOut(c.Amount, c.Own.Script)
	}
	digests, err := p.digests()
	require.NoError(w.t, err)
	for i, digest := range digests {
		var s chain.Signature
		s.Public, s.Bytes, err = w.keys.Sign(context.Background(), digest.Key, digest.Hash)
		require.NoError(w.t, err)
		tx.TxIn[i].Witness, err = witness(p.inputs[i], s)
		require.NoError(w.t, err)
	}
	return tx
}

// TestNodesReplace: a replacement and a cancellation are taken in place of what they replace, and
// one that pays too little is not.
func TestNodesReplace(t *testing.T) {
	for _, kind := range nodeKinds {
		t.Run(string(kind), func(t *testing.T) {
			w := onNode(t, kind)
			f := w.funds(network.P2WPKH, w.taproot(1_000_000)[0], w.take())
			pay := w.pay(1, w.payee(network.P2WPKH, 1), 990_000)
			first, err := w.Pay(f, pay, 1_000)
			require.NoError(t, err)
			signed, tx := w.sign(first, pay)
			require.NoError(t, w.node.Send(tx))

			low, err := w.Pay(f, pay, 1_500) // not as a replacement
			require.NoError(t, err)
			_, refused := w.sign(low, pay)
			require.ErrorContains(t, w.node.Send(refused), map[bitcoinnode.Kind]string{
				bitcoinnode.Litecoind: "insufficient fee, rejecting replacement", bitcoinnode.Btcd: "replacement transaction",
			}[kind])

			earlier := []Earlier{{Draft: signed}}
			for _, rate := range []Rate{1_000, 1_200, 40_000, 1_000, 120_000} {
				next, err := w.Pay(f, pay, rate, earlier...)
				require.NoError(t, err)
				signed, tx = w.sign(next, pay)
				require.NoError(t, w.node.Send(tx), "at %d", rate)
				require.Equal(t, []string{tx.TxHash().String()}, w.pool(), "in place of the one before")
				earlier = append(earlier, Earlier{Draft: signed})
			}
			require.Len(t, tx.TxIn, 2, "a coin was added")
			cancel, err := w.Cancel(f, 1_000, earlier...)
			require.NoError(t, err)
			_, tx = w.sign(cancel, chain.Payment{Purpose: chain.Cancel})
			require.NoError(t, w.node.Send(tx))
			require.Equal(t, []string{tx.TxHash().String()}, w.pool())
			w.mined(tx)
			err = w.node.Send(w.blindly(first))
			require.Error(t, err, "no attempt of a slot stands beside another")
		})
	}
}

// TestNodesTakeChildren: a child brings its parent to the rate, is replaced, and both are mined.
func TestNodesTakeChildren(t *testing.T) {
	w := onNode(t, bitcoinnode.Litecoind)
	pay := w.pay(1, w.payee(network.P2SH, 1), 1_000_000)
	d, err := w.Pay(w.funds(network.P2TR, w.take()), pay, 1_000)
	require.NoError(t, err)
	parent, parentTx := w.sign(d, pay)
	require.NoError(t, w.node.Send(parentTx))
	source := change(d, parentTx)
	f := w.funds(network.P2WPKH, w.take())
	var earlier []Earlier
	var tx *wire.MsgTx
	for _, rate := range []Rate{30_000, 31_000, 120_000} {
		child, err := w.Child(f, source, parent, rate, earlier...)
		require.NoError(t, err)
		var signed Draft
		signed, tx = w.sign(child, merge(child, source.Outpoint.String()))
		require.NoError(t, w.node.Send(tx))
		earlier = append(earlier, Earlier{Draft: signed})
		var entry struct{ AncestorSize, AncestorFees int64 }
		require.NoError(t, w.node.Call(&entry, "getmempoolentry", tx.TxHash().String()))
		require.GreaterOrEqual(t, entry.AncestorFees, rate.Fee(entry.AncestorSize), fmt.Sprint(rate))
		require.LessOrEqual(t, entry.AncestorFees, rate.Fee(entry.AncestorSize+1)+1_000)
	}
	require.Len(t, w.pool(), 2)

	// a replacement of the parent must pay for the child that it evicts
	cheap, err := w.Pay(w.funds(network.P2TR, d.Coins[0]), pay, 50_000, Earlier{Draft: parent})
	require.NoError(t, err)
	_, refused := w.sign(cheap, pay)
	require.ErrorContains(t, w.node.Send(refused), "insufficient fee")
	dear, err := w.Pay(w.funds(network.P2TR, d.Coins[0]), pay, 50_000, Earlier{Draft: parent, Children: earlier[2].Fee})
	require.NoError(t, err)
	_, tx = w.sign(dear, pay)
	require.NoError(t, w.node.Send(tx))
	require.Equal(t, []string{tx.TxHash().String()}, w.pool())
	w.mined(tx)
}

// TestNodesTakeMerges: a node takes a transaction of many coins, at its exact size.
func TestNodesTakeMerges(t *testing.T) {
	w := onNode(t, bitcoinnode.Litecoind)
	var amounts []int64
	for i := range 68 {
		amounts = append(amounts, 50_000+int64(i))
	}
	coins := w.taproot(amounts...)
	d, err := w.Merge(w.funds(network.P2TR, w.take(), coins...), 1_000)
	require.NoError(t, err)
	require.Len(t, d.Coins, 35)
	_, tx := w.sign(d, merge(d, ""))
	require.NoError(t, w.node.Send(tx))
	require.Equal(t, SizeOf(tx), w.size(tx))
	require.InDelta(t, d.Size, w.size(tx), 1)
	w.mined(tx)
}
