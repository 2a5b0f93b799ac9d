package pay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// batching divides payments of an account that may leave into transactions: payouts of one asset
// share one where the ledger can make several at a time.
type batching struct {
	payer   *payer
	ledger  chain.Batcher // nil: it makes each by itself
	account records.Account
}

func batchingOf(p *payer, a records.Account) batching {
	return batching{p, chain.CapabilitiesOf(p.chain).Batches, a}
}

// divide returns the payments of each transaction, in the order of service. A payout that waits for
// others is left out until its time has come or there are enough. What failed before, and what the
// ledger wants by itself, shares no transaction; nor do payments whose batch could not be made now,
// or about which the ledger gives no answer. faults has the reasons of the latter.
func (b batching) divide(ctx context.Context, leaving []records.Payment, ceilings map[uint64]chain.Amount) (groups [][]records.Payment, faults error) {
	together, faults := b.sharing(ctx, leaving)
	shared := map[chain.Asset][]records.Payment{}
	for i, q := range leaving {
		if together[i] {
			shared[q.Asset] = append(shared[q.Asset], q)
		}
	}
	for asset, list := range shared {
		may, err := b.mayShare(ctx, list)
		if !may {
			delete(shared, asset)
		}
		faults = errors.Join(faults, err)
	}
	last := map[chain.Asset]int{} // the newest group of each asset
	for i, q := range leaving {
		list := shared[q.Asset]
		at, has := last[q.Asset]
		switch {
		case !together[i] || list == nil:
			groups = append(groups, []records.Payment{q})
		case !b.ripe(list):
		case has && len(groups[at]) < b.ledger.MaxBatch(q.Asset):
			groups[at] = append(groups[at], q)
		default:
			last[q.Asset], groups = len(groups), append(groups, []records.Payment{q})
		}
	}
	var out [][]records.Payment
	for _, group := range groups {
		can, err := b.canBeMade(ctx, group, ceilings)
		faults = errors.Join(faults, err)
		if can {
			out = append(out, group)
			continue
		}
		for i := range group {
			out = append(out, group[i:i+1])
		}
	}
	return out, faults
}

// canBeMade reports whether the ledger takes a group as one transaction now, within its ceiling of
// fees. Each payment was tried separately before.
func (b batching) canBeMade(ctx context.Context, group []records.Payment, ceilings map[uint64]chain.Amount) (bool, error) {
	if len(group) == 1 {
		return true, nil
	}
	most, err := sumCeilings(group, ceilings)
	if err != nil {
		return false, err
	}
	all := records.OpenSlot{Slot: records.Slot{PaymentID: group[0].ID}, Payment: group[0], Members: group}
	_, err = b.payer.chain.Estimate(ctx, b.account.Account, transfers.BatchPayment(b.payer.chain, all, most))
	if waitsOrFails(err) {
		return false, nil
	}
	return err == nil, err
}

// fitting leaves out users' payments for which there are no free numbers, so that refunds and
// receives keep those that choose gave them.
func fitting(groups [][]records.Payment, free int) (fit [][]records.Payment) {
	users := free
	for _, group := range groups {
		if records.ClassOf(group[0].Purpose) != records.ClassUser {
			users--
		}
	}
	for _, group := range groups {
		if records.ClassOf(group[0].Purpose) == records.ClassUser {
			if users <= 0 {
				continue
			}
			users--
		}
		fit = append(fit, group)
	}
	return fit
}

// leaveBatchAfter is the time after which a batch that cannot be signed leaves its number, so that
// its payments and those behind it go on: its allowance was lost, or fees have risen above its
// ceiling.
const leaveBatchAfter = 10 * time.Minute

// leaveBatch orders the cancellation of a batch's number when nothing was signed for it for too
// long.
func leaveBatch(ctx context.Context, p *payer, s signing, why error) error {
	if len(s.slot.Members) == 0 || len(s.prev) > 0 || s.cancels() || p.deps.Now().Sub(s.slot.CreatedAt) < leaveBatchAfter {
		return nil
	}
	err := p.deps.Store.Update(ctx, func(tx *records.Tx) error { return tx.Slots().OrderCancel(s.slot.Slot, why.Error()) })
	if errors.Is(err, records.ErrConflict) { // it was signed or decided meanwhile
		return nil
	}
	p.log.WithField("number", s.slot.Nonce).WithError(why).Warn("a batch releases its number")
	return err
}

// sharing reports which payments may share a transaction with others. What people have approved,
// such as a large payment or the first to a payee, does not.
func (b batching) sharing(ctx context.Context, leaving []records.Payment) ([]bool, error) {
	together := make([]bool, len(leaving))
	var at []int
	var pays []chain.Payment
	for i, q := range leaving {
		if b.ledger != nil && q.Purpose == chain.Credit && q.Gen == 0 && q.PayeeLabel == "" && b.ledger.MaxBatch(q.Asset) > 1 {
			at, pays = append(at, i), append(pays, chain.Payment{ID: q.ID, Purpose: q.Purpose, Asset: q.Asset, To: q.Payee, Amount: q.Amount})
		}
	}
	if len(pays) == 0 {
		return together, nil
	}
	separate, err := b.ledger.Separate(ctx, pays)
	if err != nil {
		return together, fmt.Errorf("asking which payees share no transaction: %w", err)
	}
	var approved map[uint64][]chain.Approval
	err = b.payer.deps.Store.View(ctx, func(tx *records.Tx) error {
		approved, err = tx.Payments().Approvals(idsOf(leaving))
		return err
	})
	if err != nil {
		return together, err
	}
	for i, n := range at {
		together[n] = !separate[i] && len(approved[pays[i].ID]) == 0
	}
	return together, nil
}

// orderAllowances lets batches move the tokens of paying accounts before payouts need it. Each
// account is asked about once.
func orderAllowances(ctx context.Context, p *payer, accounts []records.Account) (faults error) {
	for _, a := range accounts {
		b := batchingOf(p, a)
		if b.ledger == nil || a.Kind != records.KindHot || a.State != records.AccountOK || p.all.retired(a) {
			continue
		}
		for _, t := range p.deps.Rules().Network(a.Network).Tokens {
			from := paidFrom{a.Account, t.Asset}
			if p.allowed[from] || b.ledger.MaxBatch(t.Asset) < 2 {
				continue
			}
			_, err := b.allowed(ctx, t.Asset, chain.NewAmount(1))
			p.allowed[from] = err == nil
			faults = errors.Join(faults, err)
		}
	}
	return faults
}

// mayShare reports whether payments of an asset can share transactions now.
func (b batching) mayShare(ctx context.Context, list []records.Payment) (bool, error) {
	if len(list) == 1 && b.ripe(list) {
		return false, nil
	}
	var sum chain.Amount
	for _, q := range list {
		var err error
		if sum, err = sum.Add(q.Amount); err != nil {
			return false, err
		}
	}
	return b.allowed(ctx, list[0].Asset, sum)
}

// allowed reports whether batches may move an amount of an asset now, and orders the allowance if
// not.
func (b batching) allowed(ctx context.Context, asset chain.Asset, amount chain.Amount) (bool, error) {
	allowed, err := b.ledger.Allowed(ctx, b.account.Account, asset, amount)
	if err != nil {
		return false, fmt.Errorf("asking whether batches may move %s: %w", asset, err)
	}
	if allowed {
		return true, nil
	}
	err = b.payer.deps.Store.Update(ctx, func(tx *records.Tx) error {
		_, err := tx.Payments().Queue(records.Payment{
			Purpose: chain.Allow, Network: b.account.Network, Chain: b.payer.id, Account: b.account.Account, Asset: asset, Payee: b.ledger.BatchTo(asset),
		})
		return err
	})
	if errors.Is(err, records.ErrConflict) { // it is on its way
		err = nil
	}
	return false, err
}

// ripe reports whether payments of an asset leave now: they fill a transaction, or one of them has
// waited long enough for others.
func (b batching) ripe(list []records.Payment) bool {
	return len(list) >= b.ledger.MaxBatch(list[0].Asset) || slices.ContainsFunc(list, func(q records.Payment) bool {
		return b.payer.deps.Now().Sub(q.CreatedAt) >= b.ledger.BatchWait()
	})
}

// atOnce bounds the payments of an asset that are bound at once to so many free numbers. They fill
// their transactions.
func (b batching) atOnce(asset chain.Asset, free int) int {
	most := 1
	if b.ledger != nil {
		most = max(1, b.ledger.MaxBatch(asset))
	}
	return min(free, MaxGroup/most) * most
}
