package ladder

const (
	gapDecimals = 9
	gapMiddle   = 5_000_000_000_000 // in ticks: 5000.000000000
	gapBits     = 40                // the farthest price is about 2^40 ticks away
	gapPrefill  = 10_000
)

// Gaps is a stream of so many measured steps whose prices have nine decimals and lie far apart: distances from the middle
// from one tick to 10^12, any power of two as likely as another, each rounded to a tick size of its own from 1 to 10^6. Half
// of the steps are orders that rest, 40 % cancels, 10 % orders that cross some of the other side.
func Gaps(steps int, seed uint64) (*Stream, error) {
	g := newGenerator(seed, gapPrefill+steps)
	for range gapPrefill {
		g.enter(g.gapped(1))
	}
	for range steps {
		switch kind := g.below(10); {
		case kind < 5:
			g.enter(g.gapped(1))
		case kind < 9 && g.cancel():
		default:
			g.enter(g.gapped(-1))
		}
	}
	return NewStream("gaps", g.records, gapPrefill, gapDecimals)
}

func (g *generator) gapped(direction int64) Record {
	r := Record{Sell: g.below(2) == 1, Quantity: uint32(1 + g.below(100))}
	size := int64(1)
	for range g.below(7) {
		size *= 10
	}
	if !r.Sell {
		direction = -direction
	}
	price := gapMiddle + direction*g.wide(gapBits)
	r.Price = max(price-price%size, size)
	return r
}
