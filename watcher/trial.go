package watcher

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
)

const (
	// maxWaiting bounds how many payments that wait are stepped over to find one that need not.
	maxWaiting = 1024
	// tryAgain is after how many blocks a payment that waited is tried again.
	tryAgain = 3
)

// trial finds out which queued payments of an account can be bound now.
type trial struct {
	funds    *spendable
	ceilings map[uint64]chain.Amount // by payment, see Watcher.ceilings
	short    map[chain.Asset]bool
	noCoin   bool
	aside    []aside
}

// aside is a payment that is not bound now, and what the ledger or the balance says to it.
type aside struct {
	payment records.Payment
	why     error
}

// affordable leaves out what cannot be paid now. Once an asset falls short, later payments of it wait too, and once the coin for fees does, all that
// cost a fee: a large one is not overtaken for ever by small ones. What waits for another reason is overtaken.
func (t *trial) affordable(ctx context.Context, list []records.Payment) (out []records.Payment, err error) {
	for _, q := range list {
		if t.short[q.Asset] || t.noCoin {
			continue
		}
		fee, err := t.funds.covers(ctx, q, order(q, t.ceilings[q.ID]))
		switch {
		case err == nil:
			t.funds.take(q, fee)
			out = append(out, q)
		case errors.Is(err, errShort):
			t.short[q.Asset] = true
		case errors.Is(err, errNoCoin):
			t.noCoin = true
			t.aside = append(t.aside, aside{q, err})
		case waitsOrFails(err):
			t.aside = append(t.aside, aside{q, err})
		default:
			return nil, err
		}
	}
	return out, nil
}

// waitsOrFails tells what the ledger says to one payment from the fault of a node, which concerns all.
func waitsOrFails(err error) bool {
	return slices.ContainsFunc([]error{chain.ErrRefused, chain.ErrGasLimit, chain.ErrFeeCeiling, chain.ErrNotNow}, func(why error) bool { return errors.Is(err, why) })
}

// reason is the word for it in the records; empty for what passes by itself.
func (a aside) reason() string {
	switch {
	case errors.Is(a.why, chain.ErrRefused):
		return records.ReasonPayeeRefuses
	case errors.Is(a.why, chain.ErrGasLimit):
		return records.ReasonPayeeGas
	case errors.Is(a.why, chain.ErrFeeCeiling):
		return records.WaitsFeeCeiling
	case errors.Is(a.why, errNoCoin):
		return records.WaitsNoCoin
	}
	return ""
}

// fails tells whether the payment is given up: it was never bound, and its payee takes nothing. What we send ourselves is tried again instead.
func (a aside) fails() bool {
	return (errors.Is(a.why, chain.ErrRefused) || errors.Is(a.why, chain.ErrGasLimit)) &&
		(a.payment.Purpose == chain.Credit || a.payment.Purpose == chain.Refund)
}

// stepOver is the payments that were tried not long ago and wait. Those that lack coin are tried in each round, for a top-up.
func (p *payer) stepOver(cur records.Cursor) map[uint64]uint64 {
	for id, height := range p.waiting {
		if cur.Height >= height+tryAgain || cur.Height < height {
			delete(p.waiting, id)
		}
	}
	return p.waiting
}

// setAside notes what waits and why, and gives up what its payee refuses. Nothing of it has a slot, so nothing of it was ever signed.
func (p *payer) setAside(ctx context.Context, a records.Account, cur records.Cursor, list []aside) error {
	p.poor(a.Account, list)
	var changed []aside
	for _, s := range list {
		if !errors.Is(s.why, errNoCoin) && len(p.waiting) < maxWaiting {
			p.waiting[s.payment.ID] = cur.Height
		}
		if s.fails() || s.reason() != "" && s.reason() != s.payment.Reason {
			changed = append(changed, s)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	err := p.Store.Update(ctx, func(tx *records.Tx) error {
		gate := newGate(tx)
		for _, s := range changed {
			ok, err := gate.mayLeave(s.payment)
			if err == nil && ok {
				err = p.setOneAside(tx, s)
			}
			if err != nil && !errors.Is(err, records.ErrConflict) { // an operator was faster
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("setting %d payments aside: %w", len(changed), err)
	}
	for _, s := range changed {
		p.log.WithFields(logrus.Fields{"payment": s.payment.ID, "reason": s.reason()}).WithError(s.why).Info("payment set aside")
	}
	return nil
}

func (p *payer) setOneAside(tx *records.Tx, s aside) error {
	q := s.payment
	if !s.fails() {
		return tx.NoteWaiting(q.ID, s.reason())
	}
	t, err := tx.Transfer(q.TransferID)
	if err != nil {
		return err
	}
	switch {
	case q.Purpose != chain.Credit || t.Direction != records.Withdrawal:
	case q.Gen > 0: // it has failed once, for a fee
		return p.giveUp(tx, q, t, records.ReasonPayoutFailed, t.Net)
	default:
		return p.giveUp(tx, q, t, s.reason(), t.Amount)
	}
	return tx.MovePayment(q.ID, records.Queued, records.HeldPayment, s.reason())
}

// poor logs when an account begins and ends to have too little coin for its fees.
func (p *payer) poor(account string, list []aside) {
	short := false
	for _, s := range list {
		short = short || errors.Is(s.why, errNoCoin)
	}
	if short == p.short[account] {
		return
	}
	p.short[account] = short
	if short {
		p.log.WithField("account", account).Warn("too little coin for fees: nothing more is paid from here until it is topped up")
		return
	}
	p.log.WithField("account", account).Info("coin for fees again")
}
