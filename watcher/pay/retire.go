package pay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
)

// retired reports whether an account no longer pays users. It is watched, receives, and sends its
// balance to the paying accounts.
func (ps *Payers) retired(a records.Account) bool {
	n := ps.deps.Rules().Network(a.Network)
	return paysUsers(a) && n.Name != "" && !n.Pays(a.Chain, a.Account)
}

// handOverQueued moves the queued payments of a retired account to accounts that pay. A payment
// that an older branch of the account may still make stays.
func (p *payer) handOverQueued(ctx context.Context, a records.Account) error {
	var list []records.Payment
	err := p.deps.Store.View(ctx, func(tx *records.Tx) error {
		for _, class := range []records.Class{records.ClassUser, records.ClassRefund} {
			assets, err := tx.Payments().QueuedAssets(p.id, a.Account, class)
			if err != nil {
				return err
			}
			for _, asset := range assets {
				some, err := tx.Payments().Queued(p.id, a.Account, class, asset, MaxGroup)
				if err != nil {
					return err
				}
				list = append(list, some...)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.requeueElsewhere(ctx, list)
}

// handOverHeld moves the payments of retired accounts that the signer holds to accounts that pay.
func (p *payer) handOverHeld(ctx context.Context) error {
	var from []records.Account
	err := p.deps.Store.View(ctx, func(tx *records.Tx) error {
		all, err := tx.Accounts().List(p.id, records.KindHot, records.KindGateway)
		from = slices.DeleteFunc(all, func(a records.Account) bool { return a.State != records.AccountOK || !p.all.retired(a) })
		return err
	})
	if err != nil || len(from) == 0 {
		return err
	}
	behind, err := p.networksBehind(ctx, from)
	if err != nil {
		return err
	}
	from = slices.DeleteFunc(from, func(a records.Account) bool { return behind[a.Network] })
	var list []records.Payment
	err = p.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
		list, err = heldOf(tx, from)
		return err
	})
	if err != nil {
		return err
	}
	return p.requeueElsewhere(ctx, list)
}

// heldOf returns payments of accounts that the signer holds: all of them, or at least MaxGroup.
func heldOf(tx *records.Tx, accounts []records.Account) (list []records.Payment, err error) {
	for _, reason := range records.AskedAgain() {
		for after := uint64(0); len(list) < MaxGroup; {
			held, err := tx.Payments().HeldFor(reason, after, MaxGroup)
			if err != nil {
				return nil, err
			}
			if len(held) == 0 {
				break
			}
			after = held[len(held)-1].ID
			for _, q := range held {
				if slices.ContainsFunc(accounts, func(a records.Account) bool { return a.Chain == q.Chain && a.Account == q.Account }) {
					list = append(list, q)
				}
			}
		}
	}
	return list, nil
}

// requeueElsewhere voids each payment and queues it again at the account that pays for its transfer
// now.
func (p *payer) requeueElsewhere(ctx context.Context, list []records.Payment) error {
	for _, q := range list {
		if q.Purpose != chain.Credit && q.Purpose != chain.Refund {
			continue
		}
		var id uint64
		next := q
		err := p.deps.Store.Update(ctx, func(tx *records.Tx) error {
			if err := checkHeld(tx, q); err != nil {
				return err
			}
			t, err := tx.Transfers().Get(q.TransferID)
			if err != nil {
				return err
			}
			next.Account, next.State, next.Reason = p.deps.Rules().Network(q.Network).PayerOf(q.Chain, t.Transfer, t.Chain), "", ""
			if err := tx.Payments().Move(q.ID, q.State, records.VoidPayment, "its account is retired"); err != nil {
				return err
			}
			id, err = tx.Payments().Queue(next)
			return err
		})
		switch {
		case errors.Is(err, records.ErrConflict):
		case err != nil:
			return fmt.Errorf("moving payment %d to another account: %w", q.ID, err)
		default:
			p.log.WithFields(logrus.Fields{"payment": id, "before": q.ID, "from": q.Account, "account": next.Account}).Info("payment moved from a retired account")
		}
	}
	return nil
}

// voidSweeps voids sweeps whose payee was retired after they were queued: the next sweep goes to an
// account that pays.
func (p *payer) voidSweeps(ctx context.Context, list []records.Payment) error {
	if len(list) == 0 {
		return nil
	}
	return p.deps.Store.Update(ctx, func(tx *records.Tx) error {
		for _, q := range list {
			err := tx.Payments().Move(q.ID, records.Queued, records.VoidPayment, "its payee is retired")
			if err != nil && !errors.Is(err, records.ErrConflict) {
				return err
			}
		}
		return nil
	})
}

// goesToRetired reports whether a payment is a sweep to a retired account.
func (p *payer) goesToRetired(ctx context.Context, q records.Payment) (yes bool, err error) {
	if q.Purpose != chain.Sweep || p.deps.Rules().Network(q.Network).Pays(q.Chain, q.Payee) {
		return false, nil
	}
	err = p.deps.Store.View(ctx, func(tx *records.Tx) error {
		to, err := tx.Accounts().Get(q.Chain, q.Payee)
		if errors.Is(err, records.ErrNotFound) {
			return nil
		}
		yes = p.all.retired(to)
		return err
	})
	return yes, err
}
