package node

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// Token is nil for an unknown token.
func (v *View) Token(id core.TokenID) *ledger.TokenInfo {
	t := v.s.Tokens[id]
	if t == nil {
		return nil
	}
	own := *t
	return &own
}

// Tokens lists one page (from 0) of all tokens ordered by name, and their total number.
func (v *View) Tokens(page, size int) (total int, tokens []*ledger.TokenInfo) {
	all := v.tokens(func(*ledger.TokenInfo) bool { return true })
	from, to := pageOf(page, size, len(all))
	return len(all), all[from:to]
}

// TokensOf lists the tokens that a owns, ordered by name.
func (v *View) TokensOf(a core.Address) []*ledger.TokenInfo {
	return v.tokens(func(t *ledger.TokenInfo) bool { return t.Owner == a })
}

func (v *View) tokens(wanted func(*ledger.TokenInfo) bool) []*ledger.TokenInfo {
	var list []*ledger.TokenInfo
	for _, t := range v.s.Tokens {
		if wanted(t) {
			own := *t
			list = append(list, &own)
		}
	}
	slices.SortFunc(list, func(a, b *ledger.TokenInfo) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return list
}

// Quota is the account's quota by stake.
func (v *View) Quota(a core.Address) QuotaInfo {
	acc := v.s.Accounts[a]
	if acc == nil {
		return QuotaInfo{}
	}
	return QuotaInfo{
		Current: v.s.Available(acc), Max: acc.PerSnapshot() * core.QuotaWindow, Stake: acc.Staked,
	}
}

// RequiredQuota prices a block. ErrNoContract and ErrNoMethod as Submit has them; a price above the
// block limit is answered.
func (v *View) RequiredQuota(c Call) (uint64, error) {
	return v.s.Cost(core.BlockType(c.BlockType), c.To, c.Data)
}

// PoWDifficulty returns the proof of work that the block needs after previous. ErrForked if
// previous is not the newest block, ErrPoWTwice if the stake does not suffice and the account has
// worked since the latest snapshot, ErrBlockLimit.
func (v *View) PoWDifficulty(c Call, previous core.Hash) (PoWNeed, error) {
	acc := v.s.Accounts[c.Address]
	if acc.Head().Hash != previous {
		return PoWNeed{}, ledger.ErrForked
	}
	cost, err := v.RequiredQuota(c)
	if err != nil {
		return PoWNeed{}, err
	}
	need := PoWNeed{RequiredQuota: cost}
	if cost > core.MaxBlockQuota {
		return PoWNeed{}, ledger.ErrBlockLimit
	}
	stake := v.s.Available(acc)
	if stake >= cost {
		return need, nil
	}
	if v.s.Worked(acc) {
		return PoWNeed{}, ledger.ErrPoWTwice
	}
	if need.Difficulty, err = v.Work(cost - stake); err != nil {
		return PoWNeed{}, ledger.ErrBlockLimit
	}
	return need, nil
}

// Work is the least difficulty that is worth a quota on this chain. Over 1,000,000 quota is
// core.ErrQuotaRange.
func (v *View) Work(quota uint64) (*big.Int, error) { return v.s.Rules.Work(quota) }

// Stakes lists one page (from 0) of what the account has staked, oldest first.
func (v *View) Stakes(staker core.Address, page, size int) StakeList {
	all := v.s.Stakes[staker]
	list := StakeList{Count: len(all)}
	for i := range all {
		list.Total.Add(&list.Total, &all[i].Amount)
	}
	from, to := pageOf(page, size, len(all))
	for _, k := range all[from:to] {
		k.ExpirationTime = v.s.Expiration(k.ExpirationHeight)
		list.Stakes = append(list.Stakes, k)
	}
	return list
}

// Contract is nil for a user's address and an unknown contract.
func (v *View) Contract(a core.Address) *ledger.ContractInfo {
	c := v.s.Contract(a)
	if c == nil {
		return nil
	}
	own := *c
	return &own
}
