package dex

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holiman/uint256"
)

// Price is a price in quote tokens per trade token: Units + Frac/10^12, both below 10^12. Zero is the price of a market
// order only. Prices are comparable with ==.
type Price struct{ Units, Frac uint64 }

// PriceSize is the size of a price in an order id and in events.
const PriceSize = 10

const (
	priceDigits = 12
	priceOne    = 1_000_000_000_000 // Frac of a whole unit
	priceHalf   = PriceSize / 2
	priceMask   = 1<<(8*priceHalf) - 1 // all bits of a half
)

// ErrPrice marks a text or bytes that are no price.
var ErrPrice = errors.New("invalid order price format")

// ParsePrice reads up to 12 digits, and up to 12 decimals after a dot. Either side of the dot may be empty ("1.", ".5"), not both; there
// is no sign, exponent or blank. Zero is a price here. Errors are ErrPrice. (docs/exchange-rules.md 2.3)
func ParsePrice(s string) (Price, error) {
	units, frac, _ := strings.Cut(s, ".")
	if len(s) > 2*priceDigits+1 || units == "" && frac == "" {
		return Price{}, fmt.Errorf("%w: %.30q", ErrPrice, s)
	}
	u, okUnits := digits(units)
	f, okFrac := digits(frac)
	if !okUnits || !okFrac {
		return Price{}, fmt.Errorf("%w: %.30q", ErrPrice, s)
	}
	for range priceDigits - len(frac) {
		f *= 10
	}
	return Price{u, f}, nil
}

// digits reads at most 12 decimal digits; none are zero.
func digits(s string) (n uint64, ok bool) {
	if len(s) > priceDigits {
		return 0, false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

// String is the shortest text of the price.
func (p Price) String() string {
	if p.Frac == 0 {
		return strconv.FormatUint(p.Units, 10)
	}
	return strconv.FormatUint(p.Units, 10) + "." + strings.TrimRight(fmt.Sprintf("%012d", p.Frac), "0")
}

// IsZero tells a market order's price.
func (p Price) IsZero() bool { return p == Price{} }

// Compare is -1, 0 or 1.
func (p Price) Compare(q Price) int {
	if c := cmp.Compare(p.Units, q.Units); c != 0 {
		return c
	}
	return cmp.Compare(p.Frac, q.Frac)
}

// Bytes are the units in five bytes and the fraction in five, big endian, so that they order as prices do.
func (p Price) Bytes() [PriceSize]byte {
	var w [8]byte
	var b [PriceSize]byte
	binary.BigEndian.PutUint64(w[:], p.Units)
	copy(b[:priceHalf], w[8-priceHalf:])
	binary.BigEndian.PutUint64(w[:], p.Frac)
	copy(b[priceHalf:], w[8-priceHalf:])
	return b
}

// PriceFromBytes is the inverse of Bytes; a half that is 10^12 or more is ErrPrice.
func PriceFromBytes(b [PriceSize]byte) (Price, error) {
	var w [8]byte
	copy(w[8-priceHalf:], b[:priceHalf])
	p := Price{Units: binary.BigEndian.Uint64(w[:])}
	copy(w[8-priceHalf:], b[priceHalf:])
	p.Frac = binary.BigEndian.Uint64(w[:])
	if p.Units >= priceOne || p.Frac >= priceOne {
		return Price{}, fmt.Errorf("%w: bytes %x", ErrPrice, b)
	}
	return p, nil
}

// scaled is the price times 10^12, below 2^80.
func (p Price) scaled(z *uint256.Int) {
	z.SetUint64(priceOne)
	var part uint256.Int
	part.SetUint64(p.Units)
	z.Mul(z, &part)
	part.SetUint64(p.Frac)
	z.Add(z, &part)
}
