package node

import (
	"slices"

	"gatewayd/chain/vite/core"
)

// causal orders the blocks: an account's block waits for the one before it, and a receive for its send, if that is among
// them.
func (p part) causal() []*entry {
	if len(p.accounts) == 0 {
		return nil
	}
	o := newCausalOrder(p.accounts)
	for i := range p.accounts {
		o.advance(i)
	}
	return o.list
}

// causalOrder puts blocks into a list as soon as what they need stands in it.
type causalOrder struct {
	accounts [][]*entry         // what is still to come
	missing  map[core.Hash]bool // sends that are still to come
	waiting  map[core.Hash]int  // the account that goes on after a send, which has one receive only
	list     []*entry
}

func newCausalOrder(accounts [][]*entry) *causalOrder {
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
func (*causalOrder) sends(e *entry, f func(core.Hash)) {
	if e.block.IsSend() {
		f(e.block.Hash)
	}
	for _, t := range e.triggered {
		f(t.block.Hash)
	}
}

// advance lists an account's blocks up to the first that waits for a send, and then those of accounts that waited for them.
func (o *causalOrder) advance(account int) {
	for ready := []int{account}; len(ready) > 0; {
		i := ready[len(ready)-1]
		own := o.accounts[i]
		if len(own) == 0 {
			ready = ready[:len(ready)-1]
			continue
		}
		if send := own[0].block.SendBlockHash; o.missing[send] {
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
