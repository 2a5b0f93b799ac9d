package node

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// load takes the newest usable state, the genesis at worst, makes the history end with it, and replays the log from there.
func (n *Node) load() error {
	s, from, err := n.startingState(math.MaxUint64)
	if err != nil {
		return err
	}
	if err := n.trimHistory(from, s); err != nil {
		return err
	}
	n.log, err = openLog(n.logPath(), &n.callers, n.rules.sealing(), from, n.replayTo(s))
	n.state, n.lastState = s, from
	return err
}

// reload is the state as it is, loaded again from a state of at most maxHeight. The history stays.
func (n *Node) reload(maxHeight uint64) (*state, error) {
	s, from, err := n.startingState(maxHeight)
	if err != nil {
		return nil, err
	}
	log, err := openLog(n.logPath(), &n.callers, n.rules.sealing(), from, n.replayTo(s))
	if err != nil {
		return nil, err
	}
	return s, log.close()
}

func (n *Node) logPath() string { return filepath.Join(n.config.Dir, logName) }

// trimHistory takes out of the history what the replay will put there again, and makes a damaged one anew.
func (n *Node) trimHistory(from place, s *state) error {
	if from == (place{}) {
		return n.history.reset()
	}
	return n.history.cut(s.height())
}

// startingState is the newest state file of at most maxHeight to whose height the history reaches, or the genesis. A log that
// is shorter than it was when a state file was made, usable or not, was cut from outside: ErrCorrupt.
func (n *Node) startingState(maxHeight uint64) (*state, place, error) {
	names, err := stateFiles(n.config.Dir)
	if err != nil {
		return nil, place{}, err
	}
	for _, name := range names {
		if heightOf(name) > maxHeight {
			continue
		}
		s, at := readState(name, n.rules)
		if s == nil {
			continue
		}
		if err := n.checkLogEnd(at); err != nil {
			return nil, place{}, err
		}
		if n.history.reaches(s.latest()) {
			return s, at, nil
		}
	}
	return newChain(n.genesis, n.rules), place{}, nil
}

func (n *Node) checkLogEnd(at place) error {
	var size int64
	info, err := os.Stat(n.logPath())
	switch {
	case err == nil:
		size = info.Size()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reading the block log: %w", err)
	}
	if size < at.offset {
		return fmt.Errorf("%w: it ends at byte %d, a state file was made at %d", ErrCorrupt, size, at.offset)
	}
	return nil
}

// replayTo does records again, and moves what is settled to the history on the way.
func (n *Node) replayTo(s *state) func(record []byte) error {
	return func(record []byte) error {
		if err := s.replay(record); err != nil {
			return err
		}
		if !seals(record[0]) {
			return nil
		}
		upto := s.settled()
		if s.worthSettling(n.history.top, upto) {
			for n.history.top < upto {
				c, err := s.chapter(n.history, upto)
				if err == nil {
					err = n.history.add(c)
				}
				if err != nil {
					return fmt.Errorf("moving blocks to the history: %w", err)
				}
			}
		}
		s.forget(min(n.history.top, upto))
		return nil
	}
}
