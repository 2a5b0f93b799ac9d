package node

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"golang.org/x/crypto/blake2b"

	"gatewayd/chain/vite/core"
)

// seal makes the snapshot block of everything recent. now is cut to whole seconds; the chain's time never goes back.
func (s *state) seal(now time.Time) *snapshot {
	n := &snapshot{
		Point:  Point{Height: s.height() + 1, Time: time.Unix(now.Unix(), 0).UTC()},
		seed:   s.rollbacks,
		blocks: len(s.recent),
	}
	if len(s.chain) > 0 {
		last := s.latest()
		n.previous = last.Hash
		if n.Time.Before(last.Time) {
			n.Time = last.Time
		}
	}
	for _, e := range s.recent {
		if n.content == nil {
			n.content = make(map[core.Address]BlockID)
		}
		n.content[e.block.Address] = BlockID{e.block.Height, e.block.Hash}
	}
	n.Hash = n.hash(s.rules.digest)
	s.confirm(n)
	return n
}

// hash covers everything in the block, and the genesis. The facts do not name a real node's rule; no client needs it.
func (n *snapshot) hash(genesis core.Hash) core.Hash {
	p := slices.Clone(genesis[:])
	p = append(p, n.previous[:]...)
	p = binary.BigEndian.AppendUint64(p, n.Height)
	p = binary.BigEndian.AppendUint64(p, uint64(n.Time.Unix()))
	p = binary.BigEndian.AppendUint64(p, n.seed)
	for _, a := range n.accounts() {
		id := n.content[a]
		p = append(p, a[:]...)
		p = binary.BigEndian.AppendUint64(p, id.Height)
		p = append(p, id.Hash[:]...)
	}
	return blake2b.Sum256(p)
}

// confirm puts the block on the snapshot chain and marks what it contains.
func (s *state) confirm(n *snapshot) {
	for _, e := range s.recent {
		set(&s.journal, &e.snapshot, n)
		for _, t := range e.triggered {
			set(&s.journal, &t.snapshot, n)
		}
	}
	for h := range s.touched {
		acc := s.accounts[h.address]
		past := pastBalance{n.Height, acc.balances[h.token]}
		n.changed = append(n.changed, h)
		put(&s.journal, acc.past, h.token, append(acc.past[h.token], past))
	}
	if len(s.recent) > 0 {
		set(&s.journal, &s.recent, nil)
	}
	if len(s.touched) > 0 {
		set(&s.journal, &s.touched, map[holding]struct{}{})
	}
	put(&s.journal, s.snapshots, n.Hash, n)
	set(&s.journal, &s.chain, append(s.chain, n))
	n.mark = s.journal.mark()
	s.raiseFloor()
}

// raiseFloor gives up taking back what is too old or too much. It depends on the records alone, so that a replay can take
// back whatever could be taken back before.
func (s *state) raiseFloor() {
	floor, latest := max(s.floor, 1), s.height()
	keep := &s.rules.memory
	if latest > keep.depth {
		floor = max(floor, latest-keep.depth)
	}
	for floor < latest && s.journal.since(s.at(floor).mark) > keep.changes {
		floor++
	}
	if floor > s.floor {
		s.floor = floor
		s.journal.forget(s.at(floor).mark)
	}
}

// balanceAt is the balance as of a snapshot height; known is false if memory does not tell it.
func (a *account) balanceAt(token core.TokenID, height uint64) (past pastBalance, known bool) {
	list := a.past[token]
	at, found := slices.BinarySearchFunc(list, height, func(p pastBalance, h uint64) int {
		return int(int64(p.height) - int64(h))
	})
	if !found {
		at--
	}
	if at < 0 {
		return pastBalance{}, false
	}
	return list[at], true
}

// accounts lists whose blocks the snapshot contains, in address order.
func (n *snapshot) accounts() []core.Address {
	return slices.SortedFunc(maps.Keys(n.content), compareAddresses)
}
