package core

import (
	"bytes"
	"encoding/binary"
	"math/big"

	"golang.org/x/crypto/blake2b"
)

// powPrecision is the mantissa that the chain's rules compute targets with. Every step rounds to
// nearest even at this precision, so a target is the same everywhere, but is not the exact
// quotient.
const powPrecision = 64

// PoWDataHash returns what the nonce of a block is hashed with: it binds the work to one account
// and one place in its chain (docs/exchange-chain-wire.md 4.7).
func PoWDataHash(a Address, previous Hash) Hash {
	var p [AddressSize + HashSize]byte
	copy(p[:], a[:])
	copy(p[AddressSize:], previous[:])
	return blake2b.Sum256(p[:])
}

// Target returns the least 256-bit big-endian number that a nonce's hash must reach for the
// difficulty, about 2^256/(1+1/difficulty). ok is false where no hash can: below zero and from
// 2^64.
func Target(difficulty *big.Int) (target Hash, ok bool) {
	switch {
	case difficulty.Sign() < 0:
		return Hash{}, false
	case difficulty.Sign() == 0:
		return Hash{}, true
	case difficulty.BitLen() > powPrecision:
		return Hash{}, false
	}
	x := powFloat().SetInt(difficulty)
	one := powFloat().SetInt64(1)
	x.Quo(one, x)
	x.Add(one, x)
	x.Quo(powFloat().SetMantExp(one, 256), x)
	n, _ := x.Int(nil)
	if n.BitLen() > 256 {
		return Hash{}, false
	}
	n.FillBytes(target[:])
	return target, true
}

func powFloat() *big.Float { return new(big.Float).SetPrec(powPrecision) }

// CheckPoW reports whether nonce, which must have 8 bytes, proves work of the difficulty for
// dataHash.
func CheckPoW(dataHash Hash, nonce []byte, difficulty *big.Int) bool {
	target, ok := Target(difficulty)
	return ok && len(nonce) == NonceSize && meets(dataHash, [NonceSize]byte(nonce), target)
}

func meets(dataHash Hash, nonce [NonceSize]byte, target Hash) bool {
	var p [NonceSize + HashSize]byte
	copy(p[:], nonce[:])
	copy(p[NonceSize:], dataHash[:])
	sum := blake2b.Sum256(p[:])
	return bytes.Compare(sum[:], target[:]) >= 0
}

// Grind tries up to tries nonces upwards from start, as big-endian numbers. A caller that wants to
// stop early, or to share the work, calls it for a slice of the range at a time. About difficulty+1
// tries are needed; 67108863 took one core 19 s.
func Grind(dataHash Hash, difficulty *big.Int, start, tries uint64) (nonce [NonceSize]byte, ok bool) {
	target, ok := Target(difficulty)
	if !ok {
		return nonce, false
	}
	for i := range tries {
		binary.BigEndian.PutUint64(nonce[:], start+i)
		if meets(dataHash, nonce, target) {
			return nonce, true
		}
	}
	return [NonceSize]byte{}, false
}
