package node

import (
	"errors"

	"gatewayd/chain/vite/core"
)

// usage is all stake quota that an account spent while height was the latest snapshot height.
type usage struct {
	height, quota uint64
}

// price is what a block takes, and from where.
type price struct {
	byStake, total uint64
}

// perSnapshot is the quota that the account's stake gives with each snapshot block. It is safe on a nil account.
func (a *account) perSnapshot() uint64 {
	if a == nil {
		return 0
	}
	return core.QuotaForStake(a.staked)
}

// available is the stake quota that the account can use now: what the last 75 snapshot blocks gave, less what was spent
// during them.
func (s *state) available(a *account) uint64 {
	if a == nil {
		return 0
	}
	given := a.perSnapshot() * min(core.QuotaWindow, s.height())
	var spent uint64
	if !s.expired(a.using) {
		spent = a.using.quota
	}
	for _, u := range a.usage {
		if !s.expired(u) {
			spent += u.quota
		}
	}
	if spent >= given {
		return 0 // the stake was cancelled meanwhile
	}
	return given - spent
}

// expired tells whether the window has moved past a usage.
func (s *state) expired(u usage) bool { return u.height+core.QuotaWindow <= s.height() }

// worked tells whether the account has used its one proof of work since the latest snapshot block.
func (s *state) worked(a *account) bool { return a != nil && a.powAt == s.height() }

// charge finds the quota for a block that costs cost: work first, then stake.
func (s *state) charge(a *account, b *core.AccountBlock, cost uint64) (price, error) {
	var byWork uint64
	if b.Nonce != nil {
		if s.worked(a) {
			return price{}, ErrPoWTwice
		}
		byWork = min(s.rules.quotaForWork(b.Difficulty), cost)
	}
	byStake := cost - byWork
	if cost > core.MaxBlockQuota || byStake > s.available(a) {
		return price{}, ErrQuota
	}
	return price{byStake, cost}, nil
}

// spend books what charge has found.
func (s *state) spend(a *account, b *core.AccountBlock, p price) {
	if b.Nonce != nil {
		set(&s.journal, &a.powAt, s.height())
	}
	if p.byStake == 0 {
		return
	}
	if a.using.height == s.height() {
		set(&s.journal, &a.using, usage{s.height(), a.using.quota + p.byStake})
		return
	}
	old := a.usage
	for len(old) > 0 && s.expired(old[0]) {
		old = old[1:]
	}
	if a.using.quota > 0 && !s.expired(a.using) {
		old = append(old, a.using)
	}
	set(&s.journal, &a.usage, old)
	set(&s.journal, &a.using, usage{s.height(), p.byStake})
}

// cost prices a block of a user. A contract that does not exist is ErrNoContract, an unknown method ErrNoMethod. A cost
// above the block limit is answered as it is.
func (s *state) cost(t core.BlockType, to core.Address, data []byte) (uint64, error) {
	multiplier := uint8(core.MinQuotaMultiplier)
	if t == core.SendCall && to.IsContract() {
		contract := s.contract(to)
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

// contract is nil for users and unknown contracts.
func (s *state) contract(a core.Address) *ContractInfo {
	if acc := s.accounts[a]; acc != nil {
		return acc.contract
	}
	return nil
}
