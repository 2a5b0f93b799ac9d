package node

import (
	"time"

	"gatewayd/chain/vite/core"
)

// entry writes an account block with everything that is known about it for good. Who received it may come later, and is
// not part of it.
func (w *writer) entry(e *entry) {
	w.uint(e.snapshot.Height)
	w.int(e.snapshot.Time.Unix())
	w.raw(e.snapshot.Hash[:])
	w.logs(e.logs)
	w.block(e.block)
	w.uint(e.byStake)
	w.uint(e.total)
	w.bool(e.send != nil)
	if e.send != nil {
		w.transfer(e.moves())
	}
	w.uint(uint64(len(e.triggered)))
	for _, t := range e.triggered {
		w.block(t.block)
	}
}

func (w *writer) logs(logs []VMLog) {
	w.uint(uint64(len(logs)))
	for _, l := range logs {
		w.uint(uint64(len(l.Topics)))
		for _, t := range l.Topics {
			w.raw(t[:])
		}
		w.optional(l.Data)
	}
}

// transfer leaves the addressee out, who is the receiver.
func (w *writer) transfer(t Transfer) {
	w.raw(t.From[:])
	w.raw(t.Token[:])
	w.amount(t.Amount)
	w.amount(t.Fee)
}

// entry reads a block. What it receives is a send with no more in it than what it moves.
func (r *reader) entry() *entry {
	e := &entry{old: true}
	e.snapshot = &snapshot{Point: r.point()}
	e.logs, e.block = r.logs(), r.block()
	e.at = spot{height: e.block.Height}
	e.byStake, e.total = r.uint(), r.uint()
	if r.bool() {
		e.send = &entry{block: r.transfer(e.block.Address)}
	}
	for i := range r.count(core.HashSize) {
		t := &entry{block: r.block(), at: spot{e.block.Height, i + 1}, snapshot: e.snapshot, old: true}
		e.triggered = append(e.triggered, t)
		e.block.Triggered = append(e.block.Triggered, t.block)
	}
	return e
}

func (r *reader) point() Point {
	return Point{Height: r.uint(), Time: time.Unix(r.int(), 0).UTC(), Hash: r.hash()}
}

func (r *reader) logs() []VMLog {
	var list []VMLog
	for range r.count(2) {
		var l VMLog
		for range r.count(core.HashSize) {
			l.Topics = append(l.Topics, r.hash())
		}
		l.Data = r.optional()
		list = append(list, l)
	}
	return list
}

func (r *reader) transfer(to core.Address) *core.AccountBlock {
	return &core.AccountBlock{
		BlockType: core.SendCall, ToAddress: to,
		Address: r.address(), TokenID: r.tokenID(), Amount: r.amount(), Fee: r.amount(),
	}
}

// whereabouts are what a block's hash leads to.
type whereabouts struct {
	address core.Address
	at      spot
	receive BlockID // zero: no one has received it
}

func (w *writer) whereabouts(p whereabouts) {
	w.raw(p.address[:])
	w.uint(p.at.height)
	w.uint(uint64(p.at.number))
	w.uint(p.receive.Height)
	if p.receive.Height > 0 {
		w.raw(p.receive.Hash[:])
	}
}

func (r *reader) whereabouts() whereabouts {
	p := whereabouts{address: r.address(), at: spot{r.uint(), int(r.uint())}}
	if p.receive.Height = r.uint(); p.receive.Height > 0 {
		p.receive.Hash = r.hash()
	}
	return p
}

// A run is snapshot blocks in a row, of which only the hash before the first is written: those of the blocks follow. An
// empty block is three bytes.
func (w *writer) run(list []*snapshot) {
	before := list[0].previous
	w.raw(before[:])
	var at int64
	var seed uint64
	for _, n := range list {
		w.int(n.Time.Unix() - at)
		w.int(int64(n.seed - seed))
		w.content(n)
		at, seed = n.Time.Unix(), n.seed
	}
}

func (w *writer) content(n *snapshot) {
	w.uint(uint64(len(n.content)))
	for _, a := range n.accounts() {
		id := n.content[a]
		w.raw(a[:])
		w.uint(id.Height)
		w.raw(id.Hash[:])
	}
}

// run reads snapshot blocks from the height on.
func (r *reader) run(height uint64, how sealing) []*snapshot {
	var list []*snapshot
	var at int64
	var seed uint64
	for previous := r.hash(); len(r.data) > 0 && r.err == nil; height++ {
		at += r.int()
		seed += uint64(r.int())
		n := &snapshot{Point: Point{Height: height, Time: time.Unix(at, 0).UTC()}, previous: previous, seed: seed}
		n.content = r.content()
		n.Hash = n.hash(how)
		previous = n.Hash
		list = append(list, n)
	}
	return list
}

// content is nil when empty.
func (r *reader) content() map[core.Address]BlockID {
	var content map[core.Address]BlockID
	for range r.count(core.AddressSize + 1 + core.HashSize) {
		if content == nil {
			content = map[core.Address]BlockID{}
		}
		a := r.address()
		content[a] = BlockID{r.uint(), r.hash()}
	}
	return content
}
