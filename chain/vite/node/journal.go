package node

// journal remembers how to take back what was done to the state, newest last. Every change of the state goes through put,
// del or set, or adds its own undo, so that a failed contract call, a dropped block and a rollback are one mechanism.
type journal struct {
	undo    []func()
	dropped uint64 // entries forgotten at the front; marks count them
}

// mark names the present moment for revert.
func (j *journal) mark() uint64 { return j.dropped + uint64(len(j.undo)) }

// since is the number of changes after a mark that it reaches.
func (j *journal) since(mark uint64) int { return int(j.mark() - mark) }

func (j *journal) add(undo func()) { j.undo = append(j.undo, undo) }

// reaches tells whether revert can go back to the mark.
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

// forget gives up going back beyond the mark.
func (j *journal) forget(mark uint64) {
	if mark <= j.dropped {
		return
	}
	n := int(mark - j.dropped)
	clear(j.undo[:n])
	j.undo = j.undo[n:]
	j.dropped = mark
}

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

// set changes a variable. A slice may be appended to and cut at the front, but its elements must not be overwritten.
func set[T any](j *journal, p *T, v T) {
	old := *p
	*p = v
	j.add(func() { *p = old })
}
