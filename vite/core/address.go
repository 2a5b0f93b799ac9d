package core

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	// AddressSize is the length of an Address in bytes: core and type byte.
	AddressSize = 21

	addressCore     = 20
	addressChecksum = 5
	addressPrefix   = "vite_"
	addressTextSize = len(addressPrefix) + 2*(addressCore+addressChecksum)

	kindUser     = 0x00
	kindContract = 0x01
)

// ErrAddress marks text that is not an address.
var ErrAddress = errors.New("invalid address")

// Address names an account: 20 bytes of core and one byte that is 0 for a user's account and 1 for
// a contract's (docs/exchange-chain-wire.md 1.2). The zero value is the zero address, which has no
// key and represents an omitted address on the wire.
type Address [AddressSize]byte

// The built-in contracts (docs/exchange-chain-wire.md 1.4).
var (
	QuotaContract      = builtinAddress(0x03)
	GovernanceContract = builtinAddress(0x04)
	AssetContract      = builtinAddress(0x05)
	DexFundContract    = builtinAddress(0x06)
	DexTradeContract   = builtinAddress(0x07)
)

func builtinAddress(number byte) Address {
	var a Address
	a[addressCore-1] = number
	a[addressCore] = kindContract
	return a
}

// UserAddress returns the address that a public key of 32 bytes controls.
func UserAddress(pub PublicKey) Address {
	var a Address
	digest(a[:addressCore], pub[:])
	return a
}

// ContractAddress returns the address of the contract that creator makes with a block of type 1 at
// the height and with the previous hash of that block.
func ContractAddress(creator Address, height uint64, previous Hash) Address {
	var a Address
	digest(a[:addressCore], creator[:], binary.BigEndian.AppendUint64(nil, height), previous[:])
	a[addressCore] = kindContract
	return a
}

// ParseAddress reads "vite_", 40 hex digits of core and 10 of checksum. Hex digits may be upper
// case, as the node accepts. The checksum distinguishes users from contracts. Errors are
// ErrAddress.
func ParseAddress(s string) (Address, error) {
	if len(s) != addressTextSize {
		return Address{}, fmt.Errorf("%w: %d characters, want %d", ErrAddress, len(s), addressTextSize)
	}
	digits, ok := strings.CutPrefix(s, addressPrefix)
	if !ok {
		return Address{}, fmt.Errorf("%w: does not begin with %q", ErrAddress, addressPrefix)
	}
	var raw [addressCore + addressChecksum]byte
	if _, err := hex.Decode(raw[:], []byte(digits)); err != nil {
		return Address{}, fmt.Errorf("%w: not hexadecimal", ErrAddress)
	}
	var a Address
	copy(a[:], raw[:addressCore])
	given := [addressChecksum]byte(raw[addressCore:])
	for _, kind := range []byte{kindUser, kindContract} {
		a[addressCore] = kind
		if a.checksum() == given {
			return a, nil
		}
	}
	return Address{}, fmt.Errorf("%w: checksum does not match", ErrAddress)
}

// checksum is the digest of the core, complemented for a contract: the text carries no type byte.
func (a Address) checksum() [addressChecksum]byte {
	var sum [addressChecksum]byte
	digest(sum[:], a[:addressCore])
	if a.IsContract() {
		for i := range sum {
			sum[i] = ^sum[i]
		}
	}
	return sum
}

// String returns the 55 characters of the text form, in lower case.
func (a Address) String() string {
	var text [addressTextSize]byte
	return string(a.appendText(text[:0]))
}

func (a Address) appendText(p []byte) []byte {
	sum := a.checksum()
	p = hex.AppendEncode(append(p, addressPrefix...), a[:addressCore])
	return hex.AppendEncode(p, sum[:])
}

// IsContract reports whether the address is a contract's.
func (a Address) IsContract() bool { return a[addressCore] == kindContract }

// IsZero reports whether this is the zero address; what is sent there is lost.
func (a Address) IsZero() bool { return a == Address{} }

// MarshalText writes what String returns.
func (a Address) MarshalText() ([]byte, error) {
	return a.appendText(make([]byte, 0, addressTextSize)), nil
}

// UnmarshalText reads what ParseAddress accepts.
func (a *Address) UnmarshalText(text []byte) error {
	parsed, err := ParseAddress(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// AddressFromBytes takes the 21 bytes of an address. Another length or type byte is ErrAddress.
func AddressFromBytes(b []byte) (Address, error) {
	if len(b) != AddressSize {
		return Address{}, fmt.Errorf("%w: %d bytes, want %d", ErrAddress, len(b), AddressSize)
	}
	if b[addressCore] > kindContract {
		return Address{}, fmt.Errorf("%w: type byte is %d", ErrAddress, b[addressCore])
	}
	return Address(b), nil
}
