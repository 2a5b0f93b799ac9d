package dev

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/shopspring/decimal"

	"gatewayd/chain"
	"gatewayd/exchangeapi/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet/keystore"
)

// The past of the markets: trades of one account with itself in the day before the start, at prices
// of a random walk that is always the same. Times are in minutes.
const (
	pastIndex  = Users - 5 // of the account, among those with a stake
	pastSpan   = 24 * 60
	pastFine   = 60     // at the end, when the first market trades every minute
	firstEvery = 5      // between trades of the first market before that,
	otherEvery = 30     // and of the others
	pastDrift  = 0.0008 // standard deviation of the logarithm of a price after a minute
	pastPull   = 0.002  // part of the distance to the configured rate that a price loses in a minute
	pastSize   = 7500   // of an order, in VITE
	pastVITE   = 600_000
	// At the end are so many blocks without a trade: the stakes regain all their quota, and who
	// starts to follow the chain reads little (probeDepth of chain/vite).
	pastQuiet = 200
	pastSeed  = 29
)

// PastTrades is the number of minutes with trades of the first market.
const PastTrades = (pastSpan-pastFine)/firstEvery + pastFine

// pastClock is the chain's clock: it is in the past while that is written.
type pastClock struct{ at time.Time }

func (c *pastClock) now() time.Time {
	if c.at.IsZero() {
		return time.Now()
	}
	return c.at
}

// past writes a day of trading into a chain that has not run yet.
type past struct {
	ctx      context.Context
	node     *node.Node
	clock    *pastClock
	rand     *rand.Rand
	gateway  *author
	operator *author
	trader   *author
	markets  []*pastMarket
}

type pastMarket struct {
	Asset
	every       int // minutes between trades
	fine        int // the last minutes, with trades in each
	price, last float64
}

// author is an account that writes blocks.
type author struct {
	key  core.PrivateKey
	head ledger.BlockID
}

// writePast gives a new exchange chain a day of trading that ends at a time. The node checks all
// blocks, and the exchange's contracts execute them. A chain with blocks is left as it is.
func writePast(ctx context.Context, n *node.Node, clock *pastClock, end time.Time) error {
	isNew := false
	if err := n.Read(func(v *node.View) { isNew = v.Head().Height == 1 }); err != nil || !isNew {
		return err
	}
	p := &past{ctx: ctx, node: n, clock: clock, rand: rand.New(rand.NewPCG(pastSeed, pastSeed))}
	defer func() { clock.at = time.Time{} }()
	err := p.open()
	if err == nil {
		err = n.Batch(func() error { return p.write(end) })
	}
	if err != nil {
		return fmt.Errorf("writing the markets' past: %w", err)
	}
	return nil
}

// open finds the accounts and the markets.
func (p *past) open() error {
	keys := keystore.NewKeys(keystore.Seed(Mnemonic, ""))
	for at, a := range map[uint32]**author{0: &p.gateway, devOperator: &p.operator, UserBase + pastIndex: &p.trader} {
		key, err := keys.ByIndex(at)
		if err != nil {
			return err
		}
		*a = &author{key: key}
		if err := p.node.Read(func(v *node.View) { (*a).head = v.HeadID(key.Address()) }); err != nil {
			return err
		}
	}
	for _, t := range Tokens() {
		p.markets = append(p.markets, &pastMarket{Asset: t, every: otherEvery, price: prices[t.Symbol], last: prices[t.Symbol]})
	}
	p.markets[0].every, p.markets[0].fine = firstEvery, pastFine
	return nil
}

// write opens the exchange, trades, and fills the books.
func (p *past) write(end time.Time) error {
	begin := end.Truncate(time.Minute).Add(-pastSpan * time.Minute)
	if err := p.prepare(begin); err != nil {
		return err
	}
	for minute := range pastSpan {
		if err := p.trade(begin.Add(time.Duration(minute)*time.Minute), minute); err != nil {
			return err
		}
	}
	for _, m := range p.markets {
		if err := p.fill(m); err != nil {
			return err
		}
	}
	if err := p.seal(); err != nil {
		return err
	}
	p.clock.at = end
	for range pastQuiet {
		if err := p.seal(); err != nil {
			return err
		}
	}
	return nil
}

// prepare opens the exchange before the first trade, and gives the trader tokens there. Meanwhile
// the stakes gain the quota of their window.
func (p *past) prepare(begin time.Time) error {
	p.clock.at = begin.Add(-core.QuotaWindow * time.Second)
	var tokens []core.TokenID
	for _, m := range p.markets {
		tokens = append(tokens, m.ID)
		stock := Whole(makerTokens(Token{Symbol: m.Symbol + "-000"}), m.Decimals)
		gift := &core.AccountBlock{BlockType: core.SendCall, ToAddress: p.trader.key.Address(), TokenID: m.ID, Amount: *stock.Uint256()}
		if err := p.submit(p.gateway, gift); err != nil {
			return err
		}
		if err := p.submit(p.trader, &core.AccountBlock{BlockType: core.Receive, SendBlockHash: gift.Hash}); err != nil {
			return err
		}
		if err := p.deposit(m.ID, stock); err != nil {
			return err
		}
	}
	if err := p.deposit(core.VITE, Whole(pastVITE, 18)); err != nil {
		return err
	}
	err := openMarkets(p.operator.key.Address(), tokens, p.clock.at, func(b *core.AccountBlock) error {
		if err := p.submit(p.operator, b); err != nil {
			return err
		}
		return p.node.Tick() // a call needs what the contracts have answered to the one before
	})
	for ; err == nil && p.clock.at.Before(begin); p.clock.at = p.clock.at.Add(time.Second) {
		err = p.seal()
	}
	return err
}

func (p *past) deposit(token core.TokenID, amount chain.Amount) error {
	b := fundCall(dex.FundDeposit)
	b.TokenID, b.Amount = token, *amount.Uint256()
	return p.submit(p.trader, b)
}

// trade is one minute of trading.
func (p *past) trade(at time.Time, minute int) error {
	at = at.Add(time.Duration(p.rand.IntN(60)) * time.Second)
	var due []*pastMarket
	for _, m := range p.markets {
		distance := math.Log(m.price / prices[m.Symbol])
		m.price *= math.Exp(pastDrift*p.rand.NormFloat64() - pastPull*distance)
		if minute%m.every == 0 || minute >= pastSpan-m.fine {
			due = append(due, m)
		}
	}
	if len(due) == 0 {
		return nil
	}
	told := p.clock.at
	p.clock.at = at
	if err := p.submit(p.operator, fundCall(dex.FundNotifyTime, at.Unix())); err != nil {
		return err
	}
	if period := dex.PeriodOf(told.Unix()); period != dex.PeriodOf(at.Unix()) {
		for _, job := range endOfDay {
			if err := p.submit(p.operator, fundCall(dex.FundPeriodJob, uint64(period), job)); err != nil {
				return err
			}
		}
	}
	for _, m := range due {
		if err := p.take(m); err != nil {
			return err
		}
	}
	return p.seal()
}

// take has one order take two others on the way from the last price to the next one.
func (p *past) take(m *pastMarket) error {
	taker, maker := dex.Buy, dex.Sell
	if m.price < m.last {
		taker, maker = maker, taker
	}
	var sum, price decimal.Decimal
	size := pastSize * math.Exp(0.7*p.rand.NormFloat64())
	for _, part := range []float64{0.3, 1} {
		price = priceOf(m.last+part*(m.price-m.last), prices[m.Symbol])
		quantity := quantityOf(size*part, price, m.Decimals)
		if err := p.place(m, maker, price, quantity); err != nil {
			return err
		}
		sum = sum.Add(quantity)
	}
	m.last = m.price
	return p.place(m, taker, price, sum)
}

// fill puts resting orders around the last price, as the market maker does.
func (p *past) fill(m *pastMarket) error {
	for _, side := range []client.Side{client.Buy, client.Sell} {
		for step := range levels {
			price := priceOf(m.last*(1-away(step, p.rand.Float64())*sign(side)), prices[m.Symbol])
			if err := p.place(m, dex.Side(side == client.Sell), price, quantityOf((0.5+p.rand.Float64())*orderVITE, price, m.Decimals)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *past) place(m *pastMarket, side dex.Side, price, quantity decimal.Decimal) error {
	units, err := chain.ParseAmount(quantity.Shift(int32(m.Decimals)).String())
	if err != nil {
		return err
	}
	return p.submit(p.trader, fundCall(dex.FundPlaceOrder, m.ID, core.VITE, bool(side), uint8(dex.Limit), price.String(), *units.Uint256()))
}

// submit puts a block at the end of an account's chain.
func (p *past) submit(a *author, b *core.AccountBlock) error {
	b.Address, b.Height, b.PreviousHash = a.key.Address(), a.head.Height+1, a.head.Hash
	b.SignWith(a.key)
	a.head = ledger.BlockID{Height: b.Height, Hash: b.Hash}
	return p.node.Submit(p.ctx, b)
}

// seal lets the contracts execute what they have received, and makes a snapshot block.
func (p *past) seal() error {
	if err := p.node.Tick(); err != nil {
		return err
	}
	_, err := p.node.Snapshot()
	return err
}
