package node

import (
	"errors"
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// payout is an amount of a token on its way to the accounts that it is shared out to, in proportion to their credits.
type payout struct {
	kind   payKind
	period int64
	quote  dex.QuoteType
	token  core.TokenID
	amount uint256.Int
	left   uint256.Int // not paid yet
	least  uint256.Int // credits below it get nothing
	sum    uint256.Int // of the credits that count
	// credits are those that wait. Nobody but the payout changes them.
	credits *credits
}

// payKind tells what a payout is for; the jobs of dexFund's period call have the same numbers.
type payKind uint8

const (
	goOn         payKind = 0 // of the contract's call of itself
	payDividend  payKind = 1
	payOperators payKind = 2
	payMining    payKind = 3
	payStaking   payKind = 4
)

// ofVX tells whether the payout is of mined VX.
func (k payKind) ofVX() bool { return k == payMining || k == payStaking }

// paymentsPerBlock bounds the accounts that one receive block of dexFund pays; the contract calls itself for the rest.
const paymentsPerBlock = 100

// Reasons for which a period job is refused.
var (
	errTrigger = errors.New("only the period job trigger allow")
	errPeriod  = errors.New("period has not ended, or is done")
)

func checkPeriodJob(b *core.AccountBlock, args []any) error {
	if kind := payKind(args[1].(uint8)); kind < payDividend || kind > payMining {
		return ErrDexParam
	}
	return checkNoAmount(b, args)
}

// periodJob begins what is to be done after a cycle, or goes on with it.
func periodJob(x *execution, args []any) error {
	period, kind, e := args[0].(uint64), payKind(args[1].(uint8)), &x.state.exchange
	own := x.send.Address == x.self.address
	switch {
	case !own && e.roles.Trigger != x.send.Address:
		return errTrigger
	case !own && (e.clock == 0 || period >= uint64(dex.PeriodOf(e.clock))):
		return errPeriod
	}
	switch {
	case kind == payOperators:
		return x.payOperators(period)
	case kind == payDividend && int64(period) <= e.mining.dividends:
		return errPeriod
	case kind == payDividend:
		x.state.openDividends(int64(period))
	}
	return x.work()
}

// due tells whether the contract has accounts to pay.
func (e *exchange) due() bool {
	return len(e.mining.payouts) > 0 || len(e.unlocking) > 0 && e.unlocking[0].due <= e.clock
}

// callItself has the contract called once more if it has accounts to pay.
func (x *execution) callItself() error {
	if !x.state.exchange.due() {
		return nil
	}
	return x.ask(core.DexFundContract, dex.FundPeriodJob, uint64(0), uint8(goOn))
}

// work pays the next accounts.
func (x *execution) work() error {
	left := paymentsPerBlock
	left -= x.state.release(left)
	for left > 0 && len(x.state.exchange.mining.payouts) > 0 {
		left -= x.payNext(left)
	}
	return x.callItself()
}

// payNext pays at most n accounts of the first payout, and tells how many it has looked at. What is left at its end, by
// cutting or because a credit was too small, goes back to where it came from.
func (x *execution) payNext(n int) (seen int) {
	s, m := x.state, &x.state.exchange.mining
	p, rest := m.payouts[0], slices.Clone(m.payouts[1:])
	for ; seen < n; seen++ {
		c, more := p.credits.Min()
		if !more {
			break
		}
		s.setCredit(p.credits, credit{address: c.address})
		x.payCredit(&p, c)
	}
	if p.credits.Len() == 0 {
		s.returnRest(&p)
	} else {
		rest = slices.Insert(rest, 0, p)
	}
	set(&s.journal, &m.payouts, rest)
	return seen
}

func (x *execution) payCredit(p *payout, c credit) {
	s := x.state
	weight := c.counted(p.least)
	share := dex.ShareOf(&p.amount, &weight, &p.sum)
	if share.IsZero() {
		return
	}
	p.left.Sub(&p.left, &share)
	if p.kind.ofVX() {
		var mined uint256.Int
		mined.Add(&s.exchange.mining.mined, &share)
		set(&s.journal, &s.exchange.mining.mined, mined)
		s.giveMined(c.address, share)
	} else {
		s.give(c.address, p.token, share)
	}
	x.announceReward(p.event(), dex.Reward{
		Address: c.address, Token: p.token, Amount: share, Period: p.period, Weight: weight, QuoteType: p.quote,
	})
}

func (p *payout) event() string {
	switch p.kind {
	case payMining:
		return dex.MiningEvent
	case payStaking:
		return dex.StakingEvent
	}
	return dex.DividendEvent
}

func (x *execution) announceReward(event string, r dex.Reward) { x.announce(event, r.Encode()) }

// returnRest gives back what a payout has not paid.
func (s *state) returnRest(p *payout) {
	if !p.kind.ofVX() {
		s.take(p.token, &p.left, new(uint256.Int), new(uint256.Int))
		return
	}
	var pool uint256.Int
	pool.Add(&s.exchange.mining.pool, &p.left)
	set(&s.journal, &s.exchange.mining.pool, pool)
}

// openDividends takes a day's part out of each fee pool but VITE's, for those who have locked VX now.
func (s *state) openDividends(period int64) {
	e := &s.exchange
	payouts := slices.Clone(e.mining.payouts)
	for _, id := range sortedTokens(e.fees) {
		income, quote := e.fees[id], e.tokens[id].QuoteType
		part := dex.Dividend(income.base)
		if quote == dex.QuoteVITE || part.IsZero() || e.locks.sum.IsZero() {
			continue
		}
		income.base.Sub(&income.base, &part)
		put(&s.journal, e.fees, id, income)
		payouts = append(payouts, payout{
			kind: payDividend, period: period, quote: quote, token: id, amount: part, left: part, sum: e.locks.sum,
			credits: e.locks.credits.Copy(),
		})
	}
	set(&s.journal, &e.mining.payouts, payouts)
	set(&s.journal, &e.mining.dividends, period)
}

// payOperators pays the operators' fees to the markets' owners, the markets with the lowest numbers first.
func (x *execution) payOperators(period uint64) error {
	s, e := x.state, &x.state.exchange
	waiting := sortedKeys(e.mining.earned, compareMarkets)
	for _, id := range waiting[:min(len(waiting), paymentsPerBlock)] {
		amount, market := e.mining.earned[id], e.markets[id]
		income := e.fees[market.Quote]
		income.operator.Sub(&income.operator, &amount)
		put(&s.journal, e.fees, market.Quote, income)
		del(&s.journal, e.mining.earned, id)
		s.give(market.Owner, market.Quote, amount)
		x.announceReward(dex.OperatorFeesEvent, dex.Reward{
			Address: market.Owner, Token: market.Quote, Amount: amount, Period: int64(period), Weight: amount,
			QuoteType: market.QuoteType, Market: id,
		})
	}
	if len(waiting) <= paymentsPerBlock {
		return nil
	}
	return x.ask(core.DexFundContract, dex.FundPeriodJob, period, uint8(payOperators))
}
