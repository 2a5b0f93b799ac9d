package node

import (
	"slices"

	"gatewayd/chain/vite/core"
)

// change runs one step of the producer, or of a test, and waits until it is on disk. step answers the record to log, nil
// for none, and the events to publish.
func (n *Node) change(step func() (record []byte, events []Event, err error)) error {
	n.control.Lock()
	defer n.control.Unlock()
	added, err := n.step(step, nil)
	if err != nil {
		return err
	}
	return n.log.wait(added)
}

// step changes the state and logs it. after, unless nil, sees the state and the log as they are then.
func (n *Node) step(step func() ([]byte, []Event, error), after func() error) (uint64, error) {
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
	added := n.append(record, func() []Event { return events })
	if after == nil {
		return added, nil
	}
	return added, after()
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
	n.control.Lock()
	defer n.control.Unlock()
	var made *snapshot
	var file *stateFile
	added, err := n.step(func() ([]byte, []Event, error) {
		before := len(n.state.recent)
		n.state.produce()
		events := eventsOf(n.state.recent[before:])
		made = n.state.seal(n.config.Now())
		return n.state.snapshotRecord(), append(events, made.event()), nil
	}, func() (err error) {
		file, err = n.dueState(n.config.StateEvery)
		return err
	})
	if err == nil {
		err = n.log.wait(added)
	}
	if err == nil {
		err = n.keep(file)
	}
	if err != nil {
		return Point{}, err
	}
	return made.Point, nil
}

// DropUnconfirmed loses an account block that is in no snapshot yet, with everything that depends on it, as real nodes do.
// A contract's block takes its whole receive with it, which the contract then does again. Unknown: ErrNoBlock, in a
// snapshot: ErrConfirmed.
func (n *Node) DropUnconfirmed(hash core.Hash) error {
	var old bool
	err := n.history.read(func(h *history) error {
		p, err := h.whereabouts(hash)
		old = p != nil
		return err
	})
	if err != nil {
		return err
	}
	return n.change(func() ([]byte, []Event, error) {
		e := n.state.blocks[hash]
		switch {
		case e == nil && old:
			return nil, nil, ErrConfirmed
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
