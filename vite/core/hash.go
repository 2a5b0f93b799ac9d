// Package core holds the rules of the exchange chain (Vite) that need nothing but their input:
// identifiers and keys, account blocks with their hash and signature, proof of work, quota prices,
// the contract call codec and the gateway's block comments.
//
//	seed ── PrivateKey ── PublicKey ── Address
//	            │
//	AccountBlock ── ComputeHash ── SignWith / Verify ── EncodeBlock / DecodeBlock (JSON)
//	    └─ Data: Method and Event words (ABI), or a gateway Comment
//
// Everything here is pure: no clock, no goroutine, no I/O, no order that depends on a map. It does
// not own ledger state, transport or key storage; those belong to vite/node, vite/client
// and wallet. Rules: docs/exchange-chain-wire.md, whose sections are named where one is kept.
package core

import (
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/crypto/blake2b"
)

// HashSize is the length of a Hash in bytes.
const HashSize = 32

// ErrHash marks text that is not a hash.
var ErrHash = errors.New("invalid hash")

// Hash is an unkeyed 32-byte BLAKE2b digest: of a block, of a log list, of call data.
type Hash [HashSize]byte

// ParseHash reads 64 hex digits of either case, without 0x. Errors are ErrHash.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != 2*HashSize {
		return Hash{}, fmt.Errorf("%w: %d characters, want %d", ErrHash, len(s), 2*HashSize)
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return Hash{}, fmt.Errorf("%w: not hexadecimal", ErrHash)
	}
	return h, nil
}

// String returns 64 lower-case hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether all bytes are zero, which means "none" on the wire.
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText writes what String returns.
func (h Hash) MarshalText() ([]byte, error) {
	return hex.AppendEncode(make([]byte, 0, 2*HashSize), h[:]), nil
}

// UnmarshalText reads what ParseHash accepts.
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, err := ParseHash(string(text))
	if err != nil {
		return err
	}
	*h = parsed
	return nil
}

// digest fills out with BLAKE2b of the parts, the digest being len(out) bytes long. The length is
// part of the function's parameters, so a short digest is no prefix of a long one.
func digest(out []byte, parts ...[]byte) {
	h, err := blake2b.New(len(out), nil)
	if err != nil {
		panic("core: digest length out of range: " + err.Error())
	}
	for _, p := range parts {
		h.Write(p)
	}
	h.Sum(out[:0])
}
