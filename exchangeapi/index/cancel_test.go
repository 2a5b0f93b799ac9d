package index

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// statuses returns the statuses of an order that were announced since the last call.
func statuses(s *Subscription, id core.Hash) (list []Status) {
	for _, u := range queuedUpdates(s) {
		for _, o := range u.Orders {
			if o.ID == id.String() {
				list = append(list, o.Status)
			}
		}
	}
	return list
}

// testCancels: without notes of the cancels only the chain reports them, and each order still
// passes through 6.
func testCancels(t *testing.T, url string) {
	r := newRig(t)
	x := r.caught(url)
	updates := x.Subscribe(1000)
	after := func(id core.Hash) []Status {
		r.catchUp(x)
		return statuses(updates, id)
	}
	whole := r.order(r.alice, dex.Sell, "10", coins(20))
	r.cancel(r.alice, whole)
	require.Equal(t, []Status{Received, Open, PendingCancel, Cancelled}, after(whole))

	partly := r.order(r.alice, dex.Sell, "10", coins(20))
	r.order(r.bob, dex.Buy, "10", coins(10))
	require.Equal(t, []Status{Received, Open, PartiallyFilled}, after(partly))
	r.cancel(r.alice, partly)
	require.Equal(t, []Status{PendingCancel, PartiallyCancelled}, after(partly))

	direct := r.order(r.alice, dex.Sell, "10", coins(20))
	r.send(r.alice, core.DexTradeContract, core.VITE, coins(0), dex.TradeCancelByHash, direct)
	r.tick()
	require.Equal(t, []Status{Received, Open, PendingCancel, Cancelled}, after(direct), "dexTrade was asked, not dexFund")

	early := r.sendOrder(r.alice, dex.Sell, "10", coins(20))
	r.note(x, r.alice, early, 1, "10", 20)
	request := r.send(r.alice, core.DexFundContract, core.VITE, coins(0), dex.FundCancelBySendHash, early, core.Address{}, coin, core.VITE)
	r.noteCancel(x, request, early)
	r.tick()
	require.Equal(t, []Status{PendingRequest, Received, Open, PendingCancel, Cancelled}, after(early), "before it stood in the book")

	foreign := r.order(r.alice, dex.Sell, "10", coins(20))
	r.cancel(r.bob, foreign)
	require.Equal(t, []Status{Received, Open, PendingCancel, Open}, after(foreign), "refused")
	r.cancel(r.bob, core.Hash{7})
	r.cancel(r.alice, whole)
	require.Empty(t, after(whole), "it has ended")
	r.same(x)

	// What dexTrade decided is taken back: the request waits again.
	r.snapshot()
	r.catchUp(x)
	queuedUpdates(updates)
	r.cancel(r.bob, foreign)
	r.cancel(r.alice, foreign)
	require.Equal(t, []Status{PendingCancel, Cancelled}, after(foreign), "two requests, of which the first was refused")
	for _, c := range []core.Address{core.DexTradeContract, core.DexFundContract, r.alice.addr} {
		require.NoError(t, r.chain.DropAccount(c))
		r.catchUp(x)
		r.same(x)
	}
	r.tick()
	r.catchUp(x)
	r.same(x)
}

// legal lists the statuses that may follow a status (docs/exchange-rest.md 4.3). Executed figures
// change without the status.
var legal = map[Status][]Status{
	Unknown:         {PendingRequest, Received, Failed},
	PendingRequest:  {Received, Failed},
	Received:        {Open, PartiallyFilled, Filled, Cancelled, PartiallyCancelled, Failed},
	Open:            {PartiallyFilled, Filled, PendingCancel},
	PartiallyFilled: {PartiallyFilled, Filled, PendingCancel},
	PendingCancel:   {PendingCancel, Cancelled, PartiallyCancelled, Filled, Open, PartiallyFilled},
}

// TestLegalStatuses: random orders and cancels, noted before or after the contracts process them,
// or never, read in batches of any size. Subscribers receive legal sequences of statuses.
func TestLegalStatuses(t *testing.T) {
	r := newRig(t)
	r.span = 4
	x := r.caught(sqliteURL(t))
	updates := x.Subscribe(10_000)
	random := rand.New(rand.NewPCG(3, 4))
	var orders []core.Hash
	var later []func()
	for i := range 400 {
		if i%20 == 0 {
			r.snapshot() // quota
		}
		u := []user{r.alice, r.bob}[random.IntN(2)]
		var note func()
		if random.IntN(3) > 0 || len(orders) == 0 {
			side, price := dex.Side(random.IntN(2) == 1), fmt.Sprintf("%d", 9+random.IntN(3))
			n := uint64(15 + random.IntN(40))
			id := r.sendOrder(u, side, price, coins(n))
			orders = append(orders, id)
			note = func() { r.note(x, u, id, sideNumber(side), price, n) }
		} else {
			id := orders[max(0, len(orders)-1-random.IntN(8))]
			request := r.send(u, core.DexFundContract, core.VITE, coins(0), dex.FundCancelBySendHash, id, core.Address{}, coin, core.VITE)
			note = func() { r.noteCancel(x, request, id) }
		}
		switch random.IntN(3) {
		case 0:
			note()
		case 1:
			later = append(later, note)
		}
		if random.IntN(4) == 0 {
			r.tick()
		}
		if random.IntN(12) == 0 {
			r.catchUp(x)
			for _, f := range later {
				f()
			}
			later = nil
		}
	}
	r.tick()
	r.catchUp(x)
	requireLegal(t, queuedUpdates(updates))
}

func requireLegal(t *testing.T, updates []Update) {
	last, seen := map[string]Status{}, map[Status]int{}
	for _, u := range updates {
		for _, o := range u.Orders {
			require.Contains(t, legal[last[o.ID]], o.Status, "order %s after %d", o.ID, last[o.ID])
			last[o.ID] = o.Status
			seen[o.Status]++
		}
	}
	for _, s := range []Status{PendingRequest, Received, Open, Filled, PartiallyFilled, PendingCancel, Cancelled, PartiallyCancelled} {
		require.NotZero(t, seen[s], s)
	}
}
