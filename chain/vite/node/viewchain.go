package node

import (
	"maps"
	"slices"
	"strconv"

	"gatewayd/chain/vite/core"
)

// chainVersion is the number of the newest rules.
const chainVersion = 14

// snapshotBlock is nil for nil.
func (v *View) snapshotBlock(n *snapshot) *SnapshotBlock {
	if n == nil {
		return nil
	}
	b := &SnapshotBlock{
		Point: n.Point, Previous: n.previous, Seed: n.seed, Version: chainVersion,
		Producer: v.s.rules.producer.Address(), Content: map[core.Address]BlockID{},
	}
	maps.Copy(b.Content, n.content)
	if n.Height > 1 {
		v.unsigned = append(v.unsigned, func(key core.PrivateKey) {
			public := key.Public()
			b.PublicKey, b.Signature = public[:], key.Sign(b.Hash[:])
		})
	}
	return b
}

// SnapshotByHash is nil for an unknown hash.
func (v *View) SnapshotByHash(h core.Hash) *SnapshotBlock { return v.snapshotBlock(v.s.snapshots[h]) }

// SnapshotByHeight is nil beyond the end and for 0.
func (v *View) SnapshotByHeight(height uint64) *SnapshotBlock {
	if height < 1 || height > v.s.height() {
		return nil
	}
	return v.snapshotBlock(v.s.chain[height-1])
}

// Snapshots lists up to count blocks from height downwards; a height beyond the end begins at the latest.
func (v *View) Snapshots(height uint64, count int) []*SnapshotBlock {
	var list []*SnapshotBlock
	for h := min(height, v.s.height()); h > 0 && len(list) < count; h-- {
		list = append(list, v.snapshotBlock(v.s.chain[h-1]))
	}
	return list
}

// Upgrades lists the rule changes, all active from height 1.
func (v *View) Upgrades() []Upgrade {
	list := make([]Upgrade, chainVersion)
	for i := range list {
		list[i] = Upgrade{Name: strconv.Itoa(i + 1), Height: 1, Version: uint32(i + 1)}
	}
	return list
}

// Logs are the logs of a block; empty for most, ErrNoBlock for an unknown hash.
func (v *View) Logs(h core.Hash) ([]VMLog, error) {
	e := v.s.blocks[h]
	if e == nil {
		return nil, ErrNoBlock
	}
	return slices.Clone(e.logs), nil
}

// maxLogPage is the size of a page of logs.
const maxLogPage = 1000

// FindLogs selects logs; an unknown contract has none. A page size over 1000 or a negative page is ErrBadPageSize.
func (v *View) FindLogs(f LogFilter) ([]LogEntry, error) {
	size := f.Size
	if size == 0 {
		size = maxLogPage
	}
	if size < 0 || size > maxLogPage || f.Page < 0 {
		return nil, ErrBadPageSize
	}
	skip := f.Page * size
	var list []LogEntry
	for _, a := range slices.SortedFunc(maps.Keys(f.Ranges), compareAddresses) {
		for _, e := range v.s.accounts[a].between(f.Ranges[a]) {
			for _, l := range e.logs {
				if !f.wants(l) {
					continue
				}
				if skip--; skip >= 0 {
					continue
				}
				if list = append(list, LogEntry{l, e.id(), a}); len(list) == size {
					return list, nil
				}
			}
		}
	}
	return list, nil
}

// between are the account's blocks of a range of heights. It is safe on a nil account.
func (a *account) between(r HeightRange) []*entry {
	if a == nil {
		return nil
	}
	n := uint64(len(a.blocks))
	from, to := max(r.From, 1), r.To
	if to == 0 || to > n {
		to = n
	}
	if from > to {
		return nil
	}
	return a.blocks[from-1 : to]
}

func (f LogFilter) wants(l VMLog) bool {
	for i, allowed := range f.Topics {
		if len(allowed) == 0 {
			continue
		}
		if i >= len(l.Topics) || !slices.Contains(allowed, l.Topics[i]) {
			return false
		}
	}
	return true
}
