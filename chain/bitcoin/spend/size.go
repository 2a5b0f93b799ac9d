package spend

import (
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain/bitcoin/network"
)

// Weights (BIP-141): a byte outside of witnesses counts four.
const (
	weightPerVByte = 4
	weightOfBase   = 4*(4+4) + 2          // version and lock time; marker and flag of the witnesses
	weightOfInput  = 4 * (32 + 4 + 1 + 4) // outpoint, empty script, sequence

	// count, signature and key with their lengths. A signature of ECDSA may have a byte less, or
	// very rarely more of them.
	witnessOfP2WPKH = 1 + 1 + 72 + 1 + 33
	witnessOfP2TR   = 1 + 1 + 64

	// maxWeight is that of the largest transaction that nodes relay.
	maxWeight = 400_000
)

// weightOf is the most that a signed transaction weighs.
func weightOf(coins []Coin, outputs []*wire.TxOut) int64 {
	weight := int64(weightOfBase) + 4*int64(wire.VarIntSerializeSize(uint64(len(coins)))+wire.VarIntSerializeSize(uint64(len(outputs))))
	for _, c := range coins {
		weight += inputWeight(c.Own.Kind)
	}
	for _, out := range outputs {
		weight += weightPerVByte * int64(out.SerializeSize())
	}
	return weight
}

func inputWeight(kind network.Kind) int64 {
	if kind == network.P2TR {
		return weightOfInput + witnessOfP2TR
	}
	return weightOfInput + witnessOfP2WPKH
}

// vbytes are a weight's virtual bytes, rounded up as nodes do.
func vbytes(weight int64) int64 { return (weight + weightPerVByte - 1) / weightPerVByte }

// SizeOf is the virtual size of a signed transaction.
func SizeOf(tx *wire.MsgTx) int64 {
	stripped := int64(tx.SerializeSizeStripped())
	return vbytes((weightPerVByte-1)*stripped + int64(tx.SerializeSize()))
}

// PayeeSize is the share of one payee of a transaction that spends a number of coins of one kind,
// pays a number of such payees and has change. A quote is the rate's fee of it.
func PayeeSize(own network.Kind, coins, payees int, script []byte) int64 {
	outputs := make([]*wire.TxOut, payees, payees+1)
	for i := range outputs {
		outputs[i] = wire.NewTxOut(0, script)
	}
	change := make([]byte, scriptSize(own))
	spent := make([]Coin, coins)
	for i := range spent {
		spent[i].Own.Kind = own
	}
	size := vbytes(weightOf(spent, append(outputs, wire.NewTxOut(0, change))))
	return (size + int64(payees) - 1) / int64(payees)
}

// scriptSize is the length of a script of ours.
func scriptSize(own network.Kind) int {
	if own == network.P2TR {
		return 34
	}
	return 22
}

// Shares divides a fee among outputs by their size. The sum is the fee; the first outputs bear what
// does not divide.
func Shares(fee int64, outputs []*wire.TxOut) []int64 {
	sizes, shares := int64(0), make([]int64, len(outputs))
	for _, out := range outputs {
		sizes += int64(out.SerializeSize())
	}
	left := fee
	for i, out := range outputs {
		shares[i] = fee * int64(out.SerializeSize()) / sizes
		left -= shares[i]
	}
	for i := range left {
		shares[i]++
	}
	return shares
}
