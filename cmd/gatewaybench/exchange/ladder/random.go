package ladder

// random is splitmix64: what is drawn depends on the seed alone.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below draws from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// wide draws from 1 to 2^bits, each power of two as likely as another.
func (r *random) wide(bits int) int64 {
	power := int64(1) << r.below(bits)
	return power + int64(r.next()%uint64(power))
}
