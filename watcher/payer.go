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

// payer is the one place money leaves from: it owns the sequence of every account of ours on one chain.
//
// The steps are those of facts/reliability.md 2.1 and never merge: bind (a payment gets its slot), sign, store, read back, send.
// No answer of a node decides anything; only a final block does, in settle.go.
type payer struct {
	*Watcher
	id    chain.ID
	chain chain.Chain
	log   logrus.FieldLogger
	sent  map[string]uint64 // attempt hash -> cursor height at which it was last sent
}

// round works through the accounts that have something to pay, one after the other.
func (p *payer) round(ctx context.Context) error {
	var accounts []records.Account
	var cur records.Cursor
	err := p.Store.View(ctx, func(tx *records.Tx) (err error) {
		if cur, err = tx.Cursor(p.id); err != nil || cur.Missing || cur.Halted {
			return err
		}
		accounts, err = tx.BusyAccounts(p.id)
		return err
	})
	if err != nil {
		return err
	}
	var faults []error
	for _, a := range accounts {
		if err := p.pay(ctx, a, cur); err != nil {
			faults = append(faults, fmt.Errorf("account %s: %w", a.Account, err))
		}
	}
	return errors.Join(faults...)
}

func (p *payer) pay(ctx context.Context, a records.Account, cur records.Cursor) error {
	if a.State == records.AccountRecovering {
		return p.recover(ctx, a, cur)
	}
	ready, err := p.ready(ctx, a)
	if err != nil || !ready {
		return err
	}
	// What is signed already is sent whatever keeps new payments back.
	return errors.Join(p.bind(ctx, a), p.sign(ctx, a, cur), p.send(ctx, a, cur))
}

// ready compares the account with its ledger. A new account is adopted once everything of it is final there; one that the ledger
// knows further than we do has been used by somebody else, or our database is behind: it never signs again by itself (R5, E9).
func (p *payer) ready(ctx context.Context, a records.Account) (bool, error) {
	if a.State != records.AccountNew && a.State != records.AccountOK {
		return false, nil
	}
	tip, err := p.chain.Tip(ctx, a.Account)
	if err != nil {
		return false, fmt.Errorf("asking where the account stands: %w", err)
	}
	why, err := p.behind(ctx, a, tip)
	if err != nil {
		return false, err
	}
	if why != "" {
		p.log.WithField("account", a.Account).Error("account stops, an operator must look: " + why)
		return false, p.Store.Update(ctx, func(tx *records.Tx) error {
			return tx.SetAccountState(p.id, a.Account, records.AccountRecovering, why)
		})
	}
	if a.State == records.AccountOK {
		return true, nil
	}
	if !tip.Settled {
		return false, nil
	}
	return true, p.Store.Update(ctx, func(tx *records.Tx) error {
		return tx.AdoptAccount(p.id, a.Account, tip.Next, tip.Hash)
	})
}

// behind says why our records may not know everything that was signed with the account's key: the sign-guard or the ledger knows more,
// or a block, final or not, shows what we never signed. It is empty when all is well.
func (p *payer) behind(ctx context.Context, a records.Account, tip chain.Tip) (why string, err error) {
	lineage, number, signed, err := p.Guard.Next(ctx, p.id, a.Account)
	if err != nil {
		return "", err
	}
	if signed && (a.State == records.AccountNew || lineage > a.Lineage || (lineage == a.Lineage && number > a.Next)) {
		return fmt.Sprintf("the sign-guard knows signatures up to %d/%d, our records only %d/%d: was the database restored?", lineage, number, a.Lineage, a.Next), nil
	}
	if a.State == records.AccountNew {
		return "", nil
	}
	if tip.Next > a.Next {
		return fmt.Sprintf("the ledger is at %d, our records only at %d", tip.Next, a.Next), nil
	}
	err = p.Store.View(ctx, func(tx *records.Tx) error {
		hash, found, err := tx.ForeignEffect(p.id, a.Account)
		if found {
			why = "transaction " + hash + " was not signed by this daemon"
		}
		return err
	})
	return why, err
}

// bind gives slots to queued payments, oldest first, as far as the account's balance, its channels and the limit of open slots allow.
func (p *payer) bind(ctx context.Context, a records.Account) error {
	var queued []records.Payment
	var open []records.OpenSlot
	err := p.Store.View(ctx, func(tx *records.Tx) (err error) {
		if queued, err = tx.QueuedPayments(p.id, a.Account, maxBind); err != nil {
			return err
		}
		open, err = tx.OpenSlots(p.id, a.Account)
		return err
	})
	if err != nil || len(queued) == 0 {
		return err
	}
	purse := newPurse(p.chain, a.Account, open)
	for _, q := range queued {
		ok, err := purse.covers(ctx, q)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		bound, err := p.bindOne(ctx, q)
		switch {
		case errors.Is(err, records.ErrFull):
			return nil
		case errors.Is(err, records.ErrConflict), errors.Is(err, records.ErrHalted):
			p.log.WithField("payment", q.ID).WithError(err).Debug("payment waits")
			continue // what follows in the queue need not
		case err != nil:
			return fmt.Errorf("binding payment %d: %w", q.ID, err)
		}
		if bound {
			purse.take(q)
		}
	}
	return nil
}

// maxBind bounds one look at the queue.
const maxBind = 256

// bindOne re-checks in the binding transaction itself that the payment may still leave.
func (p *payer) bindOne(ctx context.Context, q records.Payment) (bound bool, err error) {
	err = p.Store.Update(ctx, func(tx *records.Tx) error {
		if ok, err := mayLeave(tx, q); err != nil || !ok {
			return err
		}
		slot, err := tx.BindSlot(q.ID)
		if err != nil {
			return err
		}
		bound = true
		p.log.WithFields(logrus.Fields{"payment": q.ID, "account": slot.Account, "number": slot.Number}).Info("payment bound")
		return nil
	})
	return bound && err == nil, err
}

// mayLeave asks the channel of the payment (facts/gateway.md 5.4): credits need it OPEN, refunds only need no automatic stop.
func mayLeave(tx *records.Tx, q records.Payment) (bool, error) {
	if q.Purpose != chain.Credit && q.Purpose != chain.Refund {
		return true, nil
	}
	t, err := tx.Transfer(q.TransferID)
	if err != nil {
		return false, err
	}
	from, err := tx.Cursor(t.Chain)
	if err != nil || from.Halted || t.State == records.Seen || t.State == records.Orphaned {
		return false, err
	}
	c, err := tx.Channel(q.Network, q.Token, t.Direction)
	if err != nil {
		return false, err
	}
	if q.Purpose == chain.Refund {
		return c.Automatic == "OPEN", nil
	}
	return c.State() == "OPEN", nil
}

// sign makes and stores the first attempt of each bound slot, in order, and a replacement for one that stays unmined too long.
func (p *payer) sign(ctx context.Context, a records.Account, cur records.Cursor) error {
	for {
		slots, err := p.open(ctx, a)
		if err != nil {
			return err
		}
		slot, prev, ok := p.next(slots, cur)
		if !ok {
			return nil
		}
		done, err := p.attempt(ctx, slot, prev, cur)
		if err != nil || !done {
			return err
		}
	}
}

// next is the first slot that wants a signature: one without any, else one whose newest attempt is ReplaceAfter blocks old.
func (p *payer) next(slots []records.OpenSlot, cur records.Cursor) (records.OpenSlot, []chain.Attempt, bool) {
	for _, s := range slots {
		if len(s.Attempts) == 0 {
			return s, nil, true
		}
		newest := s.Attempts[len(s.Attempts)-1]
		if !s.Mined && cur.Height >= newest.Head+p.cfg.ReplaceAfter && p.sent[noReplacement(newest.Hash)] != cur.Height {
			return s, attempts(s), true
		}
	}
	return records.OpenSlot{}, nil, false
}

// noReplacement keys the height at which the ledger last had nothing better to offer for an attempt.
func noReplacement(hash string) string { return "same:" + hash }

func attempts(s records.OpenSlot) []chain.Attempt {
	list := make([]chain.Attempt, len(s.Attempts))
	for i, a := range s.Attempts {
		list[i] = a.Attempt
	}
	return list
}

// attempt signs one slot and stores the result. done is false when nothing more can be signed now.
func (p *payer) attempt(ctx context.Context, s records.OpenSlot, prev []chain.Attempt, cur records.Cursor) (done bool, err error) {
	slot := chain.Slot{Account: s.Account, Key: s.KeyPath, Lineage: s.Lineage, Number: s.Number, Prev: s.Prev}
	pay := order(s.Payment)
	err = p.Guard.Allow(ctx, p.id, slot, digest(pay), pay.ID, false)
	if errors.Is(err, records.ErrGuard) {
		return false, p.haltAccount(ctx, s.Account, err)
	}
	if err != nil {
		return false, fmt.Errorf("asking the sign-guard: %w", err)
	}
	att, err := p.chain.Sign(ctx, slot, pay, prev)
	switch {
	case errors.Is(err, chain.ErrNoReplacement), errors.Is(err, chain.ErrFeeCeiling) && len(prev) > 0:
		p.sent[noReplacement(prev[len(prev)-1].Hash)] = cur.Height
		return true, nil
	case errors.Is(err, chain.ErrNotNow), errors.Is(err, chain.ErrFeeCeiling):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("signing payment %d: %w", pay.ID, err)
	}
	kind := "pay"
	if len(prev) > 0 {
		kind = "replace"
	}
	att.Seq = len(prev)
	err = p.Store.Update(ctx, func(tx *records.Tx) error {
		return tx.AddAttempt(s.Slot, records.Attempt{Attempt: att, Kind: kind, Head: cur.Height})
	})
	if errors.Is(err, records.ErrConflict) && !p.stillOpen(ctx, s) {
		p.log.WithField("payment", pay.ID).Debug("settled while it was signed anew")
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("storing the attempt of payment %d: %w", pay.ID, err)
	}
	p.log.WithFields(logrus.Fields{"payment": pay.ID, "tx": att.Hash, "number": s.Number, "attempt": att.Seq}).Info("payment signed")
	return true, nil
}

// send reads the attempts back from the database and hands the newest of each unmined slot to the nodes, once per block of ours.
func (p *payer) send(ctx context.Context, a records.Account, cur records.Cursor) error {
	slots, err := p.open(ctx, a)
	if err != nil {
		return err
	}
	p.forget(cur)
	for _, s := range slots {
		if len(s.Attempts) == 0 {
			return nil
		}
		newest := s.Attempts[len(s.Attempts)-1]
		if last, ok := p.sent[newest.Hash]; s.Mined || (ok && last == cur.Height) {
			continue
		}
		if err := p.chain.Broadcast(ctx, newest.Attempt); err != nil {
			p.log.WithFields(logrus.Fields{"payment": s.PaymentID, "tx": newest.Hash}).WithError(err).Debug("node's answer to a payment")
			if s.Prev != "" {
				return nil // what follows in a linked chain cannot be taken either
			}
			continue
		}
		p.sent[newest.Hash] = cur.Height
	}
	return nil
}

// forget keeps the memory of what was sent small: it only spares repeats within one block.
func (p *payer) forget(cur records.Cursor) {
	for hash, height := range p.sent {
		if height != cur.Height {
			delete(p.sent, hash)
		}
	}
}

func (p *payer) open(ctx context.Context, a records.Account) (slots []records.OpenSlot, err error) {
	err = p.Store.View(ctx, func(tx *records.Tx) error {
		slots, err = tx.OpenSlots(p.id, a.Account)
		return err
	})
	return slots, err
}

// stillOpen tells whether a slot waits for its block; an error counts as yes.
func (p *payer) stillOpen(ctx context.Context, s records.OpenSlot) bool {
	slots, err := p.open(ctx, records.Account{Account: s.Account})
	return err != nil || slices.ContainsFunc(slots, func(o records.OpenSlot) bool { return o.Slot == s.Slot })
}

func (p *payer) haltAccount(ctx context.Context, account string, why error) error {
	p.log.WithField("account", account).WithError(why).Error("account halted, an operator must look")
	return p.Store.Update(ctx, func(tx *records.Tx) error {
		return tx.SetAccountState(p.id, account, records.AccountHalted, why.Error())
	})
}

// order is the payment as the adapter signs it.
func order(p records.Payment) chain.Payment {
	return chain.Payment{ID: p.ID, Purpose: p.Purpose, Asset: p.Asset, To: p.Payee, Amount: p.Amount, Label: p.PayeeLabel, Source: p.Source}
}

// digest is what the sign-guard remembers of a slot: everything that decides who gets what.
func digest(p chain.Payment) string {
	return fmt.Sprintf("%s|%s|%s|%s|%s|%s", p.Purpose, p.Asset, p.To, p.Amount, p.Label, p.Source)
}
