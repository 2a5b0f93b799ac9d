package node

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// eventList lists the events of a step. It is called at once, but only if someone listens.
type eventList func() []Event

// change runs one step of the producer, or of a test, and waits until it is on disk. step answers
// the record to log, nil for none, and the events to publish.
func (n *Node) change(step func() (record []byte, events eventList, err error)) error {
	n.control.Lock()
	defer n.control.Unlock()
	added, err := n.step(step, nil)
	if err != nil {
		return err
	}
	return n.log.Wait(added)
}

// step changes the state and logs it. after, unless nil, sees the state and the log as they are
// then.
func (n *Node) step(step func() ([]byte, eventList, error), after func() error) (uint64, error) {
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
	added := n.append(record, events)
	if after == nil {
		return added, nil
	}
	return added, after()
}

// Tick lets contracts receive their pending sends, step by step, so that other calls come in
// between. Run calls it automatically.
func (n *Node) Tick() error {
	for {
		if more, err := n.tick(); err != nil || !more {
			return err
		}
	}
}

// tick runs one step of the contracts, and reports whether there is more to do.
func (n *Node) tick() (more bool, err error) {
	err = n.change(func() ([]byte, eventList, error) {
		if len(n.state.Pending) == 0 {
			return nil, nil, nil
		}
		if n.state.Full() {
			_, record, events := n.seal()
			more = len(n.state.Pending) > 0
			return record, events, nil
		}
		before := len(n.state.Recent)
		n.state.Step()
		more = len(n.state.Pending) > 0
		return []byte{ledger.RecordStep}, func() []Event { return eventsOf(n.state.Recent[before:]) }, nil
	})
	return more, err
}

// Snapshot makes a snapshot block of all account blocks so far, after a step of the contracts. Run
// calls it automatically.
func (n *Node) Snapshot() (ledger.Point, error) {
	n.control.Lock()
	defer n.control.Unlock()
	var made *ledger.Snapshot
	var file *checkpoint
	added, err := n.step(func() (record []byte, events eventList, err error) {
		made, record, events = n.seal()
		return record, events, nil
	}, func() (err error) {
		file, err = n.dueCheckpoint(n.config.StateEvery)
		return err
	})
	if err == nil {
		err = n.log.Wait(added)
	}
	if err == nil {
		err = n.prune(file)
	}
	if err != nil {
		return ledger.Point{}, err
	}
	return made.Point, nil
}

// seal makes a snapshot block after a step of the contracts. It is called with the lock.
func (n *Node) seal() (*ledger.Snapshot, []byte, eventList) {
	before := len(n.state.Recent)
	n.state.Step()
	came := n.state.Recent[before:]
	made := n.state.Seal(n.config.Now())
	return made, n.state.SnapshotRecord(), func() []Event { return append(eventsOf(came), snapshotEvent(made)) }
}

// DropUnconfirmed removes an account block that is in no snapshot yet, with all its dependents, as
// real nodes do. A contract's block takes its complete receive with it, which the contract then
// repeats. Unknown: ErrNoBlock, in a snapshot: ErrConfirmed.
func (n *Node) DropUnconfirmed(hash core.Hash) error {
	var old bool
	err := n.history.Read(func(h *store.History) error {
		p, err := h.Location(hash)
		old = p != nil
		return err
	})
	if err != nil {
		return err
	}
	return n.change(func() ([]byte, eventList, error) {
		e := n.state.Blocks[hash]
		switch {
		case e == nil && old:
			return nil, nil, ledger.ErrConfirmed
		case e == nil:
			return nil, nil, ledger.ErrNoBlock
		case e.Snapshot != nil:
			return nil, nil, ledger.ErrConfirmed
		}
		return n.drop(func(e *ledger.Entry) bool {
			return e.Block.Hash == hash ||
				slices.ContainsFunc(e.Triggered, func(t *ledger.Entry) bool { return t.Block.Hash == hash })
		})
	})
}

// DropAccount drops all blocks of an account that are in no snapshot yet. None is no error.
func (n *Node) DropAccount(a core.Address) error {
	return n.change(func() ([]byte, eventList, error) {
		return n.drop(func(e *ledger.Entry) bool { return e.Block.Address == a })
	})
}

func (n *Node) drop(which func(*ledger.Entry) bool) ([]byte, eventList, error) {
	before := slices.Clone(n.state.Recent)
	var doomed []core.Hash
	for _, e := range before {
		if which(e) {
			doomed = append(doomed, e.Block.Hash)
		}
	}
	if len(doomed) == 0 {
		return nil, nil, nil
	}
	n.state.Drop(doomed)
	return ledger.DropRecord(doomed), func() []Event { return changes(before, n.state.Recent) }, nil
}

// Rollback removes all snapshot blocks above height and all account blocks that are not in one at
// or below it, as a re-organisation of the snapshot chain does. They do not return automatically;
// Submit accepts them again where they fit. ErrTooDeep unless 1 <= height < latest, at most 1000
// blocks deep and within the changes that the chain remembers.
func (n *Node) Rollback(height uint64) error {
	return n.change(func() ([]byte, eventList, error) {
		latest := n.state.Height()
		if height < 1 || height >= latest || latest-height > ledger.MaxRollback {
			return nil, nil, ledger.ErrTooDeep
		}
		if err := n.reach(height); err != nil {
			return nil, nil, err
		}
		// The shortcuts of the future go first: without them, whatever a crash leaves is made right
		// by the next start.
		if err := n.dropCheckpoints(height); err != nil {
			return nil, nil, err
		}
		if err := n.history.Cut(height); err != nil {
			return nil, nil, err
		}
		events := removals(eventsAbove(n.state, height))
		n.state.Rollback(height)
		return ledger.RollbackRecord(height), func() []Event { return events }, nil
	})
}

// reach makes sure that the journal goes back to the height. After a start from a state file it may
// not; then the chain is loaded again from an older state, to the same end.
func (n *Node) reach(height uint64) error {
	if height >= n.state.Floor {
		return nil
	}
	if n.config.Dir == "" {
		return ledger.ErrTooDeep
	}
	if err := n.log.Flush(); err != nil {
		return err
	}
	s, err := n.reload(height)
	if err != nil {
		return fmt.Errorf("loading the chain again to reach height %d: %w", height, err)
	}
	if s.Latest().Hash != n.state.Latest().Hash || height < s.Floor {
		return errors.Join(ledger.ErrTooDeep, fmt.Errorf("no older state leads to height %d", height))
	}
	n.state = s
	return nil
}

// dropCheckpoints removes the state files of the future that is taken back.
func (n *Node) dropCheckpoints(height uint64) error {
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
