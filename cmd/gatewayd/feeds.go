package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/exchangeapi"
)

// feeds reads price feeds through the nodes of the source chains, by chain.
type feeds map[chain.ID]*ethereum.Chain

// openFeeds takes the chains that the feeds stand on. It asks nothing yet.
func openFeeds(sources []ethereum.Config, list []exchangeapi.FeedConfig) (feeds, error) {
	open := feeds{}
	for _, f := range list {
		if open[chain.ID(f.Chain)] != nil {
			continue
		}
		cfg, known := sourceOf(sources, f.Chain)
		if !known {
			open.close()
			return nil, fmt.Errorf("price feeds: chain %q is not in the list ethereum", f.Chain)
		}
		adapter, err := ethereum.New(cfg, nil, nil)
		if err != nil {
			open.close()
			return nil, fmt.Errorf("price feeds: chain %s: %w", f.Chain, err)
		}
		open[cfg.ID] = adapter
	}
	return open, nil
}

func sourceOf(sources []ethereum.Config, id string) (ethereum.Config, bool) {
	for _, s := range sources {
		if string(s.ID) == id {
			return s, true
		}
	}
	return ethereum.Config{}, false
}

// Feed answers the price that a feed tells, and when it was agreed on.
func (f feeds) Feed(ctx context.Context, id, address string) (decimal.Decimal, time.Time, error) {
	source := f[chain.ID(id)]
	if source == nil {
		return decimal.Decimal{}, time.Time{}, fmt.Errorf("no source chain %q", id)
	}
	r, err := source.Feed(ctx, address)
	if err != nil {
		return decimal.Decimal{}, time.Time{}, err
	}
	return decimal.NewFromBigInt(r.Answer.Uint256().ToBig(), -int32(r.Decimals)), r.Updated, nil
}

func (f feeds) close() {
	for _, source := range f {
		source.Close()
	}
}
