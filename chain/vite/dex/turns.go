package dex

// turns finds the slot of an order by its turn: a table with open addresses. A cell holds a hash of the turn beside the
// slot, so that an order is looked at only when it is very likely the one. Turns come in sequence; eight in sequence are
// neighbours, which is a cache line. Nobody can choose turns, so nobody can make them collide.
type turns struct {
	cells []uint64 // hash<<32 | slot; 0 is empty; as many as a power of two
	shift uint     // leaves as many bits of a hash as places have
	count int
}

const (
	minCells = 64
	runBits  = 3 // turns in sequence that are neighbours
	runMask  = 1<<runBits - 1
)

// turnHash keeps the place in the sequence in its lowest bits.
func turnHash(turn uint64) uint32 {
	const phi = 0x9e3779b97f4a7c15
	return uint32((turn>>runBits)*phi>>32)&^runMask | uint32(turn)&runMask
}

// place is the cell that a hash belongs to. It may stand in a later one if that was taken.
func (t *turns) place(hash uint32) uint32 { return hash>>t.shift&^runMask | hash&runMask }

// find is the slot of the order with the turn; 0 if there is none.
func (t *turns) find(seats *slab[seat], turn uint64) uint32 {
	if t.count == 0 {
		return 0
	}
	hash, mask := turnHash(turn), uint32(len(t.cells)-1)
	for at := t.place(hash); ; at++ {
		cell := t.cells[at&mask]
		if cell == 0 {
			return 0
		}
		if uint32(cell>>32) == hash && seats.at(uint32(cell)).turn == turn {
			return uint32(cell)
		}
	}
}

// add sets the slot of a turn that is not in the table.
func (t *turns) add(turn uint64, slot uint32) {
	if 2*t.count >= len(t.cells) {
		t.grow()
	}
	t.count++
	t.put(uint64(turnHash(turn))<<32 | uint64(slot))
}

func (t *turns) put(cell uint64) {
	mask := uint32(len(t.cells) - 1)
	at := t.place(uint32(cell>>32)) & mask
	for t.cells[at] != 0 {
		at = (at + 1) & mask
	}
	t.cells[at] = cell
}

func (t *turns) grow() {
	before := t.cells
	t.cells = make([]uint64, max(minCells, 2*len(before)))
	t.shift = 32
	for n := len(t.cells); n > 1; n /= 2 {
		t.shift--
	}
	for _, cell := range before {
		if cell != 0 {
			t.put(cell)
		}
	}
}

// remove takes the slot of a turn out of the table, and moves the cells behind it up to where they belong.
func (t *turns) remove(turn uint64, slot uint32) {
	mask := uint32(len(t.cells) - 1)
	hole := t.place(turnHash(turn)) & mask
	for uint32(t.cells[hole]) != slot {
		hole = (hole + 1) & mask
	}
	for at := (hole + 1) & mask; t.cells[at] != 0; at = (at + 1) & mask {
		home := t.place(uint32(t.cells[at]>>32)) & mask
		if (at-home)&mask >= (at-hole)&mask {
			t.cells[hole], hole = t.cells[at], at
		}
	}
	t.cells[hole] = 0
	t.count--
}
