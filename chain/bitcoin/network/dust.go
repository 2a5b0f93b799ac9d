package network

import (
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// vbytes of the input that spends an output, as nodes count it for dust
const (
	witnessSpend = 67
	olderSpend   = 148
)

// Dust is the least amount of an output of a script, in satoshi. Nodes do not relay a transaction
// with a smaller one.
func (n *Network) Dust(script []byte) int64 {
	size := wire.NewTxOut(0, script).SerializeSize() + olderSpend
	if txscript.IsWitnessProgram(script) {
		size += witnessSpend - olderSpend
	}
	return n.dustRate * int64(size)
}
