package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"gatewayd/exchangeapi/client"
)

// wish is an order in the demo's market.
func (d *exchangeDemo) wish(side client.Side, quantity, price string) client.NewOrder {
	return client.NewOrder{
		Symbol: d.market.symbol, Side: side, Amount: decimal.RequireFromString(quantity), Price: decimal.RequireFromString(price),
	}
}

// place places an order, which the API answers as pending request, and keeps what should become of the balances.
func (d *exchangeDemo) place(ctx context.Context, key string, t *demoTrader, side client.Side, quantity, price string) error {
	w := d.wish(side, quantity, price)
	placed, err := t.api.Place(ctx, w)
	if err != nil {
		return fmt.Errorf("placing %s: %w", key, err)
	}
	if placed.Status != client.PendingRequest || placed.Symbol != d.market.symbol {
		return fmt.Errorf("placing %s: the answer is %d of %s", key, placed.Status, placed.Symbol)
	}
	o := &demoOrder{
		market: d.market, owner: t.purse, address: t.vite.address().String(), id: placed.OrderID, side: side, price: w.Price, quantity: w.Amount,
		name: fmt.Sprintf("%s, %s %ss %s at %s", key, t.name, sideWord(side), quantity, price), status: placed.Status,
	}
	o.lock()
	d.orders[key] = o
	d.log.order(o.id, o.name, o.status)
	return nil
}

// becomes waits until REST and then all pushes show an order in a status, with the figures that it should have.
func (d *exchangeDemo) becomes(ctx context.Context, key string, want client.Status) error {
	o := d.orders[key]
	err := within(ctx, soon, fmt.Sprintf("%s to be %s", o.name, want), func() (bool, error) {
		got, err := newTrading(d.info.API).Order(ctx, o.address, o.id)
		switch {
		case err != nil:
			return false, err
		case got == nil:
			return false, fmt.Errorf("the API does not know order %s", o.id)
		case !leadsTo(o.status, got.Status):
			return false, fmt.Errorf("%d %s must not follow %d %s", got.Status, got.Status, o.status, o.status)
		}
		o.status = got.Status
		if got.Status == want {
			return true, o.check(got)
		}
		if got.Status.Final() {
			return false, fmt.Errorf("it is %d %s", got.Status, got.Status)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	d.log.order(o.id, o.name, want)
	return within(ctx, soon, fmt.Sprintf("pushes that say %s of %s", want, o.name), func() (bool, error) { return d.watch.pushed(o.id, want), nil })
}

// check compares what REST shows of an order with what it should be.
func (o *demoOrder) check(got *client.Order) error {
	for _, f := range []struct {
		name       string
		have, want decimal.Decimal
	}{
		{"price", got.Price, o.price}, {"quantity", got.Quantity, o.quantity}, {"amount", got.Amount, o.price.Mul(o.quantity)},
		{"executedQuantity", got.ExecutedQuantity, o.executed}, {"fee", got.Fee, o.fees},
	} {
		if !f.have.Equal(f.want) {
			return fmt.Errorf("%s is %s, not %s", f.name, f.have, f.want)
		}
	}
	if got.Address != o.address || got.Side != o.side || got.Symbol != o.market.symbol {
		return fmt.Errorf("it is of %s, side %d, pair %s", got.Address, got.Side, got.Symbol)
	}
	return nil
}

// match notes that a taker got a quantity from a maker, and checks both orders and all balances.
func (d *exchangeDemo) match(ctx context.Context, taker, maker, quantity string, takerIs, makerIs client.Status) error {
	amount, price := decimal.RequireFromString(quantity), d.orders[maker].price
	d.orders[taker].fill(amount, price)
	d.orders[maker].fill(amount, price)
	if err := d.becomes(ctx, taker, takerIs); err != nil {
		return err
	}
	if err := d.becomes(ctx, maker, makerIs); err != nil {
		return err
	}
	return d.balances(ctx)
}

func (d *exchangeDemo) balances(ctx context.Context) error {
	for _, t := range d.traders() {
		if err := t.balances(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rest places an order that nothing crosses.
func (d *exchangeDemo) rest(ctx context.Context, key string, t *demoTrader, side client.Side, quantity, price string) error {
	if err := d.place(ctx, key, t, side, quantity, price); err != nil {
		return err
	}
	if err := d.becomes(ctx, key, client.Open); err != nil {
		return err
	}
	return d.balances(ctx)
}

// trade has Alice sell 12 tokens to Bob in three fills: one better than his limit, one that ends her order, one that she takes herself.
func (d *exchangeDemo) trade(ctx context.Context) error {
	if err := d.alice.api.TestOrder(ctx, d.wish(client.Sell, "10", "1")); err != nil {
		return fmt.Errorf("test order: %w", err)
	}
	d.log.note("a test order is answered: signature, permission and funds are right")
	for _, do := range []func() error{
		func() error { return d.rest(ctx, "S1", d.alice, client.Sell, "10", "1") },
		func() error { return d.rest(ctx, "S2", d.alice, client.Sell, "5", "1.2") },
		func() error { return d.place(ctx, "B1", d.bob, client.Buy, "4", "1.1") },
		func() error { return d.match(ctx, "B1", "S1", "4", client.Filled, client.PartiallyFilled) },
		func() error { return d.place(ctx, "B2", d.bob, client.Buy, "6", "1") },
		func() error { return d.match(ctx, "B2", "S1", "6", client.Filled, client.Filled) },
		func() error { return d.rest(ctx, "B3", d.bob, client.Buy, "5", "0.9") },
		func() error { return d.place(ctx, "S3", d.alice, client.Sell, "2", "0.9") },
		func() error { return d.match(ctx, "S3", "B3", "2", client.Filled, client.PartiallyFilled) },
		func() error { return d.rest(ctx, "S4", d.alice, client.Sell, "3", "1.3") },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// tradedTokens and trades are what the story trades.
const (
	tradedTokens = 12
	trades       = 3
)

// refused asks for what cannot be.
func (d *exchangeDemo) refused(ctx context.Context) error {
	_, poor := d.bob.api.Place(ctx, d.wish(client.Buy, "1000", "1"))
	_, small := d.bob.api.Place(ctx, d.wish(client.Buy, "0.5", "1"))
	_, ended := d.bob.api.Cancel(ctx, d.market.symbol, d.orders["B1"].id)
	_, foreign := d.alice.api.Cancel(ctx, d.market.symbol, d.orders["B3"].id)
	return errors.Join(
		d.refusedWith(poor, client.CodeBalance, "Bob buys for more than he has"),
		d.refusedWith(small, client.CodeMinimum, "Bob buys for half a dollar"),
		d.refusedWith(ended, client.CodeOther, "Bob cancels a filled order"),
		d.refusedWith(foreign, client.CodeOther, "Alice cancels Bob's order"),
	)
}

// refusedWith wants a request to be refused for one reason.
func (d *exchangeDemo) refusedWith(err error, code client.Code, what string) error {
	var refused *client.Error
	switch {
	case err == nil:
		return fmt.Errorf("%s: it was not refused", what)
	case !errors.As(err, &refused) || refused.Code != code:
		return fmt.Errorf("%s: %w, not code %d", what, err, int(code))
	}
	d.log.note("%s: code %d, %s", what, refused.Code, refused.Msg)
	return nil
}

// cancel ends Bob's order, which was filled in part, and then all that Alice has.
func (d *exchangeDemo) cancel(ctx context.Context) error {
	b3 := d.orders["B3"]
	one, err := d.bob.api.Cancel(ctx, d.market.symbol, b3.id)
	if err != nil {
		return fmt.Errorf("cancelling B3: %w", err)
	}
	if one.Status != client.PendingCancel || one.OrderID != b3.id || one.CancelRequest == "" {
		return fmt.Errorf("cancelling B3: the answer is %+v", one)
	}
	b3.release()
	if err := d.becomes(ctx, "B3", client.PartiallyCancelled); err != nil {
		return err
	}
	all, err := d.alice.api.CancelAll(ctx, d.market.symbol)
	if err != nil {
		return fmt.Errorf("cancelling all: %w", err)
	}
	if len(all) != 2 {
		return fmt.Errorf("cancelling all: %d orders, not 2", len(all))
	}
	for _, key := range []string{"S2", "S4"} {
		d.orders[key].release()
		if err := d.becomes(ctx, key, client.Cancelled); err != nil {
			return err
		}
	}
	return d.balances(ctx)
}

// read holds the queries against what was done and against the last pushes.
func (d *exchangeDemo) read(ctx context.Context) error {
	api, symbol := newTrading(d.info.API), d.market.symbol
	var errs []error
	say := func(what string, ok bool, err error) {
		if err != nil || !ok {
			errs = append(errs, fmt.Errorf("%s: it is not what was traded and pushed (%w)", what, err))
			return
		}
		d.log.note("%s", what)
	}
	records, err := api.TradeRecords(ctx, client.TradeFilter{Symbol: symbol}, client.Page{Total: true})
	say("trades/all: three trades", records.Total == trades, err)
	ticker, err := api.Tickers(ctx, "", symbol)
	say("ticker/24hr: 12 traded, the last at 0.9", len(ticker) == 1 && isDecimal(ticker[0].Quantity, "12") && isDecimal(ticker[0].ClosePrice, "0.9"), err)
	bars, err := api.Klines(ctx, client.KlineFilter{Symbol: symbol, Interval: "day"})
	say("klines: 12 traded", decimal.Sum(decimal.Zero, bars.V...).Equal(decimal.NewFromInt(tradedTokens)), err)
	depth, err := api.Depth(ctx, symbol, 0, nil)
	depth.Timestamp = 0 // of the answer
	say("depth: as it was pushed", sameDepth(depth, d.watch.last("market."+symbol+".depth")), err)
	for _, t := range d.traders() {
		open, err := api.OpenOrders(ctx, client.OrderFilter{Address: t.vite.address().String(), Symbol: symbol}, client.Page{})
		say("orders/open: none of "+t.name, len(open.Order) == 0, err)
		mine, err := api.Orders(ctx, client.OrderFilter{Address: t.vite.address().String(), Symbol: symbol}, client.Page{Total: true})
		say(fmt.Sprintf("orders: %d of %s", d.placedBy(t), t.name), mine.Total == d.placedBy(t), err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var last error
	err = within(ctx, soon, "the pushes of all shapes", func() (bool, error) {
		last = d.watch.agree()
		return last == nil, nil
	})
	if last != nil {
		return errors.Join(err, last)
	}
	d.log.note("pushes: all topics, the same in all three shapes")
	return err
}

// placedBy counts a trader's orders.
func (d *exchangeDemo) placedBy(t *demoTrader) (n int) {
	for _, o := range d.orders {
		if o.address == t.vite.address().String() {
			n++
		}
	}
	return n
}

func isDecimal(d decimal.Decimal, want string) bool { return d.Equal(decimal.RequireFromString(want)) }
