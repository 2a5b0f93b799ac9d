package node

import (
	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// ExchangeRoles says who runs the exchange. All are zero until the owner has set himself.
type ExchangeRoles struct {
	Owner      core.Address
	Timer      core.Address // tells the exchange the time
	Trigger    core.Address
	MineProxy  core.Address
	Maintainer core.Address
	Stopped    bool // no new orders
}

// ExchangeRoles says who runs the exchange.
func (v *View) ExchangeRoles() ExchangeRoles { return v.s.exchange.roles }

// ExchangeTime is the exchange's clock in seconds, 0 before the time oracle has spoken.
func (v *View) ExchangeTime() int64 { return v.s.exchange.clock }

// ExchangePeriod is the number of the day of the exchange's clock.
func (v *View) ExchangePeriod() int64 { return dex.PeriodOf(v.s.exchange.clock) }

// ExchangeToken is nil for a token that the exchange does not know.
func (v *View) ExchangeToken(id core.TokenID) *dex.Token {
	t, known := v.s.exchange.tokens[id]
	if !known {
		return nil
	}
	return &t
}

// Market is nil for a pair without one.
func (v *View) Market(trade, quote core.TokenID) *dex.Market {
	m, err := v.s.exchange.market(trade, quote)
	if err != nil {
		return nil
	}
	return &m
}

// MarketByID is nil for a number that no market has.
func (v *View) MarketByID(id uint32) *dex.Market {
	m, ok := v.s.exchange.markets[id]
	if !ok {
		return nil
	}
	return &m
}

// Markets lists all markets by number.
func (v *View) Markets() []dex.Market {
	e := &v.s.exchange
	list := make([]dex.Market, 0, len(e.markets))
	for id := range uint32(len(e.markets)) {
		list = append(list, e.markets[id+1])
	}
	return list
}

// Fund is what an account has on the exchange of a token, and whether it ever had.
func (v *View) Fund(a core.Address, token core.TokenID) (dex.Balance, bool) {
	b, had := v.s.exchange.funds[holding{a, token}]
	return b, had
}

// Funds is what an account has on the exchange, of each token that it ever had.
func (v *View) Funds(a core.Address) map[core.TokenID]dex.Balance {
	found := map[core.TokenID]dex.Balance{}
	for id := range v.s.tokens {
		if b, had := v.s.exchange.funds[holding{a, id}]; had {
			found[id] = b
		}
	}
	return found
}

// Order is an open order; nil for an unknown one and one that has ended.
func (v *View) Order(id dex.OrderID) *dex.Order {
	o, open := v.s.exchange.openOrder(id)
	if !open {
		return nil
	}
	return &o
}

// OrderBySend is the open order that a block has placed; nil as for Order.
func (v *View) OrderBySend(h core.Hash) *dex.Order {
	id, known := v.s.exchange.hashes[h]
	if !known {
		return nil
	}
	return v.Order(id)
}

// Orders lists the open orders of one side of a market, the best first, from number begin up to end. Nil for an unknown
// market and for an empty range.
func (v *View) Orders(market uint32, side dex.Side, begin, end int) []dex.Order {
	book := v.s.exchange.books[market]
	if book == nil || begin < 0 {
		return nil
	}
	var list []dex.Order
	at := 0
	book.Walk(side, func(o *dex.Order) bool {
		if at >= begin && at < end {
			list = append(list, *o)
		}
		at++
		return at < end
	})
	return list
}

// IsAgent tells whether an agent may trade for a principal in a market.
func (v *View) IsAgent(principal, agent core.Address, market uint32) bool {
	_, granted := v.s.exchange.agents[agency{principal, agent, market}]
	return granted
}

// Standing is what the account pays fees by.
func (v *View) Standing(a core.Address) dex.Standing { return v.s.exchange.standing(a) }

// OrderMinimum is the least amount of an order, in the decimals of the quote type.
func (v *View) OrderMinimum(q dex.QuoteType) uint256.Int { return v.s.exchange.minimum(q) }

// ExchangeBooks is the accounts of the exchange: what its contract holds against what it owes.
type ExchangeBooks struct {
	Users  int // accounts
	Tokens map[core.TokenID]ExchangeTotals
}

// ExchangeTotals are sums of one token. Balance equals Users, Fees, Stakes and Pools together.
type ExchangeTotals struct {
	Balance uint256.Int // of the contract
	Users   uint256.Int // available and locked
	Fees    uint256.Int
	Stakes  uint256.Int // VITE for lower fees and to mine, VX for dividends
	Pools   uint256.Int // to mine, or on their way to those who share them
}

// ExchangeBooks sums up everything; it takes time in proportion to the number of accounts.
func (v *View) ExchangeBooks() ExchangeBooks {
	e, books := &v.s.exchange, ExchangeBooks{Tokens: map[core.TokenID]ExchangeTotals{}}
	users := map[core.Address]struct{}{}
	for h, b := range e.funds {
		users[h.address] = struct{}{}
		t := books.Tokens[h.token]
		t.Users.Add(&t.Users, &b.Available)
		t.Users.Add(&t.Users, &b.Locked)
		books.Tokens[h.token] = t
	}
	for id, f := range e.fees {
		t, sum := books.Tokens[id], f.total()
		t.Fees.Add(&t.Fees, &sum)
		books.Tokens[id] = t
	}
	e.sumPools(books.Tokens)
	e.sumStakes(books.Tokens)
	for id, t := range books.Tokens {
		t.Balance = v.s.accounts[core.DexFundContract].balances[id]
		books.Tokens[id] = t
	}
	books.Users = len(users)
	return books
}
