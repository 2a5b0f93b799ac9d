package keystore

import (
	"crypto/ecdsa"
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/crypto"
)

// ExtendedPublicKey is a BIP-32 public key on secp256k1 with what its not hardened children come from. Whoever has it knows all addresses below it and
// can sign for none.
type ExtendedPublicKey struct {
	public *ecdsa.PublicKey
	chain  [32]byte
}

// Public is the key without its secret.
func (k ExtendedKey) Public() ExtendedPublicKey {
	e := k.secret()
	return ExtendedPublicKey{public: &e.private.PublicKey, chain: e.chain}
}

// ParseExtendedPublicKey takes the 33 bytes of a compressed point and a chain code of 32.
func ParseExtendedPublicKey(public, chain []byte) (ExtendedPublicKey, error) {
	point, err := crypto.DecompressPubkey(public)
	if err != nil || len(chain) != 32 {
		return ExtendedPublicKey{}, fmt.Errorf("extended public key: a compressed point and 32 bytes of chain code are wanted")
	}
	return ExtendedPublicKey{public: point, chain: [32]byte(chain)}, nil
}

// Bytes are the compressed point and the chain code.
func (k ExtendedPublicKey) Bytes() (public, chain []byte) {
	return crypto.CompressPubkey(k.public), k.chain[:]
}

// Child returns the child at an index below 2^31. Errors are ErrPath for a hardened one, which takes the secret, and ErrNoChild.
func (k ExtendedPublicKey) Child(index uint32) (ExtendedPublicKey, error) {
	if index >= hardened {
		return ExtendedPublicKey{}, fmt.Errorf("%w: hardened children take the private key", ErrPath)
	}
	n := split(k.chain[:], crypto.CompressPubkey(k.public), binary.BigEndian.AppendUint32(nil, index))
	curve := crypto.S256()
	if new(big.Int).SetBytes(n.key[:]).Cmp(curve.Params().N) >= 0 {
		return ExtendedPublicKey{}, ErrNoChild
	}
	x, y := curve.ScalarBaseMult(n.key[:])
	x, y = curve.Add(x, y, k.public.X, k.public.Y)
	if x.Sign() == 0 && y.Sign() == 0 { // the point at infinity
		return ExtendedPublicKey{}, ErrNoChild
	}
	return ExtendedPublicKey{public: &ecdsa.PublicKey{Curve: curve, X: x, Y: y}, chain: n.chain}, nil
}

// Derive returns the key at a path of levels without hardening below k, such as m/0/7, with k as m.
func (k ExtendedPublicKey) Derive(path string) (ExtendedPublicKey, error) {
	levels, err := parsePath(path)
	if err != nil {
		return ExtendedPublicKey{}, err
	}
	for _, level := range levels {
		if k, err = k.Child(level); err != nil {
			return ExtendedPublicKey{}, err
		}
	}
	return k, nil
}

// Key is the public key itself.
func (k ExtendedPublicKey) Key() *ecdsa.PublicKey { return k.public }
