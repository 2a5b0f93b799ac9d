package node

// stateFile is a state file to be written.
type stateFile struct {
	data   []byte
	at     place
	height uint64
}

// dueState is the state as a file, if the log has grown by every bytes since the last one, and by half of what that one
// took, so that a large state does not spend its time on being written; nil otherwise. It is called with the lock.
func (n *Node) dueState(every int64) (*stateFile, error) {
	if n.config.Dir == "" || len(n.state.recent) > 0 {
		return nil, nil
	}
	if grown := n.log.here().offset - n.lastState.offset; grown < max(every, n.stateSize/2) {
		return nil, nil
	}
	if err := n.log.flush(); err != nil { // so that the log's end and the state are of one moment
		return nil, err
	}
	at := n.log.here()
	return &stateFile{encodeState(n.state, at), at, n.state.height()}, nil
}

// keep relieves memory of what is settled, and writes the state file, unless it is nil. It is called with the control, but
// not with the lock: the chain goes on.
func (n *Node) keep(file *stateFile) error {
	if err := n.settle(file != nil); err != nil || file == nil {
		return err
	}
	if err := n.history.sync(); err != nil {
		return err
	}
	if err := writeState(n.config.Dir, file.data, file.at, file.height); err != nil {
		return err
	}
	n.lastState, n.stateSize = file.at, int64(len(file.data))
	return nil
}

// settle writes what the history lacks: what is settled if it is worth while, or everything that is in snapshots.
func (n *Node) settle(all bool) error {
	n.mu.RLock()
	upto, due := n.state.height(), true
	if !all {
		upto = n.state.settled()
		due = n.state.worthSettling(n.history.top, upto)
	}
	n.mu.RUnlock()
	for due && n.history.top < upto {
		if err := n.settleSome(upto); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) settleSome(upto uint64) error {
	n.mu.RLock()
	c, err := n.state.chapter(n.history, upto)
	n.mu.RUnlock()
	if err == nil {
		err = n.history.add(c)
	}
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state.forget(min(n.history.top, n.state.settled()))
	return nil
}

// worthSettling tells whether a portion waits between two snapshot heights.
func (s *state) worthSettling(from, upto uint64) bool {
	if from >= upto {
		return false
	}
	blocks := 0
	for h := from + 1; h <= upto; h++ {
		blocks += s.at(h).blocks
	}
	return upto-from >= s.rules.memory.snapshots || blocks >= s.rules.memory.blocks
}

// saveAtEnd spares the next start a replay, if there is much to replay. It is called when the chain does not change any more.
func (n *Node) saveAtEnd() error {
	n.mu.Lock()
	file, err := n.dueState(n.config.StateEvery / 16)
	n.mu.Unlock()
	if err != nil || file == nil {
		return err
	}
	return n.keep(file)
}
