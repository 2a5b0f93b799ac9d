package spend

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain/bitcoin/network"
)

// The fields that all transactions have in common.
const (
	txVersion  = 2
	txSequence = wire.MaxTxInSequenceNum - 2 // replaceable (BIP-125), no relative lock time
	txLockTime = 0
)

// maxPSBT bounds the bytes of an order: a request to a signer has 4 MiB in base64.
const maxPSBT = 2 << 20

// Draft is a transaction before its signatures.
type Draft struct {
	Coins   []Coin // spent in this order, the anchor first
	Outputs []*wire.TxOut
	Change  *network.Own // of the last outputs, if these are ours
	Parts   int          // the number of these
	Fee     int64
	Size    int64 // vbytes with signatures
}

// Tx is the transaction without signatures.
func (d Draft) Tx() *wire.MsgTx {
	tx := wire.NewMsgTx(txVersion)
	tx.LockTime = txLockTime
	for _, c := range d.Coins {
		in := wire.NewTxIn(&c.Outpoint, nil, nil)
		in.Sequence = txSequence
		tx.AddTxIn(in)
	}
	for _, out := range d.Outputs {
		tx.AddTxOut(out)
	}
	return tx
}

// PSBT is the draft for the signer (BIP-174), with the transactions that made its coins: they prove
// the amounts. It asks for each of them once per coin.
func (d Draft) PSBT(previous func(chainhash.Hash) (*wire.MsgTx, error)) ([]byte, error) {
	packet, err := psbt.NewFromUnsignedTx(d.Tx())
	if err != nil {
		return nil, err
	}
	for i, c := range d.Coins {
		made, err := previous(c.Outpoint.Hash)
		if err != nil {
			return nil, fmt.Errorf("the transaction that made coin %s: %w", c.Outpoint, err)
		}
		in := &packet.Inputs[i]
		in.NonWitnessUtxo = stripped(made)
		if c.Own.Kind == network.P2TR {
			in.TaprootInternalKey = c.Own.Public[1:]
			in.TaprootBip32Derivation = taprootDerivation(c.Own)
		} else {
			in.Bip32Derivation = derivation(c.Own)
		}
	}
	if own := d.Change; own != nil {
		for i := len(packet.Outputs) - d.Parts; i < len(packet.Outputs); i++ {
			out := &packet.Outputs[i]
			if own.Kind == network.P2TR {
				out.TaprootInternalKey, out.TaprootBip32Derivation = own.Public[1:], taprootDerivation(*own)
			} else {
				out.Bip32Derivation = derivation(*own)
			}
		}
	}
	var raw bytes.Buffer
	if err := packet.Serialize(&raw); err != nil {
		return nil, err
	}
	if raw.Len() > maxPSBT {
		return nil, fmt.Errorf("%w: the transactions that made the coins have %d bytes in all, at most %d can be signed", ErrTooLarge, raw.Len(), maxPSBT)
	}
	return raw.Bytes(), nil
}

// ErrTooLarge means that a transaction must spend fewer coins, or pay fewer payees.
var ErrTooLarge = errors.New("the transaction is too large")

// stripped is a transaction without witnesses, which its name does not cover.
func stripped(tx *wire.MsgTx) *wire.MsgTx {
	bare := tx.Copy()
	for _, in := range bare.TxIn {
		in.Witness = nil
	}
	return bare
}

func derivation(own network.Own) []*psbt.Bip32Derivation {
	return []*psbt.Bip32Derivation{{PubKey: own.Public, Bip32Path: own.Levels}}
}

func taprootDerivation(own network.Own) []*psbt.TaprootBip32Derivation {
	return []*psbt.TaprootBip32Derivation{{XOnlyPubKey: own.Public[1:], Bip32Path: own.Levels}}
}

// ReadDraft takes a signed transaction apart that Builder made of coins.
func ReadDraft(raw []byte, coins []Coin) (Draft, error) {
	var tx wire.MsgTx
	if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
		return Draft{}, fmt.Errorf("decoding the transaction: %w", err)
	}
	d := Draft{Outputs: tx.TxOut, Size: SizeOf(&tx)}
	for _, in := range tx.TxIn {
		found := coinAt(coins, in.PreviousOutPoint)
		if found == nil {
			return Draft{}, fmt.Errorf("transaction %s spends %s, which is no coin of ours", tx.TxHash(), in.PreviousOutPoint)
		}
		d.Coins = append(d.Coins, *found)
	}
	d.Fee = total(d.Coins)
	for _, out := range tx.TxOut {
		d.Fee -= out.Value
	}
	return d, nil
}

func coinAt(coins []Coin, at wire.OutPoint) *Coin {
	for i := range coins {
		if coins[i].Outpoint == at {
			return &coins[i]
		}
	}
	return nil
}
