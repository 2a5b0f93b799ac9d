package node

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gatewayd/chain/vite/core"
)

// change runs one step of the producer, or of a test, and waits until it is on disk. step answers the record to log, nil
// for none, and the events to publish.
func (n *Node) change(step func() (record []byte, events []Event, err error)) error {
	n.control.Lock()
	defer n.control.Unlock()
	added, err := n.step(step)
	if err != nil {
		return err
	}
	return n.log.wait(added)
}

func (n *Node) step(step func() ([]byte, []Event, error)) (uint64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.usable(); err != nil {
		return 0, err
	}
	record, events, err := step()
	if err != nil || record == nil {
		return 0, err
	}
	n.wake()
	return n.append(record, func() []Event { return events }), nil
}

// Tick lets contracts receive what waits for them; Run does it by itself.
func (n *Node) Tick() error {
	return n.change(func() ([]byte, []Event, error) {
		if len(n.state.pending) == 0 {
			return nil, nil, nil
		}
		before := len(n.state.recent)
		n.state.produce()
		return []byte{recordTick}, eventsOf(n.state.recent[before:]), nil
	})
}

// Snapshot makes a snapshot block of all account blocks so far, after letting contracts receive. Run does it by itself.
func (n *Node) Snapshot() (Point, error) {
	var made *snapshot
	var file stateFile
	err := n.change(func() ([]byte, []Event, error) {
		before := len(n.state.recent)
		n.state.produce()
		events := eventsOf(n.state.recent[before:])
		made = n.state.seal(n.config.Now())
		return snapshotRecord(made), append(events, made.event()), nil
	})
	if err != nil {
		return Point{}, err
	}
	if file, err = n.dueState(); err == nil && file.data != nil {
		err = n.saveState(file)
	}
	return made.Point, err
}

// stateFile is a state file to be written.
type stateFile struct {
	data      []byte
	at        place
	height    uint64
	rollbacks uint64
}

// dueState encodes the state if the log has grown enough since the last time: by StateEvery, and by half of what the last
// state took, so that a long chain does not spend its time on writing states. It is only done while all blocks are in
// snapshots.
func (n *Node) dueState() (stateFile, error) {
	if n.config.Dir == "" {
		return stateFile{}, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	grown := n.log.here().offset - n.lastState.offset
	if grown < max(n.config.StateEvery, n.stateSize/2) || len(n.state.recent) > 0 || n.closed {
		return stateFile{}, nil
	}
	if err := n.log.flush(); err != nil { // so that the log's end and the state are of one moment
		return stateFile{}, err
	}
	at := n.log.here()
	return stateFile{encodeState(n.state, at), at, n.state.height(), n.state.rollbacks}, nil
}

// saveState writes the file while the chain goes on. A rollback in between makes it useless.
func (n *Node) saveState(f stateFile) error {
	n.control.Lock()
	defer n.control.Unlock()
	if n.rolledBack(f.rollbacks) {
		return nil
	}
	if err := writeState(n.config.Dir, f.data, f.at, f.height); err != nil {
		return err
	}
	n.lastState, n.stateSize = f.at, int64(len(f.data))
	return nil
}

func (n *Node) rolledBack(since uint64) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.state.rollbacks != since
}

// DropUnconfirmed loses an account block that is in no snapshot yet, with everything that depends on it, as real nodes do.
// A contract's block takes its whole receive with it, which the contract then does again. Unknown: ErrNoBlock, in a
// snapshot: ErrConfirmed.
func (n *Node) DropUnconfirmed(hash core.Hash) error {
	return n.change(func() ([]byte, []Event, error) {
		e := n.state.blocks[hash]
		switch {
		case e == nil:
			return nil, nil, ErrNoBlock
		case e.snapshot != nil:
			return nil, nil, ErrConfirmed
		}
		return n.drop(func(e *entry) bool {
			return e.block.Hash == hash ||
				slices.ContainsFunc(e.triggered, func(t *entry) bool { return t.block.Hash == hash })
		})
	})
}

// DropAccount drops all blocks of an account that are in no snapshot yet. None is no error.
func (n *Node) DropAccount(a core.Address) error {
	return n.change(func() ([]byte, []Event, error) {
		return n.drop(func(e *entry) bool { return e.block.Address == a })
	})
}

func (n *Node) drop(which func(*entry) bool) ([]byte, []Event, error) {
	before := slices.Clone(n.state.recent)
	var doomed []core.Hash
	for _, e := range before {
		if which(e) {
			doomed = append(doomed, e.block.Hash)
		}
	}
	if len(doomed) == 0 {
		return nil, nil, nil
	}
	n.state.drop(doomed)
	return dropRecord(doomed), changes(before, n.state.recent), nil
}

// Rollback takes back all snapshot blocks above height and all account blocks that are not in one at or below it, as a
// re-organisation of the snapshot chain does. They do not come back by themselves; Submit takes them again where they fit.
// ErrTooDeep unless 1 <= height < latest, and at most 1000 blocks deep; in memory the chain can also not go back behind
// what it remembers.
func (n *Node) Rollback(height uint64) error {
	return n.change(func() ([]byte, []Event, error) {
		latest := n.state.height()
		if height < 1 || height >= latest || latest-height > undoDepth {
			return nil, nil, ErrTooDeep
		}
		if err := n.reach(height); err != nil {
			return nil, nil, err
		}
		if err := n.forgetStates(height); err != nil {
			return nil, nil, err
		}
		events := removals(n.state.above(height))
		n.state.rollback(height)
		return rollbackRecord(height), events, nil
	})
}

// reach makes sure that the journal goes back to the height. After a start from a state file it may not; then the chain is
// loaded again from an older state, to the same end.
func (n *Node) reach(height uint64) error {
	if height >= n.state.floor {
		return nil
	}
	if n.config.Dir == "" {
		return ErrTooDeep
	}
	if err := n.log.flush(); err != nil {
		return err
	}
	s, log, _, err := n.load(height)
	if err != nil {
		return fmt.Errorf("loading the chain again to reach height %d: %w", height, err)
	}
	if err := log.close(); err != nil {
		return err
	}
	if s.latest().Hash != n.state.latest().Hash || height < s.floor {
		return errors.Join(ErrTooDeep, fmt.Errorf("no older state leads to height %d", height))
	}
	n.state = s
	return nil
}

// forgetStates removes the state files of the future that is taken back.
func (n *Node) forgetStates(height uint64) error {
	if n.config.Dir == "" {
		return nil
	}
	names, err := stateFiles(n.config.Dir)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		h := heightOf(name)
		return h <= height && h != math.MaxUint64
	})
	if err := removeAll(names); err != nil {
		return err
	}
	return syncDir(n.config.Dir)
}
