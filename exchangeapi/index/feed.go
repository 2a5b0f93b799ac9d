package index

import (
	"context"
	"slices"
	"sync"
)

// feed hands updates to subscribers.
type feed struct {
	mu          sync.Mutex
	subscribers map[*Subscription]struct{}
}

// Subscription is a bounded queue of updates. Updates are shared with other subscribers: do not
// change them.
type Subscription struct {
	feed    *feed
	updates chan Update // capacity: as asked, what the reader may be behind
	lagged  chan struct{}
	seq     uint64
}

// Subscribe gives all updates from now on. A reader that falls capacity updates behind gets what is
// queued, then ErrLagged.
func (x *Index) Subscribe(capacity int) *Subscription {
	s := &Subscription{feed: &x.feed, updates: make(chan Update, max(1, capacity)), lagged: make(chan struct{})}
	x.feed.mu.Lock()
	defer x.feed.mu.Unlock()
	x.feed.subscribers[s] = struct{}{}
	return s
}

// Next waits for the next update. Errors: ErrLagged, also after Close; ctx's.
func (s *Subscription) Next(ctx context.Context) (Update, error) {
	select {
	case u := <-s.updates:
		return u, nil
	default:
	}
	select {
	case u := <-s.updates:
		return u, nil
	case <-ctx.Done():
		return Update{}, context.Cause(ctx)
	case <-s.lagged:
		return s.rest()
	}
}

// rest returns the updates that were queued before the end.
func (s *Subscription) rest() (Update, error) {
	select {
	case u := <-s.updates:
		return u, nil
	default:
		return Update{}, ErrLagged
	}
}

// Close ends the subscription. It is safe to repeat.
func (s *Subscription) Close() {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	s.feed.end(s)
}

func (f *feed) end(s *Subscription) {
	if _, there := f.subscribers[s]; there {
		delete(f.subscribers, s)
		close(s.lagged)
	}
}

// wanted reports whether anybody listens.
func (f *feed) wanted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subscribers) > 0
}

// publish never waits: who has no room is ended.
func (f *feed) publish(u Update) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subscribers {
		s.seq++
		u.Seq = s.seq
		select {
		case s.updates <- u:
		default:
			f.end(s)
		}
	}
}

// announceAged announces tickers that time has changed.
func (x *Index) announceAged() {
	x.commits.Lock()
	defer x.commits.Unlock()
	if !x.feed.wanted() {
		return
	}
	if aged := x.agedTickers(); len(aged) > 0 {
		x.feed.publish(Update{At: x.config.Now(), Tickers: aged})
	}
}

// update builds the Update of a commit. moved are the markets whose books changed.
func (x *Index) update(e *changes, moved map[uint32]bool) Update {
	u := Update{Undone: e.undone, At: x.config.Now()}
	traded := map[uint32]bool{}
	for i := range e.orders {
		if m := e.rules.byID[e.orders[i].Market]; m != nil {
			u.Orders = append(u.Orders, e.orders[i].view(m))
		}
	}
	for i := range e.trades {
		traded[e.trades[i].Market] = true
		u.Trades = append(u.Trades, e.trades[i].view(e.rules.byID[e.trades[i].Market]))
	}
	for _, bar := range sortedBars(e.bars) {
		traded[bar.Market] = true
		if m := e.rules.byID[bar.Market]; m != nil {
			u.Bars = append(u.Bars, bar.view(m))
		}
	}
	for _, m := range e.rules.sorted() {
		if moved[m.ID] || e.undone {
			u.Depths = append(u.Depths, x.depth(m, MaxDepth, m.pair.PricePrecision))
		}
		if traded[m.ID] || e.undone {
			u.Tickers = append(u.Tickers, x.tellTicker(m))
		}
	}
	for a := range e.accounts {
		u.Accounts = append(u.Accounts, a.String())
	}
	slices.Sort(u.Accounts)
	return u
}
