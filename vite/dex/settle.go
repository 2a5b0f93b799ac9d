package dex

import (
	"errors"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// Balance is an account's balance of a token on the exchange.
type Balance struct{ Available, Locked uint256.Int }

// ErrSettlement marks a settlement that takes what is missing: books and balances have come
// apart.
var ErrSettlement = errors.New("settlement exceeds what is locked")

// Lock moves from available to locked, or is ErrFunds.
func (b Balance) Lock(n uint256.Int) (Balance, error) {
	if _, under := b.Available.SubOverflow(&b.Available, &n); under {
		return Balance{}, ErrFunds
	}
	if _, over := b.Locked.AddOverflow(&b.Locked, &n); over {
		return Balance{}, ErrTooLarge
	}
	return b, nil
}

// Change is a settlement's effect on one balance.
type Change struct {
	Inc     uint256.Int // comes to available
	Reduce  uint256.Int // leaves locked
	Release uint256.Int // moves from locked to available
}

// Apply is the balance after the change. ErrSettlement if locked does not cover it.
func (b Balance) Apply(c *Change) (Balance, error) {
	var out uint256.Int
	_, over := out.AddOverflow(&c.Reduce, &c.Release)
	if _, under := b.Locked.SubOverflow(&b.Locked, &out); over || under {
		return Balance{}, ErrSettlement
	}
	_, first := b.Available.AddOverflow(&b.Available, &c.Inc)
	if _, second := b.Available.AddOverflow(&b.Available, &c.Release); first || second {
		return Balance{}, ErrSettlement
	}
	return b, nil
}

// Settlement is dexTrade's message to dexFund after matches and cancels in one market. Each list is
// in order of first appearance.
type Settlement struct {
	Trade, Quote core.TokenID
	Accounts     []AccountSettlement
	Fees         []FeeSettlement
}

// AccountSettlement contains the changes of one account, in the market's two tokens.
type AccountSettlement struct {
	Owner        core.Address
	Trade, Quote Change
}

// FeeSettlement is the fee paid by one account, in the quote token.
type FeeSettlement struct {
	Payer                core.Address
	BaseFee, OperatorFee uint256.Int
}

// NewSettlement is empty.
func NewSettlement(m *Market) Settlement { return Settlement{Trade: m.Trade, Quote: m.Quote} }

// Empty reports whether nothing changes.
func (s *Settlement) Empty() bool { return len(s.Accounts) == 0 && len(s.Fees) == 0 }

// AddResult adds what a match moves. The taker's own lock has been taken before.
func (s *Settlement) AddResult(r *Result) {
	side := r.Taker.ID.Side()
	for i := range r.Fills {
		f := &r.Fills[i]
		s.addFill(r.Taker.Owner, side, f, &f.TakerFee, &f.TakerOperatorFee)
		s.addFill(f.Owner, !side, f, &f.MakerFee, &f.MakerOperatorFee)
		s.AddEnd(f.Owner, !side, &f.MakerProgress)
	}
	s.AddEnd(r.Taker.Owner, side, &r.Taker.Progress)
}

// addFill adds one party's side of a fill.
func (s *Settlement) addFill(owner core.Address, side Side, f *Fill, base, operator *uint256.Int) {
	a := s.account(owner)
	var fees, sum uint256.Int
	fees.Add(base, operator)
	if side == Buy {
		sum.Add(&f.Amount, &fees)
		a.Quote.Reduce.Add(&a.Quote.Reduce, &sum)
		a.Trade.Inc.Add(&a.Trade.Inc, &f.Quantity)
	} else {
		sum.Sub(&f.Amount, &fees)
		a.Quote.Inc.Add(&a.Quote.Inc, &sum)
		a.Trade.Reduce.Add(&a.Trade.Reduce, &f.Quantity)
	}
	if fees.IsZero() {
		return
	}
	p := s.payer(owner)
	p.BaseFee.Add(&p.BaseFee, base)
	p.OperatorFee.Add(&p.OperatorFee, operator)
}

// AddEnd adds the refund of an order that has ended.
func (s *Settlement) AddEnd(owner core.Address, side Side, p *Progress) {
	if !p.Ended() || p.Refund.IsZero() {
		return
	}
	a := s.account(owner)
	if side == Buy {
		a.Quote.Release.Add(&a.Quote.Release, &p.Refund)
	} else {
		a.Trade.Release.Add(&a.Trade.Release, &p.Refund)
	}
}

// account finds or adds; there are at most a taker and MaxFills makers.
func (s *Settlement) account(owner core.Address) *AccountSettlement {
	for i := range s.Accounts {
		if s.Accounts[i].Owner == owner {
			return &s.Accounts[i]
		}
	}
	s.Accounts = append(s.Accounts, AccountSettlement{Owner: owner})
	return &s.Accounts[len(s.Accounts)-1]
}

func (s *Settlement) payer(owner core.Address) *FeeSettlement {
	for i := range s.Fees {
		if s.Fees[i].Payer == owner {
			return &s.Fees[i]
		}
	}
	s.Fees = append(s.Fees, FeeSettlement{Payer: owner})
	return &s.Fees[len(s.Fees)-1]
}
