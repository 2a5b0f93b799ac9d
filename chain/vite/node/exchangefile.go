package node

import (
	"cmp"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// exchange writes everything that the two exchange contracts keep. What follows from it (pairs) is left out.
func (w *writer) exchange(e *exchange) {
	for _, a := range []core.Address{e.roles.Owner, e.roles.Timer, e.roles.Trigger, e.roles.MineProxy, e.roles.Maintainer} {
		w.raw(a[:])
	}
	w.bool(e.roles.Stopped)
	w.int(e.clock)
	w.uint(uint64(e.serial))
	w.exchangeTokens(e)
	w.uint(uint64(len(e.markets)))
	for id := range uint32(len(e.markets)) {
		m := e.markets[id+1]
		w.bytes(m.Encode())
	}
	w.uint(uint64(len(e.minimums)))
	for _, q := range sortedKeys(e.minimums, cmp.Compare[dex.QuoteType]) {
		w.byte(byte(q))
		w.amount(e.minimums[q])
	}
	w.exchangeFunds(e)
	w.permissions(e)
	w.relations(e)
	w.mining(e)
	w.orders(e)
}

func (w *writer) exchangeTokens(e *exchange) {
	w.uint(uint64(len(e.tokens)))
	for _, id := range sortedTokens(e.tokens) {
		t := e.tokens[id]
		w.bytes(t.Encode())
	}
	w.uint(uint64(len(e.asked)))
	for _, id := range sortedTokens(e.asked) {
		w.raw(id[:])
		w.uint(uint64(len(e.asked[id])))
		for _, q := range e.asked[id] {
			w.raw(q.quote[:])
			w.raw(q.creator[:])
			w.byte(byte(q.quoteType))
		}
	}
}

func (w *writer) exchangeFunds(e *exchange) {
	w.uint(uint64(len(e.funds)))
	for _, h := range sortedKeys(e.funds, compareHoldings) {
		w.raw(h.address[:])
		w.raw(h.token[:])
		w.amount(e.funds[h].Available)
		w.amount(e.funds[h].Locked)
	}
	w.uint(uint64(len(e.fees)))
	for _, id := range sortedTokens(e.fees) {
		f := e.fees[id]
		w.raw(id[:])
		w.amount(f.base)
		w.amount(f.operator)
		w.amount(f.listing)
	}
}

func (w *writer) permissions(e *exchange) {
	w.uint(uint64(len(e.agents)))
	for _, a := range sortedKeys(e.agents, compareAgencies) {
		w.raw(a.principal[:])
		w.raw(a.agent[:])
		w.uint(uint64(a.market))
	}
}

func compareAgencies(a, b agency) int {
	return cmp.Or(compareAddresses(a.principal, b.principal), compareAddresses(a.agent, b.agent), cmp.Compare(a.market, b.market))
}

// orders writes the books, and the hashes, of which some are of orders on their way to a book.
func (w *writer) orders(e *exchange) {
	for id := range uint32(len(e.markets)) {
		book := e.books[id+1]
		w.uint(uint64(book.Len(dex.Buy) + book.Len(dex.Sell)))
		for _, side := range []dex.Side{dex.Buy, dex.Sell} {
			book.Walk(side, func(o *dex.Order) bool {
				w.bytes(dex.EncodeOrder(o))
				return true
			})
		}
	}
	w.uint(uint64(len(e.hashes)))
	for _, h := range sortedKeys(e.hashes, compareHashes) {
		id := e.hashes[h]
		w.raw(h[:])
		w.raw(id[:])
	}
}

// exchange reads what writer.exchange has written.
func (r *reader) exchange() exchange {
	e := newExchange()
	e.roles = ExchangeRoles{
		Owner: r.address(), Timer: r.address(), Trigger: r.address(), MineProxy: r.address(), Maintainer: r.address(),
		Stopped: r.bool(),
	}
	e.clock, e.serial = r.int(), uint32(r.uint())
	r.exchangeTokens(&e)
	for range r.count(1) {
		r.market(&e)
	}
	for range r.count(1) {
		q := dex.QuoteType(r.byte())
		e.minimums[q] = r.amount()
	}
	r.exchangeFunds(&e)
	r.permissions(&e)
	r.relations(&e)
	r.mining(&e)
	r.orders(&e)
	return e
}

func (r *reader) exchangeTokens(e *exchange) {
	for range r.count(1) {
		t, err := dex.DecodeToken(r.bytes())
		if err != nil {
			r.fail("exchange token")
		}
		e.tokens[t.ID] = t
	}
	for range r.count(core.TokenIDSize) {
		id := r.tokenID()
		var list []question
		for range r.count(core.TokenIDSize) {
			list = append(list, question{r.tokenID(), r.address(), dex.QuoteType(r.byte())})
		}
		e.asked[id] = list
	}
}

func (r *reader) market(e *exchange) {
	m, err := dex.DecodeMarket(r.bytes())
	if err != nil || m.ID != uint32(len(e.markets)+1) {
		r.fail("market")
		return
	}
	scale, err := dex.NewScale(m.TradeDecimals, m.QuoteDecimals)
	if err != nil {
		r.fail("decimals of a market")
		return
	}
	e.markets[m.ID], e.pairs[pair{m.Trade, m.Quote}], e.books[m.ID] = m, m.ID, dex.NewBook(scale)
}

func (r *reader) exchangeFunds(e *exchange) {
	for range r.count(core.AddressSize + core.TokenIDSize) {
		h := holding{r.address(), r.tokenID()}
		e.funds[h] = dex.Balance{Available: r.amount(), Locked: r.amount()}
	}
	for range r.count(core.TokenIDSize) {
		id := r.tokenID()
		e.fees[id] = feeIncome{base: r.amount(), operator: r.amount(), listing: r.amount()}
	}
}

func (r *reader) permissions(e *exchange) {
	for range r.count(2 * core.AddressSize) {
		e.agents[agency{r.address(), r.address(), uint32(r.uint())}] = struct{}{}
	}
}

func (r *reader) orders(e *exchange) {
	for id := range uint32(len(e.markets)) {
		for range r.count(dex.OrderIDSize) {
			o, err := dex.DecodeOrder(r.bytes())
			if err != nil || o.ID.Market() != id+1 || o.Ended() || e.books[id+1].Put(&o) != nil {
				r.fail("order")
			}
		}
	}
	for range r.count(core.HashSize + dex.OrderIDSize) {
		h := r.hash()
		var id dex.OrderID
		r.raw(id[:])
		e.hashes[h] = id
	}
}

// total is all that was taken in.
func (f *feeIncome) total() uint256.Int {
	var sum uint256.Int
	sum.Add(&f.base, &f.operator)
	sum.Add(&sum, &f.listing)
	return sum
}
