package keystore

import (
	"crypto/ecdsa"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
)

const (
	hardened = uint32(1) << 31

	// maxDepth bounds a path: BIP-32 counts levels in one byte.
	maxDepth = 255
)

// Faults of a derivation path, in the words of the exchange chain's node.
var (
	ErrPath        = errors.New("invalid derivation path")
	ErrNotHardened = errors.New("no public derivation for ed25519")
)

// IndexPath returns the path of the exchange chain's account n.
func IndexPath(n uint32) string { return fmt.Sprintf("m/44'/666666'/%d'", n) }

// parseHardened reads the exchange chain's grammar: "m" and one or more levels "/n'", n below 2^31.
// From 2^31 to 2^32-1 the fault is ErrNotHardened, as on the node; any other is ErrPath.
func parseHardened(path string) ([]uint32, error) {
	levels, err := parseLevels(path)
	if err != nil || len(levels) == 0 || slices.ContainsFunc(levels, func(l level) bool { return !l.marked }) {
		return nil, ErrPath
	}
	out := make([]uint32, len(levels))
	for i, l := range levels {
		if l.n >= hardened {
			return nil, ErrNotHardened
		}
		out[i] = l.n | hardened
	}
	return out, nil
}

// parsePath reads the common grammar of BIP-32: "m" and levels "/n" or "/n'", n below 2^31. Errors
// are ErrPath.
func parsePath(path string) ([]uint32, error) {
	levels, err := parseLevels(path)
	if err != nil {
		return nil, err
	}
	out := make([]uint32, len(levels))
	for i, l := range levels {
		if out[i] = l.n; l.n >= hardened {
			return nil, ErrPath
		}
		if l.marked {
			out[i] |= hardened
		}
	}
	return out, nil
}

// level is one level of a path: its number, and whether it is marked as hardened.
type level struct {
	n      uint32
	marked bool
}

func parseLevels(path string) ([]level, error) {
	parts := strings.Split(path, "/")
	if parts[0] != "m" || len(parts) > maxDepth+1 {
		return nil, ErrPath
	}
	levels := make([]level, len(parts)-1)
	for i, part := range parts[1:] {
		digits, marked := strings.CutSuffix(part, "'")
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || strings.Trim(digits, "0123456789") != "" { // strconv alone would take a sign
			return nil, ErrPath
		}
		levels[i] = level{uint32(n), marked}
	}
	return levels, nil
}

// ErrNoChild means that BIP-32 gives no key at an index or for a seed; it happens once in 2^127
// cases.
var ErrNoChild = errors.New("no key at this index")

// ExtendedKey is a BIP-32 private key on secp256k1, the curve of Ethereum, with its chain code. It
// prints as a fixed text.
type ExtendedKey struct {
	secret func() *extended // a function, so that no way of printing reaches the secret
}

type extended struct {
	node
	private *ecdsa.PrivateKey
}

// NewExtendedKey returns the master key of a seed, usually Seed's result. The error is ErrNoChild.
func NewExtendedKey(seed []byte) (ExtendedKey, error) {
	return newExtended(split([]byte("Bitcoin seed"), seed))
}

func newExtended(n node) (ExtendedKey, error) {
	private, err := crypto.ToECDSA(n.key[:])
	if err != nil {
		return ExtendedKey{}, ErrNoChild // zero, or not below the order; the cause names no secret but adds nothing
	}
	e := &extended{node: n, private: private}
	return ExtendedKey{func() *extended { return e }}, nil
}

// Child returns the child at index: hardened from 2^31. The error is ErrNoChild.
func (k ExtendedKey) Child(index uint32) (ExtendedKey, error) {
	parent := k.secret()
	serial := binary.BigEndian.AppendUint32(nil, index)
	var n node
	if index >= hardened {
		n = split(parent.chain[:], []byte{0}, parent.key[:], serial)
	} else {
		n = split(parent.chain[:], crypto.CompressPubkey(&parent.private.PublicKey), serial)
	}
	order := crypto.S256().Params().N
	tweak := new(big.Int).SetBytes(n.key[:])
	if tweak.Cmp(order) >= 0 {
		return ExtendedKey{}, ErrNoChild
	}
	tweak.Add(tweak, new(big.Int).SetBytes(parent.key[:])).Mod(tweak, order).FillBytes(n.key[:])
	return newExtended(n)
}

// Derive returns the key at a path such as m/44'/60'/0'/0/7, from k as the root. Errors are ErrPath
// and ErrNoChild. For many accounts, derive the parent once and call Child.
func (k ExtendedKey) Derive(path string) (ExtendedKey, error) {
	levels, err := parsePath(path)
	if err != nil {
		return ExtendedKey{}, err
	}
	for _, index := range levels {
		if k, err = k.Child(index); err != nil {
			return ExtendedKey{}, err
		}
	}
	return k, nil
}

// ParentPath splits a path of at least one level into its parent and the last level, the argument
// of Child. The error is ErrPath.
func ParentPath(path string) (parent string, index uint32, err error) {
	levels, err := parsePath(path)
	if err != nil || len(levels) == 0 {
		return "", 0, ErrPath
	}
	return path[:strings.LastIndexByte(path, '/')], levels[len(levels)-1], nil
}

// Private returns the key to sign with. It is a secret.
func (k ExtendedKey) Private() *ecdsa.PrivateKey { return k.secret().private }

// String returns a fixed text, so that a key never reaches a log.
func (k ExtendedKey) String() string { return "extended key" }
