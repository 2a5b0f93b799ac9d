package watcher

import (
	"context"
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"

	"gatewayd/records"
)

// bind gives slots to queued payments in the order of service, as far as the account's balance, its channels and the bound of what is in no
// block yet allow.
func (p *payer) bind(ctx context.Context, a records.Account) error {
	chosen, err := p.chooseNext(ctx, a)
	if err != nil || len(chosen) == 0 {
		return err
	}
	if err = p.bindGroup(ctx, chosen); err == nil || len(chosen) == 1 {
		return err
	}
	// One payment that the database refuses must not keep the others back.
	var faults []error
	for i := range chosen {
		faults = append(faults, p.bindGroup(ctx, chosen[i:i+1]))
	}
	return errors.Join(faults...)
}

func (p *payer) chooseNext(ctx context.Context, a records.Account) ([]records.Payment, error) {
	most := p.chain.MaxUnmined()
	var unmined []records.OpenSlot
	var waiting queue
	err := p.Store.View(ctx, func(tx *records.Tx) (err error) {
		if unmined, err = tx.UnminedSlots(p.id, a.Account); err != nil || len(unmined) >= most {
			return err
		}
		waiting, err = p.readQueue(tx, a, min(most-len(unmined), maxGroup))
		return err
	})
	if err != nil || len(unmined) >= most {
		return nil, err
	}
	return choose(ctx, waiting, newSpendable(p.chain, a.Account, unmined), unmined, most)
}

// bindGroup binds payments in one transaction, which checks once more that each may leave.
func (p *payer) bindGroup(ctx context.Context, chosen []records.Payment) error {
	var bound []records.Slot
	err := p.Store.Update(ctx, func(tx *records.Tx) error {
		gate := newGate(tx)
		for _, q := range chosen {
			if ok, err := gate.mayLeave(q); err != nil {
				return err
			} else if !ok {
				continue
			}
			slot, err := tx.BindSlot(q.ID, p.chain.MaxUnmined())
			switch {
			case errors.Is(err, records.ErrFull):
				return nil
			case errors.Is(err, records.ErrWaits):
				p.log.WithField("payment", q.ID).WithError(err).Debug("payment waits")
			case err != nil:
				return err
			default:
				bound = append(bound, slot)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("binding %d payments: %w", len(chosen), err)
	}
	for _, s := range bound {
		p.log.WithFields(logrus.Fields{"payment": s.PaymentID, "account": s.Account, "number": s.Number}).Info("payment bound")
	}
	return nil
}
