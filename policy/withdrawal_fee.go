package policy

import (
	"fmt"

	"github.com/shopspring/decimal"

	"gatewayd/chain"
)

// Fee is a withdrawal fee rule. Kind "flat" takes Amount; "percent" takes PPM millionths of the net
// amount, rounded up, within Min and Max; "network" takes the current cost of the payout (see
// Policy.Cost) within Min and Max.
type Fee struct {
	Kind   string       `json:"kind" yaml:"kind"`
	Amount chain.Amount `json:"amount" yaml:"amount"`
	PPM    uint64       `json:"ppm" yaml:"ppm"`
	Min    chain.Amount `json:"min" yaml:"min"`
	Max    chain.Amount `json:"max" yaml:"max"` // zero: no maximum
	// Rate is kind "network"'s price of one native coin in tokens; not needed when the token is the
	// native coin. For other kinds it is optional, and gives payouts a ceiling of their own.
	Rate decimal.Decimal `json:"rate,omitzero" yaml:"rate"`
	// Ceiling bounds a payout's cost as a multiple of its user's fee. 0 means five; with kind
	// "percent", whose fee does not depend on costs, it means the chain's own ceiling.
	Ceiling uint64 `json:"ceiling,omitempty" yaml:"ceiling"`
}

// Check reports the rule's faults.
func (f Fee) Check() error {
	switch f.Kind {
	case "flat", "percent", "network":
	default:
		return fmt.Errorf("fee kind %q: must be one of flat, percent, network", f.Kind)
	}
	if f.PPM > 1_000_000 {
		return fmt.Errorf("fee ppm %d: at most 1000000 (100 %%)", f.PPM)
	}
	if !f.Max.IsZero() && f.Max.Less(f.Min) {
		return fmt.Errorf("fee max %s is below fee min %s", f.Max, f.Min)
	}
	return nil
}

// FromNative prices a payout's cost, in units of a coin of so many decimals, as token units,
// rounded up.
func (f Fee) FromNative(native chain.Amount, coinDecimals uint8, t Token) (chain.Amount, error) {
	rate := f.rateOf(t)
	if !rate.IsPositive() {
		return chain.Amount{}, fmt.Errorf("token %s: fee rate must be above zero", t.TokenID)
	}
	cost := decimal.NewFromBigInt(native.Uint256().ToBig(), -int32(coinDecimals)).Mul(rate).Shift(int32(t.Decimals)).Ceil()
	return chain.ParseAmount(cost.String())
}

// defaultCeiling is above what fees rise by between a quote and its payout on most days.
const defaultCeiling = 5

// CeilingTimes bounds a payout's cost as a multiple of its user's fee; 0 where the fee sets no
// bound, or the coin's price in the token is not known.
func (t Token) CeilingTimes() uint64 {
	f := t.Policy.Fee
	switch {
	case !f.rateOf(t).IsPositive():
		return 0
	case f.Ceiling == 0 && f.Kind != "percent":
		return defaultCeiling
	}
	return f.Ceiling
}

// Ceiling returns the maximum cost in native coin, of so many decimals, of a payout whose user paid
// a fee, in units of the token. It is zero, for no separate ceiling, where the fee or CeilingTimes
// is zero.
func (t Token) Ceiling(fee chain.Amount, coinDecimals uint8) chain.Amount {
	times, rate := t.CeilingTimes(), t.Policy.Fee.rateOf(t)
	if times == 0 || fee.IsZero() {
		return chain.Amount{}
	}
	coins := decimal.NewFromBigInt(fee.Uint256().ToBig(), int32(coinDecimals)-int32(t.Decimals)).Mul(decimal.NewFromUint64(times)).Div(rate)
	most, err := chain.ParseAmount(decimal.Max(coins.Floor(), decimal.NewFromInt(1)).String())
	if err != nil {
		return chain.Amount{}
	}
	return most
}

// rateOf returns the price of one native coin in tokens; zero when it is not known.
func (f Fee) rateOf(t Token) decimal.Decimal {
	if t.Asset == chain.Native {
		return decimal.NewFromInt(1)
	}
	return f.Rate
}

// Of returns the fee f(n) on a net amount. It never falls with n, which NetOf relies on
// (docs/gateway-clients.md 5).
func (f Fee) Of(net, cost chain.Amount) (chain.Amount, error) {
	switch f.Kind {
	case "percent":
		fee, cut, err := net.MulDiv(f.PPM, 1_000_000)
		if err != nil {
			return chain.Amount{}, err
		}
		if cut {
			if fee, err = fee.Add(chain.NewAmount(1)); err != nil {
				return chain.Amount{}, err
			}
		}
		return f.clamp(fee), nil
	case "network":
		return f.clamp(cost), nil
	default:
		return f.Amount, nil
	}
}

func (f Fee) clamp(fee chain.Amount) chain.Amount {
	if fee.Less(f.Min) {
		fee = f.Min
	}
	if !f.Max.IsZero() && f.Max.Less(fee) {
		fee = f.Max
	}
	return fee
}

// NetOf is the greatest n with n + f(n) <= gross, and gross - n. ok is false when even n = 0 does
// not fit.
func (f Fee) NetOf(gross, cost chain.Amount) (net, fee chain.Amount, ok bool) {
	if !f.fits(chain.Amount{}, gross, cost) {
		return chain.Amount{}, chain.Amount{}, false
	}
	lo, hi := chain.Amount{}, gross // fits(lo) holds; the answer lies in [lo, hi]
	for lo.Less(hi) {
		mid := middle(lo, hi)
		if f.fits(mid, gross, cost) {
			lo = mid
		} else {
			hi, _ = mid.Sub(chain.NewAmount(1))
		}
	}
	fee, _ = gross.Sub(lo)
	return lo, fee, true
}

func (f Fee) fits(net, gross, cost chain.Amount) bool {
	fee, err := f.Of(net, cost)
	if err != nil {
		return false
	}
	sum, err := net.Add(fee)
	return err == nil && !gross.Less(sum)
}

// middle is the upper middle of lo < hi.
func middle(lo, hi chain.Amount) chain.Amount {
	d, _ := hi.Sub(lo)
	half, cut, _ := d.MulDiv(1, 2)
	if cut {
		half, _ = half.Add(chain.NewAmount(1))
	}
	m, _ := lo.Add(half)
	return m
}
