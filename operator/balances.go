package operator

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// Balance is one line of `balances --json`: what an account of ours has of one asset, by the nodes'
// newest block.
type Balance struct {
	Network string              `json:"network"`
	Chain   chain.ID            `json:"chain"`
	Kind    records.AccountKind `json:"kind"`
	Account string              `json:"account"`
	Retired bool                `json:"retired,omitempty"` // it no longer pays; its balance moves to the paying accounts
	Asset   chain.Asset         `json:"asset"`
	Amount  *chain.Amount       `json:"amount,omitempty"` // in smallest units; left out where the nodes do not answer
	Pending chain.Amount        `json:"pending"`          // payments to users that no block contains yet
	Fault   string              `json:"fault,omitempty"`
}

// Balances asks for all accounts that pay, of every asset that they pay with.
func Balances(ctx context.Context, d *Session) (list []Balance, err error) {
	if err := d.Store.View(ctx, func(tx *records.Tx) (err error) { list, err = ownBalances(tx, d); return err }); err != nil {
		return nil, err
	}
	open, err := d.Opener(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var g errgroup.Group
	for _, c := range d.Config.Chains() {
		adapter, err := open(c)
		if err != nil {
			return nil, err
		}
		g.Go(func() error {
			defer adapter.Close()
			for i := range list {
				if list[i].Chain == c.ID {
					list[i].read(ctx, adapter)
				}
			}
			return nil
		})
	}
	return list, g.Wait()
}

func (b *Balance) read(ctx context.Context, c chain.Chain) {
	amount, err := c.Balance(ctx, b.Account, b.Asset)
	if err != nil {
		b.Fault = chain.PlainError(err)
		return
	}
	b.Amount = &amount
}

// ownBalances returns the lines, still without the nodes' answers.
func ownBalances(tx *records.Tx, d *Session) (list []Balance, err error) {
	for _, n := range d.Config.NetworkRecords() {
		for _, id := range []chain.ID{n.Source, n.Exchange} {
			accounts, err := tx.Accounts().List(id, records.KindHot, records.KindGas, records.KindGateway)
			if err != nil {
				return nil, err
			}
			for _, a := range accounts {
				if a.Network != n.Name {
					continue
				}
				owed, err := books.Owed(tx, id, a.Account)
				if err != nil {
					return nil, err
				}
				for _, asset := range assetsOf(n, a.Kind) {
					list = append(list, Balance{Network: n.Name, Chain: id, Kind: a.Kind, Account: a.Account, Retired: d.Config.Retired(a), Asset: asset, Pending: owed[asset]})
				}
			}
		}
		list = append(list, coldBalances(n)...)
	}
	return list, nil
}

// coldBalances are the lines of the cold addresses, each asset once.
func coldBalances(n records.Network) (list []Balance) {
	for _, t := range n.Tokens {
		b := Balance{Network: n.Name, Chain: n.Source, Kind: records.KindCold, Account: t.Cold, Asset: t.Asset}
		if t.Cold != "" && !slices.Contains(list, b) {
			list = append(list, b)
		}
	}
	return list
}

// assetsOf lists the assets of an account's kind: a source chain's accounts need its coin for fees.
func assetsOf(n records.Network, kind records.AccountKind) (assets []chain.Asset) {
	if kind != records.KindGateway {
		assets = append(assets, chain.Native)
	}
	for _, t := range n.Tokens {
		switch {
		case kind == records.KindGateway:
			assets = append(assets, chain.Asset(t.TokenID))
		case kind == records.KindHot && t.Asset != chain.Native:
			assets = append(assets, t.Asset)
		}
	}
	return assets
}

// paying is the kind of the accounts that pay a channel.
func paying(c Channel) records.AccountKind {
	if c.Direction == records.Withdrawal {
		return records.KindHot
	}
	return records.KindGateway
}

// held adds up what the accounts of a kind have for a channel; nil where one is not known, or there
// is none.
func held(all []Balance, c Channel, kind records.AccountKind) *chain.Amount {
	var sum *chain.Amount
	for _, b := range all {
		if b.Network != c.Network || b.Chain != c.Chain || b.Asset != c.Asset || b.Kind != kind {
			continue
		}
		if b.Amount == nil {
			return nil
		}
		if sum == nil {
			sum = new(chain.Amount)
		}
		total, err := sum.Add(*b.Amount)
		if err != nil {
			return nil
		}
		sum = &total
	}
	return sum
}
