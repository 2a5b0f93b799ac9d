package pay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
)

// batched divides the payments that may leave into transactions, in the order of service: payouts of
// one asset share one where the ledger can make several at a time. A payout that waits for others
// is left out, until its turn or until there are enough. What failed before, and what the ledger
// wants alone, goes alone.
func (p *payer) batched(ctx context.Context, a records.Account, leaving []records.Payment) (groups [][]records.Payment, err error) {
	ledger := chain.CapabilitiesOf(p.chain).Batches
	together, err := p.sharing(ctx, ledger, leaving)
	if err != nil {
		return nil, err
	}
	shared := map[chain.Asset][]records.Payment{}
	for i, q := range leaving {
		if together[i] {
			shared[q.Asset] = append(shared[q.Asset], q)
		}
	}
	for asset, list := range shared {
		if shared[asset], err = p.mayShare(ctx, ledger, a, list); err != nil {
			return nil, err
		}
	}
	open := map[chain.Asset]int{} // the group of each asset that has room
	for i, q := range leaving {
		if !together[i] || shared[q.Asset] == nil {
			groups = append(groups, []records.Payment{q})
			continue
		}
		if !p.ripe(ledger, shared[q.Asset]) {
			continue
		}
		at, has := open[q.Asset]
		if !has || len(groups[at]) == ledger.MaxBatch(q.Asset) {
			at = len(groups)
			open[q.Asset], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], q)
	}
	return groups, nil
}

// sharing reports which payments may share a transaction with others.
func (p *payer) sharing(ctx context.Context, ledger chain.Batcher, leaving []records.Payment) ([]bool, error) {
	together := make([]bool, len(leaving))
	if ledger == nil {
		return together, nil
	}
	var at []int
	var pays []chain.Payment
	for i, q := range leaving {
		if q.Purpose == chain.Credit && q.Gen == 0 && q.PayeeLabel == "" && ledger.MaxBatch(q.Asset) > 1 {
			at, pays = append(at, i), append(pays, chain.Payment{ID: q.ID, Purpose: q.Purpose, Asset: q.Asset, To: q.Payee, Amount: q.Amount})
		}
	}
	if len(pays) == 0 {
		return together, nil
	}
	alone, err := ledger.Alone(ctx, pays)
	if err != nil {
		return nil, fmt.Errorf("asking which payees are paid alone: %w", err)
	}
	for i, n := range at {
		together[n] = !alone[i]
	}
	return together, nil
}

// mayShare returns the payments of an asset that share transactions, none when they cannot now: the
// account has not allowed the ledger's batches to move the asset yet, which is ordered here.
func (p *payer) mayShare(ctx context.Context, ledger chain.Batcher, a records.Account, list []records.Payment) ([]records.Payment, error) {
	if len(list) == 1 && p.ripe(ledger, list) {
		return nil, nil
	}
	var sum chain.Amount
	for _, q := range list {
		var err error
		if sum, err = sum.Add(q.Amount); err != nil {
			return nil, err
		}
	}
	asset := list[0].Asset
	allowed, err := ledger.Allowed(ctx, a.Account, asset, sum)
	if err != nil {
		return nil, fmt.Errorf("asking whether batches may move %s: %w", asset, err)
	}
	if allowed {
		return list, nil
	}
	err = p.deps.Store.Update(ctx, func(tx *records.Tx) error {
		_, err := tx.Payments().Queue(records.Payment{
			Purpose: chain.Allow, Network: a.Network, Chain: p.id, Account: a.Account, Asset: asset, Payee: ledger.BatchTo(asset),
		})
		return err
	})
	if errors.Is(err, records.ErrConflict) { // it is on its way
		err = nil
	}
	return nil, err
}

// ripe reports whether payments of an asset leave now: they fill a transaction, or one of them has
// waited long enough for others.
func (p *payer) ripe(ledger chain.Batcher, list []records.Payment) bool {
	return len(list) >= ledger.MaxBatch(list[0].Asset) || slices.ContainsFunc(list, func(q records.Payment) bool {
		return p.deps.Now().Sub(q.CreatedAt) >= ledger.BatchWait()
	})
}

// mostOf is the number of payments of an asset that are bound at once, at most.
func (p *payer) mostOf(asset chain.Asset, free int) int {
	if ledger := chain.CapabilitiesOf(p.chain).Batches; ledger != nil && ledger.MaxBatch(asset) > 1 {
		free *= ledger.MaxBatch(asset)
	}
	return min(free, MaxGroup)
}
