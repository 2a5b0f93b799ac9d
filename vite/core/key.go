package core

import (
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"

	"filippo.io/edwards25519"
	"golang.org/x/crypto/blake2b"
)

const (
	// SeedSize is the length of the secret that a PrivateKey is made from.
	SeedSize = 32
	// PublicKeySize is the length of a PublicKey in bytes.
	PublicKeySize = 32
	// PrivateKeySize is the length of a private key's external form: seed and public key.
	PrivateKeySize = SeedSize + PublicKeySize
	// SignatureSize is the length of a signature in bytes.
	SignatureSize = 64
)

// ErrKey marks bytes that are not a key.
var ErrKey = errors.New("invalid key")

// PublicKey is the compressed encoding of a curve point.
type PublicKey [PublicKeySize]byte

// String returns 64 lower-case hex digits.
func (p PublicKey) String() string { return hex.EncodeToString(p[:]) }

// PrivateKey signs for one account: Ed25519 with every SHA-512 replaced by BLAKE2b-512
// (docs/exchange-chain-wire.md 1.1), so crypto/ed25519 cannot be used. It prints as a fixed text,
// never as its secret. The zero value is no key; using it panics.
type PrivateKey struct {
	// A function, because fmt prints the unexported fields of a struct around a key without asking
	// String, and with a wrong verb follows pointers; of a function it shows the address only.
	secret func() *secret
}

type secret struct {
	seed   [SeedSize]byte
	scalar *edwards25519.Scalar
	prefix [32]byte
	public PublicKey
}

// NewPrivateKey returns the key of a 32-byte seed. Another length is ErrKey.
func NewPrivateKey(seed []byte) (PrivateKey, error) {
	if len(seed) != SeedSize {
		return PrivateKey{}, fmt.Errorf("%w: seed of %d bytes, want %d", ErrKey, len(seed), SeedSize)
	}
	d := blake2b.Sum512(seed)
	scalar, err := edwards25519.NewScalar().SetBytesWithClamping(d[:32])
	if err != nil {
		panic("core: clamping 32 bytes: " + err.Error())
	}
	public := PublicKey(edwards25519.NewIdentityPoint().ScalarBaseMult(scalar).Bytes())
	hidden := &secret{seed: [SeedSize]byte(seed), scalar: scalar, prefix: [32]byte(d[32:]), public: public}
	return PrivateKey{func() *secret { return hidden }}, nil
}

// Public returns the public key.
func (k PrivateKey) Public() PublicKey { return k.secret().public }

// Address returns the account that the key signs for.
func (k PrivateKey) Address() Address { return UserAddress(k.Public()) }

// Bytes returns the external form: seed and public key, 64 bytes. It is a secret.
func (k PrivateKey) Bytes() []byte {
	s := k.secret()
	return append(append(make([]byte, 0, PrivateKeySize), s.seed[:]...), s.public[:]...)
}

// IsZero reports whether this is the zero value, which is no key.
func (k PrivateKey) IsZero() bool { return k.secret == nil }

// String returns a fixed text, so that a key never reaches a log.
func (k PrivateKey) String() string { return "private key" }

// GoString is String: %#v must not show the secret either.
func (k PrivateKey) GoString() string { return k.String() }

// Sign returns the signature of message, 64 bytes. It is deterministic. Account blocks sign their
// 32-byte hash.
func (k PrivateKey) Sign(message []byte) []byte {
	own := k.secret()
	r := hashToScalar(own.prefix[:], message)
	encodedR := edwards25519.NewIdentityPoint().ScalarBaseMult(r).Bytes()
	challenge := hashToScalar(encodedR, own.public[:], message)
	s := edwards25519.NewScalar().MultiplyAdd(challenge, own.scalar, r)
	return append(encodedR, s.Bytes()...)
}

// Verify reports whether signature is public's over message. It is strict: the scalar must be below
// the group order, so a signature cannot be altered and still hold.
func Verify(public, message, signature []byte) bool {
	if len(public) != PublicKeySize || len(signature) != SignatureSize {
		return false
	}
	s, err := edwards25519.NewScalar().SetCanonicalBytes(signature[32:])
	if err != nil {
		return false
	}
	point, err := edwards25519.NewIdentityPoint().SetBytes(public)
	if err != nil {
		return false
	}
	challenge := hashToScalar(signature[:32], public, message)
	r := edwards25519.NewIdentityPoint().VarTimeDoubleScalarBaseMult(challenge, point.Negate(point), s)
	return subtle.ConstantTimeCompare(r.Bytes(), signature[:32]) == 1
}

// hashToScalar reduces BLAKE2b-512 of the parts modulo the group order.
func hashToScalar(parts ...[]byte) *edwards25519.Scalar {
	// 128 bytes hold a point, a key and the hash of a block, so the usual case does not allocate.
	p := make([]byte, 0, 128)
	for _, part := range parts {
		p = append(p, part...)
	}
	wide := blake2b.Sum512(p)
	s, err := edwards25519.NewScalar().SetUniformBytes(wide[:])
	if err != nil {
		panic("core: reducing 64 bytes: " + err.Error())
	}
	return s
}
