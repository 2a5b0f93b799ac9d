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
	n.Hash = n.hash(s.rules.sealing())
	s.confirm(n)
	return n
}

// sealing is how snapshot blocks get their hashes.
type sealing struct {
	genesis core.Hash // digest of the genesis
	older   bool      // as an older version did it; a chain that began so goes on so
}

// hash is a real node's (core.Seal). The genesis stands in it as the seed hash of block 1, so that no two chains have a block in common.
func (n *snapshot) hash(how sealing) core.Hash {
	if how.older {
		return n.olderHash(how.genesis)
	}
	s := core.Seal{
		PreviousHash: n.previous, Height: n.Height, Time: n.Time.Unix(), Seed: n.seed, Upgrade: upgradeName(chainVersion), Version: chainVersion,
	}
	if n.Height == 1 {
		s.SeedHash = how.genesis
	}
	if len(n.content) > 0 {
		s.Content = make(map[core.Address]core.HashHeight, len(n.content))
	}
	for a, id := range n.content {
		s.Content[a] = core.HashHeight{Hash: id.Hash, Height: id.Height}
	}
	return s.ComputeHash()
}

// olderHash covers everything in the block, and the genesis, in a way of its own.
func (n *snapshot) olderHash(genesis core.Hash) core.Hash {
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
