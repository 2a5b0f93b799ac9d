// Prices and amounts as the exchange shows them: decimal texts without exponent, cut and never
// rounded (docs/exchange-rest.md 1.6).

package index

import (
	"strconv"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/vite/dex"
)

// priceDecimals is the most that a price has.
const priceDecimals = 12

// wholeAmount converts smallest units to a number of tokens.
func wholeAmount(raw *uint256.Int, decimals uint8) decimal.Decimal {
	return decimal.NewFromBigInt(raw.ToBig(), -int32(decimals))
}

// priceDecimal is a price as a number.
func priceDecimal(p dex.Price) decimal.Decimal {
	return decimal.New(int64(p.Units), 0).Add(decimal.New(int64(p.Frac), -priceDecimals))
}

// formatCut is a number's text with so many decimals, the rest left out.
func formatCut(d decimal.Decimal, places int) string {
	return d.Truncate(int32(places)).StringFixed(int32(places))
}

// formatAmount is Cut of an amount of smallest units.
func formatAmount(raw *uint256.Int, decimals uint8, places int) string {
	return formatDigits(raw.Dec(), int(decimals), places)
}

// formatPrice is Cut of a price.
func formatPrice(p dex.Price, places int) string {
	whole := strconv.FormatUint(p.Units, 10)
	fraction := strconv.FormatUint(p.Frac, 10)
	return formatDigits(whole+zeros[:priceDecimals-len(fraction)]+fraction, priceDecimals, places)
}

// zeros is as many as a token may have decimals.
const zeros = "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" +
	"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" +
	"00000000000000000000000000000000000000000000000000000000"

// formatDigits puts the point before the last so many digits of an integer, and removes or adds
// digits at the end until there are so many places.
func formatDigits(digits string, decimals, places int) string {
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

// cutRatio is a/b cut to so many decimals; zero for b = 0.
func cutRatio(a, b decimal.Decimal, places int) decimal.Decimal {
	if b.IsZero() {
		return decimal.Zero
	}
	q, _ := a.QuoRem(b, int32(places))
	return q
}

// formatProduct is Cut of a price times an amount of smallest units.
func formatProduct(p dex.Price, raw *uint256.Int, decimals uint8, places int) string {
	var n, frac uint256.Int
	n.SetUint64(p.Units)
	n.Mul(&n, frac.SetUint64(1e12)) // below 2^104
	n.Add(&n, frac.SetUint64(p.Frac))
	shift := int(decimals) + priceDecimals
	if _, over := n.MulOverflow(&n, raw); over || shift > len(zeros) {
		return formatCut(priceDecimal(p).Mul(wholeAmount(raw, decimals)), places)
	}
	return formatDigits(n.Dec(), shift, places)
}

// formatRatio is Cut of the ratio of two amounts of smallest units; zero for b = 0.
func formatRatio(a *uint256.Int, aDecimals uint8, b *uint256.Int, bDecimals uint8, places int) string {
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
		return formatCut(cutRatio(wholeAmount(a, aDecimals), wholeAmount(b, bDecimals), places), places)
	}
	return formatDigits(x.Div(&x, &y).Dec(), places, places) // by zero it is zero
}

// scaleUp multiplies n with a power of ten; over reports an overflow.
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
