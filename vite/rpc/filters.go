package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/node"
)

const (
	filterTTL      = 5 * time.Minute // a filter without a poll for this long is removed
	maxFilterItems = 10000           // items that may wait in one filter; one that overflows is gone, too: better none than a gap
)

var errNoFilter = jsonrpc.Other("filter not found")

// filterTable keeps the polling filters. One feed of the chain fills them all.
type filterTable struct {
	now   func() time.Time
	limit int

	mu      sync.Mutex
	feed    *node.Subscription
	taken   uint64 // changes that came from feed
	filters map[gethrpc.ID]*filter
}

type filter struct {
	topic   topic
	null    bool   // an empty poll is null instead of [], as a real node has it for all accounts' blocks
	from    uint64 // changes of the feed that were published before the filter was made
	waiting []any
	polled  time.Time
}

func newFilterTable(limit int, now func() time.Time) *filterTable {
	return &filterTable{now: now, limit: limit, filters: make(map[gethrpc.ID]*filter)}
}

// follow takes another feed. The one before left a gap, so all filters go with it.
func (t *filterTable) follow(feed *node.Subscription) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.feed, t.taken = feed, 0
	clear(t.filters)
}

// run fills the filters from the feed that the table follows until ctx ends, and from another one
// whenever it breaks.
func (t *filterTable) run(ctx context.Context, n *node.Node) error {
	for {
		if err := t.fill(ctx, t.feed); err != nil || ctx.Err() != nil {
			return err
		}
		t.follow(n.Subscribe(changesBuffered))
	}
}

// fill ends without an error when ctx ends or when the feed was too slow.
func (t *filterTable) fill(ctx context.Context, feed *node.Subscription) error {
	defer feed.Close()
	for {
		select {
		case change, open := <-feed.Changes():
			if open {
				t.add(change)
				continue
			}
			if err := feed.Err(); !errors.Is(err, node.ErrSlow) {
				return fmt.Errorf("following the chain for filters: %w", err)
			}
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (t *filterTable) add(change []node.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken++
	for id, f := range t.filters {
		if t.taken <= f.from {
			continue
		}
		if f.waiting = append(f.waiting, f.topic.items(change)...); len(f.waiting) > maxFilterItems {
			delete(t.filters, id)
		}
	}
	t.expire()
}

// expire removes filters without polls. The lock is held.
func (t *filterTable) expire() {
	now := t.now()
	for id, f := range t.filters {
		if now.Sub(f.polled) >= filterTTL {
			delete(t.filters, id)
		}
	}
}

func (t *filterTable) install(f *filter) (gethrpc.ID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire()
	if len(t.filters) >= t.limit {
		return "", jsonrpc.Other("too many filters")
	}
	id := gethrpc.NewID()
	f.from, f.polled = t.feed.Sent(), t.now()
	t.filters[id] = f
	return id, nil
}

func (t *filterTable) poll(id gethrpc.ID) (*changes, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire()
	f, ok := t.filters[id]
	if !ok {
		return nil, errNoFilter
	}
	found := &changes{Result: f.waiting, Subscription: id}
	if found.Result == nil && !f.null {
		found.Result = []any{}
	}
	f.waiting, f.polled = nil, t.now()
	return found, nil
}

func (t *filterTable) uninstall(id gethrpc.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.filters[id]
	delete(t.filters, id)
	return ok
}

// changes contains the events since the last poll.
type changes struct {
	Result       []any      `json:"result"`
	Subscription gethrpc.ID `json:"subscription"`
}

// GetChangesByFilterId gives what came since the last poll and keeps the filter alive for five
// minutes.
func (s *subscribeAPI) GetChangesByFilterId(id gethrpc.ID) (*changes, error) {
	return s.filters.poll(id)
}

// UninstallFilter is false for a filter that is not there.
func (s *subscribeAPI) UninstallFilter(id gethrpc.ID) bool { return s.filters.uninstall(id) }

// NewSnapshotBlockFilter collects snapshot blocks.
func (s *subscribeAPI) NewSnapshotBlockFilter() (gethrpc.ID, error) {
	return s.filters.install(&filter{topic: snapshotBlocks})
}

// NewAccountBlockFilter collects the blocks of all accounts.
func (s *subscribeAPI) NewAccountBlockFilter() (gethrpc.ID, error) {
	return s.filters.install(&filter{topic: accountBlocks, null: true})
}

// NewAccountBlockByAddressFilter collects the blocks of one account.
func (s *subscribeAPI) NewAccountBlockByAddressFilter(a addressArg) (gethrpc.ID, error) {
	return s.filters.install(&filter{topic: blocksOf(a.Address)})
}

// NewUnreceivedBlockByAddressFilter collects what happens to the unreceived list of an account.
func (s *subscribeAPI) NewUnreceivedBlockByAddressFilter(a addressArg) (gethrpc.ID, error) {
	return s.filters.install(&filter{topic: unreceivedOf(a.Address)})
}

// NewVmLogFilter collects events of contracts.
func (s *subscribeAPI) NewVmLogFilter(f logFilter) (gethrpc.ID, error) {
	chosen, err := f.filter()
	if err != nil {
		return "", err
	}
	return s.filters.install(&filter{topic: logsOf(chosen)})
}

// The names of filters that older clients use.

// CreateSnapshotBlockFilter is subscribe_newSnapshotBlockFilter.
func (s *subscribeAPI) CreateSnapshotBlockFilter() (gethrpc.ID, error) {
	return s.NewSnapshotBlockFilter()
}

// CreateAccountBlockFilter is subscribe_newAccountBlockFilter.
func (s *subscribeAPI) CreateAccountBlockFilter() (gethrpc.ID, error) {
	return s.NewAccountBlockFilter()
}

// CreateAccountBlockFilterByAddress is subscribe_newAccountBlockByAddressFilter.
func (s *subscribeAPI) CreateAccountBlockFilterByAddress(a addressArg) (gethrpc.ID, error) {
	return s.NewAccountBlockByAddressFilter(a)
}

// CreateUnreceivedBlockFilterByAddress is subscribe_newUnreceivedBlockByAddressFilter.
func (s *subscribeAPI) CreateUnreceivedBlockFilterByAddress(a addressArg) (gethrpc.ID, error) {
	return s.NewUnreceivedBlockByAddressFilter(a)
}

// CreateVmlogFilter is subscribe_newVmLogFilter.
func (s *subscribeAPI) CreateVmlogFilter(f logFilter) (gethrpc.ID, error) { return s.NewVmLogFilter(f) }
