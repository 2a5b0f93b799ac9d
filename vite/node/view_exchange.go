package node

import (
	"bytes"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
)

// ExchangeView reads the exchange's contracts at the moment of its View.
type ExchangeView struct {
	s *ledger.State
}

// Exchange returns the exchange's part of the view.
func (v *View) Exchange() ExchangeView { return ExchangeView{v.s} }

// Roles returns the operators of the exchange.
func (v ExchangeView) Roles() ledger.ExchangeRoles { return v.s.Exchange.Roles }

// Time is the exchange's clock in seconds, 0 before the time oracle has spoken.
func (v ExchangeView) Time() int64 { return v.s.Exchange.Clock }

// Period is the number of the day of the exchange's clock.
func (v ExchangeView) Period() int64 { return dex.PeriodOf(v.s.Exchange.Clock) }

// Token is nil for a token that the exchange does not know.
func (v ExchangeView) Token(id core.TokenID) *dex.Token {
	t, known := v.s.Exchange.Tokens[id]
	if !known {
		return nil
	}
	return &t
}

// Market is nil for a pair without one.
func (v ExchangeView) Market(trade, quote core.TokenID) *dex.Market {
	m, err := v.s.Exchange.Market(trade, quote)
	if err != nil {
		return nil
	}
	return &m
}

// MarketByID is nil for a number that no market has.
func (v ExchangeView) MarketByID(id uint32) *dex.Market {
	m, ok := v.s.Exchange.Markets[id]
	if !ok {
		return nil
	}
	return &m
}

// Markets lists all markets by number.
func (v ExchangeView) Markets() []dex.Market {
	e := &v.s.Exchange
	list := make([]dex.Market, 0, len(e.Markets))
	for id := range uint32(len(e.Markets)) {
		list = append(list, e.Markets[id+1])
	}
	return list
}

// Fund returns an account's balance of a token on the exchange, and whether it ever had one.
func (v ExchangeView) Fund(a core.Address, token core.TokenID) (dex.Balance, bool) {
	b, had := v.s.Exchange.Funds[ledger.Holding{Address: a, Token: token}]
	return b, had
}

// Funds returns an account's balances on the exchange, of each token that it ever had.
func (v ExchangeView) Funds(a core.Address) map[core.TokenID]dex.Balance {
	found := map[core.TokenID]dex.Balance{}
	for id := range v.s.Tokens {
		if b, had := v.s.Exchange.Funds[ledger.Holding{Address: a, Token: id}]; had {
			found[id] = b
		}
	}
	return found
}

// Order is an open order; nil for an unknown one and one that has ended.
func (v ExchangeView) Order(id dex.OrderID) *dex.Order {
	o, open := v.s.Exchange.OpenOrder(id)
	if !open {
		return nil
	}
	return &o
}

// OrderBySend is the open order that a block has placed; nil as for Order.
func (v ExchangeView) OrderBySend(h core.Hash) *dex.Order {
	id, known := v.s.Exchange.Hashes[h]
	if !known {
		return nil
	}
	return v.Order(id)
}

// Orders lists the open orders of one side of a market, the best first, from number begin up to
// end. Nil for an unknown market and for an empty range.
func (v ExchangeView) Orders(market uint32, side dex.Side, begin, end int) []dex.Order {
	book := v.s.Exchange.Books[market]
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

// bookPrefix is the length of the market and side in an order's ID, in bytes.
const bookPrefix = 4

// WalkOrders shows the open orders whose IDs begin with a prefix. It visits at most limit orders;
// complete is false if there may be others.
func (v ExchangeView) WalkOrders(prefix []byte, limit int, f func(*dex.Order)) (complete bool) {
	if id, err := dex.OrderIDFromBytes(prefix); err == nil {
		if o := v.Order(id); o != nil {
			f(o)
		}
		return true
	}
	complete = true
	for number := range uint32(len(v.s.Exchange.Markets)) {
		for _, side := range []dex.Side{dex.Buy, dex.Sell} {
			first := dex.NewOrderID(number+1, side, dex.Price{}, 0, 0)
			if common := min(len(prefix), bookPrefix); !bytes.Equal(first[:common], prefix[:common]) {
				continue
			}
			v.s.Exchange.Books[number+1].Walk(side, func(o *dex.Order) bool {
				if limit--; limit < 0 {
					complete = false
					return false
				}
				if bytes.HasPrefix(o.ID[:], prefix) {
					f(o)
				}
				return bytes.Compare(o.ID[:min(len(prefix), len(o.ID))], prefix) <= 0
			})
		}
	}
	return complete
}

// IsAgent reports whether an agent may trade for a principal in a market.
func (v ExchangeView) IsAgent(principal, agent core.Address, market uint32) bool {
	_, granted := v.s.Exchange.Grants[ledger.Grant{Principal: principal, Agent: agent, Market: market}]
	return granted
}

// FeeTier returns the account's fee tier.
func (v ExchangeView) FeeTier(a core.Address) dex.FeeTier { return v.s.Exchange.FeeTier(a) }

// OrderMinimum is the least amount of an order, in the decimals of the quote type.
func (v ExchangeView) OrderMinimum(q dex.QuoteType) uint256.Int { return v.s.Exchange.Minimum(q) }

// Books is the accounts of the exchange: what its contract holds against what it owes.
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

// Books sums up everything; it takes time in proportion to the number of accounts.
func (v ExchangeView) Books() ExchangeBooks {
	e, books := &v.s.Exchange, ExchangeBooks{Tokens: map[core.TokenID]ExchangeTotals{}}
	users := map[core.Address]struct{}{}
	for h, b := range e.Funds {
		users[h.Address] = struct{}{}
		t := books.Tokens[h.Token]
		t.Users.Add(&t.Users, &b.Available)
		t.Users.Add(&t.Users, &b.Locked)
		books.Tokens[h.Token] = t
	}
	for id, f := range e.Fees {
		t, sum := books.Tokens[id], f.Total()
		t.Fees.Add(&t.Fees, &sum)
		books.Tokens[id] = t
	}
	sumPools(e, books.Tokens)
	sumStakes(e, books.Tokens)
	for id, t := range books.Tokens {
		t.Balance = v.s.Accounts[core.DexFundContract].Balances[id]
		books.Tokens[id] = t
	}
	books.Users = len(users)
	return books
}

// Mining is the VX of one cycle.
type Mining struct {
	ledger.Cycle
	Period int64
	Pool   uint256.Int // VX that is still to be mined
	Staked uint256.Int // VITE staked to mine
	// Fees are the base fees of the running cycle in the markets that mine, as they were paid, in
	// the decimals of the quote type.
	Fees map[dex.QuoteType]uint256.Int
}

// Mining is the VX that the running cycle will give.
func (v ExchangeView) Mining() Mining { return v.MiningOf(v.s.Exchange.Mining.Period) }

// MiningOf is the VX that a cycle gave or will give.
func (v ExchangeView) MiningOf(period int64) Mining {
	m := &v.s.Exchange.Mining
	info := Mining{Cycle: m.Cycle(period), Period: period, Pool: m.Pool, Staked: m.Stakes.Sum, Fees: map[dex.QuoteType]uint256.Int{}}
	for _, q := range dex.QuoteTypes() {
		info.Fees[q] = m.Book(q).Fees
	}
	return info
}

// DividendPools are the base fees that dividends are paid from, by quote token.
func (v ExchangeView) DividendPools() map[core.TokenID]uint256.Int {
	pools := map[core.TokenID]uint256.Int{}
	for id, f := range v.s.Exchange.Fees {
		if !f.Base.IsZero() {
			pools[id] = f.Base
		}
	}
	return pools
}

// AutoLocksVX reports whether VX that the account mines is locked at once.
func (v ExchangeView) AutoLocksVX(a core.Address) bool {
	_, auto := v.s.Exchange.AutoLocks[a]
	return auto
}

// LockedVX is the VX that an account has locked for dividends.
func (v ExchangeView) LockedVX(a core.Address) uint256.Int {
	c, _ := v.s.Exchange.Locks.Credits.Get(ledger.Credit{Address: a})
	return c.Weight
}

// Unlocking returns the amount of a token that an account has unlocked and not received yet.
func (v ExchangeView) Unlocking(a core.Address, token core.TokenID) (sum uint256.Int) {
	for _, u := range v.s.Exchange.Unlocking {
		if u.Owner == a && u.Token == token {
			sum.Add(&sum, &u.Amount)
		}
	}
	return sum
}

// InviteCode is the code that the account invites with, 0 for none.
func (v ExchangeView) InviteCode(a core.Address) uint32 { return v.s.Exchange.Codes[a] }

// InvitedBy is the code that the account was invited with, 0 for none.
func (v ExchangeView) InvitedBy(a core.Address) uint32 {
	return v.s.Exchange.Codes[v.s.Exchange.Inviters[a]]
}

// Inviter is the account that invited another one.
func (v ExchangeView) Inviter(a core.Address) (inviter core.Address, invited bool) {
	inviter, invited = v.s.Exchange.Inviters[a]
	return inviter, invited
}

// InviteCodeKnown reports whether an account invites with the code.
func (v ExchangeView) InviteCodeKnown(code uint32) bool { return v.s.Exchange.HasCode(code) }

// totals are sums by token.
type totals map[core.TokenID]uint256.Int

func (t totals) add(id core.TokenID, n uint256.Int) {
	if !n.IsZero() {
		sum := t[id]
		t[id] = *sum.Add(&sum, &n)
	}
}

// sumPools adds what is to be shared out.
func sumPools(e *ledger.Exchange, sums map[core.TokenID]ExchangeTotals) {
	pools := totals{}
	pools.add(dex.VX, e.Mining.Pool)
	for _, p := range e.Mining.Payouts {
		pools.add(p.Token, p.Left)
	}
	for id, n := range pools {
		t := sums[id]
		t.Pools = n
		sums[id] = t
	}
}

// sumStakes adds what accounts have staked or locked, and what is on its way back to them.
func sumStakes(e *ledger.Exchange, sums map[core.TokenID]ExchangeTotals) {
	held := totals{}
	for _, k := range e.FeeStakes {
		held.add(core.VITE, ledger.StakeOf(k.Vip.Super))
	}
	held.add(core.VITE, e.Mining.Stakes.Sum)
	held.add(dex.VX, e.Locks.Sum)
	for _, u := range e.Unlocking {
		held.add(u.Token, u.Amount)
	}
	for id, n := range held {
		t := sums[id]
		t.Stakes = n
		sums[id] = t
	}
}
