package dex

// table finds numbers above zero by keys, with open addresses. Nobody outside can choose the keys, so nobody can make them
// collide.
type table struct {
	cells []cell // as many as a power of two
	shift uint   // of a key's hash, to the cell it belongs to
	count int
}

type cell struct {
	key    uint64
	number uint32 // 0 is empty
}

const minCells = 16

func newTable() table { return table{cells: make([]cell, minCells), shift: 64 - 4} }

func (t *table) home(key uint64) uint { return uint(key * 0x9e3779b97f4a7c15 >> t.shift) }

// at is the cell of a key, or the empty one where it belongs.
func (t *table) at(key uint64) uint {
	mask := uint(len(t.cells) - 1)
	at := t.home(key)
	for c := &t.cells[at&mask]; c.key != key && c.number != 0; c = &t.cells[at&mask] {
		at++
	}
	return at & mask
}

// find is the number of a key; 0 if there is none.
func (t *table) find(key uint64) uint32 {
	if c := &t.cells[t.at(key)]; c.key == key {
		return c.number
	}
	return 0
}

// add sets the number of a key that has none.
func (t *table) add(key uint64, number uint32) {
	if t.count++; 2*t.count > len(t.cells) {
		t.grow()
	}
	t.cells[t.at(key)] = cell{key, number}
}

func (t *table) grow() {
	before := t.cells
	t.cells = make([]cell, 2*len(before))
	t.shift--
	for _, c := range before {
		if c.number != 0 {
			t.cells[t.at(c.key)] = c
		}
	}
}

// remove takes a key that has a number out of the table, and moves the cells behind it up to where they belong.
func (t *table) remove(key uint64) {
	mask, hole := uint(len(t.cells)-1), t.at(key)
	for at := (hole + 1) & mask; t.cells[at].number != 0; at = (at + 1) & mask {
		if home := t.home(t.cells[at].key); (at-home)&mask >= (at-hole)&mask {
			t.cells[hole], hole = t.cells[at], at
		}
	}
	t.cells[hole] = cell{}
	t.count--
}
