package ledger

import (
	"errors"
	"maps"
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// payout is an amount of a token on its way to the accounts that it is shared out to, in proportion
// to their credits.
type payout struct {
	_      struct{} `cbor:",toarray"`
	Kind   PayKind
	Period int64
	Quote  dex.QuoteType
	Token  core.TokenID
	Amount uint256.Int
	Left   uint256.Int // not paid yet
	Least  uint256.Int // credits below it get nothing
	Sum    uint256.Int // of the credits that count
	// Credits are the pending credits. Only the payout changes them.
	Credits credits
}

// PayKind is the purpose of a payout; the jobs of dexFund's period call have the same numbers.
type PayKind uint8

const (
	PayOn        PayKind = 0 // of the contract's call of itself
	PayDividend  PayKind = 1
	PayOperators PayKind = 2
	PayMining    PayKind = 3
	payStaking   PayKind = 4
)

// ofVX reports whether the payout is of mined VX.
func (k PayKind) ofVX() bool { return k == PayMining || k == payStaking }

// PaymentsPerBlock bounds the accounts that one receive block of dexFund pays; the contract calls
// itself for the rest.
const PaymentsPerBlock = 100

// Reasons for which a period job is refused.
var (
	errTrigger = errors.New("only the period job trigger allow")
	errPeriod  = errors.New("period has not ended, or is done")
)

func checkPeriodJob(b *core.AccountBlock, args []any) error {
	if kind := PayKind(args[1].(uint8)); kind < PayDividend || kind > PayMining {
		return ErrDexParam
	}
	return checkNoAmount(b, args)
}

// periodJob starts or continues the work at the end of a cycle.
func periodJob(x *execution, args []any) error {
	period, kind, e := args[0].(uint64), PayKind(args[1].(uint8)), &x.state.Exchange
	own := x.send.Address == x.self.address
	switch {
	case !own && e.Roles.Trigger != x.send.Address:
		return errTrigger
	case !own && (e.Clock == 0 || period >= uint64(dex.PeriodOf(e.Clock))):
		return errPeriod
	}
	switch {
	case kind == PayOperators:
		return x.payOperators(period)
	case kind == PayDividend && int64(period) <= e.Mining.Dividends:
		return errPeriod
	case kind == PayDividend:
		x.state.openDividends(int64(period))
	}
	return x.work()
}

// due reports whether the contract has accounts to pay.
func (e *Exchange) due() bool {
	return len(e.Mining.Payouts) > 0 || len(e.Unlocking) > 0 && e.Unlocking[0].Due <= e.Clock
}

// callItself schedules another call of the contract if it has accounts to pay.
func (x *execution) callItself() error {
	if !x.state.Exchange.due() {
		return nil
	}
	return x.sendContractCall(core.DexFundContract, dex.FundPeriodJob, uint64(0), uint8(PayOn))
}

// work pays the next accounts.
func (x *execution) work() error {
	left := PaymentsPerBlock
	left -= x.state.release(left)
	for left > 0 && len(x.state.Exchange.Mining.Payouts) > 0 {
		left -= x.payNext(left)
	}
	return x.callItself()
}

// payNext pays at most n accounts of the first payout, and returns how many it has visited. The
// rest at its end, from truncation or from too small credits, returns to its source.
func (x *execution) payNext(n int) (seen int) {
	s, m := x.state, &x.state.Exchange.Mining
	p, rest := m.Payouts[0], slices.Clone(m.Payouts[1:])
	for ; seen < n; seen++ {
		c, more := p.Credits.Min()
		if !more {
			break
		}
		s.setCredit(p.Credits, Credit{Address: c.Address})
		x.payCredit(&p, c)
	}
	if p.Credits.Len() == 0 {
		s.returnRest(&p)
	} else {
		rest = slices.Insert(rest, 0, p)
	}
	set(&s.journal, &m.Payouts, rest)
	return seen
}

func (x *execution) payCredit(p *payout, c Credit) {
	s := x.state
	weight := c.counted(p.Least)
	share := dex.ShareOf(&p.Amount, &weight, &p.Sum)
	if share.IsZero() {
		return
	}
	p.Left.Sub(&p.Left, &share)
	if p.Kind.ofVX() {
		var mined uint256.Int
		mined.Add(&s.Exchange.Mining.Mined, &share)
		set(&s.journal, &s.Exchange.Mining.Mined, mined)
		s.GiveMined(c.Address, share)
	} else {
		s.creditExchange(c.Address, p.Token, share)
	}
	x.announceReward(p.event(), dex.Reward{
		Address: c.Address, Token: p.Token, Amount: share, Period: p.Period, Weight: weight, QuoteType: p.Quote,
	})
}

func (p *payout) event() string {
	switch p.Kind {
	case PayMining:
		return dex.MiningEvent
	case payStaking:
		return dex.StakingEvent
	}
	return dex.DividendEvent
}

func (x *execution) announceReward(event string, r dex.Reward) { x.announce(event, r.Encode()) }

// returnRest gives back what a payout has not paid.
func (s *State) returnRest(p *payout) {
	if !p.Kind.ofVX() {
		s.bookFees(p.Token, &p.Left, new(uint256.Int), new(uint256.Int))
		return
	}
	var pool uint256.Int
	pool.Add(&s.Exchange.Mining.Pool, &p.Left)
	set(&s.journal, &s.Exchange.Mining.Pool, pool)
}

// openDividends takes a day's part out of each fee pool but VITE's, for those who have locked VX
// now.
func (s *State) openDividends(period int64) {
	e := &s.Exchange
	payouts := slices.Clone(e.Mining.Payouts)
	for _, id := range SortedTokens(e.Fees) {
		income, quote := e.Fees[id], e.Tokens[id].QuoteType
		part := dex.Dividend(income.Base)
		if quote == dex.QuoteVITE || part.IsZero() || e.Locks.Sum.IsZero() {
			continue
		}
		income.Base.Sub(&income.Base, &part)
		put(&s.journal, e.Fees, id, income)
		payouts = append(payouts, payout{
			Kind: PayDividend, Period: period, Quote: quote, Token: id, Amount: part, Left: part, Sum: e.Locks.Sum,
			Credits: credits{e.Locks.Credits.Copy()},
		})
	}
	set(&s.journal, &e.Mining.Payouts, payouts)
	set(&s.journal, &e.Mining.Dividends, period)
}

// payOperators pays the operators' fees to the markets' owners, the markets with the lowest numbers
// first.
func (x *execution) payOperators(period uint64) error {
	s, e := x.state, &x.state.Exchange
	waiting := slices.Sorted(maps.Keys(e.Mining.Earned))
	for _, id := range waiting[:min(len(waiting), PaymentsPerBlock)] {
		amount, market := e.Mining.Earned[id], e.Markets[id]
		income := e.Fees[market.Quote]
		income.Operator.Sub(&income.Operator, &amount)
		put(&s.journal, e.Fees, market.Quote, income)
		del(&s.journal, e.Mining.Earned, id)
		s.creditExchange(market.Owner, market.Quote, amount)
		x.announceReward(dex.OperatorFeesEvent, dex.Reward{
			Address: market.Owner, Token: market.Quote, Amount: amount, Period: int64(period), Weight: amount,
			QuoteType: market.QuoteType, Market: id,
		})
	}
	if len(waiting) <= PaymentsPerBlock {
		return nil
	}
	return x.sendContractCall(core.DexFundContract, dex.FundPeriodJob, period, uint8(PayOperators))
}
