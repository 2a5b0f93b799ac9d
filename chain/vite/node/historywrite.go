package node

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"gatewayd/chain/vite/core"
)

// What is taken from the state in one piece, while nothing can be added to it: as many snapshot blocks or bytes.
const (
	chapterBlocks = 64
	chapterBytes  = 1 << 20
)

// chapter is what one write adds to the history. It makes the history complete up to the height top.
type chapter struct {
	batch *pebble.Batch
	w     writer // of one value after the other
	from  uint64 // it was complete up to here
	top   uint64
	upto  uint64 // it will be complete up to here after further chapters
}

// chapter takes what the history lacks up to a snapshot height, or a part of it; nil if it lacks nothing.
func (s *state) chapter(h *history, upto uint64) (*chapter, error) {
	if h.top >= upto {
		return nil, nil
	}
	c := &chapter{batch: h.db.NewBatchWithSize(chapterBytes + chapterBytes/8), from: h.top, top: h.top, upto: upto}
	var run []*snapshot
	for c.top < upto && len(run) < chapterBlocks && c.batch.Len() < chapterBytes {
		n := s.at(c.top + 1)
		if err := s.chronicle(c, n); err != nil {
			return nil, err
		}
		run = append(run, n)
		c.top++
	}
	return c, c.set(snapshotKey(run[0].Height), func(w *writer) { w.run(run) })
}

// chronicle writes what came with a snapshot block, but for the block itself.
func (s *state) chronicle(c *chapter, n *snapshot) error {
	if err := c.batch.Set(sealKey(n.Hash, n.Height), nil, nil); err != nil {
		return err
	}
	for _, h := range n.changed {
		past, _ := s.accounts[h.address].balanceAt(h.token, n.Height)
		err := c.set(balanceKey(h.address, h.token, n.Height), func(w *writer) { w.amount(past.amount) })
		if err != nil {
			return err
		}
	}
	for a := range n.content {
		for _, e := range s.accounts[a].confirmedBy(n) {
			if err := c.block(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *chapter) block(e *entry) error {
	if err := c.set(blockKey(e.block.Address, e.block.Height), func(w *writer) { w.entry(e) }); err != nil {
		return err
	}
	if e.send != nil && e.send.snapshot.Height <= c.from {
		if err := c.place(e.send); err != nil {
			return err
		}
	}
	for _, t := range e.triggered {
		if err := c.place(t); err != nil {
			return err
		}
	}
	return c.place(e)
}

// place writes where a block stands, and who has received it if that goes into the history with it. If not, it is written
// again with the receive.
func (c *chapter) place(e *entry) error {
	p := whereabouts{address: e.block.Address, at: e.at}
	if r := e.receive; r != nil && r.snapshot != nil && r.snapshot.Height <= c.upto {
		p.receive = r.id()
	}
	return c.set(hashKey(e.block.Hash), func(w *writer) { w.whereabouts(p) })
}

// set writes a value; the batch has a copy of it.
func (c *chapter) set(key []byte, value func(w *writer)) error {
	c.w.data = c.w.data[:0]
	value(&c.w)
	return c.batch.Set(key, c.w.data, nil)
}

// add writes a chapter.
func (h *history) add(c *chapter) error {
	if err := h.commit(c.batch); err != nil {
		return err
	}
	h.top = c.top
	return c.batch.Close()
}

// cut takes out what came with the snapshot blocks above a height.
func (h *history) cut(height uint64) error {
	for h.top > height {
		var run []*snapshot
		if err := h.runs(h.top, func(r []*snapshot) bool { run = r; return false }); err != nil {
			return err
		}
		batch := h.db.NewIndexedBatch()
		if err := h.cutRun(batch, run, height); err != nil {
			return err
		}
		if err := h.commit(batch); err != nil {
			return err
		}
		h.top = max(run[0].Height-1, height)
		if err := batch.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) cutRun(batch *pebble.Batch, run []*snapshot, height uint64) error {
	for i := len(run) - 1; i >= 0 && run[i].Height > height; i-- {
		if err := h.cutSnapshot(batch, run[i]); err != nil {
			return err
		}
	}
	first := run[0].Height
	if first > height {
		return batch.Delete(snapshotKey(first), nil)
	}
	w := &writer{}
	w.run(run[:height+1-first])
	return batch.Set(snapshotKey(first), w.data, nil)
}

func (h *history) cutSnapshot(batch *pebble.Batch, n *snapshot) error {
	if err := batch.Delete(sealKey(n.Hash, n.Height), nil); err != nil {
		return err
	}
	for a, id := range n.content {
		err := h.down(a, id.Height, func(e *entry) (bool, error) {
			if e.snapshot.Height < n.Height {
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

func (h *history) cutBlock(batch *pebble.Batch, e *entry) error {
	keys := [][]byte{blockKey(e.block.Address, e.block.Height), hashKey(e.block.Hash)}
	for _, token := range []core.TokenID{e.moves().Token, core.VITE} { // all that the block can have changed itself
		keys = append(keys, balanceKey(e.block.Address, token, e.snapshot.Height))
	}
	for _, t := range e.triggered {
		keys = append(keys, hashKey(t.block.Hash), balanceKey(e.block.Address, t.block.TokenID, e.snapshot.Height))
	}
	for _, key := range keys {
		if err := batch.Delete(key, nil); err != nil {
			return err
		}
	}
	return h.unreceive(batch, e.block.SendBlockHash)
}

// unreceive forgets who received a send, unless the send is gone too.
func (h *history) unreceive(batch *pebble.Batch, send core.Hash) error {
	value, done, err := batch.Get(hashKey(send))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r := &reader{data: value}
	p := r.whereabouts()
	if err := errors.Join(r.err, done.Close()); err != nil {
		return err
	}
	p.receive = BlockID{}
	w := &writer{}
	w.whereabouts(p)
	return batch.Set(hashKey(send), w.data, nil)
}
