package node

import (
	"math/big"

	"gatewayd/chain/vite/core"
)

const (
	mainDifficulty = 67108863 // of the main network: core.RequiredDifficulty(core.QuotaPerUT)
	maxDifficulty  = 1 << 40  // above it, work for the largest blocks would not fit a difficulty
)

// work is the least difficulty that is worth a quota: the main network's, scaled by the genesis and rounded up.
func (r *rules) work(quota uint64) (*big.Int, error) {
	d, err := core.RequiredDifficulty(quota)
	if err != nil {
		return nil, err
	}
	d.Mul(d, new(big.Int).SetUint64(r.difficulty))
	d.Add(d, big.NewInt(mainDifficulty-1))
	return d.Div(d, big.NewInt(mainDifficulty)), nil
}

// quotaForWork is what a difficulty is worth, the inverse of work. Each difficulty has one target, so a check of the nonce
// does not depend on the scale.
func (r *rules) quotaForWork(difficulty *big.Int) uint64 {
	d := new(big.Int).Mul(difficulty, big.NewInt(mainDifficulty))
	return core.QuotaForDifficulty(d.Div(d, new(big.Int).SetUint64(r.difficulty)))
}
