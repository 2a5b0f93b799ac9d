package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"gatewayd/dev"
	"gatewayd/exchangeapi/client"
)

// order is one that was placed.
type order struct{ id, name, owner string }

// What all fills of the demo together come to.
var (
	soldTokens  = decimal.NewFromInt(12)
	paidDollars = decimal.RequireFromString("11.8")
)

// request is an order in the demo's market.
func (d *exchangeDemo) request(side client.Side, quantity, price string) client.NewOrder {
	return client.NewOrder{
		Symbol: d.market.Symbol, Side: side, Amount: decimal.RequireFromString(quantity), Price: decimal.RequireFromString(price),
	}
}

// place places an order, which the API answers as pending request.
func (d *exchangeDemo) place(ctx context.Context, key string, t *user, side client.Side, quantity, price string) error {
	placed, err := t.API.Place(ctx, d.request(side, quantity, price))
	if err != nil {
		return fmt.Errorf("placing %s: %w", key, err)
	}
	if placed.Status != client.PendingRequest || placed.Symbol != d.market.Symbol {
		return fmt.Errorf("placing %s: the answer is %d of %s", key, placed.Status, placed.Symbol)
	}
	o := order{id: placed.OrderID, name: fmt.Sprintf("%s, %s %ss %s at %s", key, t.Name, sideWord(side), quantity, price), owner: t.Account()}
	d.orders[key] = o
	d.log.Order(o.id, o.name, placed.Status)
	return nil
}

// waitForStatus waits until REST and then all pushes show an order in a status, with what was
// executed and its fee.
func (d *exchangeDemo) waitForStatus(ctx context.Context, key string, want client.Status, executed string) error {
	o := d.orders[key]
	err := dev.Within(ctx, dev.Soon, fmt.Sprintf("%s to be %s", o.name, want), func() (bool, error) {
		got, err := d.api.Order(ctx, o.owner, o.id)
		switch {
		case err != nil:
			return false, err
		case got == nil:
			return false, fmt.Errorf("the API does not know order %s", o.id)
		case got.Status != want && got.Status.Final():
			return false, fmt.Errorf("it is %d %s", got.Status, got.Status)
		case got.Status != want:
			return false, nil
		case got.ExecutedQuantity.String() != executed || !got.Fee.Equal(got.ExecutedAmount.Mul(d.fee)):
			return false, fmt.Errorf("%s executed for %s, fee %s: not %s, fee %s of the amount", got.ExecutedQuantity, got.ExecutedAmount, got.Fee, executed, d.fee)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	d.log.Order(o.id, o.name, want)
	return dev.Within(ctx, dev.Soon, fmt.Sprintf("pushes with %s of %s", want, o.name), func() (bool, error) { return d.pushes.hasStatus(o.id, want), nil })
}

// trade has Alice sell 12 tokens to Bob in three fills: one better than his limit, one that ends
// her order, one that she takes herself.
func (d *exchangeDemo) trade(ctx context.Context) error {
	if err := d.alice.API.TestOrder(ctx, d.request(client.Sell, "10", "1")); err != nil {
		return fmt.Errorf("test order: %w", err)
	}
	d.log.Note("a test order is answered: signature, permission and funds are right")
	for _, o := range []struct {
		key             string
		owner           *user
		side            client.Side
		quantity, price string
		status          client.Status
		executed        string
		maker           string // whom it crosses, and what becomes of that one
		makerStatus     client.Status
		makerExecuted   string
	}{
		{key: "S1", owner: d.alice, side: client.Sell, quantity: "10", price: "1", status: client.Open, executed: "0"},
		{key: "S2", owner: d.alice, side: client.Sell, quantity: "5", price: "1.2", status: client.Open, executed: "0"},
		{"B1", d.bob, client.Buy, "4", "1.1", client.Filled, "4", "S1", client.PartiallyFilled, "4"},
		{"B2", d.bob, client.Buy, "6", "1", client.Filled, "6", "S1", client.Filled, "10"},
		{key: "B3", owner: d.bob, side: client.Buy, quantity: "5", price: "0.9", status: client.Open, executed: "0"},
		{"S3", d.alice, client.Sell, "2", "0.9", client.Filled, "2", "B3", client.PartiallyFilled, "2"},
		{key: "S4", owner: d.alice, side: client.Sell, quantity: "3", price: "1.3", status: client.Open, executed: "0"},
	} {
		if err := d.place(ctx, o.key, o.owner, o.side, o.quantity, o.price); err != nil {
			return err
		}
		if err := d.waitForStatus(ctx, o.key, o.status, o.executed); err != nil {
			return err
		}
		if o.maker == "" {
			continue
		}
		if err := d.waitForStatus(ctx, o.maker, o.makerStatus, o.makerExecuted); err != nil {
			return err
		}
	}
	return d.balances(ctx, "8", "2.7")
}

// balances waits until both have exactly what the fills leave them, with fees, and what the open
// orders lock of it: that of an order to buy with the fee. Balances follow a fill when it is
// settled.
func (d *exchangeDemo) balances(ctx context.Context, lockedTokens, lockedDollars string) error {
	less, more := decimal.NewFromInt(1).Sub(d.fee), decimal.NewFromInt(1).Add(d.fee)
	own, dollars := d.market.TradingCurrency, d.market.QuoteCurrency
	for _, b := range []struct {
		t            *user
		symbol       string
		gain, locked decimal.Decimal
	}{
		{d.alice, own, decimal.NewFromInt(depositedTokens).Sub(soldTokens), decimal.RequireFromString(lockedTokens)},
		{d.alice, dollars, paidDollars.Mul(less), decimal.Zero},
		{d.bob, own, soldTokens, decimal.Zero},
		{d.bob, dollars, decimal.NewFromInt(depositedDollars).Sub(paidDollars.Mul(more)), decimal.RequireFromString(lockedDollars).Mul(more)},
	} {
		before := b.t.before[b.symbol]
		want := client.Balance{Available: before.Available.Add(b.gain).Sub(b.locked), Locked: before.Locked.Add(b.locked)}
		var have client.Balance
		err := dev.Within(ctx, dev.Soon, "balances", func() (bool, error) {
			all, err := d.api.Balance(ctx, b.t.Account())
			have = all[b.symbol]
			return have.Available.Equal(want.Available) && have.Locked.Equal(want.Locked), err
		})
		if err != nil {
			return fmt.Errorf("%s has %s of %s and %s locked, not %s and %s: %w", b.t.Name, have.Available, b.symbol, have.Locked, want.Available, want.Locked, err)
		}
	}
	return nil
}

// refused asks for what cannot be.
func (d *exchangeDemo) refused(ctx context.Context) error {
	_, poor := d.bob.API.Place(ctx, d.request(client.Buy, "1000", "1"))
	_, small := d.bob.API.Place(ctx, d.request(client.Buy, "0.5", "1"))
	_, ended := d.bob.API.Cancel(ctx, d.market.Symbol, d.orders["B1"].id)
	_, foreign := d.alice.API.Cancel(ctx, d.market.Symbol, d.orders["B3"].id)
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
	d.log.Note("%s: code %d, %s", what, refused.Code, refused.Msg)
	return nil
}

// cancel ends Bob's order, which was filled in part, and then all that Alice has.
func (d *exchangeDemo) cancel(ctx context.Context) error {
	one, err := d.bob.API.Cancel(ctx, d.market.Symbol, d.orders["B3"].id)
	if err != nil {
		return fmt.Errorf("cancelling B3: %w", err)
	}
	if one.Status != client.PendingCancel || one.OrderID != d.orders["B3"].id || one.CancelRequest == "" {
		return fmt.Errorf("cancelling B3: the answer is %+v", one)
	}
	if err := d.waitForStatus(ctx, "B3", client.PartiallyCancelled, "2"); err != nil {
		return err
	}
	all, err := d.alice.API.CancelAll(ctx, d.market.Symbol)
	if err != nil {
		return fmt.Errorf("cancelling all: %w", err)
	}
	if len(all) != 2 {
		return fmt.Errorf("cancelling all: %d orders, not 2", len(all))
	}
	for _, key := range []string{"S2", "S4"} {
		if err := d.waitForStatus(ctx, key, client.Cancelled, "0"); err != nil {
			return err
		}
	}
	return d.balances(ctx, "0", "0")
}
