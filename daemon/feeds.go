package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/exchangeapi/rates"
)

// feeds reads price feeds through the nodes of the source chains, by chain.
type feeds map[chain.ID]feedReader

// feedReader is a chain on which price feeds can be read.
type feedReader interface {
	Feed(ctx context.Context, address string) (ethereum.Reading, error)
	Close()
}

// OpenFeeds selects the feeds' chains. It sends no requests yet.
func OpenFeeds(chains []config.Chain, list []rates.FeedConfig) (feeds, error) {
	open := feeds{}
	for _, f := range list {
		if open[chain.ID(f.Chain)] != nil {
			continue
		}
		adapter, err := openFeed(chains, f.Chain)
		if err != nil {
			open.Close()
			return nil, fmt.Errorf("price feeds: %w", err)
		}
		open[chain.ID(f.Chain)] = adapter
	}
	return open, nil
}

func openFeed(chains []config.Chain, id string) (feedReader, error) {
	i := slices.IndexFunc(chains, func(c config.Chain) bool { return c.Source && string(c.ID) == id })
	if i < 0 {
		return nil, fmt.Errorf("chain %q is not in the list ethereum", id)
	}
	adapter, err := chains[i].Open(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", id, err)
	}
	reader, ok := adapter.(feedReader)
	if !ok {
		adapter.Close()
		return nil, fmt.Errorf("chain %q has no price feeds", id)
	}
	return reader, nil
}

// Feed returns a feed's price and the time of its last update.
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

func (f feeds) Close() {
	for _, source := range f {
		source.Close()
	}
}
