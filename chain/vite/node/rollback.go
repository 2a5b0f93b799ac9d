package node

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Rollback takes back all snapshot blocks above height and all account blocks that are not in one at or below it, as a
// re-organisation of the snapshot chain does. They do not come back by themselves; Submit takes them again where they fit.
// ErrTooDeep unless 1 <= height < latest, at most 1000 blocks deep and not more changes deep than the chain remembers.
func (n *Node) Rollback(height uint64) error {
	return n.change(func() ([]byte, eventList, error) {
		latest := n.state.height()
		if height < 1 || height >= latest || latest-height > undoDepth {
			return nil, nil, ErrTooDeep
		}
		if err := n.reach(height); err != nil {
			return nil, nil, err
		}
		// The shortcuts of the future go first: without them, whatever a crash leaves is made right by the next start.
		if err := n.forgetStates(height); err != nil {
			return nil, nil, err
		}
		if err := n.history.cut(height); err != nil {
			return nil, nil, err
		}
		events := removals(n.state.above(height))
		n.state.rollback(height)
		return rollbackRecord(height), func() []Event { return events }, nil
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
	if err := errors.Join(n.log.flush(), n.log.trim()); err != nil {
		return err
	}
	s, err := n.reload(height)
	if err != nil {
		return fmt.Errorf("loading the chain again to reach height %d: %w", height, err)
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
