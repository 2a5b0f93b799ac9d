package ledger

import (
	"errors"
	"math/big"

	"gatewayd/vite/core"
)

// usage is all stake quota that an account spent while height was the latest snapshot height.
type usage struct {
	_             struct{} `cbor:",toarray"`
	Height, Quota uint64
}

// price is the cost of a block and its sources.
type price struct {
	byStake, total uint64
}

// PerSnapshot is the quota that the account's stake gives with each snapshot block. It is safe on a
// nil account.
func (a *Account) PerSnapshot() uint64 {
	if a == nil {
		return 0
	}
	return core.QuotaForStake(a.Staked)
}

// Available is the stake quota that the account can use now: what the last 75 snapshot blocks gave,
// less what was spent during them.
func (s *State) Available(a *Account) uint64 {
	if a == nil {
		return 0
	}
	given := a.PerSnapshot() * min(core.QuotaWindow, s.Height())
	var spent uint64
	if !s.expired(a.Using) {
		spent = a.Using.Quota
	}
	for _, u := range a.Usage {
		if !s.expired(u) {
			spent += u.Quota
		}
	}
	if spent >= given {
		return 0 // the stake was cancelled meanwhile
	}
	return given - spent
}

// expired reports whether the window has moved past a usage.
func (s *State) expired(u usage) bool { return u.Height+core.QuotaWindow <= s.Height() }

// Worked reports whether the account has used its one proof of work since the latest snapshot
// block.
func (s *State) Worked(a *Account) bool { return a != nil && a.PowAt == s.Height() }

// charge finds the quota for a block that costs cost: work first, then stake.
func (s *State) charge(a *Account, b *core.AccountBlock, cost uint64) (price, error) {
	var byWork uint64
	if b.Nonce != nil {
		if s.Worked(a) {
			return price{}, ErrPoWTwice
		}
		byWork = min(s.Rules.QuotaForWork(b.Difficulty), cost)
	}
	byStake := cost - byWork
	if cost > core.MaxBlockQuota || byStake > s.Available(a) {
		return price{}, ErrQuota
	}
	return price{byStake, cost}, nil
}

// spend books what charge has found.
func (s *State) spend(a *Account, b *core.AccountBlock, p price) {
	if b.Nonce != nil {
		set(&s.journal, &a.PowAt, s.Height())
	}
	if p.byStake == 0 {
		return
	}
	if a.Using.Height == s.Height() {
		set(&s.journal, &a.Using, usage{Height: s.Height(), Quota: a.Using.Quota + p.byStake})
		return
	}
	old := a.Usage
	for len(old) > 0 && s.expired(old[0]) {
		old = old[1:]
	}
	if a.Using.Quota > 0 && !s.expired(a.Using) {
		old = append(old, a.Using)
	}
	set(&s.journal, &a.Usage, old)
	set(&s.journal, &a.Using, usage{Height: s.Height(), Quota: p.byStake})
}

// Cost prices a block of a user. A contract that does not exist is ErrNoContract, an unknown method
// ErrNoMethod. A cost above the block limit is answered as it is.
func (s *State) Cost(t core.BlockType, to core.Address, data []byte) (uint64, error) {
	multiplier := uint8(core.MinQuotaMultiplier)
	if t == core.SendCall && to.IsContract() {
		contract := s.Contract(to)
		if contract == nil {
			return 0, ErrNoContract
		}
		multiplier = contract.QuotaMultiplier
	}
	cost, err := core.RequiredQuota(t, to, data, multiplier)
	switch {
	case err == nil, errors.Is(err, core.ErrQuotaRange):
		return cost, nil
	case errors.Is(err, core.ErrMethod):
		return 0, ErrNoMethod
	}
	return 0, err
}

// Contract is nil for users and unknown contracts.
func (s *State) Contract(a core.Address) *ContractInfo {
	if acc := s.Accounts[a]; acc != nil {
		return acc.Contract
	}
	return nil
}

const (
	MainDifficulty = 67108863 // of the main network: core.RequiredDifficulty(core.QuotaPerUT)
	MaxDifficulty  = 1 << 40  // above it, work for the largest blocks would not fit a difficulty
)

// Work is the least difficulty that is worth a quota: the main network's, scaled by the genesis and
// rounded up.
func (r *Rules) Work(quota uint64) (*big.Int, error) {
	d, err := core.RequiredDifficulty(quota)
	if err != nil {
		return nil, err
	}
	d.Mul(d, new(big.Int).SetUint64(r.Difficulty))
	d.Add(d, big.NewInt(MainDifficulty-1))
	return d.Div(d, big.NewInt(MainDifficulty)), nil
}

// QuotaForWork returns the quota of a difficulty, the inverse of work. Each difficulty has one
// target, so a check of the nonce does not depend on the scale.
func (r *Rules) QuotaForWork(difficulty *big.Int) uint64 {
	d := new(big.Int).Mul(difficulty, big.NewInt(MainDifficulty))
	return core.QuotaForDifficulty(d.Div(d, new(big.Int).SetUint64(r.Difficulty)))
}
