package core

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/holiman/uint256"
)

const wordSize = 32

// ErrABI marks call data, a value or a signature that the contract call codec refuses.
var ErrABI = errors.New("invalid contract call encoding")

// ErrNotCanonical is the ErrABI of data that can be read but does not encode to itself again.
var ErrNotCanonical = fmt.Errorf("%w: not in canonical form", ErrABI)

type kind uint8

const (
	kindBool kind = iota + 1
	kindUint
	kindInt
	kindFixedBytes
	kindAddressWord
	kindTokenID
	kindGID
	kindBytes
	kindString
)

// Type is the type of one argument (docs/exchange-chain-wire.md 6.1), and its values in Go are:
//
//	bool              bool
//	uint8 16 32 64    uint8 uint16 uint32 uint64      other uintN   uint256.Int
//	int8 16 32 64     int8 int16 int32 int64          other intN    *big.Int
//	bytes32           Hash                            other bytesN  []byte of N bytes
//	address tokenId   Address TokenID                 gid           GID
//	bytes string      []byte string                   T[]           slice of T's Go type
//
// Packing takes any Go integer, uint256.Int or *big.Int for an integer type if its value fits.
type Type struct {
	kind kind
	size int // uintN, intN: bits; bytesN: bytes
	list bool
}

// ParseType reads a canonical type name: uint256, never uint. Only one list level is known, of
// types of one word. Errors are ErrABI.
func ParseType(s string) (Type, error) {
	name, list := strings.CutSuffix(s, "[]")
	t, ok := scalarType(name)
	t.list = list
	if !ok || (list && t.kind >= kindBytes) {
		return Type{}, fmt.Errorf("%w: unknown type %.40q", ErrABI, s)
	}
	return t, nil
}

func scalarType(name string) (Type, bool) {
	switch name {
	case "bool":
		return Type{kind: kindBool}, true
	case "address":
		return Type{kind: kindAddressWord}, true
	case "tokenId":
		return Type{kind: kindTokenID}, true
	case "gid":
		return Type{kind: kindGID}, true
	case "bytes":
		return Type{kind: kindBytes}, true
	case "string":
		return Type{kind: kindString}, true
	}
	for _, family := range []struct {
		prefix    string
		kind      kind
		step, max int
	}{{"uint", kindUint, 8, 256}, {"int", kindInt, 8, 256}, {"bytes", kindFixedBytes, 1, wordSize}} {
		digits, ok := strings.CutPrefix(name, family.prefix)
		size, err := strconv.Atoi(digits)
		if ok && err == nil && strconv.Itoa(size) == digits && size > 0 && size <= family.max && size%family.step == 0 {
			return Type{kind: family.kind, size: size}, true
		}
	}
	return Type{}, false
}

// String returns the canonical name.
func (t Type) String() string {
	name := map[kind]string{
		kindBool: "bool", kindUint: "uint", kindInt: "int", kindFixedBytes: "bytes", kindAddressWord: "address",
		kindTokenID: "tokenId", kindGID: "gid", kindBytes: "bytes", kindString: "string",
	}[t.kind]
	if t.size > 0 {
		name += strconv.Itoa(t.size)
	}
	if t.list {
		name += "[]"
	}
	return name
}

// dynamic reports whether the value is in the tail, with its offset in the head.
func (t Type) dynamic() bool { return t.list || t.kind == kindBytes || t.kind == kindString }

func (t Type) element() Type { return Type{kind: t.kind, size: t.size} }

// goType is the Go type of a value of one word.
func (t Type) goType() reflect.Type {
	zero, err := t.decodeWord(make([]byte, wordSize))
	if err != nil {
		panic("core: the zero word is a value of every type: " + err.Error())
	}
	return reflect.TypeOf(zero)
}

func (t Type) decodeWord(w []byte) (any, error) {
	switch t.kind {
	case kindBool:
		return decodeBool(w)
	case kindUint:
		return decodeUint(w, t.size)
	case kindInt:
		return decodeInt(w, t.size)
	case kindFixedBytes:
		return decodeFixedBytes(w, t.size)
	case kindAddressWord:
		if !allZero(w[:wordSize-AddressSize]) {
			return nil, fmt.Errorf("%w: address is not padded with zeros", ErrABI)
		}
		a, err := AddressFromBytes(w[wordSize-AddressSize:])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrABI, err)
		}
		return a, nil
	case kindTokenID, kindGID:
		if !allZero(w[:wordSize-TokenIDSize]) {
			return nil, fmt.Errorf("%w: %s is not padded with zeros", ErrABI, t)
		}
		if t.kind == kindGID {
			return GID(w[wordSize-GIDSize:]), nil
		}
		return TokenID(w[wordSize-TokenIDSize:]), nil
	}
	panic("core: " + t.String() + " is not of one word")
}

func decodeBool(w []byte) (any, error) {
	last := w[wordSize-1]
	if !allZero(w[:wordSize-1]) || last > 1 {
		return nil, fmt.Errorf("%w: bool is neither 0 nor 1", ErrABI)
	}
	return last == 1, nil
}

func decodeUint(w []byte, bits int) (any, error) {
	var n uint256.Int
	n.SetBytes32(w)
	if n.BitLen() > bits {
		return nil, fmt.Errorf("%w: number over uint%d", ErrABI, bits)
	}
	switch bits {
	case 8:
		return uint8(n.Uint64()), nil
	case 16:
		return uint16(n.Uint64()), nil
	case 32:
		return uint32(n.Uint64()), nil
	case 64:
		return n.Uint64(), nil
	}
	return n, nil
}

func decodeInt(w []byte, bits int) (any, error) {
	n := new(big.Int).SetBytes(w)
	if w[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	if !fitsInt(n, bits) {
		return nil, fmt.Errorf("%w: number outside int%d", ErrABI, bits)
	}
	switch bits {
	case 8:
		return int8(n.Int64()), nil
	case 16:
		return int16(n.Int64()), nil
	case 32:
		return int32(n.Int64()), nil
	case 64:
		return n.Int64(), nil
	}
	return n, nil
}

// fitsInt reports whether n is in -2^(bits-1) .. 2^(bits-1)-1.
func fitsInt(n *big.Int, bits int) bool {
	if n.Sign() < 0 {
		n = new(big.Int).Not(n) // -n-1, which has one bit less at the lower end
	}
	return n.BitLen() < bits
}

func decodeFixedBytes(w []byte, size int) (any, error) {
	if !allZero(w[size:]) {
		return nil, fmt.Errorf("%w: bytes%d is not padded with zeros", ErrABI, size)
	}
	if size == HashSize {
		return Hash(w), nil
	}
	return append([]byte(nil), w[:size]...), nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (t Type) encodeWord(v any) ([wordSize]byte, error) {
	var w [wordSize]byte
	ok := true
	switch t.kind {
	case kindUint, kindInt:
		return t.encodeNumber(v)
	case kindBool:
		var set bool
		if set, ok = v.(bool); set {
			w[wordSize-1] = 1
		}
	case kindFixedBytes:
		ok = t.encodeFixedBytes(&w, v)
	case kindAddressWord:
		var a Address
		a, ok = v.(Address)
		copy(w[wordSize-AddressSize:], a[:])
		ok = ok && a[addressCore] <= kindContract
	case kindTokenID:
		var id TokenID
		id, ok = v.(TokenID)
		copy(w[wordSize-TokenIDSize:], id[:])
	case kindGID:
		var g GID
		g, ok = v.(GID)
		copy(w[wordSize-GIDSize:], g[:])
	}
	if !ok {
		return w, fmt.Errorf("%w: %T is no %s", ErrABI, v, t)
	}
	return w, nil
}

func (t Type) encodeFixedBytes(w *[wordSize]byte, v any) bool {
	switch b := v.(type) {
	case Hash:
		*w = b
		return t.size == HashSize
	case []byte:
		copy(w[:], b)
		return len(b) == t.size
	}
	return false
}

func (t Type) encodeNumber(v any) ([wordSize]byte, error) {
	var w [wordSize]byte
	if n, ok := v.(uint256.Int); ok && t.kind == kindUint && n.BitLen() <= t.size {
		return n.Bytes32(), nil
	}
	n, ok := toBig(v)
	if !ok {
		return w, fmt.Errorf("%w: %T is no %s", ErrABI, v, t)
	}
	if t.kind == kindUint && (n.Sign() < 0 || n.BitLen() > t.size) || t.kind == kindInt && !fitsInt(n, t.size) {
		return w, fmt.Errorf("%w: number does not fit %s", ErrABI, t)
	}
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	n.FillBytes(w[:])
	return w, nil
}

func toBig(v any) (*big.Int, bool) {
	switch n := v.(type) {
	case uint256.Int:
		return n.ToBig(), true
	case *big.Int:
		return n, n != nil
	}
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return big.NewInt(r.Int()), true
	case r.CanUint():
		return new(big.Int).SetUint64(r.Uint()), true
	}
	return nil, false
}
