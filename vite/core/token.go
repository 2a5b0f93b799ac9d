package core

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	// TokenIDSize is the length of a TokenID in bytes.
	TokenIDSize = 10
	// GIDSize is the length of a GID in bytes.
	GIDSize = 10

	tokenChecksum = 2
	tokenPrefix   = "tti_"
	tokenTextSize = len(tokenPrefix) + 2*(TokenIDSize+tokenChecksum)
)

var (
	// ErrTokenID marks text that is not a token id.
	ErrTokenID = errors.New("invalid token id")
	// ErrGID marks text that is not a consensus group id.
	ErrGID = errors.New("invalid group id")
)

// TokenID names a token (docs/exchange-chain-wire.md 1.3). The zero value means "no token" and is
// valid only with an amount of zero.
type TokenID [TokenIDSize]byte

// The tokens built into the chain, both of 18 decimals.
var (
	VITE = TokenID([]byte("VITE TOKEN"))
	VX   = TokenID([]byte("VITEX COIN"))
)

// NewTokenID returns the ID of a token that issuer requested with the send block sendHash and that
// the asset contract created with its receive block at contractHeight.
func NewTokenID(issuer Address, contractHeight uint64, sendHash Hash) TokenID {
	var t TokenID
	digest(t[:], issuer[:], binary.BigEndian.AppendUint64(nil, contractHeight), sendHash[:])
	return t
}

// ParseTokenID reads "tti_", 20 hex digits and 4 of checksum, hex of either case. Errors are
// ErrTokenID.
func ParseTokenID(s string) (TokenID, error) {
	if len(s) != tokenTextSize {
		return TokenID{}, fmt.Errorf("%w: %d characters, want %d", ErrTokenID, len(s), tokenTextSize)
	}
	digits, ok := strings.CutPrefix(s, tokenPrefix)
	if !ok {
		return TokenID{}, fmt.Errorf("%w: does not begin with %q", ErrTokenID, tokenPrefix)
	}
	var raw [TokenIDSize + tokenChecksum]byte
	if _, err := hex.Decode(raw[:], []byte(digits)); err != nil {
		return TokenID{}, fmt.Errorf("%w: not hexadecimal", ErrTokenID)
	}
	t := TokenID(raw[:TokenIDSize])
	if t.checksum() != [tokenChecksum]byte(raw[TokenIDSize:]) {
		return TokenID{}, fmt.Errorf("%w: checksum does not match", ErrTokenID)
	}
	return t, nil
}

func (t TokenID) checksum() [tokenChecksum]byte {
	var sum [tokenChecksum]byte
	digest(sum[:], t[:])
	return sum
}

// String returns the 28 characters of the text form, in lower case.
func (t TokenID) String() string {
	var text [tokenTextSize]byte
	return string(t.appendText(text[:0]))
}

func (t TokenID) appendText(p []byte) []byte {
	sum := t.checksum()
	p = hex.AppendEncode(append(p, tokenPrefix...), t[:])
	return hex.AppendEncode(p, sum[:])
}

// IsZero reports whether the id means "no token".
func (t TokenID) IsZero() bool { return t == TokenID{} }

// MarshalText writes what String returns.
func (t TokenID) MarshalText() ([]byte, error) {
	return t.appendText(make([]byte, 0, tokenTextSize)), nil
}

// UnmarshalText reads what ParseTokenID accepts.
func (t *TokenID) UnmarshalText(text []byte) error {
	parsed, err := ParseTokenID(string(text))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}

// GID names a consensus group: 10 bytes, printed as 20 hex digits without prefix or checksum.
type GID [GIDSize]byte

// The consensus groups built into the chain.
var (
	SnapshotGID = GID{GIDSize - 1: 1}
	DelegateGID = GID{GIDSize - 1: 2}
)

// ParseGID reads 20 hex digits of either case. Errors are ErrGID.
func ParseGID(s string) (GID, error) {
	var g GID
	if len(s) != 2*GIDSize {
		return GID{}, fmt.Errorf("%w: %d characters, want %d", ErrGID, len(s), 2*GIDSize)
	}
	if _, err := hex.Decode(g[:], []byte(s)); err != nil {
		return GID{}, fmt.Errorf("%w: not hexadecimal", ErrGID)
	}
	return g, nil
}

// String returns 20 lower-case hex digits.
func (g GID) String() string { return hex.EncodeToString(g[:]) }

// IsZero reports whether all bytes are zero.
func (g GID) IsZero() bool { return g == GID{} }

// MarshalText writes what String returns.
func (g GID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads what ParseGID accepts.
func (g *GID) UnmarshalText(text []byte) error {
	parsed, err := ParseGID(string(text))
	if err != nil {
		return err
	}
	*g = parsed
	return nil
}
