package dex

// slab is numbered memory that grows without moving: numbers stand for pointers, so that a million orders are a few blocks
// without a pointer. Number 0 is none. The first block begins small, for the many books with few orders.
type slab[T any] struct {
	blocks [][]T
	count  uint32 // numbers given
}

const (
	blockBits  = 12
	blockSize  = 1 << blockBits
	blockStart = 64
)

// at is where a number's value is, until the next one is made.
func (s *slab[T]) at(n uint32) *T { return &s.blocks[n>>blockBits][n&(blockSize-1)] }

// add makes the next number.
func (s *slab[T]) add() uint32 {
	s.count++
	block, at := int(s.count>>blockBits), int(s.count&(blockSize-1))
	if block == len(s.blocks) {
		size := blockSize
		if block == 0 {
			size = blockStart
		}
		s.blocks = append(s.blocks, make([]T, size))
	} else if at == len(s.blocks[block]) {
		larger := make([]T, 4*at)
		copy(larger, s.blocks[block])
		s.blocks[block] = larger
	}
	return s.count
}
