package node

import (
	"cmp"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// mining writes what is mined, shared out and locked.
func (w *writer) mining(e *exchange) {
	m := &e.mining
	w.amount(m.pool)
	w.amount(m.mined)
	w.int(m.period)
	for i := range m.books {
		w.amount(m.books[i].fees)
		w.amount(m.books[i].least)
		w.amount(m.books[i].sum)
		w.credits(m.books[i].credits)
	}
	w.uint(uint64(len(m.leasts)))
	for _, q := range sortedKeys(m.leasts, cmp.Compare[dex.QuoteType]) {
		w.byte(byte(q))
		w.amount(m.leasts[q])
	}
	w.payouts(m.payouts)
	w.int(m.dividends)
	w.uint(uint64(len(m.earned)))
	for _, id := range sortedKeys(m.earned, compareMarkets) {
		w.uint(uint64(id))
		w.amount(m.earned[id])
	}
	w.locks(e)
}

func (w *writer) credits(c *credits) {
	w.uint(uint64(c.Len()))
	c.Scan(func(c credit) bool {
		w.raw(c.address[:])
		w.amount(c.weight)
		return true
	})
}

func (w *writer) payouts(list []payout) {
	w.uint(uint64(len(list)))
	for _, p := range list {
		w.byte(byte(p.kind))
		w.int(p.period)
		w.byte(byte(p.quote))
		w.raw(p.token[:])
		w.amount(p.amount)
		w.amount(p.left)
		w.amount(p.least)
		w.amount(p.sum)
		w.credits(p.credits)
	}
}

func (w *writer) locks(e *exchange) {
	w.uint(uint64(len(e.autoLocks)))
	for _, a := range sortedKeys(e.autoLocks, compareAddresses) {
		w.raw(a[:])
	}
	w.lockup(&e.locks)
	w.lockup(&e.mining.stakes)
	w.uint(uint64(len(e.mining.until)))
	for _, a := range sortedKeys(e.mining.until, compareAddresses) {
		w.raw(a[:])
		w.uint(e.mining.until[a])
	}
	w.uint(uint64(len(e.unlocking)))
	for _, u := range e.unlocking {
		w.raw(u.owner[:])
		w.raw(u.token[:])
		w.amount(u.amount)
		w.int(u.due)
	}
}

func (w *writer) lockup(l *lockup) {
	w.amount(l.sum)
	w.credits(l.credits)
}

// relations writes stakes for lower fees and invitations. What follows from them (vips, owners) is left out.
func (w *writer) relations(e *exchange) {
	w.uint(uint64(len(e.feeStakes)))
	for _, id := range sortedKeys(e.feeStakes, compareHashes) {
		k := e.feeStakes[id]
		w.raw(id[:])
		w.raw(k.staker[:])
		w.raw(k.vip.account[:])
		w.bool(k.vip.super)
		w.uint(k.until)
	}
	w.uint(uint64(len(e.codes)))
	for _, a := range sortedKeys(e.codes, compareAddresses) {
		w.raw(a[:])
		w.uint(uint64(e.codes[a]))
	}
	w.uint(uint64(len(e.inviters)))
	for _, a := range sortedKeys(e.inviters, compareAddresses) {
		inviter := e.inviters[a]
		w.raw(a[:])
		w.raw(inviter[:])
	}
}

// mining reads what writer.mining has written.
func (r *reader) mining(e *exchange) {
	m := &e.mining
	m.pool, m.mined, m.period = r.amount(), r.amount(), r.int()
	for i := range m.books {
		m.books[i] = feeBook{fees: r.amount(), least: r.amount(), sum: r.amount(), credits: r.credits()}
	}
	for range r.count(2) {
		q := dex.QuoteType(r.byte())
		m.leasts[q] = r.amount()
	}
	for range r.count(core.TokenIDSize) {
		m.payouts = append(m.payouts, payout{
			kind: payKind(r.byte()), period: r.int(), quote: dex.QuoteType(r.byte()), token: r.tokenID(), amount: r.amount(),
			left: r.amount(), least: r.amount(), sum: r.amount(), credits: r.credits(),
		})
	}
	m.dividends = r.int()
	for range r.count(2) {
		id := uint32(r.uint())
		m.earned[id] = r.amount()
	}
	r.locks(e)
}

func (r *reader) credits() *credits {
	c := newCredits()
	for range r.count(core.AddressSize) {
		c.Set(credit{address: r.address(), weight: r.amount()})
	}
	return c
}

func (r *reader) locks(e *exchange) {
	for range r.count(core.AddressSize) {
		e.autoLocks[r.address()] = struct{}{}
	}
	e.locks, e.mining.stakes = r.lockup(), r.lockup()
	for range r.count(core.AddressSize) {
		a := r.address()
		e.mining.until[a] = r.uint()
	}
	for range r.count(core.AddressSize) {
		e.unlocking = append(e.unlocking, unlock{owner: r.address(), token: r.tokenID(), amount: r.amount(), due: r.int()})
	}
}

func (r *reader) lockup() lockup { return lockup{sum: r.amount(), credits: r.credits()} }

func (r *reader) relations(e *exchange) {
	for range r.count(core.HashSize) {
		id := r.hash()
		k := feeStake{staker: r.address(), vip: vip{r.address(), r.bool()}, until: r.uint()}
		e.feeStakes[id], e.vips[k.vip] = k, id
	}
	for range r.count(core.AddressSize) {
		a, code := r.address(), uint32(r.uint())
		e.codes[a], e.owners[code] = code, a
	}
	for range r.count(2 * core.AddressSize) {
		a := r.address()
		e.inviters[a] = r.address()
	}
}
