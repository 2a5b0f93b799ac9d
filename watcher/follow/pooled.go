package follow

import (
	"context"
	"maps"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
)

const (
	// PoolEvery is the time between two looks into the pools of a chain's nodes.
	PoolEvery = 10 * time.Second
	// notePoolEvery is the longest time between two lists; wallets do not see older ones for long.
	notePoolEvery = time.Minute
	// maxPooled bounds a list: strangers can fill a pool.
	maxPooled = 500
)

// Pool lists the deposits that wait in the pools of a chain's nodes. Wallets see them, and nothing
// else follows.
type Pool struct {
	deps  Parts
	id    chain.ID
	chain chain.PoolReader
	now   func() time.Time

	seen  map[string]time.Time // when each waiting transfer was seen first, by reference
	noted time.Time
}

// NewPool is nil where a chain does not show its pools.
func NewPool(p Parts, id chain.ID, c chain.Chain, now func() time.Time) *Pool {
	if reader := chain.CapabilitiesOf(c).Pool; reader != nil {
		return &Pool{deps: p, id: id, chain: reader, now: now}
	}
	return nil
}

// Round looks once, and stores the list if it has changed or is old.
func (p *Pool) Round(ctx context.Context) error {
	waiting, err := p.chain.Pooled(ctx)
	if err != nil {
		return err
	}
	seen := make(map[string]time.Time, len(waiting))
	for _, t := range waiting {
		at, known := p.seen[t.Ref]
		if !known {
			at = p.now()
		}
		seen[t.Ref] = at
	}
	if maps.Equal(seen, p.seen) && p.now().Sub(p.noted) < notePoolEvery {
		return nil
	}
	var list []records.Pooled
	err = p.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
		list, err = p.deposits(tx, waiting, seen)
		return err
	})
	if err == nil {
		err = p.deps.Store.Update(ctx, func(tx *records.Tx) error { return records.NotePooled(tx, p.id, list) })
	}
	if err == nil {
		p.seen, p.noted = seen, p.now()
	}
	return err
}

// deposits selects the transfers that a user would see in a block, newest first.
func (p *Pool) deposits(tx *records.Tx, waiting []chain.Transfer, seen map[string]time.Time) ([]records.Pooled, error) {
	list := []records.Pooled{}
	for _, t := range waiting[:min(len(waiting), maxPooled)] {
		row, _, err := p.deps.Rules().Classify(tx, p.id, t)
		if err != nil {
			return nil, err
		}
		if row.Owner == "" || row.Direction != records.Deposit {
			continue
		}
		list = append(list, records.Pooled{
			Network: row.Network, Token: row.Token, Owner: row.Owner, Ref: t.Ref, Tx: t.Tx, Net: row.Net, SeenAt: seen[t.Ref],
		})
	}
	slices.SortStableFunc(list, func(a, b records.Pooled) int { return b.SeenAt.Compare(a.SeenAt) })
	return list, nil
}
