package dex

// table finds numbers above zero by keys, with open addressing. Users cannot choose the keys, so
// they cannot make them collide.
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

// claim sets the number of a key, unless it has one already, which is returned.
func (t *table) claim(key uint64, number uint32) (taken uint32) {
	c := &t.cells[t.at(key)]
	if c.number != 0 {
		return c.number
	}
	*c = cell{key, number}
	if t.count++; 2*t.count > len(t.cells) {
		t.grow()
	}
	return 0
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

// remove takes a key that has a number out of the table, and moves the cells behind it up to where
// they belong.
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

// slab is numbered memory that grows without moving. Numbers replace pointers, so that a million
// orders are some blocks without a pointer. Number 0 is none.
type slab[T any] struct {
	blocks []*[blockSize]T
	count  uint32 // numbers given
}

// blockSize is small enough for the many books with few orders.
const blockSize = 512

// at returns a pointer to a number's value.
func (s *slab[T]) at(n uint32) *T { return &s.blocks[n/blockSize][n%blockSize] }

// add makes the next number.
func (s *slab[T]) add() uint32 {
	s.count++
	for int(s.count/blockSize) >= len(s.blocks) {
		s.grow()
	}
	return s.count
}

// grow makes place for more numbers; in the first block also for 0.
func (s *slab[T]) grow() { s.blocks = append(s.blocks, new([blockSize]T)) }
