package ledger

import (
	"math/big"
	"time"

	"gatewayd/vite/core"
)

// Entry writes an account block with all its permanent data. Its receiver may be known later, and
// is not part of it.
func (w *Writer) Entry(e *Entry) {
	w.Uint(e.Snapshot.Height)
	w.int(e.Snapshot.Time.Unix())
	w.Raw(e.Snapshot.Hash[:])
	w.logs(e.Logs)
	w.Block(e.Block)
	w.Uint(e.ByStake)
	w.Uint(e.Total)
	w.bool(e.Send != nil)
	if e.Send != nil {
		w.transfer(e.Transfer())
	}
	w.Uint(uint64(len(e.Triggered)))
	for _, t := range e.Triggered {
		w.Block(t.Block)
	}
}

func (w *Writer) logs(logs []VMLog) {
	w.Uint(uint64(len(logs)))
	for _, l := range logs {
		w.Uint(uint64(len(l.Topics)))
		for _, t := range l.Topics {
			w.Raw(t[:])
		}
		w.optional(l.Data)
	}
}

// transfer leaves the addressee out, who is the receiver.
func (w *Writer) transfer(t Transfer) {
	w.Raw(t.From[:])
	w.Raw(t.Token[:])
	w.Amount(t.Amount)
	w.Amount(t.Fee)
}

// Entry reads a block. What it receives is a send with no more in it than what it moves.
func (r *Reader) Entry() *Entry {
	e := &Entry{Pruned: true}
	e.Snapshot = &Snapshot{Point: r.Point()}
	e.Logs, e.Block = r.Logs(), r.Block()
	e.At = Position{Height: e.Block.Height}
	e.ByStake, e.Total = r.Uint(), r.Uint()
	if r.bool() {
		e.Send = &Entry{Block: r.transfer(e.Block.Address)}
	}
	for i := range r.count(core.HashSize) {
		t := &Entry{Block: r.Block(), At: Position{e.Block.Height, i + 1}, Snapshot: e.Snapshot, Pruned: true}
		e.Triggered = append(e.Triggered, t)
		e.Block.Triggered = append(e.Block.Triggered, t.Block)
	}
	return e
}

func (r *Reader) Point() Point {
	return Point{Height: r.Uint(), Time: time.Unix(r.int(), 0).UTC(), Hash: r.Hash()}
}

func (r *Reader) Logs() []VMLog {
	var list []VMLog
	for range r.count(2) {
		var l VMLog
		for range r.count(core.HashSize) {
			l.Topics = append(l.Topics, r.Hash())
		}
		l.Data = r.optional()
		list = append(list, l)
	}
	return list
}

func (r *Reader) transfer(to core.Address) *core.AccountBlock {
	return &core.AccountBlock{
		BlockType: core.SendCall, ToAddress: to,
		Address: r.Address(), TokenID: r.tokenID(), Amount: r.Amount(), Fee: r.Amount(),
	}
}

// A run is snapshot blocks in a row, of which only the hash before the first is written: those of
// the blocks follow. An empty block is three bytes.
func (w *Writer) Run(list []*Snapshot) {
	before := list[0].Previous
	w.Raw(before[:])
	var at int64
	var seed uint64
	for _, n := range list {
		w.int(n.Time.Unix() - at)
		w.int(int64(n.Seed - seed))
		w.content(n)
		at, seed = n.Time.Unix(), n.Seed
	}
}

func (w *Writer) content(n *Snapshot) {
	w.Uint(uint64(len(n.Content)))
	for _, a := range n.Accounts() {
		id := n.Content[a]
		w.Raw(a[:])
		w.Uint(id.Height)
		w.Raw(id.Hash[:])
	}
}

// Run reads snapshot blocks from the height on.
func (r *Reader) Run(height uint64, how Sealing) []*Snapshot {
	var list []*Snapshot
	var at int64
	var seed uint64
	for previous := r.Hash(); len(r.Data) > 0 && r.Err == nil; height++ {
		at += r.int()
		seed += uint64(r.int())
		n := &Snapshot{Point: Point{Height: height, Time: time.Unix(at, 0).UTC()}, Previous: previous, Seed: seed}
		n.Content = r.content()
		n.Hash = n.ComputeHash(how)
		previous = n.Hash
		list = append(list, n)
	}
	return list
}

// content is nil when empty.
func (r *Reader) content() map[core.Address]BlockID {
	var content map[core.Address]BlockID
	for range r.count(core.AddressSize + 1 + core.HashSize) {
		if content == nil {
			content = map[core.Address]BlockID{}
		}
		a := r.Address()
		content[a] = BlockID{r.Uint(), r.Hash()}
	}
	return content
}

// Block writes an account block, all but its triggered sends.
func (w *Writer) Block(b *core.AccountBlock) {
	w.byte(byte(b.BlockType))
	w.Uint(b.Height)
	w.Raw(b.Hash[:])
	w.Raw(b.PreviousHash[:])
	w.Raw(b.Address[:])
	w.Raw(b.ToAddress[:])
	w.Raw(b.TokenID[:])
	w.Raw(b.SendBlockHash[:])
	w.Amount(b.Amount)
	w.Amount(b.Fee)
	w.optional(b.Data)
	w.optional(b.Nonce)
	w.optional(b.PublicKey)
	w.optional(b.Signature)
	w.bool(b.Difficulty != nil)
	if b.Difficulty != nil {
		w.bytes(b.Difficulty.Bytes())
	}
	w.bool(b.VMLogHash != nil)
	if b.VMLogHash != nil {
		w.Raw(b.VMLogHash[:])
	}
}

func (r *Reader) Block() *core.AccountBlock {
	b := &core.AccountBlock{BlockType: core.BlockType(r.byte()), Height: r.Uint()}
	b.Hash, b.PreviousHash = r.Hash(), r.Hash()
	b.Address, b.ToAddress = r.Address(), r.Address()
	b.TokenID, b.SendBlockHash = r.tokenID(), r.Hash()
	b.Amount, b.Fee = r.Amount(), r.Amount()
	b.Data, b.Nonce = r.optional(), r.optional()
	b.PublicKey, b.Signature = r.optional(), r.optional()
	if r.bool() {
		b.Difficulty = new(big.Int).SetBytes(r.bytes())
	}
	if r.bool() {
		h := r.Hash()
		b.VMLogHash = &h
	}
	return b
}
