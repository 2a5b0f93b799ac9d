package dex

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

func load(t testing.TB, name string, v any) {
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, v))
}

// testMarket is one market with its accounts, run as the two contracts run it: place, match,
// settle.
type testMarket struct {
	t       testing.TB
	market  Market
	book    *Book
	minimum uint256.Int
	funds   map[core.Address]*testFunds
	byHash  map[core.Hash]OrderID
	fees    uint256.Int
	total   [2]uint256.Int // put into funds: trade, quote
	time    int64
	serial  uint32
	blocks  uint64
}

// testFunds is an account's balances of the market's two tokens.
type testFunds struct{ trade, quote Balance }

func newTestMarket(t testing.TB, m Market) *testMarket {
	m.ID = 1
	m.Trade, m.Quote = core.TokenID([]byte("trade.....")), core.TokenID([]byte("quote....."))
	scale, err := NewScale(m.TradeDecimals, m.QuoteDecimals)
	require.NoError(t, err)
	return &testMarket{
		t: t, market: m, book: NewBook(scale), funds: map[core.Address]*testFunds{}, byHash: map[core.Hash]OrderID{}, time: 1614571200,
	}
}

// user makes an address of a name.
func user(name string) (a core.Address) {
	copy(a[:], name)
	return a
}

func (d *testMarket) fundsOf(owner core.Address) *testFunds {
	if d.funds[owner] == nil {
		d.funds[owner] = &testFunds{}
	}
	return d.funds[owner]
}

func (d *testMarket) fund(owner core.Address, trade, quote uint256.Int) {
	p := d.fundsOf(owner)
	p.trade.Available.Add(&p.trade.Available, &trade)
	p.quote.Available.Add(&p.quote.Available, &quote)
	d.total[0].Add(&d.total[0], &trade)
	d.total[1].Add(&d.total[1], &quote)
}

// balance is the one that orders of a side lock.
func (p *testFunds) balance(s Side) *Balance {
	if s == Sell {
		return &p.trade
	}
	return &p.quote
}

// place does what the flow of blocks does for an order. It adds what the exchange adds.
func (d *testMarket) place(p Placement) (*Result, error) {
	d.blocks++
	if p.SendHash.IsZero() {
		p.SendHash = core.Hash(uint256.NewInt(d.blocks).Bytes32())
	}
	b := d.fundsOf(p.Owner).balance(p.Side)
	p.Time, p.Serial, p.Available, p.Minimum = d.time, d.serial, b.Available, d.minimum
	o, err := d.market.Place(&p)
	if err != nil {
		return nil, err
	}
	d.serial++
	*b, err = b.Lock(o.Locked())
	require.NoError(d.t, err)
	again, err := DecodeOrder(EncodeOrder(&o))
	require.NoError(d.t, err)
	require.Equal(d.t, o, again)
	var r Result
	d.book.Match(&o, &r)
	require.NoError(d.t, d.book.Apply(&r))
	s := NewSettlement(&d.market)
	s.AddResult(&r)
	d.settle(s)
	if !r.Taker.Ended() {
		d.byHash[o.SendHash] = o.ID
	}
	return &r, nil
}

func (d *testMarket) cancel(id OrderID) Order {
	o, ok := d.book.Order(id)
	require.True(d.t, ok, "order %s is open", id)
	require.True(d.t, d.book.Remove(id))
	o.Cancel()
	s := NewSettlement(&d.market)
	s.AddEnd(o.Owner, o.ID.Side(), &o.Progress)
	d.settle(s)
	return o
}

func (d *testMarket) settle(s Settlement) {
	again, err := DecodeSettlement(s.Encode())
	require.NoError(d.t, err)
	require.Equal(d.t, s, again)
	for i := range s.Accounts {
		p := d.fundsOf(s.Accounts[i].Owner)
		p.trade, err = p.trade.Apply(&s.Accounts[i].Trade)
		require.NoError(d.t, err)
		p.quote, err = p.quote.Apply(&s.Accounts[i].Quote)
		require.NoError(d.t, err)
	}
	for i := range s.Fees {
		d.fees.Add(&d.fees, &s.Fees[i].BaseFee)
		d.fees.Add(&d.fees, &s.Fees[i].OperatorFee)
	}
}

// check verifies the invariants after each step: money is conserved, the locked amounts equal those
// of the open orders, and the book is sorted and not crossed.
func (d *testMarket) check() {
	if d.blocks%16 == 0 {
		d.book.check(d.t)
	}
	sums := [2]uint256.Int{{}, d.fees}
	for _, p := range d.funds {
		for i, b := range []Balance{p.trade, p.quote} {
			sums[i].Add(&sums[i], &b.Available)
			sums[i].Add(&sums[i], &b.Locked)
		}
	}
	require.Equal(d.t, d.total, sums, "conserved")
	locked := map[core.Address]*testFunds{}
	for owner := range d.funds {
		locked[owner] = &testFunds{}
	}
	for _, side := range []Side{Buy, Sell} {
		d.checkSide(side, locked)
	}
	for owner, p := range d.funds {
		require.Equal(d.t, locked[owner].trade.Locked, p.trade.Locked, "locked trade tokens")
		require.Equal(d.t, locked[owner].quote.Locked, p.quote.Locked, "locked quote tokens")
	}
	bid, bids := d.book.Best(Buy)
	ask, asks := d.book.Best(Sell)
	require.False(d.t, bids && asks && bid.Compare(ask) >= 0, "crossed: %s and %s", bid, ask)
}

func (d *testMarket) checkSide(side Side, locked map[core.Address]*testFunds) {
	var last OrderID
	n := 0
	d.book.Walk(side, func(o *Order) bool {
		require.Less(d.t, last.String(), o.ID.String(), "ids in byte order")
		require.False(d.t, o.Ended() || o.done(&d.book.scale, o.ID.Price()), "an ended order in the book")
		last = o.ID
		n++
		b, l := locked[o.Owner].balance(side), o.Locked()
		b.Locked.Add(&b.Locked, &l)
		return true
	})
	require.Equal(d.t, d.book.Len(side), n)
}

func mustPrice(t testing.TB, s string) Price {
	p, err := ParsePrice(s)
	require.NoError(t, err)
	return p
}

// number reads a decimal text; empty is zero.
func number(t testing.TB, s string) uint256.Int {
	if s == "" {
		return uint256.Int{}
	}
	n, err := uint256.FromDecimal(s)
	require.NoError(t, err)
	return *n
}
