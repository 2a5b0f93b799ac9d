// Package spend builds the transactions of Bitcoin and its kin that pay, and decides which may be
// signed. Every transaction of a slot spends the slot's coin, its anchor, so that at most one of
// them can ever stand in the chain.
//
//	coins, payment, rate ─▶ Builder ─▶ Draft ─▶ PSBT ─▶ Rules: digests ─▶ signatures ─▶ Rules: Seal
//
// It owns sizes, fees, the choice of coins and the rules of signing. It reads no block, asks no
// node and holds no key; its results depend on the arguments alone.
package spend

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
)

// Coin is an output of ours that is not spent in a block.
type Coin struct {
	Outpoint wire.OutPoint
	Amount   int64 // satoshi
	Own      network.Own
	Height   uint64 // of its block; 0 while it is in none
	Matures  uint64 // the least height of a block that may spend it; 0: any
}

// ParseOutpoint reads "txid:vout" in its canonical form.
func ParseOutpoint(text string) (o wire.OutPoint, err error) {
	id, index, _ := strings.Cut(text, ":")
	hash, err := chainhash.NewHashFromStr(id)
	n, indexErr := strconv.ParseUint(index, 10, 32)
	if err == nil && indexErr == nil {
		o = wire.OutPoint{Hash: *hash, Index: uint32(n)}
	}
	if o.String() != text {
		return wire.OutPoint{}, fmt.Errorf("coin %.100q: must be TXID:NUMBER", text)
	}
	return o, nil
}

// spendable reports whether the block after a height may spend the coin.
func (c Coin) spendable(height uint64) bool { return height+1 >= c.Matures }

// byUse orders coins by how gladly they are spent: those in blocks first, then the larger ones.
func byUse(a, b Coin) int {
	if confirmed := a.Height != 0; confirmed != (b.Height != 0) {
		if confirmed {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.Amount, a.Amount), bytes.Compare(a.Outpoint.Hash[:], b.Outpoint.Hash[:]), cmp.Compare(a.Outpoint.Index, b.Outpoint.Index))
}

// Rate is a fee in satoshi per 1,000 vbytes.
type Rate int64

// perRate is the number of vbytes of a Rate.
const perRate = 1_000

// Fee is the least fee of a size at the rate.
func (r Rate) Fee(vbytes int64) int64 { return (int64(r)*vbytes + perRate - 1) / perRate }

// RateOf is the rate of a fee as nodes compute it, rounded down.
func RateOf(fee, vbytes int64) Rate { return Rate(fee * perRate / vbytes) }

// maxSatoshi is more than any of the networks ever has (84 million coins).
const maxSatoshi = 84_000_000 * 100_000_000

// satoshi converts an amount.
func satoshi(a chain.Amount) (int64, error) {
	n := a.Uint256()
	if !n.IsUint64() || n.Uint64() > maxSatoshi {
		return 0, fmt.Errorf("%w: %s satoshi are more than exist", chain.ErrAmount, a)
	}
	return int64(n.Uint64()), nil
}

func total(coins []Coin) (sum int64) {
	for _, c := range coins {
		sum += c.Amount
	}
	return sum
}

// inBlocks are the coins that are in a block, in their order.
func inBlocks(coins []Coin) []Coin {
	return slices.DeleteFunc(slices.Clone(coins), func(c Coin) bool { return c.Height == 0 })
}

// without are the coins whose outpoints are not among others, in their order.
func without(coins, others []Coin) []Coin {
	return slices.DeleteFunc(slices.Clone(coins), func(c Coin) bool {
		return slices.ContainsFunc(others, func(o Coin) bool { return o.Outpoint == c.Outpoint })
	})
}
