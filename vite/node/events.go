package node

import (
	"sync"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// blockEvents returns the events of a new block.
func blockEvents(e *ledger.Entry) []Event {
	b := e.Block
	list := []Event{{Kind: EventBlock, Block: e.Id(), Address: b.Address}}
	if e.Send != nil {
		list = append(list, Event{Kind: EventUnreceived, Block: e.Send.Id(), Address: b.Address, Received: true})
	}
	if b.IsSend() {
		list = append(list, Event{Kind: EventUnreceived, Block: e.Id(), Address: b.ToAddress})
	}
	for i := range e.Logs {
		list = append(list, Event{Kind: EventLog, Block: e.Id(), Address: b.Address, Log: &e.Logs[i]})
	}
	for _, t := range e.Triggered {
		list = append(list, blockEvents(t)...)
	}
	return list
}

func snapshotEvent(n *ledger.Snapshot) Event {
	return Event{Kind: EventSnapshot, Block: ledger.BlockID{Height: n.Height, Hash: n.Hash}}
}

func eventsOf(list []*ledger.Entry) []Event {
	var events []Event
	for _, e := range list {
		events = append(events, blockEvents(e)...)
	}
	return events
}

// removals are the same announcements taken back, in reverse.
func removals(events []Event) []Event {
	list := make([]Event, len(events))
	for i, e := range events {
		e.Removed = true
		list[len(events)-1-i] = e
	}
	return list
}

// changes compares the recent blocks before and after a drop.
func changes(before, after []*ledger.Entry) []Event {
	gone, came := without(before, after), without(after, before)
	return append(removals(eventsOf(gone)), eventsOf(came)...)
}

func without(list, other []*ledger.Entry) []*ledger.Entry {
	known := map[core.Hash]bool{}
	for _, e := range other {
		known[e.Block.Hash] = true
	}
	var rest []*ledger.Entry
	for _, e := range list {
		if !known[e.Block.Hash] {
			rest = append(rest, e)
		}
	}
	return rest
}

// eventsAbove are the events that a rollback to height takes back, in the order in which they came;
// blocks that share a snapshot come by account.
func eventsAbove(s *ledger.State, height uint64) []Event {
	var events []Event
	for h := height + 1; h <= s.Height(); h++ {
		n := s.SnapshotAt(h)
		for _, a := range n.Accounts() {
			events = append(events, eventsOf(s.Accounts[a].ConfirmedBy(n))...)
		}
		events = append(events, snapshotEvent(n))
	}
	return append(events, eventsOf(s.Recent)...)
}

// hub hands events to the subscribers.
type hub struct {
	mu     sync.Mutex
	subs   map[*Subscription]struct{}
	closed bool
}

// Subscription is a bounded stream of events.
type Subscription struct {
	hub     *hub
	changes chan []Event
	sent    uint64 // changes that were put into the channel
	err     error  // set before changes is closed
}

// subscribe begins a stream. One that begins after the end is closed at once.
func (h *hub) subscribe(buffer int) *Subscription {
	s := &Subscription{hub: h, changes: make(chan []Event, max(buffer, 1))}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		s.end(ErrClosed)
		return s
	}
	if h.subs == nil {
		h.subs = map[*Subscription]struct{}{}
	}
	h.subs[s] = struct{}{}
	return s
}

// publish never waits: who has no room is dropped.
func (h *hub) publish(events []Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		select {
		case s.changes <- events:
			s.sent++
		default:
			delete(h.subs, s)
			s.end(ErrSlow)
		}
	}
}

func (h *hub) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.subs) == 0
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.subs {
		delete(h.subs, s)
		s.end(ErrClosed)
	}
}

// end is called with the hub's lock.
func (s *Subscription) end(err error) {
	s.err = err
	close(s.changes)
}

// Changes delivers what each change of the chain published, in order. The slices are shared: read
// only. The channel is closed when the subscription ends.
func (s *Subscription) Changes() <-chan []Event { return s.changes }

// Sent returns the number of changes published to the subscription. The next one is the first after
// this call.
func (s *Subscription) Sent() uint64 {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.sent
}

// Err returns the reason after Changes was closed: ErrSlow, ErrClosed, or nil after Close.
func (s *Subscription) Err() error {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.err
}

// Close ends the subscription. It may be called twice.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if _, live := s.hub.subs[s]; live {
		delete(s.hub.subs, s)
		s.end(nil)
	}
}
