package ledger

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"time"

	"golang.org/x/crypto/blake2b"

	"gatewayd/vite/core"
)

// maxRecent is the weight of blocks that may wait for a snapshot block. What one confirms with the
// step before it is then some 8 MiB of JSON, which clients take in one answer.
const maxRecent = 2 << 20

// Full reports whether a snapshot block is due whatever the time.
func (s *State) Full() bool { return s.recentWeight >= maxRecent }

// Seal makes the snapshot block of all recent blocks. now is truncated to seconds; the chain's time
// never decreases.
func (s *State) Seal(now time.Time) *Snapshot {
	n := &Snapshot{
		Point:      Point{Height: s.Height() + 1, Time: time.Unix(now.Unix(), 0).UTC()},
		Seed:       s.Rollbacks,
		BlockCount: len(s.Recent),
	}
	if len(s.Chain) > 0 {
		last := s.Latest()
		n.Previous = last.Hash
		if n.Time.Before(last.Time) {
			n.Time = last.Time
		}
	}
	for _, e := range s.Recent {
		if n.Content == nil {
			n.Content = make(map[core.Address]BlockID)
		}
		n.Content[e.Block.Address] = BlockID{e.Block.Height, e.Block.Hash}
	}
	n.Hash = n.ComputeHash(s.Rules.Sealing())
	s.confirm(n)
	return n
}

// Sealing selects the hash function of snapshot blocks.
type Sealing struct {
	Genesis core.Hash // digest of the genesis
	older   bool      // as in an older version; a chain that began with it continues with it
}

// ComputeHash is a real node's (core.Seal). It contains the genesis as the seed hash of block 1, so
// that no two chains have a block in common.
func (n *Snapshot) ComputeHash(how Sealing) core.Hash {
	if how.older {
		return n.olderHash(how.Genesis)
	}
	s := core.Seal{
		PreviousHash: n.Previous, Height: n.Height, Time: n.Time.Unix(), Seed: n.Seed, Upgrade: UpgradeName(ChainVersion), Version: ChainVersion,
	}
	if n.Height == 1 {
		s.SeedHash = how.Genesis
	}
	if len(n.Content) > 0 {
		s.Content = make(map[core.Address]core.HashHeight, len(n.Content))
	}
	for a, id := range n.Content {
		s.Content[a] = core.HashHeight{Hash: id.Hash, Height: id.Height}
	}
	return s.ComputeHash()
}

// olderHash covers all fields of the block, and the genesis, in a format of its own.
func (n *Snapshot) olderHash(genesis core.Hash) core.Hash {
	p := slices.Clone(genesis[:])
	p = append(p, n.Previous[:]...)
	p = binary.BigEndian.AppendUint64(p, n.Height)
	p = binary.BigEndian.AppendUint64(p, uint64(n.Time.Unix()))
	p = binary.BigEndian.AppendUint64(p, n.Seed)
	for _, a := range n.Accounts() {
		id := n.Content[a]
		p = append(p, a[:]...)
		p = binary.BigEndian.AppendUint64(p, id.Height)
		p = append(p, id.Hash[:]...)
	}
	return blake2b.Sum256(p)
}

// confirm puts the block on the snapshot chain and marks what it contains.
func (s *State) confirm(n *Snapshot) {
	for _, e := range s.Recent {
		set(&s.journal, &e.Snapshot, n)
		for _, t := range e.Triggered {
			set(&s.journal, &t.Snapshot, n)
		}
	}
	for h := range s.touched {
		acc := s.Accounts[h.Address]
		past := PastBalance{n.Height, acc.Balances[h.Token]}
		n.Changed = append(n.Changed, h)
		put(&s.journal, acc.Past, h.Token, append(acc.Past[h.Token], past))
	}
	if len(s.Recent) > 0 {
		set(&s.journal, &s.Recent, nil)
		set(&s.journal, &s.recentWeight, 0)
	}
	if len(s.touched) > 0 {
		set(&s.journal, &s.touched, map[Holding]struct{}{})
	}
	put(&s.journal, s.Snapshots, n.Hash, n)
	set(&s.journal, &s.Chain, append(s.Chain, n))
	n.mark = s.journal.mark()
	s.raiseFloor()
}

// raiseFloor gives up taking back what is too old or too much. It depends on the records alone, so
// that a replay can take back whatever could be taken back before.
func (s *State) raiseFloor() {
	floor, latest := max(s.Floor, 1), s.Height()
	keep := &s.Rules.Retention
	if latest > keep.Depth {
		floor = max(floor, latest-keep.Depth)
	}
	for floor < latest && s.journal.since(s.SnapshotAt(floor).mark) > keep.Changes {
		floor++
	}
	if floor > s.Floor {
		s.Floor = floor
		s.journal.dropBefore(s.SnapshotAt(floor).mark)
	}
}

// BalanceAt returns the balance as of a snapshot height; known is false if memory does not have it.
func (a *Account) BalanceAt(token core.TokenID, height uint64) (past PastBalance, known bool) {
	list := a.Past[token]
	at, found := slices.BinarySearchFunc(list, height, func(p PastBalance, h uint64) int {
		return int(int64(p.Height) - int64(h))
	})
	if !found {
		at--
	}
	if at < 0 {
		return PastBalance{}, false
	}
	return list[at], true
}

// Accounts lists whose blocks the snapshot contains, in address order.
func (n *Snapshot) Accounts() []core.Address {
	return slices.SortedFunc(maps.Keys(n.Content), CompareAddresses)
}

// ChainVersion is the number of the newest rules.
const ChainVersion = 14

func UpgradeName(version int) string { return strconv.Itoa(version) }
