package node

import (
	"slices"

	"gatewayd/chain/vite/core"
)

// Chunk is a snapshot block with every account block that it is the first to contain, in an order in which none stands
// before its predecessor or before the send that it receives. The sends of contracts stand in the receives that made them.
type Chunk struct {
	Snapshot *SnapshotBlock
	Blocks   []*Block
}

// maxChunks bounds one list of chunks in bytes of account blocks, so that what clients take of an answer (32 MiB) is not
// exceeded by it; the chunk that exceeds it is the last. A block counts blockWeight, triggered sends likewise, and its data.
const (
	maxChunks   = 10 << 20
	blockWeight = 1 << 10
)

// Chunks lists the snapshot blocks between two heights, both included, ascending. It ends early at the chain's head or
// with the chunk that has its 10,000th account block, sooner if they carry data, but never before the first chunk that there is.
func (v *View) Chunks(from, to uint64) []Chunk {
	q := &chunkQuery{next: max(from, 1), room: maxChunks}
	v.collect(q, to)
	list := make([]Chunk, len(q.parts))
	for i, p := range q.parts {
		list[i].Snapshot = v.snapshotBlock(p.snapshot)
		for _, e := range p.causal() {
			list[i].Blocks = append(list[i].Blocks, v.block(e))
		}
	}
	return list
}

// collect goes on up to a height.
func (v *View) collect(q *chunkQuery, to uint64) {
	for v.err == nil && q.room > 0 && q.next <= min(to, v.s.height()) {
		if p, ok := v.s.confirmed(q.next); !ok {
			if !v.olderChunks(q, min(to, max(v.s.oldest()-1, q.next))) {
				return
			}
		} else if !q.add(p) {
			return
		}
	}
}

// part is what a chunk is made of: the blocks of each account apart, in the order of their heights.
type part struct {
	snapshot *snapshot
	accounts [][]*entry
}

func (p part) weight() (n int) {
	for _, own := range p.accounts {
		for _, e := range own {
			n += e.weight()
		}
	}
	return n
}

func (e *entry) weight() int {
	n := blockWeight + len(e.block.Data)
	for _, t := range e.triggered {
		n += t.weight()
	}
	return n
}

// chunkQuery collects chunks.
type chunkQuery struct {
	next  uint64 // height of the next snapshot block
	room  int    // for so much weight; the part that exceeds it is the last
	parts []part
}

// add is false for a snapshot block that does not continue the line, because the chain was rolled back meanwhile.
func (q *chunkQuery) add(p part) bool {
	if n := len(q.parts); n > 0 && p.snapshot.previous != q.parts[n-1].snapshot.Hash {
		return false
	}
	q.parts = append(q.parts, p)
	q.room -= p.weight()
	q.next++
	return true
}

// olderChunks goes on with the history up to a height, and is false if the history does not have the next one.
func (v *View) olderChunks(q *chunkQuery, to uint64) bool {
	var parts []part
	v.recall(func(h *history) (entries []*entry, err error) {
		parts, err = h.chunks(q.next, to, q.room)
		for _, p := range parts {
			entries = append(entries, slices.Concat(p.accounts...)...)
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

// oldest is the height of the oldest snapshot block in memory.
func (s *state) oldest() uint64 { return s.chain[0].Height }

// confirmed is what a snapshot block contains; ok is false if memory does not have it. After a start memory has the latest
// snapshot block without its account blocks.
func (s *state) confirmed(height uint64) (p part, ok bool) {
	n := s.at(height)
	if n == nil {
		return p, false
	}
	p.snapshot = n
	for _, a := range n.accounts() {
		acc := s.accounts[a]
		if acc.blocks.at(n.content[a].Height) == nil {
			return p, false
		}
		p.accounts = append(p.accounts, acc.confirmedBy(n))
	}
	return p, true
}

// chunks reads what the snapshot blocks from one height to another contain, until that weighs so much.
func (h *history) chunks(from, to uint64, room int) (parts []part, err error) {
	list, err := h.snapshots(to, int(to-from)+1)
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Backward(list) {
		if n.Height < from {
			continue // the history ends below
		}
		if room <= 0 {
			break
		}
		p, err := h.confirmed(n)
		if err != nil {
			return nil, err
		}
		room -= p.weight()
		parts = append(parts, p)
	}
	return parts, nil
}

// confirmed is what a snapshot block contains.
func (h *history) confirmed(n *snapshot) (part, error) {
	p := part{snapshot: n}
	for _, a := range n.accounts() {
		own, err := h.confirmedBy(n, a)
		if err != nil {
			return p, err
		}
		p.accounts = append(p.accounts, own)
	}
	return p, nil
}

// confirmedBy are the account's blocks that the snapshot block is the first to contain, oldest first.
func (h *history) confirmedBy(n *snapshot, a core.Address) (list []*entry, err error) {
	err = h.down(a, n.content[a].Height, func(e *entry) (bool, error) {
		if e.snapshot.Height < n.Height {
			return false, nil
		}
		list = append(list, e)
		return true, h.link(e)
	})
	slices.Reverse(list)
	return list, err
}
