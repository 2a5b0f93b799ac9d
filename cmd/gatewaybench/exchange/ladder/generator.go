package ladder

// generator writes the records of a stream, and plays them, so that it can cancel what is in the book.
type generator struct {
	random
	records []Record
	open    []uint64 // ids that were kept, also of orders that have gone since
	book    *replay
	last    uint64 // id
}

func newGenerator(seed uint64, records int) *generator {
	return &generator{random: random(seed), records: make([]Record, 0, records), book: newReplay()}
}

// enter adds an order.
func (g *generator) enter(r Record) {
	g.last++
	r.Kind, r.ID = Enter, g.last
	g.records = append(g.records, r)
	if g.book.enter(&r) {
		g.open = append(g.open, r.ID)
	}
}

// cancel adds the cancel of an order in the book, any as likely as another; false if there is none.
func (g *generator) cancel() bool {
	for len(g.open) > 0 {
		if id := g.draw(len(g.open)); g.book.has(id) {
			g.leave(id)
			return true
		}
	}
	return false
}

// leave adds the cancel of an order, which may have gone.
func (g *generator) leave(id uint64) {
	g.records = append(g.records, Record{Kind: Cancel, ID: id})
	g.book.cancel(id)
}

// modify gives an order, which may have gone, another price and quantity.
func (g *generator) modify(id uint64, r Record) {
	r.Kind, r.ID = Modify, id
	g.records = append(g.records, r)
	if g.book.cancel(id) && g.book.enter(&r) {
		g.open = append(g.open, id)
	}
}

// draw takes one of the newest orders that were kept off their list, which must not be empty.
func (g *generator) draw(newest int) uint64 {
	at := len(g.open) - 1 - g.below(min(newest, len(g.open)))
	id := g.open[at]
	g.open[at] = g.open[len(g.open)-1]
	g.open = g.open[:len(g.open)-1]
	return id
}
