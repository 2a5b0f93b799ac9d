package ladder

import "github.com/tidwall/btree"

// replay is a book written as plainly as can be, which needs to know nothing in advance: generators ask it what is in the
// book, tests compare the ladder with it.
type replay struct {
	Totals
	orders map[uint64]*waiting
	buys   btree.Map[int64, []*waiting] // by price; oldest first, with orders that have gone
	sells  btree.Map[int64, []*waiting]
}

type waiting struct {
	id       uint64
	quantity uint32 // 0 if it has gone
}

func newReplay() *replay { return &replay{orders: map[uint64]*waiting{}} }

func (p *replay) has(id uint64) bool { return p.orders[id] != nil }

func (p *replay) cancel(id uint64) bool {
	o := p.orders[id]
	if o == nil {
		return false
	}
	o.quantity = 0
	delete(p.orders, id)
	p.Cancels++
	return true
}

// enter matches an order; true if the rest of it is kept.
func (p *replay) enter(r *Record) bool {
	own, other, best := &p.buys, &p.sells, p.sells.Min
	if r.Sell {
		own, other, best = &p.sells, &p.buys, p.buys.Max
	}
	rest := r.Quantity
	for rest > 0 {
		price, queue, ok := best()
		if !ok || r.Sell && price < r.Price || !r.Sell && price > r.Price {
			break
		}
		if queue, rest = p.take(r, queue, rest, price); len(queue) == 0 {
			other.Delete(price)
		} else {
			other.Set(price, queue)
		}
	}
	if rest == 0 || r.Immediate {
		return false
	}
	o := &waiting{r.ID, rest}
	p.orders[r.ID] = o
	queue, _ := own.Get(r.Price)
	own.Set(r.Price, append(queue, o))
	return true
}

// take trades with the orders of one price, and answers those that are left of them, and of the rest.
func (p *replay) take(r *Record, queue []*waiting, rest uint32, price int64) ([]*waiting, uint32) {
	for ; len(queue) > 0 && rest > 0; queue = queue[1:] {
		o := queue[0]
		fill := min(rest, o.quantity)
		if fill == 0 {
			continue // it has gone, and its id may stand elsewhere
		}
		rest, o.quantity = rest-fill, o.quantity-fill
		p.Trade(uint32(r.ID), uint32(o.id), uint64(fill), uint64(price))
		if o.quantity > 0 {
			break
		}
		delete(p.orders, o.id)
	}
	return queue, rest
}
