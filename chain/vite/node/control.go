package node

import (
	"slices"

	"gatewayd/chain/vite/core"
)

// eventList lists the events of a step. It is called at once, but only if someone listens.
type eventList func() []Event

// change runs one step of the producer, or of a test, and waits until it is on disk. step answers the record to log, nil
// for none, and the events to publish.
func (n *Node) change(step func() (record []byte, events eventList, err error)) error {
	n.control.Lock()
	defer n.control.Unlock()
	added, err := n.step(step, nil)
	if err != nil {
		return err
	}
	return n.log.wait(added)
}

// step changes the state and logs it. after, unless nil, sees the state and the log as they are then.
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

// Tick lets contracts receive what waits for them, step by step, so that others come in between. Run does it by itself.
func (n *Node) Tick() error {
	for {
		if more, err := n.tick(); err != nil || !more {
			return err
		}
	}
}

// tick is one step of the contracts, and tells whether there is more to do.
func (n *Node) tick() (more bool, err error) {
	err = n.change(func() ([]byte, eventList, error) {
		if len(n.state.pending) == 0 {
			return nil, nil, nil
		}
		before := len(n.state.recent)
		n.state.step()
		more = len(n.state.pending) > 0
		return []byte{recordStep}, func() []Event { return eventsOf(n.state.recent[before:]) }, nil
	})
	return more, err
}

// Snapshot makes a snapshot block of all account blocks so far, after a step of the contracts. Run does it by itself.
func (n *Node) Snapshot() (Point, error) {
	n.control.Lock()
	defer n.control.Unlock()
	var made *snapshot
	var file *stateFile
	added, err := n.step(func() ([]byte, eventList, error) {
		before := len(n.state.recent)
		n.state.step()
		came := n.state.recent[before:]
		made = n.state.seal(n.config.Now())
		return n.state.snapshotRecord(), func() []Event { return append(eventsOf(came), made.event()) }, nil
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
	return n.change(func() ([]byte, eventList, error) {
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
	return n.change(func() ([]byte, eventList, error) {
		return n.drop(func(e *entry) bool { return e.block.Address == a })
	})
}

func (n *Node) drop(which func(*entry) bool) ([]byte, eventList, error) {
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
	return dropRecord(doomed), func() []Event { return changes(before, n.state.recent) }, nil
}
