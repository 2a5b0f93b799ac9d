package index

import (
	"database/sql/driver"
	"fmt"
	"strconv"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/chain/vite/dex"
)

// Decimals of numbers that do not follow a market's precision (docs/exchange-rules.md 1.6).
const (
	wideDecimals  = 8
	priceDecimals = 12 // the most that a price has
)

// whole is an amount of smallest units as a number of tokens.
func whole(raw *uint256.Int, decimals uint8) decimal.Decimal {
	return decimal.NewFromBigInt(raw.ToBig(), -int32(decimals))
}

// number is a price as a number.
func number(p dex.Price) decimal.Decimal {
	return decimal.New(int64(p.Units), 0).Add(decimal.New(int64(p.Frac), -priceDecimals))
}

// cut is a number's text with so many decimals, the rest left out.
func cut(d decimal.Decimal, places int) string {
	return d.Truncate(int32(places)).StringFixed(int32(places))
}

// cutAmount is cut of an amount of smallest units.
func cutAmount(raw *uint256.Int, decimals uint8, places int) string {
	return cutDigits(raw.Dec(), int(decimals), places)
}

// cutPrice is cut of a price.
func cutPrice(p dex.Price, places int) string {
	whole := strconv.FormatUint(p.Units, 10)
	fraction := strconv.FormatUint(p.Frac, 10)
	return cutDigits(whole+zeros[:priceDecimals-len(fraction)]+fraction, priceDecimals, places)
}

// zeros is as many as a token may have decimals.
const zeros = "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" +
	"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" +
	"00000000000000000000000000000000000000000000000000000000"

// cutDigits puts the point before the last so many digits of a whole number, and leaves out or adds digits at the end until
// there are so many places.
func cutDigits(digits string, decimals, places int) string {
	if len(digits) <= decimals {
		digits = zeros[:decimals+1-len(digits)] + digits
	}
	point := len(digits) - decimals
	switch {
	case places == 0:
		return digits[:point]
	case places <= decimals:
		return digits[:point] + "." + digits[point:point+places]
	}
	return digits[:point] + "." + digits[point:] + zeros[:places-decimals]
}

// ratio is a/b cut to so many decimals; zero for b = 0.
func ratio(a, b decimal.Decimal, places int) decimal.Decimal {
	if b.IsZero() {
		return decimal.Zero
	}
	q, _ := a.QuoRem(b, int32(places))
	return q
}

// cutProduct is cut of a price times an amount of smallest units.
func cutProduct(p dex.Price, raw *uint256.Int, decimals uint8, places int) string {
	var n, frac uint256.Int
	n.SetUint64(p.Units)
	n.Mul(&n, frac.SetUint64(1e12)) // below 2^104
	n.Add(&n, frac.SetUint64(p.Frac))
	shift := int(decimals) + priceDecimals
	if _, over := n.MulOverflow(&n, raw); over || shift > len(zeros) {
		return cut(number(p).Mul(whole(raw, decimals)), places)
	}
	return cutDigits(n.Dec(), shift, places)
}

// cutRatio is cut of the ratio of two amounts of smallest units; zero for b = 0.
func cutRatio(a *uint256.Int, aDecimals uint8, b *uint256.Int, bDecimals uint8, places int) string {
	var x, y uint256.Int
	var over bool
	if up := places + int(bDecimals) - int(aDecimals); up >= 0 {
		over = scaleUp(x.Set(a), up)
		y.Set(b)
	} else {
		x.Set(a)
		over = scaleUp(y.Set(b), -up)
	}
	if over {
		return cut(ratio(whole(a, aDecimals), whole(b, bDecimals), places), places)
	}
	return cutDigits(x.Div(&x, &y).Dec(), places, places) // by zero it is zero
}

// scaleUp multiplies n with a power of ten; over tells that it does not fit.
func scaleUp(n *uint256.Int, power int) (over bool) {
	for ; power > 0 && !over; power -= 19 {
		ten := uint256.NewInt(1)
		for range min(power, 19) {
			ten.Mul(ten, uint256.NewInt(10))
		}
		_, over = n.MulOverflow(n, ten)
	}
	return over
}

// price is a dex.Price as a column: its shortest text.
type price struct{ dex.Price }

// Value is the price's text.
func (p price) Value() (driver.Value, error) { return p.String(), nil }

// Scan reads a price's text.
func (p *price) Scan(src any) (err error) {
	switch text := src.(type) {
	case string:
		p.Price, err = dex.ParsePrice(text)
	case []byte:
		p.Price, err = dex.ParsePrice(string(text))
	default:
		err = fmt.Errorf("a price column holds a %T", src)
	}
	return err
}

// amount is an integer of smallest units as a column: its decimal text.
type amount struct{ uint256.Int }

// Value is the amount's text.
func (a amount) Value() (driver.Value, error) { return a.Dec(), nil }

// Scan reads an amount's text.
func (a *amount) Scan(src any) error {
	text, ok := src.(string)
	if raw, isBytes := src.([]byte); isBytes {
		text, ok = string(raw), true
	}
	if !ok {
		return fmt.Errorf("an amount column holds a %T", src)
	}
	return a.SetFromDecimal(text)
}

// plus is the sum of two amounts; amounts of a token are below its supply, so it does not overflow.
func plus(a, b *uint256.Int) (sum uint256.Int) {
	sum.Add(a, b)
	return sum
}
