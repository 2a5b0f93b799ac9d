package ladder

// The neutral workload: prices within a band around a middle, on their own side of it.
const (
	nw1Middle  = 8192
	nw1Band    = 1000
	nw1Prefill = 10_000
	// tickDecimals are the decimals of the prices in streams with whole ticks.
	tickDecimals = 3
)

// NW1 is the neutral workload of so many measured steps: 60 % orders that rest, spread evenly over 1,000 prices on each
// side; 30 % cancels of an order in the book, any as likely as another; 10 % orders that take from the other side at any of
// its prices. 10,000 resting orders come before, which are not measured.
func NW1(steps int, seed uint64) (*Stream, error) {
	g := newGenerator(seed, nw1Prefill+steps)
	for range nw1Prefill {
		g.passive()
	}
	for range steps {
		switch kind := g.below(100); {
		case kind < 60:
			g.passive()
		case kind < 90 && g.cancel():
		default:
			sell := g.below(2) == 1
			g.enter(Record{Sell: sell, Price: nw1Price(!sell, nw1Band), Quantity: uint32(1 + g.below(200))})
		}
	}
	return NewStream("NW1", g.records, nw1Prefill, tickDecimals)
}

func (g *generator) passive() {
	sell := g.below(2) == 1
	g.enter(Record{Sell: sell, Price: nw1Price(sell, 1+g.below(nw1Band)), Quantity: uint32(1 + g.below(100))})
}

// nw1Price is a price of a side at a distance from the middle.
func nw1Price(sell bool, away int) int64 {
	if sell {
		return int64(nw1Middle + away)
	}
	return int64(nw1Middle - away)
}
