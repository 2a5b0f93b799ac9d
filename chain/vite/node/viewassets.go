package node

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"

	"gatewayd/chain/vite/core"
)

// Token is nil for an unknown token.
func (v *View) Token(id core.TokenID) *TokenInfo {
	t := v.s.tokens[id]
	if t == nil {
		return nil
	}
	own := *t
	return &own
}

// Tokens lists one page (from 0) of all tokens ordered by name, and tells how many there are.
func (v *View) Tokens(page, size int) (total int, tokens []*TokenInfo) {
	all := v.tokens(func(*TokenInfo) bool { return true })
	from, to := pageOf(page, size, len(all))
	return len(all), all[from:to]
}

// TokensOf lists the tokens that a owns, ordered by name.
func (v *View) TokensOf(a core.Address) []*TokenInfo {
	return v.tokens(func(t *TokenInfo) bool { return t.Owner == a })
}

func (v *View) tokens(wanted func(*TokenInfo) bool) []*TokenInfo {
	var list []*TokenInfo
	for _, t := range v.s.tokens {
		if wanted(t) {
			own := *t
			list = append(list, &own)
		}
	}
	slices.SortFunc(list, func(a, b *TokenInfo) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return list
}

// Quota is the account's quota by stake.
func (v *View) Quota(a core.Address) QuotaInfo {
	acc := v.s.accounts[a]
	if acc == nil {
		return QuotaInfo{}
	}
	return QuotaInfo{
		Current: v.s.available(acc), Max: acc.perSnapshot() * core.QuotaWindow, Stake: acc.staked,
	}
}

// RequiredQuota prices a block. ErrNoContract and ErrNoMethod as Submit has them; a price above the block limit is
// answered.
func (v *View) RequiredQuota(c Call) (uint64, error) {
	return v.s.cost(core.BlockType(c.BlockType), c.To, c.Data)
}

// PoWDifficulty tells which proof of work the block needs after previous. ErrForked if previous is not the newest block,
// ErrPoWTwice if the stake does not suffice and the account has worked since the latest snapshot, ErrBlockLimit.
func (v *View) PoWDifficulty(c Call, previous core.Hash) (PoWNeed, error) {
	acc := v.s.accounts[c.Address]
	if acc.tip().Hash != previous {
		return PoWNeed{}, ErrForked
	}
	cost, err := v.RequiredQuota(c)
	if err != nil {
		return PoWNeed{}, err
	}
	need := PoWNeed{RequiredQuota: cost}
	if cost > core.MaxBlockQuota {
		return PoWNeed{}, ErrBlockLimit
	}
	stake := v.s.available(acc)
	if stake >= cost {
		return need, nil
	}
	if v.s.worked(acc) {
		return PoWNeed{}, ErrPoWTwice
	}
	if need.Difficulty, err = v.Work(cost - stake); err != nil {
		return PoWNeed{}, ErrBlockLimit
	}
	return need, nil
}

// Work is the least difficulty that is worth a quota on this chain. Over 1,000,000 quota is core.ErrQuotaRange.
func (v *View) Work(quota uint64) (*big.Int, error) { return v.s.rules.work(quota) }

// Stakes lists one page (from 0) of what the account has staked, oldest first.
func (v *View) Stakes(staker core.Address, page, size int) StakeList {
	all := v.s.stakes[staker]
	list := StakeList{Count: len(all)}
	for i := range all {
		list.Total.Add(&list.Total, &all[i].Amount)
	}
	from, to := pageOf(page, size, len(all))
	for _, k := range all[from:to] {
		k.ExpirationTime = v.s.expiration(k.ExpirationHeight)
		list.Stakes = append(list.Stakes, k)
	}
	return list
}

// Contract is nil for a user's address and an unknown contract.
func (v *View) Contract(a core.Address) *ContractInfo {
	c := v.s.contract(a)
	if c == nil {
		return nil
	}
	own := *c
	return &own
}
