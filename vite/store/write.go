package store

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// What is taken from the state in one piece, while nothing can be added to it: as many snapshot
// blocks or bytes.
const (
	batchSnapshots = 64
	batchBytes     = 1 << 20
)

// Batch contains one write to the history. It makes the history complete up to the height top.
type Batch struct {
	batch *pebble.Batch
	w     ledger.Writer // of one value after the other
	from  uint64        // it was complete up to here
	top   uint64
	upto  uint64 // it will be complete up to here after further batches
}

// NextBatch takes what the history lacks up to a snapshot height, or a part of it, from the state;
// nil if it lacks nothing.
func (h *History) NextBatch(s *ledger.State, upto uint64) (*Batch, error) {
	if h.Top >= upto {
		return nil, nil
	}
	c := &Batch{batch: h.db.NewBatchWithSize(batchBytes + batchBytes/8), from: h.Top, top: h.Top, upto: upto}
	var run []*ledger.Snapshot
	for c.top < upto && len(run) < batchSnapshots && c.batch.Len() < batchBytes {
		n := s.SnapshotAt(c.top + 1)
		if err := c.confirmed(s, n); err != nil {
			return nil, err
		}
		run = append(run, n)
		c.top++
	}
	return c, c.set(snapshotKey(run[0].Height), func(w *ledger.Writer) { w.Run(run) })
}

// confirmed writes what came with a snapshot block, but for the block itself.
func (c *Batch) confirmed(s *ledger.State, n *ledger.Snapshot) error {
	if err := c.batch.Set(sealKey(n.Hash, n.Height), nil, nil); err != nil {
		return err
	}
	for _, h := range n.Changed {
		past, _ := s.Accounts[h.Address].BalanceAt(h.Token, n.Height)
		err := c.set(balanceKey(h.Address, h.Token, n.Height), func(w *ledger.Writer) { w.Amount(past.Amount) })
		if err != nil {
			return err
		}
	}
	for a := range n.Content {
		for _, e := range s.Accounts[a].ConfirmedBy(n) {
			if err := c.block(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Batch) block(e *ledger.Entry) error {
	if err := c.set(blockKey(e.Block.Address, e.Block.Height), func(w *ledger.Writer) { w.Entry(e) }); err != nil {
		return err
	}
	if e.Send != nil && e.Send.Snapshot.Height <= c.from {
		if err := c.place(e.Send); err != nil {
			return err
		}
	}
	for _, t := range e.Triggered {
		if err := c.place(t); err != nil {
			return err
		}
	}
	return c.place(e)
}

// place writes the position of a block, and its receiver if that is part of the same write.
// Otherwise it is written again with the receive.
func (c *Batch) place(e *ledger.Entry) error {
	p := Location{address: e.Block.Address, At: e.At}
	if r := e.Receive; r != nil && r.Snapshot != nil && r.Snapshot.Height <= c.upto {
		p.receive = r.Id()
	}
	return c.set(hashKey(e.Block.Hash), func(w *ledger.Writer) { p.encode(w) })
}

// set writes a value; the batch has a copy of it.
func (c *Batch) set(key []byte, value func(w *ledger.Writer)) error {
	c.w.Data = c.w.Data[:0]
	value(&c.w)
	return c.batch.Set(key, c.w.Data, nil)
}

// Add writes a batch.
func (h *History) Add(c *Batch) error {
	if err := h.commit(c.batch); err != nil {
		return err
	}
	h.Top = c.top
	return c.batch.Close()
}

// Cut takes out what came with the snapshot blocks above a height.
func (h *History) Cut(height uint64) error {
	for h.Top > height {
		var run []*ledger.Snapshot
		if err := h.runs(h.Top, func(r []*ledger.Snapshot) bool { run = r; return false }); err != nil {
			return err
		}
		batch := h.db.NewIndexedBatch()
		if err := h.cutRun(batch, run, height); err != nil {
			return err
		}
		if err := h.commit(batch); err != nil {
			return err
		}
		h.Top = max(run[0].Height-1, height)
		if err := batch.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (h *History) cutRun(batch *pebble.Batch, run []*ledger.Snapshot, height uint64) error {
	for i := len(run) - 1; i >= 0 && run[i].Height > height; i-- {
		if err := h.cutSnapshot(batch, run[i]); err != nil {
			return err
		}
	}
	first := run[0].Height
	if first > height {
		return batch.Delete(snapshotKey(first), nil)
	}
	w := &ledger.Writer{}
	w.Run(run[:height+1-first])
	return batch.Set(snapshotKey(first), w.Data, nil)
}

func (h *History) cutSnapshot(batch *pebble.Batch, n *ledger.Snapshot) error {
	if err := batch.Delete(sealKey(n.Hash, n.Height), nil); err != nil {
		return err
	}
	for a, id := range n.Content {
		err := h.Down(a, id.Height, func(e *ledger.Entry) (bool, error) {
			if e.Snapshot.Height < n.Height {
				return false, nil
			}
			return true, h.cutBlock(batch, e)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *History) cutBlock(batch *pebble.Batch, e *ledger.Entry) error {
	keys := [][]byte{blockKey(e.Block.Address, e.Block.Height), hashKey(e.Block.Hash)}
	for _, token := range []core.TokenID{e.Transfer().Token, core.VITE} { // all that the block can have changed itself
		keys = append(keys, balanceKey(e.Block.Address, token, e.Snapshot.Height))
	}
	for _, t := range e.Triggered {
		keys = append(keys, hashKey(t.Block.Hash), balanceKey(e.Block.Address, t.Block.TokenID, e.Snapshot.Height))
	}
	for _, key := range keys {
		if err := batch.Delete(key, nil); err != nil {
			return err
		}
	}
	return h.unreceive(batch, e.Block.SendBlockHash)
}

// unreceive forgets who received a send, unless the send is gone too.
func (h *History) unreceive(batch *pebble.Batch, send core.Hash) error {
	value, done, err := batch.Get(hashKey(send))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r := &ledger.Reader{Data: value}
	p := decodeLocation(r)
	if err := errors.Join(r.Err, done.Close()); err != nil {
		return err
	}
	p.receive = ledger.BlockID{}
	w := &ledger.Writer{}
	p.encode(w)
	return batch.Set(hashKey(send), w.Data, nil)
}

// Location is the result of a lookup by a block's hash.
type Location struct {
	address core.Address
	At      ledger.Position
	receive ledger.BlockID // zero: no one has received it
}

func (p Location) encode(w *ledger.Writer) {
	w.Raw(p.address[:])
	w.Uint(p.At.Height)
	w.Uint(uint64(p.At.Number))
	w.Uint(p.receive.Height)
	if p.receive.Height > 0 {
		w.Raw(p.receive.Hash[:])
	}
}

func decodeLocation(r *ledger.Reader) Location {
	p := Location{address: r.Address(), At: ledger.Position{Height: r.Uint(), Number: int(r.Uint())}}
	if p.receive.Height = r.Uint(); p.receive.Height > 0 {
		p.receive.Hash = r.Hash()
	}
	return p
}
