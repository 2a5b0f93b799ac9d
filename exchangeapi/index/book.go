package index

import (
	"slices"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/vite/dex"
)

// book holds the resting orders of a market, by price. It is not safe for concurrent use.
type book struct {
	resting map[string]resting // by the order's id
	sides   [2]side            // buys, sells
}

type resting struct {
	side     int
	price    dex.Price
	quantity uint256.Int
}

// side is the levels of one side, best first.
type side struct {
	levels []*level
	orders int
	sells  bool
	shown  []Level // the best MaxDepth at the market's precision; nil: the side has changed since
}

type level struct {
	price    dex.Price
	shown    decimal.Decimal // the price
	quantity uint256.Int
	orders   int
}

func newBook() *book { return &book{resting: map[string]resting{}, sides: [2]side{{}, {sells: true}}} }

// set gives an order a resting quantity, zero for none, and reports whether that changed anything.
func (b *book) set(o *orderRow) bool {
	rest := o.rest()
	old, known := b.resting[o.ID]
	if known && old.quantity == rest.Int && old.price == o.Price.Price && old.side == o.Side || !known && rest.IsZero() {
		return false
	}
	if known {
		b.sides[old.side].remove(&old)
		delete(b.resting, o.ID)
	}
	if !rest.IsZero() {
		r := resting{o.Side, o.Price.Price, rest.Int}
		b.resting[o.ID] = r
		b.sides[o.Side].insert(&r)
	}
	return true
}

// find is the place of a price among the levels.
func (s *side) find(p dex.Price) (int, bool) {
	return slices.BinarySearchFunc(s.levels, p, func(l *level, p dex.Price) int {
		if s.sells {
			return l.price.Compare(p)
		}
		return p.Compare(l.price)
	})
}

func (s *side) insert(r *resting) {
	s.shown = nil
	i, found := s.find(r.price)
	if !found {
		s.levels = slices.Insert(s.levels, i, &level{price: r.price, shown: priceDecimal(r.price)})
	}
	l := s.levels[i]
	l.quantity.Add(&l.quantity, &r.quantity)
	l.orders++
	s.orders++
}

func (s *side) remove(r *resting) {
	s.shown = nil
	i, found := s.find(r.price)
	if !found {
		panic("index: a resting order without a level")
	}
	l := s.levels[i]
	l.quantity.Sub(&l.quantity, &r.quantity)
	l.orders--
	s.orders--
	if l.orders == 0 {
		s.levels = slices.Delete(s.levels, i, i+1)
	}
}

// depth lists the best levels, at most MaxDepth. The list is shared: it must not be changed.
func (s *side) depth(m *market, limit, places int) []Level {
	if places != m.pair.PricePrecision {
		return s.merged(m, limit, places)
	}
	if s.shown == nil {
		s.shown = s.merged(m, MaxDepth, places)
	}
	return s.shown[:min(limit, len(s.shown)):min(limit, len(s.shown))]
}

// merged lists the best levels with prices merged to so many decimals. Asks are rounded up and bids
// down, so that no level shows a better price than exists. Quantities too small to show are left
// out.
func (s *side) merged(m *market, limit, places int) []Level {
	list := make([]Level, 0, min(limit, len(s.levels)))
	var sum uint256.Int
	for i, l := range s.levels {
		sum.Add(&sum, &l.quantity)
		at := s.round(l.shown, places)
		if i+1 < len(s.levels) && s.round(s.levels[i+1].shown, places).Equal(at) {
			continue
		}
		shown := wholeAmount(&sum, m.TradeDecimals).Truncate(int32(m.pair.QuantityPrecision))
		if !shown.IsZero() {
			list = append(list, Level{at.StringFixed(int32(places)), formatCut(shown, m.pair.QuantityPrecision)})
		}
		if len(list) == limit {
			break
		}
		sum.Clear()
	}
	return list
}

func (s *side) round(p decimal.Decimal, places int) decimal.Decimal {
	if s.sells {
		return p.RoundCeil(int32(places))
	}
	return p.RoundFloor(int32(places))
}
