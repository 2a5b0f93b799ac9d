package entropy

import (
	"crypto/ecdsa"
	"encoding/binary"
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/crypto"
)

// ErrNoChild tells that the rules of BIP-32 give no key at an index or for a seed; it happens once
// in 2^127 cases.
var ErrNoChild = errors.New("no key at this index")

// ExtendedKey is a BIP-32 private key on secp256k1, the curve of Ethereum, with what its children
// come from. It prints as a fixed text.
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
	for _, level := range levels {
		if k, err = k.Child(level); err != nil {
			return ExtendedKey{}, err
		}
	}
	return k, nil
}

// Private returns the key to sign with. It is a secret.
func (k ExtendedKey) Private() *ecdsa.PrivateKey { return k.secret().private }

// String returns a fixed text, so that a key never reaches a log.
func (k ExtendedKey) String() string { return "extended key" }
