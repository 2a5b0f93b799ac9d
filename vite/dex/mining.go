package dex

import (
	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// VX is the exchange's own token: it is mined by paying trading fees, and its lockers share the
// fees. No chain creates it automatically; without it in the genesis nothing is mined.
var VX = core.TokenID([]byte("VITEX COIN"))

// A cycle of the exchange is a day of its clock, numbered from FirstPeriod; it changes at 04:00
// UTC.
const (
	FirstPeriod = 1558411200 // Unix seconds
	PeriodTime  = 24 * 60 * 60
)

// PeriodOf numbers the day of a time in Unix seconds.
func PeriodOf(clock int64) int64 { return (clock - FirstPeriod) / PeriodTime }

// The days on which the release of VX takes another course: 9 September 2019, 7 December 2019 and 6
// March 2020.
const (
	firstMining = 111
	firstGrowth = 200
	firstDecay  = 290
)

// The course of the release as the exchange has published it, rates in parts of rateParts
// (docs/adr/021).
const (
	rateParts     = 100_000_000
	growth        = 101_804_350 // 1.80435 % more every day
	decay         = 99_810_276  // 0.189724 % less every day
	growthRelease = 10_000      // VX a day, until and at the beginning of the growth
	decayRelease  = 50_000      // VX on the first day of the decay
)

// Released is the VX, in smallest units, that a cycle sets free in all its ways of mining together.
// Each day's amount is the day's before times the day's rate, cut. It is zero before the first
// mining and in the far future.
func Released(period int64) uint256.Int {
	switch {
	case period < firstMining:
		return uint256.Int{}
	case period < firstDecay:
		return compound(tokens(growthRelease, 18), growth, period-firstGrowth)
	}
	return compound(tokens(decayRelease, 18), decay, period-firstDecay)
}

// compound applies a rate for a number of days, or until nothing is left.
func compound(n uint256.Int, rate uint64, days int64) uint256.Int {
	up, down := uint256.NewInt(rate), uint256.NewInt(rateParts)
	for ; days > 0 && !n.IsZero(); days-- {
		n.Mul(&n, up)
		n.Div(&n, down)
	}
	return n
}

// The parts of a cycle's VX, in per cent, for traders against one type of quote token, for stakers
// of VITE, and for all of them together.
const (
	tradePart   = 15
	stakingPart = 20
	minedPart   = 4*tradePart + stakingPart
)

// Shares are the VX that a cycle gives.
type Shares struct {
	Trade   uint256.Int // to the traders of each of the four quote types
	Staking uint256.Int // to who has staked VITE
}

// SharesOf are the parts of what the cycle releases, or, if the pool does not hold that much, the
// same parts of less.
func SharesOf(period int64, pool uint256.Int) Shares {
	whole, released := pool, Released(period)
	if _, over := whole.MulDivOverflow(&pool, uint256.NewInt(100), uint256.NewInt(minedPart)); over || whole.Gt(&released) {
		whole = released
	}
	return Shares{percent(whole, tradePart), percent(whole, stakingPart)}
}

func percent(n uint256.Int, part uint64) uint256.Int {
	n.MulDivOverflow(&n, uint256.NewInt(part), uint256.NewInt(100))
	return n
}

// ShareOf is the part of an amount that a weight has in the sum of all weights, cut. The weight
// must not exceed the sum, and the sum must not be zero.
func ShareOf(amount, weight, sum *uint256.Int) (share uint256.Int) {
	share.MulDivOverflow(amount, weight, sum)
	return share
}

// FeeIn is a fee in the decimals of the quote type, in which fees of several quote tokens of a type
// are added up, cut.
func (q QuoteType) FeeIn(fee uint256.Int, decimals uint8) uint256.Int {
	return rescale(fee, decimals, q.Decimals())
}

// What an invitation gives besides lower fees, in thousandths of the invited account's fees: to the
// account itself, and to who invited it.
const (
	inviteeBonus = 25
	inviterBonus = 50
)

// InvitedFee returns the mining weights of an invited account's base fee: for the account, and for
// its inviter.
func InvitedFee(fee uint256.Int) (account, inviter uint256.Int) {
	part := func(thousandths uint64) (n uint256.Int) {
		n.Mul(&fee, uint256.NewInt(thousandths))
		n.Div(&n, uint256.NewInt(1000))
		return n
	}
	bonus := part(inviteeBonus)
	account.Add(&fee, &bonus)
	return account, part(inviterBonus)
}

// ListingFee is the fee in VITE that opening a market counts as in mining.
func ListingFee() uint256.Int { return tokens(1000, 18) }

const (
	// UnlockTime is the delay between an unlock request and the return of VX locked for dividends,
	// or of VITE staked to mine, in seconds of the exchange's clock.
	UnlockTime = 7 * 24 * 60 * 60
	// dividendParts is in how many days' dividends a fee pool would be paid out if it did not shrink.
	dividendParts = 100
)

// MinVXLock is the least VX that an account can have locked.
func MinVXLock() uint256.Int { return tokens(10, 18) }

// MinMiningStake is the least VITE that an account can have staked to mine.
func MinMiningStake() uint256.Int { return tokens(134, 18) }

// Dividend is the part of a fee pool that a day pays out, cut.
func Dividend(pool uint256.Int) uint256.Int {
	pool.Div(&pool, uint256.NewInt(dividendParts))
	return pool
}
