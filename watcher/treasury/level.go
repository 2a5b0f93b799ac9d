package treasury

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// ReservedFees is for how many token payments an account of a pool keeps coin, at least.
const ReservedFees = 4

// pool is the accounts that pay on one chain of a network, with those that did before.
type pool struct {
	network records.Network
	chain   chain.Chain
	all     []books.PoolAccount
}

// Level shares the balances of each pool's accounts. An account that owes more than its balance, or
// has less than half of its share of the free funds, gets its part from those with more than
// theirs. A retired account sends its free funds to the first account that pays, and gets coin for
// the fees from the gas account where it has none. Level only queues payments from account to
// account. Queued payments of an earlier round without a slot are voided and computed again.
func (tr *Treasury) Level(ctx context.Context) error {
	var faults []error
	for _, n := range tr.Networks() {
		for id, kind := range map[chain.ID]records.AccountKind{n.Source: records.KindHot, n.Exchange: records.KindGateway} {
			if !tr.Owns(id) {
				continue
			}
			if err := tr.levelPool(ctx, n, id, kind); err != nil {
				faults = append(faults, fmt.Errorf("levelling the accounts of %s on %s: %w", n.Name, id, err))
			}
		}
	}
	return errors.Join(faults...)
}

func (tr *Treasury) levelPool(ctx context.Context, n records.Network, id chain.ID, kind records.AccountKind) error {
	p := pool{network: n, chain: tr.Chains[id]}
	err := tr.Store.View(ctx, func(tx *records.Tx) error {
		cur, err := tx.Chains().Cursor(id)
		if err != nil || cur.Halted { // no payment is possible there: queued ones would be recomputed in every round
			return err
		}
		p.all, err = books.Pool(tx, n.Name, id, kind)
		return err
	})
	if err != nil || len(p.all) < 2 {
		return err
	}
	if slices.ContainsFunc(p.all, func(a books.PoolAccount) bool { return len(a.Waiting) > 0 }) {
		if p.all, err = tr.voidQueuedMoves(ctx, n, id, kind); err != nil {
			return err
		}
	}
	var moves []records.Payment
	for _, asset := range p.assets(id) {
		some, err := p.moves(ctx, asset, moves)
		if err != nil {
			return err
		}
		moves = append(moves, some...)
	}
	if moves, err = p.addGas(ctx, moves); err != nil {
		return err
	}
	return tr.queueMoves(ctx, moves)
}

// addGas replaces the moves of a retired account that has no coin for their fees by a payment of
// coin from the gas account. The moves follow in a later round.
func (p pool) addGas(ctx context.Context, moves []records.Payment) ([]records.Payment, error) {
	c := chain.CapabilitiesOf(p.chain).Sweeps
	if c == nil || p.chain.ID() != p.network.Source || p.network.Gas == "" {
		return moves, nil
	}
	for _, a := range p.all {
		account := a.Account.Account
		if p.network.Pays(a.Chain, account) || !slices.ContainsFunc(moves, func(m records.Payment) bool { return m.Account == account && m.Asset != chain.Native }) {
			continue
		}
		need, err := c.TokenSweepCost(ctx)
		if err != nil {
			return nil, err
		}
		have, err := p.chain.Balance(ctx, account, chain.Native)
		if err != nil {
			return nil, fmt.Errorf("asking for the balance of %s: %w", account, err)
		}
		if have = have.Excess(a.Leaving[chain.Native]); !have.Less(need) {
			continue
		}
		if need, err = need.Mul(ReservedFees); err != nil {
			return nil, err
		}
		moves = slices.DeleteFunc(moves, func(m records.Payment) bool { return m.Account == account })
		moves = append(moves, records.Payment{
			Purpose: chain.Gas, Network: p.network.Name, Chain: a.Chain, Account: p.network.Gas, Payee: account, Asset: chain.Native, Amount: need.Excess(have),
		})
	}
	return moves, nil
}

// voidQueuedMoves voids what is queued between the accounts of a pool, and reads them again.
func (tr *Treasury) voidQueuedMoves(ctx context.Context, n records.Network, id chain.ID, kind records.AccountKind) (all []books.PoolAccount, err error) {
	err = tr.Store.Update(ctx, func(tx *records.Tx) error {
		if all, err = books.Pool(tx, n.Name, id, kind); err != nil {
			return err
		}
		for _, a := range all {
			for _, payment := range a.Waiting {
				err := tx.Payments().Move(payment, records.Queued, records.VoidPayment, "recounted")
				if err != nil && !errors.Is(err, records.ErrConflict) { // an older line of ours may still carry it out
					return err
				}
			}
		}
		all, err = books.Pool(tx, n.Name, id, kind)
		return err
	})
	return all, err
}

func (tr *Treasury) queueMoves(ctx context.Context, moves []records.Payment) error {
	if len(moves) == 0 {
		return nil
	}
	err := tr.Store.Update(ctx, func(tx *records.Tx) error {
		for _, m := range moves {
			id, err := tx.Payments().Queue(m)
			if errors.Is(err, records.ErrConflict) { // one like it is under way
				continue
			}
			if err != nil {
				return err
			}
			tr.Log.WithFields(logrus.Fields{"payment": id, "account": m.Account, "to": m.Payee, "asset": m.Asset, "amount": m.Amount}).Info("levelling queued")
		}
		return nil
	})
	if err == nil {
		tr.Wake()
	}
	return err
}

// assets lists the pool's assets on a chain, and last the coin for fees.
func (p pool) assets(id chain.ID) (list []chain.Asset) {
	coin := false
	for _, t := range p.network.Tokens {
		switch {
		case id == p.network.Exchange:
			list = append(list, chain.Asset(t.TokenID))
		case t.Asset == chain.Native:
			coin = true
		default:
			list = append(list, t.Asset)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if fees := chain.CapabilitiesOf(p.chain).Costs != nil; coin || fees && id == p.network.Source {
		list = append(list, chain.Native)
	}
	return list
}

// moves returns the payments that level one asset, in addition to those planned for others.
func (p pool) moves(ctx context.Context, asset chain.Asset, planned []records.Payment) ([]records.Payment, error) {
	worth, reserve, err := p.costs(ctx, asset)
	if err != nil {
		return nil, err
	}
	l := level{worth: worth}
	for _, a := range p.all {
		m, err := p.member(ctx, a, asset)
		if err != nil {
			return nil, err
		}
		pays := slices.ContainsFunc(planned, func(q records.Payment) bool { return q.Account == m.account.Account })
		if !m.retired || pays || len(a.Owed) > 0 || len(a.Leaving) > 0 {
			if m.owes, err = m.owes.Add(reserve); err != nil {
				return nil, err
			}
		}
		l.members = append(l.members, m)
	}
	list, err := l.moves()
	for i := range list {
		list[i].Purpose, list[i].Network, list[i].Asset = chain.Sweep, p.network.Name, asset
	}
	return list, err
}

// member asks what an account has of an asset.
func (p pool) member(ctx context.Context, a books.PoolAccount, asset chain.Asset) (m member, err error) {
	have, err := p.chain.Balance(ctx, a.Account.Account, asset)
	if err != nil {
		return m, fmt.Errorf("asking for the balance of %s: %w", a.Account.Account, err)
	}
	m = member{account: a.Account, owes: a.Owed[asset], has: have.Excess(a.Leaving[asset])}
	m.retired = !slices.Contains(p.network.Paying(a.Chain), m.account.Account)
	m.gets, err = m.has.Add(a.Coming[asset])
	return m, err
}

// costs are the least that is worth a transfer of an asset, and the coin that an account keeps for
// fees.
func (p pool) costs(ctx context.Context, asset chain.Asset) (worth, reserve chain.Amount, err error) {
	c := chain.CapabilitiesOf(p.chain).Sweeps
	if c == nil || p.chain.ID() != p.network.Source {
		return worth, reserve, nil
	}
	if asset != chain.Native {
		return p.smallestPayout(asset), reserve, nil
	}
	cost, err := c.SweepCost(ctx)
	if err != nil {
		return worth, reserve, err
	}
	if worth, err = cost.Mul(SweepFactor); err != nil {
		return worth, reserve, err
	}
	if reserve, err = c.TokenSweepCost(ctx); err != nil {
		return worth, reserve, err
	}
	reserve, err = reserve.Mul(ReservedFees)
	return worth, reserve, err
}

// smallestPayout is the smallest payout of an asset: who is to make one holds no less.
func (p pool) smallestPayout(asset chain.Asset) (least chain.Amount) {
	for _, t := range p.network.Tokens {
		if t.Asset != asset {
			continue
		}
		if units, _, err := t.Policy.MinWithdraw.Rescale(t.Decimals, t.AssetDecimals); err == nil && (least.IsZero() || units.Less(least)) {
			least = units
		}
	}
	return least
}
