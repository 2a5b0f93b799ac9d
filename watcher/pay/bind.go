package pay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/records"
	"gatewayd/transfers"
)

// maxPasses bounds how often a round reads the queue again, past the payments that it has deferred.
const maxPasses = 8

// bind gives slots to queued payments in the order of service, within the account's balance, its
// channels and the limit of unmined slots. It returns the unmined slots after that.
func (p *payer) bind(ctx context.Context, a records.Account, cur records.Cursor, unmined []records.OpenSlot) ([]records.OpenSlot, error) {
	t := &fundsCheck{}
	for range maxPasses {
		var chosen []records.Payment
		var err error
		if chosen, t, err = p.chooseNext(ctx, a, cur, unmined); err != nil {
			return unmined, err
		}
		leaving, err := p.authorized(ctx, a, cur, chosen)
		if err == nil && len(leaving) > 0 {
			groups, faults := batchingOf(p, a).divide(ctx, leaving, t.ceilings)
			t.faults = append(t.faults, faults)
			err = p.bindChosen(ctx, fitting(groups, p.chain.MaxUnmined()-len(unmined)))
			now, readErr := p.unmined(ctx, a)
			if readErr != nil {
				return unmined, errors.Join(err, readErr)
			}
			unmined = now
		}
		if err != nil || !t.overtaken() && len(leaving) == len(chosen) {
			return unmined, errors.Join(append(t.faults, err)...)
		}
	}
	return unmined, errors.Join(t.faults...)
}

func (p *payer) bindChosen(ctx context.Context, groups [][]records.Payment) error {
	chosen := slices.Concat(groups...)
	err := p.bindGroup(ctx, groups)
	if err == nil || len(chosen) == 1 {
		return err
	}
	// One payment that the database refuses must not keep the others back.
	var faults []error
	for i := range chosen {
		faults = append(faults, p.bindGroup(ctx, [][]records.Payment{chosen[i : i+1]}))
	}
	return errors.Join(faults...)
}

// chooseNext returns what can be bound now, and defers what the check has found to wait.
func (p *payer) chooseNext(ctx context.Context, a records.Account, cur records.Cursor, unmined []records.OpenSlot) (chosen []records.Payment, t *fundsCheck, err error) {
	maxUnmined := p.chain.MaxUnmined()
	var waiting queue
	t = &fundsCheck{short: p.stillFrozen(a, cur), refuser: func(ctx context.Context, q records.Payment, why error) error { return p.refuser(ctx, a, q, why) }}
	if len(unmined) >= maxUnmined {
		return nil, t, nil
	}
	err = p.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
		if waiting, err = p.readQueue(tx, a, min(maxUnmined-len(unmined), MaxGroup), p.stepOver(cur)); err != nil {
			return err
		}
		t.ceilings, err = p.all.ceilings(tx, waiting.all())
		return err
	})
	if err != nil || len(t.ceilings) == 0 {
		return nil, t, err
	}
	if t.funds, err = newSpendable(p.chain, a.Account, unmined); err != nil {
		return nil, t, err
	}
	if priced, err := t.funds.reserve(ctx, unmined); err != nil || !priced {
		return nil, t, err
	}
	if chosen, err = choose(ctx, waiting, t, unmined, maxUnmined, batchingOf(p, a).atOnce); err != nil {
		return nil, t, err
	}
	return chosen, t, p.deferAll(ctx, a, cur, t.deferrals)
}

// bindGroup binds groups of payments in one transaction, which checks again that each may leave.
func (p *payer) bindGroup(ctx context.Context, groups [][]records.Payment) error {
	begun := time.Now()
	var bound []records.Slot
	var waits map[uint64]error
	err := p.deps.Store.Update(ctx, func(tx *records.Tx) (err error) {
		gate, batches := newGate(tx), make([][]uint64, len(groups))
		for i, group := range groups {
			leaving, err := gate.open(group)
			if err != nil {
				return err
			}
			batches[i] = idsOf(leaving)
		}
		bindAll := tx.Slots().BindAll
		if p.coins {
			bindAll = tx.Slots().BindCoins
		}
		bound, waits, err = bindAll(batches, p.chain.MaxUnmined())
		return err
	})
	if err != nil {
		return fmt.Errorf("binding %d transactions: %w", len(groups), err)
	}
	for id, why := range waits {
		p.log.WithField("payment", id).WithError(why).Debug("payment waits")
	}
	for _, s := range bound {
		p.log.WithFields(logrus.Fields{"payment": s.PaymentID, "account": s.Account, "number": s.Nonce}).Info("payment bound")
		transfers.PaymentTrace(s, "").Done(ctx, "bind", begun, nil)
	}
	return nil
}
