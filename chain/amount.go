package chain

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/holiman/uint256"
)

// Amount is a count of an asset's smallest units: unsigned, 256 bits, exact. The zero value is zero
// and == compares. Its text, in JSON and SQL alike, is the decimal number without sign or leading
// zeros.
type Amount struct{ n uint256.Int }

// maxDigits is the length of 2^256-1 in decimal.
const maxDigits = 78

// NewAmount is an amount of n units.
func NewAmount(n uint64) Amount {
	var a Amount
	a.n.SetUint64(n)
	return a
}

// AmountOf wraps an integer of go-ethereum's kind.
func AmountOf(n *uint256.Int) Amount { return Amount{*n} }

// Uint256 is the amount as go-ethereum's kind of integer: a copy.
func (a Amount) Uint256() *uint256.Int { return a.n.Clone() }

// ParseAmount reads a decimal integer of up to 78 digits below 2^256. Signs, blanks, points,
// exponents and an empty text are ErrAmount.
func ParseAmount(s string) (Amount, error) {
	if s == "" || len(s) > maxDigits {
		return Amount{}, fmt.Errorf("%w: must be 1 to %d decimal digits", ErrAmount, maxDigits)
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return Amount{}, fmt.Errorf("%w: decimal digits only", ErrAmount)
		}
	}
	var a Amount
	if err := a.n.SetFromDecimal(s); err != nil {
		return Amount{}, fmt.Errorf("%w: above 2^256-1", ErrAmount)
	}
	return a, nil
}

// MustAmount is ParseAmount for texts in code.
func MustAmount(s string) Amount {
	a, err := ParseAmount(s)
	if err != nil {
		panic(err)
	}
	return a
}

func (a Amount) String() string { return a.n.Dec() }

// Whole formats the amount in whole units of an asset with so many decimals, exactly: 1500000 with
// 6 decimals is 1.5.
func (a Amount) Whole(decimals uint8) string {
	digits := a.n.Dec()
	if missing := int(decimals) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, part := digits[:len(digits)-int(decimals)], strings.TrimRight(digits[len(digits)-int(decimals):], "0")
	if part == "" {
		return whole
	}
	return whole + "." + part
}

// ParseWhole parses the output of Whole: 1.5 with 6 decimals is 1500000. More digits than the
// asset's decimals are an error.
func ParseWhole(text string, decimals uint8) (Amount, error) {
	whole, part, _ := strings.Cut(text, ".")
	if whole == "" || len(part) > int(decimals) || strings.HasSuffix(text, ".") {
		return Amount{}, fmt.Errorf("%q is not a number with at most %d decimal places", text, decimals)
	}
	digits := strings.TrimLeft(whole+part+strings.Repeat("0", int(decimals)-len(part)), "0")
	return ParseAmount(cmp.Or(digits, "0"))
}

// IsZero reports whether there is nothing.
func (a Amount) IsZero() bool { return a.n.IsZero() }

// Cmp is -1, 0 or 1 as a is below, equal to or above b.
func (a Amount) Cmp(b Amount) int { return a.n.Cmp(&b.n) }

// Less reports whether a is below b.
func (a Amount) Less(b Amount) bool { return a.n.Lt(&b.n) }

// Add is a+b, or ErrAmount above 2^256-1.
func (a Amount) Add(b Amount) (Amount, error) {
	var r Amount
	if _, over := r.n.AddOverflow(&a.n, &b.n); over {
		return Amount{}, fmt.Errorf("%w: a sum above 2^256-1", ErrAmount)
	}
	return r, nil
}

// Sub is a-b, or ErrAmount when b is above a.
func (a Amount) Sub(b Amount) (Amount, error) {
	var r Amount
	if _, under := r.n.SubOverflow(&a.n, &b.n); under {
		return Amount{}, fmt.Errorf("%w: a difference below zero", ErrAmount)
	}
	return r, nil
}

// Excess returns a-b, or zero if b is larger.
func (a Amount) Excess(b Amount) Amount {
	d, err := a.Sub(b)
	if err != nil {
		return Amount{}
	}
	return d
}

// Mul is a*k, or ErrAmount above 2^256-1.
func (a Amount) Mul(k uint64) (Amount, error) {
	var r Amount
	if _, over := r.n.MulOverflow(&a.n, uint256.NewInt(k)); over {
		return Amount{}, fmt.Errorf("%w: a product above 2^256-1", ErrAmount)
	}
	return r, nil
}

// MulDiv is floor(a*k/d) without an intermediate overflow, and whether something was cut. d must
// not be zero.
func (a Amount) MulDiv(k, d uint64) (Amount, bool, error) {
	var r Amount
	kk, dd := uint256.NewInt(k), uint256.NewInt(d)
	if _, over := r.n.MulDivOverflow(&a.n, kk, dd); over {
		return Amount{}, false, fmt.Errorf("%w: a product above 2^256-1", ErrAmount)
	}
	return r, !new(uint256.Int).MulMod(&a.n, kk, dd).IsZero(), nil
}

// Rescale converts an amount from units of 10^-from to units of 10^-to. It truncates, and returns
// the truncated part in the old units. Decimals go up to 77.
func (a Amount) Rescale(from, to uint8) (scaled, dust Amount, err error) {
	if from == to {
		return a, Amount{}, nil
	}
	if to > from {
		p, err := pow10(to - from)
		if err != nil {
			return Amount{}, Amount{}, err
		}
		if _, over := scaled.n.MulOverflow(&a.n, p); over {
			return Amount{}, Amount{}, fmt.Errorf("%w: too large with %d decimals", ErrAmount, to)
		}
		return scaled, Amount{}, nil
	}
	p, err := pow10(from - to)
	if err != nil {
		return Amount{}, Amount{}, err
	}
	scaled.n.DivMod(&a.n, p, &dust.n)
	return scaled, dust, nil
}

func pow10(n uint8) (*uint256.Int, error) {
	if n >= maxDigits {
		return nil, fmt.Errorf("%w: %d decimals do not fit", ErrAmount, n)
	}
	return new(uint256.Int).Exp(uint256.NewInt(10), uint256.NewInt(uint64(n))), nil
}

// MarshalText and UnmarshalText are the decimal text.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.n.Dec()), nil }

// UnmarshalText reads what ParseAmount reads.
func (a *Amount) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAmount(string(text))
	return err
}

// Value stores the decimal text.
func (a Amount) Value() (driver.Value, error) { return a.n.Dec(), nil }

// Scan reads a decimal text column.
func (a *Amount) Scan(src any) (err error) {
	switch v := src.(type) {
	case string:
		*a, err = ParseAmount(v)
	case []byte:
		*a, err = ParseAmount(string(v))
	default:
		err = fmt.Errorf("%w: column of type %T", ErrAmount, src)
	}
	return err
}
