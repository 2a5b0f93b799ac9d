package dex

// turns finds the slot of an order by its turn. Turns come in sequence, so the slots of new orders stand in pages, in the
// places of their turns. A page that never gets many orders, or has few left, is dissolved into a table.
type turns struct {
	newest *page   // is not dissolved; most orders that come are in it
	pages  []*page // by number; 0 is none
	free   uint32  // first free page, linked by live
	of     table   // pages by the turns that they are for, in units of pageSize
	rest   table   // slots by turn, of the orders that are in no page
}

type page struct {
	of     uint64
	live   uint32
	number uint32
	slots  [pageSize]uint32
}

const (
	pageBits = 11
	pageSize = 1 << pageBits
	pageMin  = pageSize / 16 // orders that are worth a page
)

func newTurns() turns {
	t := turns{pages: make([]*page, 1), of: newTable(), rest: newTable()}
	t.begin(0)
	return t
}

// page is the page for a turn; nil if there is none.
func (t *turns) page(turn uint64) *page {
	if t.newest.of == turn>>pageBits {
		return t.newest
	}
	if n := t.of.find(turn >> pageBits); n != 0 {
		return t.pages[n]
	}
	return nil
}

// find is the slot of the order with the turn, 0 if there is none, and the page that it is in, if any.
func (t *turns) find(turn uint64) (uint32, *page) {
	if p := t.page(turn); p != nil {
		return p.slots[turn%pageSize], p
	}
	return t.rest.find(turn), nil
}

// claim sets the slot of a turn, unless one has it already, which is told.
func (t *turns) claim(turn uint64, slot uint32) (taken uint32) {
	p := t.newest
	if p.of != turn>>pageBits {
		return t.claimOther(turn, slot)
	}
	at := &p.slots[turn%pageSize]
	if *at == 0 {
		*at = slot
		p.live++
		return 0
	}
	return *at
}

// claimOther is claim for a turn that is not in the newest page. One after all others begins a page.
func (t *turns) claimOther(turn uint64, slot uint32) (taken uint32) {
	taken, p := t.find(turn)
	switch {
	case taken != 0:
		return taken
	case p != nil:
		p.slots[turn%pageSize] = slot
		p.live++
	case turn>>pageBits < t.newest.of:
		t.rest.add(turn, slot)
	default:
		before := t.newest
		t.begin(turn >> pageBits)
		if before.live < pageMin {
			t.dissolve(before)
		}
		return t.claim(turn, slot)
	}
	return 0
}

// begin makes a page the newest.
func (t *turns) begin(of uint64) {
	n := t.free
	if n == 0 {
		n = uint32(len(t.pages))
		t.pages = append(t.pages, &page{})
	} else {
		t.free = t.pages[n].live
	}
	t.newest = t.pages[n]
	t.newest.of, t.newest.live, t.newest.number = of, 0, n
	t.of.add(of, n)
}

// remove takes a turn that has a slot out, of its page.
func (t *turns) remove(turn uint64, p *page) {
	if p == nil {
		t.rest.remove(turn)
		return
	}
	p.slots[turn%pageSize] = 0
	if p.live--; p.live < pageMin {
		t.thin(p)
	}
}

// thin dissolves a page with few orders, unless more may come.
func (t *turns) thin(p *page) {
	if p != t.newest {
		t.dissolve(p)
	}
}

// dissolve moves the orders of a page to the table.
func (t *turns) dissolve(p *page) {
	for i, slot := range p.slots {
		if slot != 0 {
			t.rest.add(p.of<<pageBits|uint64(i), slot)
		}
	}
	t.of.remove(p.of)
	n := p.number
	*p = page{live: t.free}
	t.free = n
}
