package node

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// LogFilter selects logs. Addresses are answered in address order, heights ascending.
type LogFilter struct {
	// Ranges gives the account heights per contract, both ends included; To 0 is the newest, From 0
	// is 1.
	Ranges map[core.Address]HeightRange
	// Topics[i] lists what topic i may be; an empty list allows anything.
	Topics [][]core.Hash
	// Page counts from 0; Size 0 is 1000.
	Page, Size int
}

// LogEntry is a VMLog with the receive block that emitted it.
type LogEntry struct {
	ledger.VMLog
	Block   ledger.BlockID
	Address core.Address
}

// HeightRange is a range of account heights.
type HeightRange struct{ From, To uint64 }

// snapshotBlock is nil for nil.
func (v *View) snapshotBlock(n *ledger.Snapshot) *SnapshotBlock {
	if n == nil {
		return nil
	}
	b := &SnapshotBlock{
		Point: n.Point, Previous: n.Previous, Seed: n.Seed, Version: ledger.ChainVersion,
		Producer: v.s.Rules.Producer.Address(), Content: map[core.Address]ledger.BlockID{},
	}
	maps.Copy(b.Content, n.Content)
	if n.Height == 1 && !v.s.Rules.OlderHashes {
		b.SeedHash = &v.s.Rules.Digest
	}
	if n.Height > 1 {
		v.unsigned = append(v.unsigned, func(key core.PrivateKey) {
			public := key.Public()
			b.PublicKey, b.Signature = public[:], key.Sign(b.Hash[:])
		})
	}
	return b
}

// SnapshotByHash is nil for an unknown hash.
func (v *View) SnapshotByHash(h core.Hash) *SnapshotBlock { return v.snapshotBlock(v.sealed(h)) }

func (v *View) sealed(h core.Hash) *ledger.Snapshot {
	n := v.s.Snapshots[h]
	if n == nil {
		v.past(func(p *store.History) (err error) { n, err = p.SnapshotByHash(h); return err })
	}
	return n
}

// SnapshotByHeight is nil beyond the end and for 0.
func (v *View) SnapshotByHeight(height uint64) *SnapshotBlock {
	if height < 1 || height > v.s.Height() {
		return nil
	}
	if list := v.Snapshots(height, 1); len(list) > 0 {
		return list[0]
	}
	return nil
}

// SnapshotBefore is the newest snapshot block that is older than a time; nil without one.
func (v *View) SnapshotBefore(t time.Time) *SnapshotBlock { return v.snapshotBlock(v.newestBefore(t)) }

// newestBefore reads about as many blocks as the height has binary digits.
func (v *View) newestBefore(t time.Time) *ledger.Snapshot {
	low, high := uint64(0), v.s.Height() // low is older, what is above high is not
	var found *ledger.Snapshot
	for low < high && v.err == nil {
		middle := high - (high-low)/2
		n := v.snapshotAt(middle)
		if n == nil {
			return nil // taken back meanwhile
		}
		if n.Time.Before(t) {
			low, found = middle, n
		} else {
			high = middle - 1
		}
	}
	return found
}

// Producer makes snapshot blocks.
type Producer struct {
	Name    string
	Address core.Address
}

// producerName is the name of the first producer of a private network.
const producerName = "s1"

// Producers lists who makes snapshot blocks on this chain.
func (v *View) Producers() []Producer {
	return []Producer{{producerName, v.s.Rules.Producer.Address()}}
}

// SnapshotsBetween counts the snapshot blocks from a time up to another one, without the genesis.
func (v *View) SnapshotsBetween(from, to time.Time) uint64 {
	heightBefore := func(t time.Time) uint64 {
		if n := v.newestBefore(t); n != nil {
			return n.Height - 1
		}
		return 0
	}
	return heightBefore(to) - heightBefore(from)
}

// snapshotAt is nil for a height that the chain does not have.
func (v *View) snapshotAt(height uint64) *ledger.Snapshot {
	if n := v.s.SnapshotAt(height); n != nil {
		return n
	}
	var list []*ledger.Snapshot
	v.past(func(p *store.History) (err error) { list, err = p.Snapshots(height, 1); return err })
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// Snapshots lists up to count blocks from height downwards; a height beyond the end begins at the
// latest.
func (v *View) Snapshots(height uint64, count int) []*SnapshotBlock {
	var list []*SnapshotBlock
	h := min(height, v.s.Height())
	for ; h > 0 && len(list) < count && v.s.SnapshotAt(h) != nil; h-- {
		list = append(list, v.snapshotBlock(v.s.SnapshotAt(h)))
	}
	if h == 0 || len(list) == count {
		return list
	}
	var older []*ledger.Snapshot
	v.past(func(p *store.History) (err error) { older, err = p.Snapshots(h, count-len(list)); return err })
	for _, n := range older {
		list = append(list, v.snapshotBlock(n))
	}
	return list
}

// Upgrades lists the rule changes, all active from height 1.
func (v *View) Upgrades() []Upgrade {
	list := make([]Upgrade, ledger.ChainVersion)
	for i := range list {
		list[i] = Upgrade{Name: ledger.UpgradeName(i + 1), Height: 1, Version: uint32(i + 1)}
	}
	return list
}

// Logs are the logs of a block; empty for most, ErrNoBlock for an unknown hash.
func (v *View) Logs(h core.Hash) ([]ledger.VMLog, error) {
	e := v.s.Blocks[h]
	if e == nil {
		v.past(func(p *store.History) (err error) { e, err = p.Block(h); return err })
	}
	if e == nil {
		return nil, ledger.ErrNoBlock
	}
	return slices.Clone(e.Logs), nil
}

// maxLogPage is the size of a page of logs.
const maxLogPage = 1000

// FindLogs selects logs; an unknown contract has none. A page size over 1000 or a negative page is
// ErrBadPageSize. It may scan all blocks of the contracts; once ctx ends, Read returns its error.
func (v *View) FindLogs(ctx context.Context, f LogFilter) ([]LogEntry, error) {
	size := f.Size
	if size == 0 {
		size = maxLogPage
	}
	if size < 0 || size > maxLogPage || f.Page < 0 {
		return nil, ledger.ErrBadPageSize
	}
	if f.Page > math.MaxInt/size {
		return nil, nil
	}
	q := &logQuery{filter: f, skip: f.Page * size, size: size}
	for _, a := range slices.SortedFunc(maps.Keys(f.Ranges), ledger.CompareAddresses) {
		if r := f.Ranges[a]; !v.logs(ctx, q, a, max(r.From, 1), r.To) {
			break
		}
	}
	return q.list, nil
}

// logQuery collects a page of logs.
type logQuery struct {
	filter     LogFilter
	skip, size int
	list       []LogEntry
}

// add is false once the page is full.
func (q *logQuery) add(e *ledger.Entry) bool {
	for _, l := range e.Logs {
		if !q.filter.wants(l) {
			continue
		}
		if q.skip--; q.skip >= 0 {
			continue
		}
		if q.list = append(q.list, LogEntry{l, e.Id(), e.Block.Address}); len(q.list) == q.size {
			return false
		}
	}
	return true
}

// logs continues with the blocks of a range of heights (to 0: to the newest), and is false once the
// page is full. While it reads the history, more of the range may leave memory.
func (v *View) logs(ctx context.Context, q *logQuery, a core.Address, from, to uint64) bool {
	for v.goesOn(ctx) {
		tip := v.HeadID(a).Height
		if from > tip || to > 0 && from > to {
			return true
		}
		oldest := v.s.Accounts[a].Blocks.Oldest()
		if e := v.s.Accounts[a].Blocks.At(from); e != nil {
			if !q.add(e) {
				return false
			}
			from++
			continue
		}
		last := oldest - 1
		if to > 0 {
			last = min(last, to)
		}
		more := true
		v.past(func(h *store.History) error {
			return h.Logs(ctx, a, from, last, q.filter.wants, func(e *ledger.Entry) bool { more = q.add(e); return more })
		})
		if !more {
			return false
		}
		from = last + 1
	}
	return false
}

func (f LogFilter) wants(l ledger.VMLog) bool {
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
