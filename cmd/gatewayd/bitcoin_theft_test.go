package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/bitcoin/network"
	"gatewayd/dev"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/wallet"
)

// thiefFee is the fee of a thief's transaction.
const thiefFee = 50_000

// TestStolenAnchor: three blocks leave the chain, and another transaction, signed with the pool's
// key, spends the coin of a payout that was in them. The pool stops, every surface shows it, and
// after the documented repair each user is paid once.
func TestStolenAnchor(t *testing.T) {
	t.Parallel()
	w := newCoinRounds(t, 0)
	w.send(t)
	w.awaitAll(t)
	payout, height := w.payout(t)
	for top := w.height(t); top < height+2; top++ {
		w.mine(t, 1, w.miner)
	}
	require.NoError(t, w.node.Leave(height))
	stolen := w.steal(t, payout.TxIn[0].PreviousOutPoint)
	w.mine(t, 3, w.payer)
	w.mineUntil(t, "the pool to stop", func() bool { return w.poolRow(t).State == string(records.AccountHalted) })
	require.Contains(t, w.poolRow(t).Why, "transaction "+stolen+" at number 0 was not signed by this daemon")
	w.awaitShown(t, "STOP account_stopped")
	waitFor(t, "a closed channel", func() bool { return strings.Contains(w.output(t, "channel", "list"), records.ChannelMaintain) })
	require.Equal(t, 1, w.paid(t), "the thief alone")

	var detail operator.AccountDetail
	require.NoError(t, json.Unmarshal([]byte(w.command(t, "account", "show", "coin", w.pool(t), "--json")), &detail))
	require.Len(t, detail.UnknownTxs, 1)
	require.Equal(t, stolen, detail.UnknownTxs[0].Hash)
	t.Log(w.command(t, "account", "show", "coin", w.pool(t)))
	require.Error(t, run(t.Context(), []string{"account", "resume", "coin", w.pool(t), "-c", w.info.Config}, testStreams(t)))
	w.command(t, "account", "resume", "coin", w.pool(t), "--accept", stolen, "--why", "test")
	w.nets[hex.EncodeToString(w.miner.Script())] = []int64{w.coin(t, payout.TxIn[0].PreviousOutPoint).Value - thiefFee}
	w.awaitAll(t)
	w.send(t)
	w.checkBooks(t)
}

func (w *bitcoinEnv) height(t *testing.T) uint64 {
	t.Helper()
	height, err := w.node.Height()
	require.NoError(t, err)
	return height
}

// find returns the first transaction of the chain for which a condition holds, and its height.
func (w *bitcoinEnv) find(t *testing.T, is func(*wire.MsgTx) bool) (*wire.MsgTx, uint64) {
	t.Helper()
	for h := w.height(t); h > 0; h-- {
		block, err := w.node.Block(h)
		require.NoError(t, err)
		for _, tx := range block.Transactions {
			if is(tx) {
				return tx, h
			}
		}
	}
	require.Fail(t, "there is no such transaction")
	return nil, 0
}

// payout is the transaction of the newest payout.
func (w *coinRounds) payout(t *testing.T) (*wire.MsgTx, uint64) {
	t.Helper()
	return w.find(t, func(tx *wire.MsgTx) bool { return len(w.nets[hex.EncodeToString(tx.TxOut[0].PkScript)]) > 0 })
}

// steal mines a transaction that spends a coin of the gateway's with its key.
func (w *bitcoinEnv) steal(t *testing.T, out wire.OutPoint) (hash string) {
	t.Helper()
	coin := w.coin(t, out)
	path := "m/84'/1'/0'/1/0"
	if !bytes.Equal(coin.PkScript, w.script(t, w.pool(t))) {
		path = "m/84'/1'/0'/0/0"
		require.Equal(t, w.script(t, w.own(t, network.External, 0)), coin.PkScript)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&out, nil, nil))
	tx.AddTxOut(wire.NewTxOut(coin.Value-thiefFee, w.miner.Script()))
	hashes := txscript.NewTxSigHashes(tx, txscript.NewCannedPrevOutputFetcher(coin.PkScript, coin.Value))
	digest, err := txscript.CalcWitnessSigHash(coin.PkScript, hashes, txscript.SigHashAll, tx, 0, coin.Value)
	require.NoError(t, err)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	public, signature, err := keys.Sign(t.Context(), path, digest)
	require.NoError(t, err)
	var r, s btcec.ModNScalar
	require.False(t, r.SetByteSlice(signature[:32]) || s.SetByteSlice(signature[32:]))
	tx.TxIn[0].Witness = wire.TxWitness{append(ecdsa.NewSignature(&r, &s).Serialize(), byte(txscript.SigHashAll)), public}
	var raw bytes.Buffer
	require.NoError(t, tx.Serialize(&raw))
	require.NoError(t, w.node.Call(nil, "generateblock", w.address(t, w.payer), []string{hex.EncodeToString(raw.Bytes())}))
	return tx.TxHash().String()
}

// coin is an output of the chain.
func (w *bitcoinEnv) coin(t *testing.T, out wire.OutPoint) *wire.TxOut {
	t.Helper()
	tx, _ := w.find(t, func(tx *wire.MsgTx) bool { return tx.TxHash() == out.Hash })
	return tx.TxOut[out.Index]
}

// poolRow is the pool in `account list`.
func (w *bitcoinEnv) poolRow(t *testing.T) operator.AccountRow {
	t.Helper()
	var rows []operator.AccountRow
	require.NoError(t, json.Unmarshal([]byte(w.command(t, "account", "list", "--json")), &rows))
	pool := w.pool(t)
	for _, r := range rows {
		if r.Address == pool {
			return r
		}
	}
	require.Fail(t, "the pool is not listed")
	return operator.AccountRow{}
}
