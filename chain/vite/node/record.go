package node

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"gatewayd/chain/vite/core"
)

// The records of the block log: one byte for the kind, then what that kind needs. Contract blocks and snapshot blocks are
// not in it; they follow. A snapshot's record carries its hash, so that a replay that goes another way is found; that of an empty
// snapshot block, of which an idle chain makes one a second, only its beginning.
const (
	recordBlock    = 'B' // the user's block
	recordStep     = 't' // of contracts
	recordSnapshot = 's' // a step; seconds since the block before, hash
	recordEmpty    = 'e' // the same, with the beginning of the hash
	recordDrop     = 'D' // hashes
	recordRollback = 'R' // height
	// The following are read only: their steps are of olderReceives.
	olderStep     = 'T'
	olderSnapshot = 'S'
	olderEmpty    = 'E'
)

// seals tells whether a record makes a snapshot block.
func seals(kind byte) bool {
	switch kind {
	case recordSnapshot, recordEmpty, olderSnapshot, olderEmpty:
		return true
	}
	return false
}

func blockRecord(b *core.AccountBlock) []byte {
	w := &writer{data: make([]byte, 0, 512)}
	w.byte(recordBlock)
	w.block(b)
	return w.data
}

// snapshotRecord is of the latest snapshot block.
func (s *state) snapshotRecord() []byte {
	n := s.latest()
	before := s.at(n.Height - 1)
	passed := uint64(n.Time.Sub(before.Time) / time.Second)
	w := &writer{}
	if len(n.content) == 0 {
		w.byte(recordEmpty)
		w.uint(passed)
		w.raw(n.Hash[:checkSize])
		return w.data
	}
	w.byte(recordSnapshot)
	w.uint(passed)
	w.raw(n.Hash[:])
	return w.data
}

func dropRecord(doomed []core.Hash) []byte {
	w := &writer{}
	w.byte(recordDrop)
	w.uint(uint64(len(doomed)))
	for _, h := range doomed {
		w.raw(h[:])
	}
	return w.data
}

func rollbackRecord(height uint64) []byte {
	w := &writer{}
	w.byte(recordRollback)
	w.uint(height)
	return w.data
}

// replay does again what a record says. An error means that the log is not one that this program wrote.
func (s *state) replay(record []byte) error {
	if len(record) == 0 {
		return fmt.Errorf("%w: empty record", ErrCorrupt)
	}
	r := &reader{data: record[1:]}
	switch record[0] {
	case recordBlock:
		return s.replayBlock(r)
	case recordStep:
		s.step()
		return nil
	case recordSnapshot:
		return s.replaySnapshot(r, core.HashSize, s.step)
	case recordEmpty:
		return s.replaySnapshot(r, checkSize, s.step)
	case olderStep:
		s.olderStep()
		return nil
	case olderSnapshot:
		return s.replaySnapshot(r, core.HashSize, s.olderStep)
	case olderEmpty:
		return s.replaySnapshot(r, checkSize, s.olderStep)
	case recordDrop:
		doomed := r.hashes()
		if r.err == nil {
			s.drop(doomed)
		}
		return r.err
	case recordRollback:
		return s.replayRollback(r)
	}
	return fmt.Errorf("%w: record of kind %q", ErrCorrupt, record[0])
}

func (s *state) olderStep() { s.produce(olderReceives, olderReceives) }

func (r *reader) hashes() []core.Hash {
	var list []core.Hash
	for range r.count(core.HashSize) {
		list = append(list, r.hash())
	}
	return list
}

// replayBlock does not verify the signature again: the record's checksum stands for it.
func (s *state) replayBlock(r *reader) error {
	b := r.block()
	if r.err != nil {
		return r.err
	}
	if err := s.checkPlace(b, verdict{}); err != nil {
		return fmt.Errorf("%w: block %s: %w", ErrCorrupt, b.Hash, err)
	}
	if err := s.add(b); err != nil {
		return fmt.Errorf("%w: block %s: %w", ErrCorrupt, b.Hash, err)
	}
	return nil
}

// checkSize is how much of the hash an empty snapshot block's record has.
const checkSize = 4

func (s *state) replaySnapshot(r *reader, hashSize int, step func()) error {
	passed, want := r.uint(), make([]byte, hashSize)
	r.raw(want)
	if passed > maxPassed {
		r.fail("time of a snapshot block")
	}
	if r.err != nil {
		return r.err
	}
	at := s.latest().Time.Add(time.Duration(passed) * time.Second)
	step()
	if n := s.seal(at); !bytes.Equal(n.Hash[:hashSize], want) {
		return fmt.Errorf("%w: snapshot block %d comes out as %s, was %x", ErrCorrupt, n.Height, n.Hash, want)
	}
	return nil
}

// maxPassed is the longest time between two snapshot blocks that a record can tell: 200 years.
const maxPassed = 200 * 366 * 24 * 3600

func (s *state) replayRollback(r *reader) error {
	height := r.uint()
	if r.err == nil && (height < s.floor || height >= s.height()) {
		return fmt.Errorf("%w: rollback to snapshot height %d", ErrCorrupt, height)
	}
	if r.err == nil {
		s.rollback(height)
	}
	return r.err
}

// rollback takes back all snapshot blocks above height, which must be at least the floor.
func (s *state) rollback(height uint64) {
	s.journal.revert(s.at(height).mark)
	s.rollbacks++
}

// drop loses blocks that are in no snapshot: it takes back everything since the latest one and does again what still
// stands. A block that needs a lost one is lost with it.
func (s *state) drop(doomed []core.Hash) {
	recent := slices.Clone(s.recent)
	s.journal.revert(s.latest().mark)
	for _, e := range recent {
		switch {
		case slices.Contains(doomed, e.block.Hash):
		case e.block.Address.IsContract():
			s.receiveAgain(e.block.SendBlockHash)
		case s.checkPlace(e.block, verdict{}) == nil:
			// A refusal only loses the block, as it should.
			_ = s.add(e.block)
		}
	}
}

// receiveAgain lets a contract receive a send out of turn, if the send is still there.
func (s *state) receiveAgain(send core.Hash) {
	at := slices.IndexFunc(s.pending, func(e *entry) bool { return e.block.Hash == send })
	if at < 0 {
		return
	}
	e := s.pending[at]
	set(&s.journal, &s.pending, slices.Delete(slices.Clone(s.pending), at, at+1))
	s.receive(e)
}
