package main

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/shopspring/decimal"

	"gatewayd/exchangeapi/client"
)

// purse is what an account should have on the exchange, by token symbol. The demo works it out by itself, order by order and fill by fill
// (docs/exchange-rules.md 2.5, 2.8), and compares it with what the API answers.
type purse map[string]client.Balance

// add changes what a token has available and locked.
func (p purse) add(symbol string, available, locked decimal.Decimal) {
	b := p[symbol]
	p[symbol] = client.Balance{Available: b.Available.Add(available), Locked: b.Locked.Add(locked)}
}

// lock moves an amount from available to locked; a negative one goes back.
func (p purse) lock(symbol string, amount decimal.Decimal) { p.add(symbol, amount.Neg(), amount) }

// differs says what of the purse the API sees otherwise; "" if nothing.
func (p purse) differs(have map[string]client.Balance) string {
	for symbol, want := range p {
		b := have[symbol]
		if !b.Available.Equal(want.Available) || !b.Locked.Equal(want.Locked) {
			return fmt.Sprintf("%s: %s available and %s locked, not %s and %s", symbol, b.Available, b.Locked, want.Available, want.Locked)
		}
	}
	return ""
}

// purseOf begins with what an account has.
func purseOf(have map[string]client.Balance) purse { return purse(maps.Clone(have)) }

// demoMarket is how the demo's market computes.
type demoMarket struct {
	symbol, trade, quote string
	quoteDecimals        int32
	base                 decimal.Decimal // rate of the exchange, the same for maker and taker
	operator             decimal.Decimal // rate of the market's owner, likewise
}

// fee is what one side of a fill pays: both parts rounded half up by themselves.
func (m demoMarket) fee(amount decimal.Decimal) decimal.Decimal {
	return amount.Mul(m.base).Round(m.quoteDecimals).Add(amount.Mul(m.operator).Round(m.quoteDecimals))
}

// set is the fee that a buy order sets aside: rounded once, on the sum of the rates.
func (m demoMarket) set(amount decimal.Decimal) decimal.Decimal {
	return amount.Mul(m.base.Add(m.operator)).Round(m.quoteDecimals)
}

// demoOrder is an order of the demo as it should be.
type demoOrder struct {
	market          demoMarket
	owner           purse
	address         string // of the owner
	id, name        string
	side            client.Side
	price, quantity decimal.Decimal
	locked          decimal.Decimal // set aside and not yet used: of the quote token for a buy order, else of the trade token
	executed        decimal.Decimal
	fees            decimal.Decimal
	status          client.Status // seen last over REST
}

// token is what the order sets aside.
func (o *demoOrder) token() string {
	if o.side == client.Buy {
		return o.market.quote
	}
	return o.market.trade
}

// lock sets aside what the order may come to pay.
func (o *demoOrder) lock() {
	o.locked = o.quantity
	if o.side == client.Buy {
		amount := o.quantity.Mul(o.price)
		o.locked = amount.Add(o.market.set(amount))
	}
	o.owner.lock(o.token(), o.locked)
}

// fill trades a quantity at the maker's price.
func (o *demoOrder) fill(quantity, price decimal.Decimal) {
	amount := quantity.Mul(price)
	fee := o.market.fee(amount)
	used := quantity
	if o.side == client.Buy {
		used = amount.Add(fee)
		o.owner.add(o.market.trade, quantity, decimal.Zero)
	} else {
		o.owner.add(o.market.quote, amount.Sub(fee), decimal.Zero)
	}
	o.owner.add(o.token(), decimal.Zero, used.Neg())
	o.locked, o.executed, o.fees = o.locked.Sub(used), o.executed.Add(quantity), o.fees.Add(fee)
	if o.executed.Equal(o.quantity) {
		o.release()
	}
}

// release gives back what is still set aside.
func (o *demoOrder) release() {
	o.owner.lock(o.token(), o.locked.Neg())
	o.locked = decimal.Zero
}

// sameDepth compares a book with a pushed one in JSON.
func sameDepth(d client.Depth, pushed string) bool {
	text, err := json.Marshal(d)
	return err == nil && string(text) == pushed
}
