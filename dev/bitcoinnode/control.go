package bitcoinnode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// Mine makes blocks, which pay an address (litecoind) or the miner of the configuration (btcd), and
// answers their hashes. litecoind makes the same block again when it left one that pays the same
// address, and then refuses it: mine to another.
func (n *Node) Mine(count int, address string) (hashes []string, err error) {
	if n.kind == Btcd {
		err = n.Call(&hashes, "generate", count)
	} else {
		err = n.Call(&hashes, "generatetoaddress", count, address)
	}
	if err == nil && len(hashes) != count {
		err = fmt.Errorf("%d blocks were made instead of %d", len(hashes), count)
	}
	return hashes, err
}

// Leave makes the node leave the block at a height, and what is above it.
func (n *Node) Leave(height uint64) error {
	var hash string
	if err := n.Call(&hash, "getblockhash", height); err != nil {
		return err
	}
	return n.Call(nil, "invalidateblock", hash)
}

// Connect connects the node to another one of its kind.
func (n *Node) Connect(other *Node) error {
	return n.Call(nil, "addnode", other.peer, "add")
}

// Follow waits until the node has the newest block of another one.
func (n *Node) Follow(ctx context.Context, other *Node) error {
	want, err := other.Best()
	if err != nil {
		return err
	}
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		got, err := n.Best()
		if err != nil || got == want {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for block %s: %w", want, ctx.Err())
		case <-tick.C:
		}
	}
}

// Copy gives the node the blocks of another one from a height on. They need no connection.
func (n *Node) Copy(other *Node, from uint64) error {
	top, err := other.Height()
	if err != nil {
		return err
	}
	for height := from; height <= top; height++ {
		var hash, block string
		if err := other.Call(&hash, "getblockhash", height); err != nil {
			return err
		}
		if err := other.Call(&block, "getblock", hash, 0); err != nil {
			return err
		}
		if err := n.Call(nil, "submitblock", block); err != nil {
			return fmt.Errorf("block %d: %w", height, err)
		}
	}
	return nil
}

// Wallet is a key whose address takes coins by P2WPKH, for nodes without a wallet.
type Wallet struct {
	key    *btcec.PrivateKey
	script []byte
}

// NewWallet derives a key from a name.
func NewWallet(name string) (*Wallet, error) {
	key, public := btcec.PrivKeyFromBytes(chainhash.HashB([]byte("test " + name)))
	script, err := txscript.NewScriptBuilder().AddOp(txscript.OP_0).AddData(address.Hash160(public.SerializeCompressed())).Script()
	if err != nil {
		return nil, fmt.Errorf("making a script: %w", err)
	}
	return &Wallet{key, script}, nil
}

// Script is the script of outputs to the wallet.
func (w *Wallet) Script() []byte { return w.script }

// Coin is an output to a wallet.
type Coin struct {
	Out    wire.OutPoint
	Amount int64
}

// Spend makes a transaction that spends coins of the wallet and pays outputs. What is left is its
// fee.
func (w *Wallet) Spend(coins []Coin, outputs ...*wire.TxOut) (*wire.MsgTx, error) {
	tx := wire.NewMsgTx(2)
	previous := txscript.NewMultiPrevOutFetcher(nil)
	for _, c := range coins {
		tx.AddTxIn(wire.NewTxIn(&c.Out, nil, nil))
		previous.AddPrevOut(c.Out, wire.NewTxOut(c.Amount, w.script))
	}
	for _, o := range outputs {
		tx.AddTxOut(o)
	}
	hashes := txscript.NewTxSigHashes(tx, previous)
	for i, c := range coins {
		witness, err := txscript.WitnessSignature(tx, hashes, i, c.Amount, w.script, txscript.SigHashAll, w.key, true)
		if err != nil {
			return nil, fmt.Errorf("signing: %w", err)
		}
		tx.TxIn[i].Witness = witness
	}
	return tx, nil
}

// Coinbase is the first output of the coinbase of a block.
func (n *Node) Coinbase(hash string) (Coin, error) {
	block, err := n.block(hash)
	if err != nil {
		return Coin{}, err
	}
	if len(block.Transactions) == 0 || len(block.Transactions[0].TxOut) == 0 {
		return Coin{}, errors.New("a block without a coinbase")
	}
	tx := block.Transactions[0]
	return Coin{wire.OutPoint{Hash: tx.TxHash()}, tx.TxOut[0].Value}, nil
}
