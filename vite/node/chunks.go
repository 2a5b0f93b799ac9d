package node

import (
	"slices"

	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// Chunk is a snapshot block with every account block that it is the first to contain. Each block
// follows its predecessor, and each receive its send. The sends of contracts are in the receives
// that made them.
type Chunk struct {
	Snapshot *SnapshotBlock
	Blocks   []*Block
}

// maxChunks bounds one list of chunks in bytes of account blocks, so that an answer stays within
// the clients' limit (32 MiB). The chunk that exceeds it is the last.
const maxChunks = 10 << 20

// Chunks lists the snapshot blocks between two heights, both included, ascending. It ends early at
// the chain's head or with the chunk of its 10,000th account block, sooner if they carry data, but
// never before the first existing chunk.
func (v *View) Chunks(from, to uint64) []Chunk {
	q := &chunkQuery{next: max(from, 1), weightLeft: maxChunks}
	v.collect(q, to)
	list := make([]Chunk, len(q.parts))
	for i, p := range q.parts {
		list[i].Snapshot = v.snapshotBlock(p.Snapshot)
		for _, e := range p.Ordered() {
			list[i].Blocks = append(list[i].Blocks, v.block(e))
		}
	}
	return list
}

// collect continues up to a height.
func (v *View) collect(q *chunkQuery, to uint64) {
	for v.err == nil && q.weightLeft > 0 && q.next <= min(to, v.s.Height()) {
		if p, ok := v.s.Confirmed(q.next); !ok {
			if !v.olderChunks(q, min(to, max(v.s.Oldest()-1, q.next))) {
				return
			}
		} else if !q.add(p) {
			return
		}
	}
}

// chunkQuery collects chunks.
type chunkQuery struct {
	next       uint64 // height of the next snapshot block
	weightLeft int    // for so much weight; the part that exceeds it is the last
	parts      []ledger.Confirmed
}

// add is false for a snapshot block that does not continue the line, because the chain was rolled
// back meanwhile.
func (q *chunkQuery) add(p ledger.Confirmed) bool {
	if n := len(q.parts); n > 0 && p.Snapshot.Previous != q.parts[n-1].Snapshot.Hash {
		return false
	}
	q.parts = append(q.parts, p)
	q.weightLeft -= p.Weight()
	q.next++
	return true
}

// olderChunks continues with the history up to a height, and is false if the history does not have
// the next one.
func (v *View) olderChunks(q *chunkQuery, to uint64) bool {
	var parts []ledger.Confirmed
	v.recall(func(h *store.History) (entries []*ledger.Entry, err error) {
		parts, err = h.Chunks(q.next, to, q.weightLeft)
		for _, p := range parts {
			entries = append(entries, slices.Concat(p.Accounts...)...)
		}
		return entries, err
	})
	if v.err != nil || len(parts) == 0 {
		return false
	}
	for _, p := range parts {
		if !q.add(p) {
			return false
		}
	}
	return true
}
