package ledger

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"gatewayd/vite/core"
)

// The records of the block log: one byte for the kind, then what that kind needs. Contract blocks
// and snapshot blocks are not in it; they follow. A snapshot's record carries its hash, so that a
// replay that goes another way is found; that of an empty snapshot block, of which an idle chain
// makes one a second, only its beginning.
const (
	recordBlock    = 'B' // the user's block
	RecordStep     = 'x' // of contracts
	RecordSnapshot = 'y' // a step; seconds since the block before, hash
	RecordEmpty    = 'z' // the same, with the beginning of the hash
	RecordDrop     = 'c' // hashes
	RecordRollback = 'R' // height
	// The following are read only: olderBuySteps, loopingSteps and olderSteps.
	OlderBuyStep     = 'u'
	OlderBuySnapshot = 'v'
	OlderBuyEmpty    = 'w'
	OlderBuyDrop     = 'd'
	LoopingStep      = 't'
	LoopingSnapshot  = 's'
	LoopingEmpty     = 'e'
	LoopingDrop      = 'D'
	OlderStep        = 'T'
	OlderSnapshot    = 'S'
	OlderEmpty       = 'E'
)

// olderKinds maps records of older versions to present kinds and the contract rules of that time.
var olderKinds = map[byte]struct {
	kind  byte
	steps stepRules
}{
	OlderBuyStep: {RecordStep, olderBuySteps}, OlderBuySnapshot: {RecordSnapshot, olderBuySteps},
	OlderBuyEmpty: {RecordEmpty, olderBuySteps}, OlderBuyDrop: {RecordDrop, olderBuySteps},
	LoopingStep: {RecordStep, loopingSteps}, LoopingSnapshot: {RecordSnapshot, loopingSteps},
	LoopingEmpty: {RecordEmpty, loopingSteps}, LoopingDrop: {RecordDrop, loopingSteps},
	OlderStep: {RecordStep, olderSteps}, OlderSnapshot: {RecordSnapshot, olderSteps}, OlderEmpty: {RecordEmpty, olderSteps},
}

// MakesSnapshot reports whether a record makes a snapshot block.
func MakesSnapshot(kind byte) bool {
	if older, known := olderKinds[kind]; known {
		kind = older.kind
	}
	return kind == RecordSnapshot || kind == RecordEmpty
}

func BlockRecord(b *core.AccountBlock) []byte {
	w := &Writer{Data: make([]byte, 0, 512)}
	w.byte(recordBlock)
	w.Block(b)
	return w.Data
}

// SnapshotRecord is of the latest snapshot block.
func (s *State) SnapshotRecord() []byte {
	n := s.Latest()
	before := s.SnapshotAt(n.Height - 1)
	passed := uint64(n.Time.Sub(before.Time) / time.Second)
	w := &Writer{}
	if len(n.Content) == 0 {
		w.byte(RecordEmpty)
		w.Uint(passed)
		w.Raw(n.Hash[:checkSize])
		return w.Data
	}
	w.byte(RecordSnapshot)
	w.Uint(passed)
	w.Raw(n.Hash[:])
	return w.Data
}

func DropRecord(doomed []core.Hash) []byte {
	w := &Writer{}
	w.byte(RecordDrop)
	w.Uint(uint64(len(doomed)))
	for _, h := range doomed {
		w.Raw(h[:])
	}
	return w.Data
}

func RollbackRecord(height uint64) []byte {
	w := &Writer{}
	w.byte(RecordRollback)
	w.Uint(height)
	return w.Data
}

// Replay applies a record again. An error means that this program did not write the log.
func (s *State) Replay(record []byte) error {
	if len(record) == 0 {
		return fmt.Errorf("%w: empty record", ErrCorrupt)
	}
	r, kind := &Reader{Data: record[1:]}, record[0]
	if older, known := olderKinds[kind]; known {
		kind, s.steps = older.kind, older.steps
		defer func() { s.steps = steps }()
	}
	switch kind {
	case recordBlock:
		return s.replayBlock(r)
	case RecordStep:
		s.Step()
		return nil
	case RecordSnapshot:
		return s.replaySnapshot(r, core.HashSize)
	case RecordEmpty:
		return s.replaySnapshot(r, checkSize)
	case RecordDrop:
		doomed := r.hashes()
		if r.Err == nil {
			s.Drop(doomed)
		}
		return r.Err
	case RecordRollback:
		return s.replayRollback(r)
	}
	return fmt.Errorf("%w: record of kind %q", ErrCorrupt, kind)
}

func (r *Reader) hashes() []core.Hash {
	var list []core.Hash
	for range r.count(core.HashSize) {
		list = append(list, r.Hash())
	}
	return list
}

// replayBlock does not verify the signature again: the record's checksum replaces it.
func (s *State) replayBlock(r *Reader) error {
	b := r.Block()
	if r.Err != nil {
		return r.Err
	}
	if err := s.CheckPlace(b, Verdict{}); err != nil {
		return fmt.Errorf("%w: block %s: %w", ErrCorrupt, b.Hash, err)
	}
	if err := s.Apply(b); err != nil {
		return fmt.Errorf("%w: block %s: %w", ErrCorrupt, b.Hash, err)
	}
	return nil
}

// checkSize is the length of the hash prefix in an empty snapshot block's record.
const checkSize = 4

func (s *State) replaySnapshot(r *Reader, hashSize int) error {
	passed, want := r.Uint(), make([]byte, hashSize)
	r.raw(want)
	if passed > maxPassed {
		r.Fail("time of a snapshot block")
	}
	if r.Err != nil {
		return r.Err
	}
	at := s.Latest().Time.Add(time.Duration(passed) * time.Second)
	s.Step()
	if n := s.Seal(at); !bytes.Equal(n.Hash[:hashSize], want) {
		return fmt.Errorf("%w: snapshot block %d comes out as %s, was %x", ErrCorrupt, n.Height, n.Hash, want)
	}
	return nil
}

// maxPassed is the longest time between two snapshot blocks that a record can hold: 200 years.
const maxPassed = 200 * 366 * 24 * 3600

func (s *State) replayRollback(r *Reader) error {
	height := r.Uint()
	if r.Err == nil && (height < s.Floor || height >= s.Height()) {
		return fmt.Errorf("%w: rollback to snapshot height %d", ErrCorrupt, height)
	}
	if r.Err == nil {
		s.Rollback(height)
	}
	return r.Err
}

// Rollback takes back all snapshot blocks above height, which must be at least the floor.
func (s *State) Rollback(height uint64) {
	s.journal.revert(s.SnapshotAt(height).mark)
	s.Rollbacks++
}

// Drop removes blocks that are in no snapshot: it rolls back everything since the latest one and
// applies the remaining blocks again. A block that depends on a removed one is removed with it.
func (s *State) Drop(doomed []core.Hash) {
	recent := slices.Clone(s.Recent)
	s.journal.revert(s.Latest().mark)
	for _, e := range recent {
		switch {
		case slices.Contains(doomed, e.Block.Hash):
		case e.Block.Address.IsContract():
			s.receiveAgain(e.Block.SendBlockHash)
		case s.CheckPlace(e.Block, Verdict{}) == nil:
			// A refusal only loses the block, as it should.
			_ = s.Apply(e.Block)
		}
	}
}

// receiveAgain lets a contract receive a send out of turn, if the send is still there.
func (s *State) receiveAgain(send core.Hash) {
	at := slices.IndexFunc(s.Pending, func(e *Entry) bool { return e.Block.Hash == send })
	if at < 0 {
		return
	}
	e := s.Pending[at]
	set(&s.journal, &s.Pending, slices.Delete(slices.Clone(s.Pending), at, at+1))
	s.receive(e)
}
