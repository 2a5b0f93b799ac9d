package keystore

import (
	"crypto/ecdsa"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/crypto"
)

// ExtendedPublicKey is a BIP-32 public key on secp256k1 with its chain code, from which its
// non-hardened children follow. Its holder can derive all addresses below it and can sign for none.
type ExtendedPublicKey struct {
	public *secp256k1.PublicKey
	chain  [32]byte
}

// Public is the key without its secret.
func (k ExtendedKey) Public() ExtendedPublicKey {
	n := k.secret().node
	return ExtendedPublicKey{public: secp256k1.PrivKeyFromBytes(n.key[:]).PubKey(), chain: n.chain}
}

// ParseExtendedPublicKey takes the 33 bytes of a compressed point and a chain code of 32.
func ParseExtendedPublicKey(public, chain []byte) (ExtendedPublicKey, error) {
	point, err := secp256k1.ParsePubKey(public)
	if err != nil || len(public) != secp256k1.PubKeyBytesLenCompressed || len(chain) != 32 {
		return ExtendedPublicKey{}, errors.New("extended public key: must have a compressed point and 32 bytes of chain code")
	}
	return ExtendedPublicKey{public: point, chain: [32]byte(chain)}, nil
}

// Bytes are the compressed point and the chain code.
func (k ExtendedPublicKey) Bytes() (public, chain []byte) {
	return k.public.SerializeCompressed(), k.chain[:]
}

// Child returns the child at an index below 2^31. Errors are ErrPath for a hardened one, which
// takes the secret, and ErrNoChild.
func (k ExtendedPublicKey) Child(index uint32) (ExtendedPublicKey, error) {
	if index >= hardened {
		return ExtendedPublicKey{}, fmt.Errorf("%w: hardened children take the private key", ErrPath)
	}
	n := split(k.chain[:], k.public.SerializeCompressed(), binary.BigEndian.AppendUint32(nil, index))
	var scalar secp256k1.ModNScalar
	if over := scalar.SetByteSlice(n.key[:]); over {
		return ExtendedPublicKey{}, ErrNoChild
	}
	var parent, tweak, sum secp256k1.JacobianPoint
	k.public.AsJacobian(&parent)
	secp256k1.ScalarBaseMultNonConst(&scalar, &tweak)
	secp256k1.AddNonConst(&tweak, &parent, &sum)
	if sum.ToAffine(); sum.X.IsZero() && sum.Y.IsZero() { // the point at infinity
		return ExtendedPublicKey{}, ErrNoChild
	}
	return ExtendedPublicKey{public: secp256k1.NewPublicKey(&sum.X, &sum.Y), chain: n.chain}, nil
}

// Key is the public key itself.
func (k ExtendedPublicKey) Key() *ecdsa.PublicKey {
	key := *k.public.ToECDSA()
	key.Curve = crypto.S256() // the same curve, as all others here name it
	return &key
}
