package bitcoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

const (
	// minTxSize is that of a transaction with one input and one output, without scripts.
	minTxSize = 60
	// maxCoins is more than there will ever be on any of the networks, in satoshi.
	maxCoins = 84_000_000 * 100_000_000
	// flagMWEB marks Litecoin's HogEx transaction, the last one of a block with an extension.
	flagMWEB = 8
)

// errLie marks an answer that contradicts itself, or the rules of the network.
var errLie = errors.New("the node's answer contradicts itself")

// block is one block with everything in it, proven by its hash.
type block struct {
	hash   chainhash.Hash
	parent chainhash.Hash
	height uint64
	time   time.Time
	txs    []*btcutil.Tx
}

// prove reads a block and checks that its hash covers all of it: the header has the hash and the
// work, the Merkle root covers each transaction, and the coinbase's commitment their witnesses. The
// list of transactions is complete: where a root fits to several lists, they differ by transactions
// that are there twice (CVE-2012-2459), or do not begin with a coinbase.
func (r rules) prove(raw []byte, height uint64, hash chainhash.Hash) (*block, error) {
	parsed, err := r.parse(raw)
	if err != nil {
		return nil, err
	}
	h := &parsed.Header
	if got := h.BlockHash(); got != hash {
		return nil, fmt.Errorf("it has the hash %s, not %s", got, hash)
	}
	if err := r.checkWork(h); err != nil {
		return nil, err
	}
	of := btcutil.NewBlock(parsed)
	txs := of.Transactions()
	if err := checkTransactions(txs); err != nil {
		return nil, err
	}
	if root := blockchain.CalcMerkleRoot(txs, false); root != h.MerkleRoot {
		return nil, fmt.Errorf("the transactions have the root %s, but %s in the header", root, h.MerkleRoot)
	}
	if err := blockchain.ValidateWitnessCommitment(of); err != nil {
		return nil, err
	}
	if height >= uint64(r.params.BIP0034Height) {
		if err := blockchain.CheckSerializedHeight(txs[0], int32(height)); err != nil {
			return nil, err
		}
	}
	return &block{hash: hash, parent: h.PrevBlock, height: height, time: h.Timestamp.UTC(), txs: txs}, nil
}

func checkTransactions(txs []*btcutil.Tx) error {
	seen := make(map[chainhash.Hash]bool, len(txs))
	for i, tx := range txs {
		if blockchain.IsCoinBase(tx) != (i == 0) {
			return errors.New("its first transaction, and no other, must be a coinbase")
		}
		if seen[*tx.Hash()] {
			return fmt.Errorf("transaction %s is there twice", tx.Hash())
		}
		seen[*tx.Hash()] = true
		for _, out := range tx.MsgTx().TxOut {
			if out.Value < 0 || out.Value > maxCoins {
				return fmt.Errorf("transaction %s: %d is not an amount", tx.Hash(), out.Value)
			}
		}
	}
	return nil
}

// parse reads the header and the transactions. Litecoin's extension after them is left out: it
// moves no coin of ours, and what leaves it are outputs of the HogEx transaction.
func (r rules) parse(raw []byte) (*wire.MsgBlock, error) {
	rest := bytes.NewReader(raw)
	parsed := new(wire.MsgBlock)
	if err := parsed.Header.Deserialize(rest); err != nil {
		return nil, fmt.Errorf("its header: %w", err)
	}
	count, err := wire.ReadVarInt(rest, 0)
	if err != nil || count == 0 || count > uint64(rest.Len()/minTxSize) {
		return nil, fmt.Errorf("it names %d transactions in %d bytes", count, len(raw))
	}
	parsed.Transactions = make([]*wire.MsgTx, 0, count)
	extended := false
	for i := range count {
		tx := new(wire.MsgTx)
		at := len(raw) - rest.Len()
		if extended = r.network.MWEB != "" && isHogEx(raw[at:]); extended {
			if i != count-1 {
				return nil, fmt.Errorf("transaction %d of %d is a HogEx", i, count)
			}
			err = readHogEx(tx, rest, raw[at:])
		} else {
			err = tx.Deserialize(rest)
		}
		if err != nil {
			return nil, fmt.Errorf("transaction %d of %d: %w", i, count, err)
		}
		parsed.Transactions = append(parsed.Transactions, tx)
	}
	if !extended && rest.Len() > 0 {
		return nil, fmt.Errorf("%d bytes follow its transactions", rest.Len())
	}
	return parsed, nil
}

// isHogEx reports whether a transaction has no marker of a witness, but of the extension.
func isHogEx(raw []byte) bool {
	return len(raw) > txVersionSize+1 && raw[txVersionSize] == wire.TxFlagMarker && raw[txVersionSize+1] == flagMWEB
}

// sizes of a transaction's first and last field
const (
	txVersionSize = 4
	lockTimeSize  = 4
)

// readHogEx reads a HogEx transaction: like one without a witness, but with a marker after the
// version and a zero before the lock time.
func readHogEx(tx *wire.MsgTx, rest *bytes.Reader, raw []byte) error {
	const body = txVersionSize + 2
	inner := bytes.NewReader(raw[body:])
	if err := tx.DeserializeNoWitness(io.MultiReader(bytes.NewReader(raw[:txVersionSize]), inner)); err != nil {
		return err
	}
	end := len(raw) - inner.Len() + 1 // the zero was read in place of the lock time's first byte
	if end > len(raw) || raw[end-lockTimeSize-1] != 0 {
		return errors.New("a HogEx with a part of the extension")
	}
	tx.LockTime = binary.LittleEndian.Uint32(raw[end-lockTimeSize : end])
	_, err := rest.Seek(int64(end), io.SeekCurrent)
	return err
}
