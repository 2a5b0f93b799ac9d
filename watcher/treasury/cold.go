package treasury

import (
	"context"
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// Cold sends the hot accounts' excess of a token over hot_max to its cold address, down to the
// middle between hot_min and hot_max (docs/adr/018-cold-money.md). It only queues payments, one of
// an asset at a time. A payment that waits for its slot is recomputed in each round.
func (tr *Treasury) Cold(ctx context.Context) error {
	var faults []error
	for _, n := range tr.Networks() {
		if !tr.Owns(n.Source) {
			continue
		}
		for _, t := range n.Tokens {
			if err := tr.moveToCold(ctx, n, t); err != nil {
				faults = append(faults, fmt.Errorf("moving %s of %s to its cold address: %w", t.Symbol, n.Name, err))
			}
		}
	}
	return errors.Join(faults...)
}

// coldMove is a payment to the cold address that is neither paid nor void.
type coldMove struct {
	records.Payment
	open    bool
	ordered bool // by an operator
}

func (tr *Treasury) moveToCold(ctx context.Context, n records.Network, t records.Token) error {
	p := pool{network: n, chain: tr.Chains[n.Source]}
	var m coldMove
	halted := false
	err := tr.Store.View(ctx, func(tx *records.Tx) error {
		cur, err := tx.Chains().Cursor(n.Source)
		if halted = cur.Halted; err != nil || halted {
			return err
		}
		if m.Payment, m.open, err = tx.Treasury().ColdMove(n.Source, t.Asset); err == nil && m.open {
			_, m.ordered, err = tx.Treasury().MoveOrder(m.ID)
		}
		if err == nil {
			p.all, err = books.Pool(tx, n.Name, n.Source, records.KindHot)
		}
		return err
	})
	if err != nil || halted || m.open && m.Token != t.TokenID {
		return err
	}
	switch {
	case m.open && m.State == records.HeldPayment && (m.ordered || m.Payee == t.Cold):
		return tr.askCold(ctx, m)
	case m.open && (m.State == records.Bound || m.ordered):
		return nil
	}
	want, err := p.excess(ctx, t)
	if err != nil || m.open && m.State == records.Queued && m.stillFits(want) || !m.open && want.Amount.IsZero() {
		return err
	}
	return tr.queueCold(ctx, m, want)
}

// askCold asks the signer again about its refusals: they depend on its configuration, which may
// have changed.
func (tr *Treasury) askCold(ctx context.Context, m coldMove) error {
	if m.Reason != records.HeldRefused {
		return nil
	}
	return tr.AskAgain(ctx, m.Chain, []records.Payment{m.Payment})
}

// stillFits reports whether the queued payment is no more than what would be sent now.
func (m coldMove) stillFits(want records.Payment) bool {
	return m.Account == want.Account && m.Payee == want.Payee && !want.Amount.Less(m.Amount)
}

// queueCold queues a payment to the cold address, if there is to be one, in place of the one that
// waits.
func (tr *Treasury) queueCold(ctx context.Context, before coldMove, want records.Payment) error {
	var id uint64
	err := tr.Store.Update(ctx, func(tx *records.Tx) (err error) {
		if before.open {
			err = tx.Payments().Move(before.ID, before.State, records.VoidPayment, "recounted")
		}
		if err == nil && !want.Amount.IsZero() {
			id, err = tx.Payments().Queue(want)
		}
		return err
	})
	if errors.Is(err, records.ErrConflict) { // the payer was faster, or an operator
		return nil
	}
	if err == nil && id != 0 {
		tr.Log.WithFields(logrus.Fields{"payment": id, "account": want.Account, "to": want.Payee, "asset": want.Asset, "amount": want.Amount}).Info("transfer to cold address queued")
		tr.Wake()
	}
	return err
}

// excess is the payment that brings the hot accounts down to the middle of their bounds; without an
// amount: they are not above them. What they owe, and what is leaving them, does not count, and
// what stopped accounts have is left alone.
func (p pool) excess(ctx context.Context, t records.Token) (pay records.Payment, err error) {
	if t.Cold == "" || t.HotMax.IsZero() {
		return pay, nil
	}
	worth, reserve, err := p.costs(ctx, t.Asset)
	if err != nil {
		return pay, err
	}
	var has, owes chain.Amount
	var from member
	for _, a := range p.all {
		m, err := p.member(ctx, a, t.Asset)
		if err == nil {
			m.owes, err = m.owes.Add(reserve)
		}
		if err != nil {
			return pay, err
		}
		if m.account.Stopped() || m.account.State == records.AccountNew || m.retired {
			continue
		}
		if has, err = has.Add(m.has); err == nil {
			owes, err = owes.Add(m.owes)
		}
		if err != nil {
			return pay, err
		}
		if from.has.Excess(from.owes).Less(m.has.Excess(m.owes)) {
			from = m
		}
	}
	free := has.Excess(owes)
	if !t.HotMax.Less(free) {
		return pay, nil
	}
	amount, err := aboveMiddle(t, free)
	if amount = smaller(amount, from.has.Excess(from.owes)); err != nil || amount.IsZero() || amount.Less(worth) {
		return pay, err
	}
	return records.Payment{
		Purpose: chain.Cold, Network: p.network.Name, Token: t.TokenID, Chain: p.network.Source, Account: from.account.Account,
		Asset: t.Asset, Amount: amount, Payee: t.Cold,
	}, nil
}

// aboveMiddle returns the hot accounts' excess over the middle of their bounds.
func aboveMiddle(t records.Token, free chain.Amount) (chain.Amount, error) {
	sum, err := t.HotMin.Add(t.HotMax)
	if err != nil {
		return chain.Amount{}, err
	}
	middle, _, err := sum.MulDiv(1, 2)
	return free.Excess(middle), err
}
