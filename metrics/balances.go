package metrics

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/vite"
	"gatewayd/records"
	"gatewayd/records/books"
)

// quotaPayer is a chain on which blocks cost quota.
type quotaPayer interface {
	Quota(ctx context.Context, account string) (vite.Quota, error)
}

// holding is an asset at an account of ours.
type holding struct {
	network, symbol string
	chain           chain.ID
	kind            records.AccountKind
	account         string
	asset           chain.Asset
	decimals        uint8
}

func (s holding) labels() []string {
	return []string{s.network, string(s.chain), string(s.kind), s.account, string(s.asset), s.symbol}
}

// slowFigures are the figures that are read seldom, because they take calls to nodes. A scrape
// shows the last reading.
type slowFigures struct {
	mu    sync.Mutex
	at    time.Time
	held  map[holding]float64
	quota map[holding]vite.Quota // of holdings without an asset
	size  int64                  // of the database; 0: not known
}

// readSlow reads balances and quota from the nodes and the database's size. A scrape leaves out
// what was not answered.
func (f *follower) readSlow(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, slowTime)
	defer cancel()
	held, quotas := map[holding]float64{}, map[holding]vite.Quota{}
	for _, n := range f.Networks() {
		for _, s := range f.holdings(n) {
			if c := f.Chains[s.chain]; c != nil {
				if a, err := c.Balance(ctx, s.account, s.asset); err == nil {
					held[s] = whole(a, s.decimals)
				}
			}
		}
		payer, ok := f.Chains[n.Exchange].(quotaPayer)
		for _, account := range n.Gateways {
			if !ok {
				break
			}
			if q, err := payer.Quota(ctx, account); err == nil {
				quotas[holding{network: n.Name, chain: n.Exchange, account: account}] = q
			}
		}
	}
	size, _ := f.Store.Size(ctx)
	f.slow.mu.Lock()
	defer f.slow.mu.Unlock()
	f.slow.at, f.slow.held, f.slow.quota, f.slow.size = time.Now(), held, quotas, size
}

// holdings are the assets of a network at its own accounts: what is paid, and the coin for fees.
func (f *follower) holdings(n records.Network) (list []holding) {
	seen := map[holding]bool{}
	add := func(s holding) {
		s.network = n.Name
		if key := (holding{chain: s.chain, account: s.account, asset: s.asset}); !seen[key] {
			seen[key] = true
			list = append(list, s)
		}
	}
	hots, gateways := append(slices.Clone(n.Hots), n.RetiredHots...), append(slices.Clone(n.Gateways), n.RetiredGateways...)
	for _, t := range n.Tokens {
		for _, a := range hots {
			add(holding{chain: n.Source, kind: records.KindHot, account: a, asset: t.Asset, decimals: t.AssetDecimals, symbol: t.SourceSymbol()})
		}
		if t.Cold != "" {
			add(holding{chain: n.Source, kind: records.KindCold, account: t.Cold, asset: t.Asset, decimals: t.AssetDecimals, symbol: t.SourceSymbol()})
		}
		for _, a := range gateways {
			add(holding{chain: n.Exchange, kind: records.KindGateway, account: a, asset: chain.Asset(t.TokenID), decimals: t.Decimals, symbol: t.Symbol})
		}
	}
	for _, a := range hots {
		add(holding{chain: n.Source, kind: records.KindHot, account: a, asset: chain.Native, decimals: f.CoinDecimals[n.Source], symbol: "coin"})
	}
	if n.Gas != "" {
		add(holding{chain: n.Source, kind: records.KindGas, account: n.Gas, asset: chain.Native, decimals: f.CoinDecimals[n.Source], symbol: "coin"})
	}
	return list
}

// accounts are the states of our own accounts, what they hold and what they owe.
func (f *follower) accounts(tx *records.Tx, p *page, networks []records.Network) error {
	count := map[[4]string]int{}
	for id := range f.Chains {
		list, err := tx.Accounts().List(id, records.KindHot, records.KindGas, records.KindGateway, records.KindShared)
		if err != nil {
			return err
		}
		for _, a := range list {
			count[[4]string{a.Network, string(a.Chain), string(a.Kind), string(a.State)}]++
		}
	}
	for labels, n := range count {
		p.set(accounts, float64(n), labels[:]...)
	}
	f.slow.mu.Lock()
	defer f.slow.mu.Unlock()
	for s, have := range f.slow.held {
		p.set(balance, have, s.labels()...)
	}
	for s, q := range f.slow.quota {
		p.set(quota, float64(q.Current), s.network, string(s.chain), s.account)
		p.set(quotaMost, float64(q.Max), s.network, string(s.chain), s.account)
	}
	if f.slow.size > 0 {
		p.set(databaseSize, float64(f.slow.size), "records")
	}
	if !f.slow.at.IsZero() {
		p.set(balancesAt, float64(f.slow.at.Unix()))
	}
	return f.owed(tx, p, networks)
}

func (f *follower) owed(tx *records.Tx, p *page, networks []records.Network) error {
	sums := map[holding]map[chain.Asset]chain.Amount{} // by chain and account
	for _, n := range networks {
		for _, s := range f.holdings(n) {
			if s.kind == records.KindGas || s.kind == records.KindCold {
				continue
			}
			key := holding{chain: s.chain, account: s.account}
			if sums[key] == nil {
				var err error
				if sums[key], err = books.Owed(tx, s.chain, s.account); err != nil {
					return err
				}
			}
			p.set(owed, whole(sums[key][s.asset], s.decimals), s.labels()...)
		}
	}
	return nil
}

// whole converts an amount to whole units, approximately, for a chart.
func whole(a chain.Amount, decimals uint8) float64 {
	f, err := strconv.ParseFloat(a.Whole(decimals), 64)
	if err != nil {
		return 0
	}
	return f
}
