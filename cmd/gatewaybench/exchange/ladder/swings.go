package ladder

import "fmt"

// course is how the middle price of a scenario moves, in parts of 1000 of where it began, at a part of the way (of 1000).
type course func(way int) int

// scenario is a course and how far from the middle orders are.
type scenario struct {
	course course
	depth  int // ticks; distances are drawn so that small ones are likelier
}

// scenarios are the five of the second workload, by name.
func scenarios() map[string]scenario {
	return map[string]scenario{
		"static":      {func(int) int { return 1000 }, 4000},
		"normal":      {func(way int) int { return 1000 + triangle(way*20, 10) }, 400},
		"swing-25":    {func(way int) int { return 1000 + triangle(way*4, 250) }, 400},
		"swing-40":    {func(way int) int { return 1000 + triangle(way*8, 400) }, 400},
		"flash-crash": {crash, 400},
	}
}

// Scenarios are the names that Swing knows, in order.
func Scenarios() []string { return []string{"static", "normal", "swing-25", "swing-40", "flash-crash"} }

// triangle goes from 0 to +height, to -height and back for each 1000 of the way.
func triangle(way, height int) int {
	switch at := way % 1000; {
	case at < 250:
		return at * height / 250
	case at < 750:
		return (500 - at) * height / 250
	default:
		return (at - 1000) * height / 250
	}
}

// crash falls by half within a hundredth of the way and takes three tenths to come back.
func crash(way int) int {
	switch {
	case way < 500, way > 810:
		return 1000
	case way < 510:
		return 1000 - (way-500)*50
	default:
		return 500 + (way-510)*500/300
	}
}

const (
	swingMiddle  = 10_000
	swingPrefill = 10_000
	swingRecent  = 4096 // the newest orders, of which one is cancelled or modified
)

// Swing is a stream of so many measured steps in which the price moves: 54 % new orders, of which 15 % are immediate and
// cross, 5 % cross and are kept; 37 % cancels, mostly of new orders; 9 % modifies. Some cancels come too late. The error is
// of a name that is not in Scenarios.
func Swing(name string, steps int, seed uint64) (*Stream, error) {
	s, known := scenarios()[name]
	if !known {
		return nil, fmt.Errorf("scenario %q is none of %v", name, Scenarios())
	}
	g := newGenerator(seed, swingPrefill+steps)
	for range swingPrefill {
		g.enter(g.swinging(s, 0, 1))
	}
	for i := range steps {
		g.swing(s, int(int64(i)*1000/int64(steps)))
	}
	return NewStream("W2 "+name, g.records, swingPrefill, tickDecimals)
}

func (g *generator) swing(s scenario, way int) {
	switch kind := g.below(100); {
	case kind < 37 && len(g.open) > 0:
		g.leave(g.draw(swingRecent))
	case kind < 46 && len(g.open) > 0:
		g.modify(g.draw(swingRecent), g.swinging(s, way, 1))
	default:
		g.arrive(s, way)
	}
}

func (g *generator) arrive(s scenario, way int) {
	switch kind := g.below(100); {
	case kind < 15:
		r := g.swinging(s, way, -1)
		r.Immediate = true
		g.enter(r)
	case kind < 20:
		g.enter(g.swinging(s, way, -1))
	default:
		g.enter(g.swinging(s, way, 1))
	}
}

// swinging is an order away from the middle, or across it.
func (g *generator) swinging(s scenario, way, direction int) Record {
	r := Record{Sell: g.below(2) == 1, Quantity: uint32(1 + g.below(100))}
	away := 1 + g.below(s.depth)*g.below(s.depth)/s.depth
	if direction < 0 {
		away = 1 + away/16
	}
	if !r.Sell {
		direction = -direction
	}
	r.Price = int64(max(1, swingMiddle*s.course(way)/1000+direction*away))
	return r
}
