package frozen

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// What a token refuses besides a payee. Neither is the payee's fault, so the payment waits.
var (
	ErrFrozen     = errors.New("the token refuses every payment of the account")
	ErrTokenLimit = errors.New("the token refuses payments of this amount to any payee")
)

const (
	// maxOthers bounds to how many addresses besides the payee a payment is tried.
	maxOthers = 8
	// queuedOthers is the number of them that are payees of queued payments.
	queuedOthers = 3
	// triedAmounts is the number of amounts tried for each of them: the least unit, the smallest
	// withdrawal and the same amount.
	triedAmounts = 3
)

// WhoRefuses determines, on the state after one block, whom a token refuses when a payment of a hot
// account fails. chain.ErrRefused: the payee. ErrFrozen: it refuses every payee, because it is
// paused or its issuer has frozen the account. ErrTokenLimit: such an amount. chain.ErrNotNow: on
// that block it refuses nothing, or the account holds too little for the test.
func (tk *Tokens) WhoRefuses(ctx context.Context, height uint64, account string, q records.Payment) error {
	n := tk.Rules().Network(q.Network)
	others, err := tk.otherPayees(ctx, n, account, q.Asset, q.Payee)
	if err != nil {
		return err
	}
	pay := transfers.ChainPayment(q, chain.Amount{})
	amounts := append(leastAmounts(n, q.Asset), q.Amount)
	results, err := chain.CapabilitiesOf(tk.Chains[q.Chain]).Tries.Try(ctx, height, account, append([]chain.Payment{pay}, trials(pay, others, amounts)...))
	if err != nil {
		return fmt.Errorf("checking which payees the token refuses: %w", err)
	}
	return refused(results[0], results[1:])
}

// trials are payments of each amount to each payee.
func trials(pay chain.Payment, payees []string, amounts []chain.Amount) (list []chain.Payment) {
	for _, to := range payees {
		for _, amount := range amounts {
			one := pay
			one.To, one.Amount, one.Label = to, amount, ""
			list = append(list, one)
		}
	}
	return list
}

// refused decides whom a token refuses, by the outcome of a payment and of its trials, triedAmounts
// to each other payee.
func refused(own error, others []error) error {
	if own == nil || errors.Is(own, chain.ErrNotNow) {
		return fmt.Errorf("%w: the token no longer refuses it", chain.ErrNotNow)
	}
	answersFalse := errors.Is(own, chain.ErrFalse)
	pays, limited := false, true
	for to := range slices.Chunk(others, triedAmounts) {
		small, same := to[:triedAmounts-1], to[triedAmounts-1]
		if slices.ContainsFunc(small, func(err error) bool { return passes(err, answersFalse) }) {
			pays, limited = true, limited && refuses(same, answersFalse)
		}
	}
	switch {
	case pays && limited:
		return ErrTokenLimit
	case !pays && slices.ContainsFunc(others, func(err error) bool { return refuses(err, answersFalse) }):
		return frozenError(answersFalse)
	}
	return chain.ErrRefused
}

// passes reports whether a tried payment would succeed. Some tokens return false when they pay, so
// false counts only if the payment in question was refused in this way.
func passes(err error, falseRefuses bool) bool {
	return err == nil || errors.Is(err, chain.ErrFalse) && !falseRefuses
}

func refuses(err error, falseRefuses bool) bool {
	return errors.Is(err, chain.ErrRefused) || errors.Is(err, chain.ErrFalse) && falseRefuses
}

// frozenError returns ErrFrozen, with a note if the token returns false instead of reverting.
func frozenError(answersFalse bool) error {
	if answersFalse {
		return fmt.Errorf("%w: %w", ErrFrozen, chain.ErrFalse)
	}
	return ErrFrozen
}

// leastAmounts returns the amounts to try first: the least unit of an asset, and the smallest
// withdrawal for tokens that refuse dust.
func leastAmounts(n records.Network, asset chain.Asset) []chain.Amount {
	least := chain.NewAmount(1)
	small := least
	for _, t := range n.Tokens {
		if t.Asset != asset {
			continue
		}
		if amount, _, err := t.Policy.MinWithdraw.Rescale(t.Decimals, t.AssetDecimals); err == nil && !amount.IsZero() {
			small = amount
		}
	}
	return []chain.Amount{least, small}
}

// otherPayees are addresses that an account of a network may pay an asset to, without one: ours,
// those of the operators, and payees of queued payments. A token that lets only chosen addresses
// receive it lets some of these.
func (tk *Tokens) otherPayees(ctx context.Context, n records.Network, account string, asset chain.Asset, without string) (list []string, err error) {
	var queued []records.Payment
	err = tk.Store.View(ctx, func(tx *records.Tx) error {
		queued, err = tx.Payments().Queued(n.Source, account, records.ClassUser, asset, queuedOthers+1)
		return err
	})
	if err != nil {
		return nil, err
	}
	add := func(address string) {
		canonical, ok := tk.Rules().Payable(n.Source, address, "")
		if ok && canonical != account && canonical != without && !slices.Contains(list, canonical) && len(list) < maxOthers {
			list = append(list, canonical)
		}
	}
	for _, q := range queued {
		add(q.Payee)
	}
	add(n.Gas)
	add(n.Shared)
	for _, t := range n.Tokens {
		if t.Asset == asset && t.Cold != "" {
			add(t.Cold)
		}
	}
	for _, address := range slices.Concat(n.Funders, n.Paying(n.Source)) {
		add(address)
	}
	return list, nil
}
