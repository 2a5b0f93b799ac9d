package ledger

// journal stores the undo steps of the state's changes, newest last. Every change of the state
// passes through put, del or set, or adds its own undo. So a failed contract call, a dropped block
// and a rollback are one mechanism.
type journal struct {
	undo    []func()
	dropped uint64 // entries forgotten at the front; marks count them
}

// mark names the present moment for revert.
func (j *journal) mark() uint64 { return j.dropped + uint64(len(j.undo)) }

// since is the number of changes after a mark that it reaches.
func (j *journal) since(mark uint64) int { return int(j.mark() - mark) }

func (j *journal) add(undo func()) { j.undo = append(j.undo, undo) }

// reaches reports whether revert can go back to the mark.
func (j *journal) reaches(mark uint64) bool { return mark >= j.dropped }

// revert takes back everything since the mark.
func (j *journal) revert(mark uint64) {
	if !j.reaches(mark) {
		panic("node: reverting to a forgotten moment")
	}
	keep := int(mark - j.dropped)
	for i := len(j.undo) - 1; i >= keep; i-- {
		j.undo[i]()
		j.undo[i] = nil
	}
	j.undo = j.undo[:keep]
}

// dropBefore drops what only going back beyond the mark needs.
func (j *journal) dropBefore(mark uint64) {
	if mark <= j.dropped {
		return
	}
	n := int(mark - j.dropped)
	clear(j.undo[:n])
	j.undo = j.undo[n:]
	j.dropped = mark
}

// Changes returns the number of changes of the state that can be rolled back.
func (s *State) Changes() int { return len(s.journal.undo) }

// put sets a key of a map.
func put[K comparable, V any](j *journal, m map[K]V, k K, v V) {
	old, had := m[k]
	m[k] = v
	j.add(func() {
		if had {
			m[k] = old
		} else {
			delete(m, k)
		}
	})
}

// del takes a key out of a map.
func del[K comparable, V any](j *journal, m map[K]V, k K) {
	old, had := m[k]
	if !had {
		return
	}
	delete(m, k)
	j.add(func() { m[k] = old })
}

// set changes a variable. A slice may be appended to and cut at the front, but its elements must
// not be overwritten.
func set[T any](j *journal, p *T, v T) {
	old := *p
	*p = v
	j.add(func() { *p = old })
}

// DueForHistory reports whether a portion waits between two snapshot heights.
func (s *State) DueForHistory(from, upto uint64) bool {
	if from >= upto {
		return false
	}
	blocks := 0
	for h := from + 1; h <= upto; h++ {
		blocks += s.SnapshotAt(h).BlockCount
	}
	return upto-from >= s.Rules.Retention.Snapshots || blocks >= s.Rules.Retention.Blocks
}

// Irreversible is the snapshot height up to which nothing can be taken back, and the block of which
// taking back does not need.
func (s *State) Irreversible() uint64 { return max(s.Floor, 1) - 1 }

// Prune drops blocks and balances from memory that the history has, up to a snapshot height which
// must be settled. The sends that no one has received stay.
func (s *State) Prune(upto uint64) {
	for s.Chain[0].Height <= upto {
		n := s.Chain[0]
		s.Chain = s.Chain[1:]
		delete(s.Snapshots, n.Hash)
		short := &Snapshot{Point: n.Point}
		for a := range n.Content {
			s.pruneBlocks(s.Accounts[a], short)
		}
		for _, h := range n.Changed {
			s.Accounts[h.Address].pruneBalance(h, upto)
		}
	}
}

// pruneBlocks drops the blocks of an account that a snapshot block contains. What stays of them
// needs of the snapshot block no more than its place.
func (s *State) pruneBlocks(a *Account, n *Snapshot) {
	list := a.Blocks.Recent
	for len(list) > 0 && list[0].Snapshot != nil && list[0].Snapshot.Height <= n.Height {
		e := list[0]
		list = list[1:]
		if e.Pruned {
			continue // a taken back block had moved the line on
		}
		s.age(e, n)
		for _, t := range e.Triggered {
			s.age(t, n)
		}
		if e.Send != nil && e.Send.Pruned {
			delete(s.Blocks, e.Send.Block.Hash)
		}
	}
	if len(list) == 0 {
		list = nil // and with it what stood before
	}
	a.Blocks.Recent = list
}

func (s *State) age(e *Entry, n *Snapshot) {
	e.Pruned, e.Snapshot = true, n
	if !e.Block.IsSend() || e.Receive != nil && e.Receive.Pruned {
		delete(s.Blocks, e.Block.Hash)
	}
}

func (a *Account) pruneBalance(h Holding, upto uint64) {
	list := a.Past[h.Token]
	for len(list) > 0 && list[0].Height <= upto {
		list = list[1:]
	}
	if len(list) == 0 {
		delete(a.Past, h.Token)
		return
	}
	a.Past[h.Token] = list
}
