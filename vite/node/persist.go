package node

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// load takes the newest usable state, the genesis at worst, makes the history end with it, and
// replays the log from there.
func (n *Node) load() error {
	s, from, err := n.startingState(math.MaxUint64)
	if err != nil {
		return err
	}
	if err := n.trimHistory(from, s); err != nil {
		return err
	}
	n.log, err = store.OpenLog(n.logPath(), n.rules.Digest, n.callers.yieldToOthers, from, n.replayTo(s))
	n.state, n.lastState = s, from
	return err
}

// reload is the state as it is, loaded again from a state of at most maxHeight. The history stays.
func (n *Node) reload(maxHeight uint64) (*ledger.State, error) {
	s, from, err := n.startingState(maxHeight)
	if err != nil {
		return nil, err
	}
	log, err := store.OpenLog(n.logPath(), n.rules.Digest, n.callers.yieldToOthers, from, n.replayTo(s))
	if err != nil {
		return nil, err
	}
	return s, log.Close()
}

func (n *Node) logPath() string { return filepath.Join(n.config.Dir, LogName) }

// trimHistory removes from the history the data that the replay will write again, and rebuilds a
// damaged one.
func (n *Node) trimHistory(from store.Place, s *ledger.State) error {
	if from == (store.Place{}) {
		return n.history.Reset()
	}
	return n.history.Cut(s.Height())
}

// startingState is the newest state file of at most maxHeight that the log and the history reach,
// or the genesis.
func (n *Node) startingState(maxHeight uint64) (*ledger.State, store.Place, error) {
	names, err := stateFiles(n.config.Dir)
	if err != nil {
		return nil, store.Place{}, err
	}
	for _, name := range names {
		if heightOf(name) > maxHeight {
			continue
		}
		s, at := readState(name, n.rules)
		if s == nil {
			continue
		}
		older, err := n.logEndsBefore(at)
		if err != nil {
			return nil, store.Place{}, err
		}
		if older {
			if err := n.dropState(name); err != nil {
				return nil, store.Place{}, err
			}
			continue
		}
		if n.history.Reaches(s.Latest()) {
			return s, at, nil
		}
	}
	return ledger.NewState(n.genesis, n.rules), store.Place{}, nil
}

// logEndsBefore reports whether the log is older than a state file. ErrCorrupt: the log is missing
// or empty, as no copy of a running chain is.
func (n *Node) logEndsBefore(at store.Place) (bool, error) {
	size := int64(0)
	info, err := os.Stat(n.logPath())
	switch {
	case err == nil:
		size = info.Size()
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("reading the block log: %w", err)
	}
	if size < int64(store.HeaderSize) {
		return false, fmt.Errorf("%w: %s is missing or empty, and there is a state file; restore it from a copy", store.ErrCorrupt, n.logPath())
	}
	return size < at.Offset, nil
}

// dropState removes a state file that is newer than the log: `cp -r` of a running chain copies the
// log before it. It must not stay, since the log will grow past its place with other blocks.
func (n *Node) dropState(name string) error {
	n.config.Log.WithField("file", name).Warn("the block log is older than this state file, as in a copy of a running chain: the file is removed, and the chain continues from the end of the log")
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("removing a state file that is newer than the block log: %w", err)
	}
	return syncDir(n.config.Dir)
}

// replayTo does records again, and moves what is settled to the history on the way.
func (n *Node) replayTo(s *ledger.State) func(record []byte) error {
	return func(record []byte) error {
		if err := s.Replay(record); err != nil {
			return err
		}
		if !ledger.MakesSnapshot(record[0]) {
			return nil
		}
		upto := s.Irreversible()
		if s.DueForHistory(n.history.Top, upto) {
			for n.history.Top < upto {
				c, err := n.history.NextBatch(s, upto)
				if err == nil {
					err = n.history.Add(c)
				}
				if err != nil {
					return fmt.Errorf("moving blocks to the history: %w", err)
				}
			}
		}
		s.Prune(min(n.history.Top, upto))
		return nil
	}
}

// checkpoint is a state file to be written.
type checkpoint struct {
	data   []byte
	at     store.Place
	height uint64
}

// dueCheckpoint returns the state as a file if the log has grown by every bytes since the last one,
// and by half of that one's size, so that a large state is not written all the time; nil otherwise.
// It is called with the lock.
func (n *Node) dueCheckpoint(every int64) (*checkpoint, error) {
	if n.config.Dir == "" || len(n.state.Recent) > 0 {
		return nil, nil
	}
	if grown := n.log.Here().Offset - n.lastState.Offset; grown < max(every, n.stateSize/2) {
		return nil, nil
	}
	if err := n.log.Flush(); err != nil { // so that the log's end and the state are of one moment
		return nil, err
	}
	at := n.log.Here()
	return &checkpoint{encodeFile(n.state, at), at, n.state.Height()}, nil
}

// prune releases the memory of settled data, and writes the state file, unless it is nil. It is
// called with the control, but not with the lock: the chain continues.
func (n *Node) prune(file *checkpoint) error {
	if err := n.fillHistory(file != nil); err != nil || file == nil {
		return err
	}
	if err := n.history.Sync(); err != nil {
		return err
	}
	if err := writeState(n.config.Dir, file.data, file.at, file.height); err != nil {
		return err
	}
	n.lastState, n.stateSize = file.at, int64(len(file.data))
	return nil
}

// fillHistory writes what the history lacks: what is settled if it is worth while, or everything
// that is in snapshots.
func (n *Node) fillHistory(all bool) error {
	n.mu.RLock()
	upto, due := n.state.Height(), true
	if !all {
		upto = n.state.Irreversible()
		due = n.state.DueForHistory(n.history.Top, upto)
	}
	n.mu.RUnlock()
	for due && n.history.Top < upto {
		if err := n.fillSome(upto); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) fillSome(upto uint64) error {
	n.mu.RLock()
	c, err := n.history.NextBatch(n.state, upto)
	n.mu.RUnlock()
	if err == nil {
		err = n.history.Add(c)
	}
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state.Prune(min(n.history.Top, n.state.Irreversible()))
	return nil
}

// saveAtEnd spares the next start a replay, if there is much to replay. It is called when the chain
// does not change any more.
func (n *Node) saveAtEnd() error {
	n.mu.Lock()
	file, err := n.dueCheckpoint(n.config.StateEvery / 16)
	n.mu.Unlock()
	if err != nil || file == nil {
		return err
	}
	return n.prune(file)
}
