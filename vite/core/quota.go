package core

import (
	"errors"
	"fmt"
	"math/big"
	"sort"

	"github.com/holiman/uint256"
)

// Quota figures (docs/exchange-chain-wire.md 4.6). Quota is the cost of a block in place of a gas
// fee; an account gets it from staked VITE and from proof of work. The figures hold for a chain
// that is not congested.
const (
	// QuotaPerUT is the quota of one "unit transaction", a transfer without data.
	QuotaPerUT = 21000
	// MaxBlockQuota is the maximum cost of one block.
	MaxBlockQuota = 1_000_000
	// QuotaWindow is the number of snapshot blocks over which unused quota accumulates.
	QuotaWindow = 75
	// MaxStakeQuota is the most quota per snapshot block that stake, and per block that proof of
	// work, can give.
	MaxStakeQuota = quotaSection * quotaSections
	// MinQuotaMultiplier and MaxQuotaMultiplier bound the tenths by which a contract scales the
	// cost of calls to it.
	MinQuotaMultiplier = 10
	MaxQuotaMultiplier = 100

	quotaSection     = 280
	quotaSections    = 3571
	quotaPerDataByte = 28
	quotaCreate      = 31000
)

var (
	// ErrQuotaRange marks an amount of quota that neither stake nor proof of work can give, or a
	// block over MaxBlockQuota.
	ErrQuotaRange = errors.New("quota out of range")
	// ErrQuotaMultiplier marks a multiplier outside 10..100.
	ErrQuotaMultiplier = errors.New("invalid quota multiplier")
)

// RequiredQuota returns what a block of a user costs. multiplier is the called contract's quota
// multiplier in tenths; for user addresses and built-in contracts it is not looked at. A call of an
// unknown method of the asset or quota contract is ErrMethod, a block over MaxBlockQuota is
// ErrQuotaRange.
func RequiredQuota(t BlockType, to Address, data []byte, multiplier uint8) (uint64, error) {
	cost, err := blockCost(t, to, data, multiplier)
	if err == nil && cost > MaxBlockQuota {
		err = fmt.Errorf("%w: block costs %d, at most %d", ErrQuotaRange, cost, MaxBlockQuota)
	}
	return cost, err
}

func blockCost(t BlockType, to Address, data []byte, multiplier uint8) (uint64, error) {
	transfer := QuotaPerUT + quotaPerDataByte*uint64(len(data))
	switch {
	case t.IsReceive():
		return QuotaPerUT, nil
	case t == SendCreate:
		return quotaCreate + quotaPerDataByte*uint64(len(data)), nil
	case !to.IsContract() || to == DexFundContract || to == DexTradeContract || to == GovernanceContract:
		return transfer, nil
	case to == AssetContract || to == QuotaContract:
		m, ok := BuiltinMethod(to, data)
		if !ok {
			return 0, fmt.Errorf("%w: unknown method of %s", ErrMethod, to)
		}
		if m.Quota == 0 {
			return transfer, nil
		}
		return m.Quota, nil
	case multiplier < MinQuotaMultiplier || multiplier > MaxQuotaMultiplier:
		return 0, fmt.Errorf("%w: %d", ErrQuotaMultiplier, multiplier)
	}
	return transfer * uint64(multiplier) / MinQuotaMultiplier, nil
}

// RequiredStake returns the stake, in VITE's smallest unit, that gives at least quota per snapshot
// block. Over MaxStakeQuota is ErrQuotaRange.
func RequiredStake(quota uint64) (uint256.Int, error) {
	section, err := sectionsFor(quota)
	if err != nil || section == 0 {
		return uint256.Int{}, err
	}
	return wholeVITE(stakeTable[section-1]), nil
}

// QuotaForStake returns the quota per snapshot block that a stake in VITE's smallest unit gives.
// Unused quota accumulates over QuotaWindow snapshot blocks.
func QuotaForStake(stake uint256.Int) uint64 {
	reached := sort.Search(quotaSections, func(i int) bool {
		need := wholeVITE(stakeTable[i])
		return stake.Lt(&need)
	})
	return uint64(reached) * quotaSection
}

// RequiredDifficulty returns the least difficulty whose proof of work gives one block at least
// quota. Over MaxStakeQuota is ErrQuotaRange.
func RequiredDifficulty(quota uint64) (*big.Int, error) {
	section, err := sectionsFor(quota)
	if err != nil || section == 0 {
		return new(big.Int), err
	}
	return new(big.Int).SetUint64(difficultyTable[section-1]), nil
}

// QuotaForDifficulty returns the quota that proof of work of the difficulty gives one block.
func QuotaForDifficulty(difficulty *big.Int) uint64 {
	if difficulty.Sign() <= 0 {
		return 0
	}
	if !difficulty.IsUint64() {
		return MaxStakeQuota
	}
	d := difficulty.Uint64()
	reached := sort.Search(quotaSections, func(i int) bool { return d < difficultyTable[i] })
	return uint64(reached) * quotaSection
}

func sectionsFor(quota uint64) (uint64, error) {
	if quota > MaxStakeQuota {
		return 0, fmt.Errorf("%w: %d, at most %d", ErrQuotaRange, quota, uint64(MaxStakeQuota))
	}
	return (quota + quotaSection - 1) / quotaSection, nil
}

// wholeVITE converts VITE, of 18 decimals, to the smallest unit.
func wholeVITE(n uint32) uint256.Int {
	var amount uint256.Int
	amount.Mul(uint256.NewInt(uint64(n)), uint256.NewInt(1_000_000_000_000_000_000))
	return amount
}
