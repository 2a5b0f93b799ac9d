package pay

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// Why an account's balance keeps a payment back: too little of what it pays, or too little coin for
// its fee.
var (
	errShort  = errors.New("the account's balance is too low for the payment")
	errNoCoin = errors.New("the account's coin is too low for the fee")
)

// spendable is the amount that an account may still bind: its balance less the payments that are
// bound and in no block yet, with their maximum fees. The ledger's balance already lacks mined
// payments; when a re-org removes the block, the payment counts here again.
type spendable struct {
	chain   chain.Chain
	account string
	taken   map[chain.Asset]chain.Amount
	have    map[chain.Asset]chain.Amount
}

// newSpendable counts unmined slots, of those without an attempt only what they pay. On a ledger of
// coins an attempt costs nothing more: the balance lacks the coins that it spends.
func newSpendable(c chain.Chain, account string, unmined []records.OpenSlot) (*spendable, error) {
	s := &spendable{chain: c, account: account, taken: map[chain.Asset]chain.Amount{}, have: map[chain.Asset]chain.Amount{}}
	for _, o := range unmined {
		cost, err := s.cost(attempts(o))
		if err != nil {
			return nil, fmt.Errorf("reading the attempts of payment %d: %w", o.PaymentID, err)
		}
		if o.Payment.Asset != chain.Native || len(o.Attempts) == 0 {
			for _, q := range o.Payments() {
				s.countPayment(q, chain.Amount{})
			}
		}
		s.add(chain.Native, cost)
	}
	return s, nil
}

// reserve adds the fees of unmined slots without an attempt. It is false while one of them cannot
// be signed: then nothing is bound behind it. Merges pay with their own coins.
func (s *spendable) reserve(ctx context.Context, unmined []records.OpenSlot) (bool, error) {
	s.estimateGroup(ctx, unsigned(s.chain, unmined))
	for _, o := range unmined {
		if len(o.Attempts) > 0 || o.Payment.Purpose == chain.Receive || o.Payment.Purpose == chain.Merge {
			continue
		}
		fee, err := s.chain.Estimate(ctx, s.account, transfers.BatchPayment(s.chain, o, chain.Amount{}))
		if waitsOrFails(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		s.add(chain.Native, fee)
	}
	return true, nil
}

// unsigned is the payments of slots without an attempt.
func unsigned(c chain.Chain, slots []records.OpenSlot) (list []chain.Payment) {
	for _, o := range slots {
		if len(o.Attempts) == 0 && o.Payment.Purpose != chain.Receive {
			list = append(list, transfers.BatchPayment(c, o, chain.Amount{}))
		}
	}
	return list
}

func (s *spendable) estimateGroup(ctx context.Context, pays []chain.Payment) {
	if groups := chain.CapabilitiesOf(s.chain).Groups; groups != nil && len(pays) > 1 {
		groups.EstimateGroup(ctx, s.account, pays)
	}
}

// cost returns the maximum native coin of a slot's newest attempt; nothing without one.
func (s *spendable) cost(list []chain.Attempt) (chain.Amount, error) {
	if len(list) == 0 {
		return chain.Amount{}, nil
	}
	return s.chain.Cost(list[len(list)-1])
}

// checkPayment returns the most that a payment's fee may be, or why it cannot be bound now:
// errShort, errNoCoin, or the ledger's error.
func (s *spendable) checkPayment(ctx context.Context, q records.Payment, asked chain.Payment) (fee chain.Amount, err error) {
	if q.Purpose == chain.Receive {
		return fee, nil
	}
	if err := s.checkBalance(ctx, q.Asset, q.Amount, errShort); err != nil {
		return fee, err
	}
	if fee, err = s.chain.Estimate(ctx, s.account, asked); err != nil || fee.IsZero() {
		return fee, err
	}
	need := fee
	if q.Asset == chain.Native {
		if need, err = fee.Add(q.Amount); err != nil {
			return fee, errNoCoin
		}
	}
	return fee, s.checkBalance(ctx, chain.Native, need, errNoCoin)
}

// answers reports whether nodes return the account's coin: then a fault concerns the asset alone.
func (s *spendable) answers(ctx context.Context) bool {
	_, err := s.chain.Balance(ctx, s.account, chain.Native)
	return err == nil
}

// checkBalance returns the error short unless the account has the amount in addition to the amounts
// taken already.
func (s *spendable) checkBalance(ctx context.Context, asset chain.Asset, amount chain.Amount, short error) error {
	have, ok := s.have[asset]
	if !ok {
		var err error
		if have, err = s.chain.Balance(ctx, s.account, asset); err != nil {
			return fmt.Errorf("asking for the balance of %s: %w", asset, err)
		}
		s.have[asset] = have
	}
	if need, err := s.taken[asset].Add(amount); err != nil || have.Less(need) {
		return short
	}
	return nil
}

func (s *spendable) countPayment(q records.Payment, fee chain.Amount) {
	if q.Purpose == chain.Receive {
		return
	}
	s.add(q.Asset, q.Amount)
	s.add(chain.Native, fee)
}

func (s *spendable) add(asset chain.Asset, amount chain.Amount) {
	if sum, err := s.taken[asset].Add(amount); err == nil {
		s.taken[asset] = sum
	}
}

// checkAttempt counts the cost of a new attempt instead of that of the slot's earlier ones. It is
// errNoCoin when the account's coin does not cover it, because nodes refuse such a transaction.
func (s *spendable) checkAttempt(ctx context.Context, prev []chain.Attempt, a chain.Attempt) error {
	cost, err := s.chain.Cost(a)
	if err != nil || cost.IsZero() {
		return err
	}
	before, err := s.cost(prev)
	if err != nil {
		return err
	}
	rest := s.taken[chain.Native].Excess(before)
	s.taken[chain.Native] = rest
	if err = s.checkBalance(ctx, chain.Native, cost, errNoCoin); err != nil {
		cost = before
	}
	s.add(chain.Native, cost)
	return err
}
