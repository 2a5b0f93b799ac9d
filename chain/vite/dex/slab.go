package dex

// slab is numbered memory that grows without moving: numbers stand for pointers, so that a million orders are some blocks
// without a pointer. Number 0 is none.
type slab[T any] struct {
	blocks []*[blockSize]T
	count  uint32 // numbers given
}

// blockSize is small enough for the many books with few orders.
const blockSize = 512

// at is where a number's value is.
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
