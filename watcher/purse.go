package watcher

import (
	"context"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// purse counts what an account may still bind: its balance less everything bound and not final. A payment that is mined but not
// final is counted twice; that delays others for a moment and never overspends, also right after a re-org.
type purse struct {
	chain   chain.Chain
	account string
	taken   map[chain.Asset]chain.Amount
	have    map[chain.Asset]chain.Amount
	short   map[chain.Asset]bool
}

func newPurse(c chain.Chain, account string, open []records.OpenSlot) *purse {
	p := &purse{chain: c, account: account, taken: map[chain.Asset]chain.Amount{}, have: map[chain.Asset]chain.Amount{}, short: map[chain.Asset]bool{}}
	for _, s := range open {
		p.take(s.Payment)
	}
	return p
}

// covers tells whether the balance suffices. Once an asset falls short, later payments of it wait too: first come, first served.
func (p *purse) covers(ctx context.Context, q records.Payment) (bool, error) {
	if q.Purpose == chain.Receive {
		return true, nil
	}
	if p.short[q.Asset] {
		return false, nil
	}
	have, ok := p.have[q.Asset]
	if !ok {
		var err error
		if have, err = p.chain.Balance(ctx, p.account, q.Asset); err != nil {
			return false, fmt.Errorf("asking for the balance of %s: %w", q.Asset, err)
		}
		p.have[q.Asset] = have
	}
	p.short[q.Asset] = !suffices(have, p.taken[q.Asset], q.Amount)
	return !p.short[q.Asset], nil
}

func suffices(have, taken, amount chain.Amount) bool {
	need, err := taken.Add(amount)
	return err == nil && !have.Less(need)
}

func (p *purse) take(q records.Payment) {
	if q.Purpose == chain.Receive {
		return
	}
	if sum, err := p.taken[q.Asset].Add(q.Amount); err == nil {
		p.taken[q.Asset] = sum
	}
}
