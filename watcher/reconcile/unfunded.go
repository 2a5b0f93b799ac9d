package reconcile

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/status"
)

// unfunded finds directions that cannot make even the smallest payment, because their accounts
// together hold too little, as those of a new gateway do. It reads no payments: Books finds what is
// owed and not held.
type unfunded struct {
	Parts
	short map[string]int // what was once enough -> rounds in a row in which it is not
	// source of conditions -> number in the last round; sources without a report of this process
	// are not in it
	reported map[string]int
}

func newUnfunded(p Parts) *unfunded {
	return &unfunded{Parts: p, short: map[string]int{}, reported: map[string]int{}}
}

// side is one direction of a network with the accounts that pay for it.
type side struct {
	records.Network
	direction records.Direction
	chain     chain.ID
	kind      records.AccountKind
	pool      []books.PoolAccount
}

// round checks both directions of every network. Where a figure cannot be read, the direction's
// conditions do not change.
func (u *unfunded) round(ctx context.Context) error {
	var faults []error
	for _, n := range u.Networks() {
		for _, s := range []side{
			{Network: n, direction: records.Withdrawal, chain: n.Source, kind: records.KindHot},
			{Network: n, direction: records.Deposit, chain: n.Exchange, kind: records.KindGateway},
		} {
			if err := u.checkSide(ctx, s); err != nil {
				faults = append(faults, fmt.Errorf("checking whether %ss of network %s can be paid: %w", s.direction, n.Name, err))
			}
		}
	}
	return errors.Join(faults...)
}

// checkSide stores what a side lacks as conditions, when that may differ from what is stored.
func (u *unfunded) checkSide(ctx context.Context, s side) error {
	err := u.Store.View(ctx, func(tx *records.Tx) (err error) {
		s.pool, err = books.Pool(tx, s.Name, s.chain, s.kind)
		return err
	})
	if err != nil || len(s.pool) == 0 || len(s.Tokens) == 0 {
		return err
	}
	found, err := u.lacks(ctx, s)
	if err != nil {
		return err
	}
	source := fmt.Sprintf("unfunded:%s:%s", s.Name, s.direction)
	if before, known := u.reported[source]; known && before == 0 && len(found) == 0 {
		return nil
	}
	err = u.Store.Update(ctx, func(tx *records.Tx) error { return records.NoteConditions(tx, source, found) })
	if err == nil {
		u.reported[source] = len(found)
	}
	return err
}

// lacks returns what stops a side: what each payment takes, then each token.
func (u *unfunded) lacks(ctx context.Context, s side) (found []records.Condition, err error) {
	common := u.coin
	if s.direction == records.Deposit {
		common = u.quota
	}
	if found, err = common(ctx, s); err != nil {
		return nil, err
	}
	for _, t := range s.Tokens {
		some, err := u.funds(ctx, s, t)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	return found, nil
}

// SmallestPayment is the least that is paid of a token in a direction, in units of the asset that
// is paid.
func SmallestPayment(t records.Token, d records.Direction) (asset chain.Asset, least chain.Amount, err error) {
	asset, least = chain.Asset(t.TokenID), t.Policy.MinDeposit
	if d == records.Withdrawal {
		asset = t.Asset
		least, _, err = t.Policy.MinWithdraw.Rescale(t.Decimals, t.AssetDecimals)
	}
	if least.IsZero() {
		least = chain.NewAmount(1)
	}
	return asset, least, err
}

// account is the side's published account.
func (s side) account() string { return s.pool[0].Account.Account }

func (s side) text(asset chain.Asset, a chain.Amount) string { return s.AmountText(s.chain, asset, a) }

func (s side) stopped(k status.Kind, subject, format string, args ...any) []records.Condition {
	return []records.Condition{{
		Kind: string(k), Chain: s.chain, Network: s.Name, Direction: s.direction, Subject: subject, Stops: true,
		Detail: fmt.Sprintf("account %s on %s ", s.account(), s.chain) + fmt.Sprintf(format, args...),
	}}
}

// funds checks whether a side holds a token's smallest payment. The gateway's accounts pay from
// their holdings: no tokens are issued for them.
func (u *unfunded) funds(ctx context.Context, s side, t records.Token) ([]records.Condition, error) {
	asset, least, err := SmallestPayment(t, s.direction)
	if err != nil {
		return nil, fmt.Errorf("minimum of %s: %w", t.Symbol, err)
	}
	subject := s.account() + "/" + t.TokenID
	have, err := u.holds(ctx, s, asset, least)
	if err != nil || !u.lasts(string(s.chain)+" "+subject, have.Less(least)) {
		return nil, err
	}
	found := s.stopped(status.NoFunds, subject, "holds %s (%s), and the smallest payment needs %s: top it up", s.text(asset, have), asset, s.text(asset, least))
	found[0].Token = t.TokenID
	return found, nil
}

// coin checks whether hot accounts hold the fee of the cheapest payout.
func (u *unfunded) coin(ctx context.Context, s side) ([]records.Condition, error) {
	c := chain.CapabilitiesOf(u.Chains[s.chain]).Costs
	if c == nil {
		return nil, nil
	}
	cheapest := s.Tokens[0].Asset
	for _, t := range s.Tokens {
		if t.Asset == chain.Native {
			cheapest = chain.Native
		}
	}
	cost, err := c.PayoutCost(ctx, cheapest)
	if err != nil {
		return nil, err
	}
	have, err := u.holds(ctx, s, chain.Native, cost)
	if err != nil || !u.lasts(string(s.chain)+" "+s.account()+" coin", have.Less(cost)) {
		return nil, err
	}
	return s.stopped(status.NoCoin, s.account(), "holds too little coin for the fees of its payouts: top it up (it has %s, one costs %s now)", s.text(chain.Native, have), s.text(chain.Native, cost)), nil
}

// quota checks whether one of the gateway's accounts can pay a credit, however long it may have to
// wait for quota.
func (u *unfunded) quota(ctx context.Context, s side) ([]records.Condition, error) {
	c := chain.CapabilitiesOf(u.Chains[s.chain]).Quota
	if c == nil {
		return nil, nil
	}
	var most, takes uint64
	for _, a := range s.pool {
		has, each, err := c.CreditQuota(ctx, a.Account.Account)
		if err != nil {
			return nil, err
		}
		if most, takes = max(most, has), each; most >= takes {
			break
		}
	}
	if !u.lasts(string(s.chain)+" "+s.account()+" quota", most < takes) {
		return nil, nil
	}
	return s.stopped(status.NoQuota, s.account(), "has a stake for at most %d quota, and a credit needs %d: stake for it", most, takes), nil
}

// holds sums a side's holdings of an asset, with moves in progress between its accounts and
// balances of deposit addresses, until it is enough.
func (u *unfunded) holds(ctx context.Context, s side, asset chain.Asset, enough chain.Amount) (sum chain.Amount, err error) {
	for i := range s.pool {
		some, err := Held(ctx, u.Chains[s.chain], s.pool[i:i+1], asset)
		if err == nil {
			sum, err = sum.Add(some)
		}
		if err != nil || !sum.Less(enough) {
			return sum, err
		}
	}
	return u.withUnswept(ctx, s.chain, asset, sum)
}

// lasts reports whether an asset is short: at once when it was never enough since the process
// began, else after patience rounds in a row. Payments that are mined between two reads, and
// sweeps, make accounts look empty for a moment.
func (u *unfunded) lasts(key string, short bool) bool {
	rounds, was := u.short[key]
	switch {
	case !short:
		u.short[key] = 0
		return false
	case !was:
		return true
	}
	u.short[key] = rounds + 1
	return rounds+1 >= patience
}
