package ledger

import (
	"slices"

	"gatewayd/vite/core"
)

// Oldest is the height of the oldest snapshot block in memory.
func (s *State) Oldest() uint64 { return s.Chain[0].Height }

// Confirmed returns the content of a snapshot block; ok is false if memory does not have it. After
// a start memory has the latest snapshot block without its account blocks.
func (s *State) Confirmed(height uint64) (p Confirmed, ok bool) {
	n := s.SnapshotAt(height)
	if n == nil {
		return p, false
	}
	p.Snapshot = n
	for _, a := range n.Accounts() {
		acc := s.Accounts[a]
		if acc.Blocks.At(n.Content[a].Height) == nil {
			return p, false
		}
		p.Accounts = append(p.Accounts, acc.ConfirmedBy(n))
	}
	return p, true
}

// Confirmed is the source of a chunk: the blocks of each account apart, in the order of their
// heights.
type Confirmed struct {
	Snapshot *Snapshot
	Accounts [][]*Entry
}

func (p Confirmed) Weight() (n int) {
	for _, own := range p.Accounts {
		for _, e := range own {
			n += e.weight()
		}
	}
	return n
}

// Ordered orders the blocks: an account's block waits for the one before it, and a receive for its
// send, if that is among them.
func (p Confirmed) Ordered() []*Entry {
	if len(p.Accounts) == 0 {
		return nil
	}
	o := newCausalOrder(p.Accounts)
	for i := range p.Accounts {
		o.advance(i)
	}
	return o.list
}

// causalOrder appends a block to a list as soon as the list contains its dependencies.
type causalOrder struct {
	accounts [][]*Entry         // what is still to come
	missing  map[core.Hash]bool // sends that are still to come
	waiting  map[core.Hash]int  // the account that continues after a send, which has one receive only
	list     []*Entry
}

func newCausalOrder(accounts [][]*Entry) *causalOrder {
	o := &causalOrder{
		accounts: slices.Clone(accounts), missing: map[core.Hash]bool{}, waiting: map[core.Hash]int{},
	}
	for _, own := range accounts {
		for _, e := range own {
			o.sends(e, func(send core.Hash) { o.missing[send] = true })
		}
	}
	return o
}

// sends calls f with the block's hash if it is a send, and with those of the sends in it.
func (*causalOrder) sends(e *Entry, f func(core.Hash)) {
	if e.Block.IsSend() {
		f(e.Block.Hash)
	}
	for _, t := range e.Triggered {
		f(t.Block.Hash)
	}
}

// advance lists an account's blocks up to the first that waits for a send, and then those of
// accounts that waited for them.
func (o *causalOrder) advance(account int) {
	for ready := []int{account}; len(ready) > 0; {
		i := ready[len(ready)-1]
		own := o.accounts[i]
		if len(own) == 0 {
			ready = ready[:len(ready)-1]
			continue
		}
		if send := own[0].Block.SendBlockHash; o.missing[send] {
			o.waiting[send] = i
			ready = ready[:len(ready)-1]
			continue
		}
		o.accounts[i] = own[1:]
		o.list = append(o.list, own[0])
		o.sends(own[0], func(send core.Hash) {
			delete(o.missing, send)
			if j, ok := o.waiting[send]; ok {
				delete(o.waiting, send)
				ready = append(ready, j)
			}
		})
	}
}
