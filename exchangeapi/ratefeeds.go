package exchangeapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"
)

// feeds reads price feeds on source chains.
type feeds interface {
	// Feed answers the price that the contract at an address of a chain tells, and when it was agreed on there.
	Feed(ctx context.Context, chain, address string) (value decimal.Decimal, at time.Time, err error)
}

// feedsAtOnce bounds the questions that the source chains' nodes have to answer together.
const feedsAtOnce = 8

// refreshFeeds asks every feed. One that does not answer keeps its last price, which grows old.
func (r *rates) refreshFeeds(ctx context.Context) error {
	var mu sync.Mutex
	var faults []error
	var g errgroup.Group
	g.SetLimit(feedsAtOnce)
	for _, f := range r.cfg.Feeds {
		g.Go(func() error {
			if err := r.refreshFeed(ctx, f); err != nil {
				mu.Lock()
				defer mu.Unlock()
				faults = append(faults, fmt.Errorf("the price of %s in %s: %w", f.Coin, f.Currency, err))
			}
			return nil
		})
	}
	_ = g.Wait() // the faults say it
	return errors.Join(faults...)
}

func (r *rates) refreshFeed(ctx context.Context, f FeedConfig) error {
	ctx, cancel := context.WithTimeout(ctx, rateTime)
	defer cancel()
	value, at, err := r.feeds.Feed(ctx, f.Chain, f.Address)
	if err != nil {
		return err
	}
	if err := checkPrice(value); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fed[f.Coin] == nil {
		r.fed[f.Coin] = quote{}
	}
	r.fed[f.Coin][f.Currency] = price{value: value, at: at, until: at.Add(f.Heartbeat)}
	return nil
}
