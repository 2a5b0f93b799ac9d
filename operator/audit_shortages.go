package operator

import (
	"context"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/status"
	"gatewayd/watcher/reconcile"
)

// Shortage is a balance that is too low for pending payments, while books and chains agree. Amounts
// are in smallest units of the asset; they are left out where only the daemon knows them.
type Shortage struct {
	Network string        `json:"network"`
	Chain   chain.ID      `json:"chain"`
	Token   string        `json:"token,omitempty"`
	Account string        `json:"account,omitempty"` // to top up
	Asset   chain.Asset   `json:"asset,omitempty"`
	Holds   *chain.Amount `json:"holds,omitempty"`
	Needs   *chain.Amount `json:"needs,omitempty"` // what is owed, or the smallest payment
	Missing *chain.Amount `json:"missing,omitempty"`
	Detail  string        `json:"detail"`
	Next    string        `json:"next"` // the next step
}

// stopped sorts the conditions that block payments. The audit compares holdings and debts itself,
// so conditions of tokens without funds add nothing.
func (a *audit) stopped(ctx context.Context) error {
	report, err := a.Conditions(ctx)
	if err != nil {
		return err
	}
	for _, c := range report.Conditions {
		a.checks++
		switch {
		case c.Kind == status.ChainHalted, c.Kind == status.AccountStopped, c.Kind == status.AccountIdle:
			a.faults = append(a.faults, c.Detail)
		case !c.Stops, c.Kind == status.NoFunds, c.Kind == status.ChannelStopped && a.isShort(c.Network, c.Token):
		case c.Kind == status.NoCoin, c.Kind == status.NoQuota:
			a.shortages = append(a.shortages, Shortage{Network: c.Network, Chain: c.Chain, Account: c.Subject, Detail: c.Detail, Next: status.Remedy(c.Kind)})
		default:
			a.blocked = append(a.blocked, c.Detail)
		}
	}
	return nil
}

func (a *audit) isShort(network, token string) bool {
	return slices.ContainsFunc(a.shortages, func(s Shortage) bool { return s.Network == network && s.Token == token })
}

// holdings checks that the paying accounts have what they owe, or at least the smallest payment of
// each token; what is on its way between them and deposits not swept yet count.
func (a *audit) holdings(ctx context.Context) error {
	networks, err := a.Networks(ctx)
	if err != nil {
		return err
	}
	for _, n := range networks {
		for _, p := range []paidSide{
			{n, n.Source, records.KindHot, records.Withdrawal},
			{n, n.Exchange, records.KindGateway, records.Deposit},
		} {
			if err := a.checkCoverage(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// paidSide is one direction of a network with the kind of the accounts that pay it.
type paidSide struct {
	network   records.Network
	chain     chain.ID
	kind      records.AccountKind
	direction records.Direction
}

func (p paidSide) token(asset chain.Asset) string {
	for _, t := range p.network.Tokens {
		if (p.direction == records.Withdrawal && t.Asset == asset) || (p.direction == records.Deposit && chain.Asset(t.TokenID) == asset) {
			return t.TokenID
		}
	}
	return ""
}

func (a *audit) checkCoverage(ctx context.Context, p paidSide) error {
	var pool []books.PoolAccount
	var unswept []records.SweepCandidate
	err := a.Store.View(ctx, func(tx *records.Tx) (err error) {
		if pool, err = books.Pool(tx, p.network.Name, p.chain, p.kind); err != nil {
			return err
		}
		unswept, err = tx.Treasury().Candidates(p.chain)
		return err
	})
	if err != nil || len(pool) == 0 {
		return err
	}
	owed, err := books.PoolSum(pool, func(p books.PoolAccount) map[chain.Asset]chain.Amount { return p.Owed })
	if err != nil {
		return err
	}
	check := func(asset chain.Asset, need chain.Amount, text string) error {
		have, err := reconcile.Held(ctx, a.chains[p.chain], pool, asset)
		if err != nil {
			return err
		}
		for _, s := range unswept {
			if s.Asset == asset {
				if have, err = have.Add(s.Booked); err != nil {
					return err
				}
			}
		}
		amount := func(x chain.Amount) string { return a.Config.AssetAmount(p.chain, asset, x) }
		a.short(Shortage{
			Network: p.network.Name, Chain: p.chain, Token: p.token(asset), Account: pool[0].Account.Account, Asset: asset, Holds: &have, Needs: &need,
			Detail: fmt.Sprintf("%s on %s holds %s and "+text, p.network.Name, p.chain, amount(have), amount(need)),
		})
		return nil
	}
	for asset, sum := range owed {
		if err := check(asset, sum, "owes %s"); err != nil {
			return err
		}
	}
	for _, t := range p.network.Tokens {
		asset, least, err := reconcile.SmallestPayment(t, p.direction)
		if err != nil {
			return err
		}
		if owed[asset].IsZero() {
			err = check(asset, least, "the smallest payment needs %s")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// short checks that an account holds what it needs. The largest shortage of an asset is reported.
func (a *audit) short(s Shortage) {
	a.checks++
	missing, err := s.Needs.Sub(*s.Holds)
	if err != nil || missing.IsZero() { // it holds more, or as much
		return
	}
	s.Missing = &missing
	s.Next = fmt.Sprintf("send at least %s to %s on %s, from an address in `funders`", a.Config.AssetAmount(s.Chain, s.Asset, missing), s.Account, s.Chain)
	i := slices.IndexFunc(a.shortages, func(o Shortage) bool { return o.Network == s.Network && o.Chain == s.Chain && o.Asset == s.Asset })
	switch {
	case i < 0:
		a.shortages = append(a.shortages, s)
	case a.shortages[i].Missing.Less(missing):
		a.shortages[i] = s
	}
}
