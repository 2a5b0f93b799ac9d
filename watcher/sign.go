package watcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

// signing is a slot that wants a signature, and what was signed for it before.
type signing struct {
	slot records.OpenSlot
	prev []chain.Attempt
	most chain.Amount // that it may cost, see Watcher.ceilings
}

func (s signing) payment() chain.Payment { return order(s.slot.Payment, s.most) }

func (s signing) place() chain.Slot {
	return chain.Slot{Account: s.slot.Account, Key: s.slot.KeyPath, Branch: s.slot.Branch, Nonce: s.slot.Nonce, Prev: s.slot.Prev}
}

// sign makes and stores the first attempt of bound slots, in order, and replacements for those that stay unmined too long. It answers how
// many it stored.
func (p *payer) sign(ctx context.Context, a records.Account, slots []records.OpenSlot, cur records.Cursor) (int, error) {
	todo := p.unsigned(slots, cur)
	if len(todo) == 0 {
		return 0, nil
	}
	err := p.allow(ctx, todo)
	if errors.Is(err, signguard.ErrRefused) {
		return 0, p.haltAccount(ctx, a.Account, err)
	}
	if err != nil {
		return 0, fmt.Errorf("asking the sign-guard: %w", err)
	}
	if err := p.limit(ctx, todo); err != nil {
		return 0, err
	}
	funds, err := newSpendable(p.chain, a.Account, signedOf(slots)) // a slot counts with its attempt as soon as that is made
	if err != nil {
		return 0, err
	}
	made, fault := p.signGroup(ctx, todo, funds, cur)
	stored, err := p.storeAttempts(ctx, made)
	return stored, errors.Join(fault, err)
}

// signedOf leaves out slots without an attempt.
func signedOf(slots []records.OpenSlot) []records.OpenSlot {
	return slices.DeleteFunc(slices.Clone(slots), func(s records.OpenSlot) bool { return len(s.Attempts) == 0 })
}

// unsigned is what wants a signature: slots without any, and those whose newest attempt is ReplaceAfter blocks old.
func (p *payer) unsigned(slots []records.OpenSlot, cur records.Cursor) (todo []signing) {
	for _, s := range slots {
		if len(todo) == maxGroup {
			break
		}
		if len(s.Attempts) == 0 {
			todo = append(todo, signing{slot: s})
			continue
		}
		newest := s.Attempts[len(s.Attempts)-1]
		if cur.Height >= newest.Head+p.cfg.ReplaceAfter && p.sent[noReplacement(newest.Hash)] != cur.Height {
			todo = append(todo, signing{slot: s, prev: attempts(s)})
		}
	}
	return todo
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

// limit sets what each may cost at most.
func (p *payer) limit(ctx context.Context, todo []signing) error {
	list := make([]records.Payment, len(todo))
	for i, s := range todo {
		list[i] = s.slot.Payment
	}
	return p.Store.View(ctx, func(tx *records.Tx) error {
		most, err := p.ceilings(tx, list)
		for i := range todo {
			todo[i].most = most[list[i].ID]
		}
		return err
	})
}

func (p *payer) allow(ctx context.Context, todo []signing) error {
	wanted := make([]signguard.Signature, len(todo))
	for i, s := range todo {
		wanted[i] = signguard.Signature{Slot: s.place(), Digest: digest(s.payment()), PaymentID: s.slot.PaymentID}
	}
	return p.Guard.Allow(ctx, p.id, wanted...)
}

// signGroup signs as far as it can be done now: what cannot be signed stops what follows it.
func (p *payer) signGroup(ctx context.Context, todo []signing, funds *spendable, cur records.Cursor) (made []records.Signed, err error) {
	for i, s := range todo {
		at := s.place()
		if i > 0 && at.Prev == "" && at.Branch != 0 && len(made) > 0 && made[len(made)-1].Slot.Nonce+1 == at.Nonce {
			at.Prev = made[len(made)-1].Attempt.Hash
		}
		step, done := traced(s.slot.Slot, "").Begin(ctx, "sign")
		att, err := p.signOne(step, at, s, funds)
		done(err)
		switch {
		case len(s.prev) > 0 && keepsAttempt(err):
			p.sent[noReplacement(s.prev[len(s.prev)-1].Hash)] = cur.Height
			continue
		case errors.Is(err, chain.ErrNotNow), errors.Is(err, chain.ErrFeeCeiling), errors.Is(err, errNoCoin):
			p.log.WithField("payment", s.slot.PaymentID).WithError(err).Debug("bound, and cannot be signed now")
			return made, nil
		case err != nil:
			return made, fmt.Errorf("signing payment %d: %w", s.slot.PaymentID, err)
		}
		kind := records.AttemptPay
		if len(s.prev) > 0 {
			kind = records.AttemptReplace
		}
		att.Seq = len(s.prev)
		made = append(made, records.Signed{Slot: s.slot.Slot, Attempt: records.Attempt{Attempt: att, Kind: kind, Head: cur.Height}})
	}
	return made, nil
}

// keepsAttempt tells whether an attempt stays the newest: no replacement would help, or none can be paid.
func keepsAttempt(err error) bool {
	return errors.Is(err, chain.ErrNoReplacement) || errors.Is(err, chain.ErrFeeCeiling) || errors.Is(err, errNoCoin)
}

// signOne makes an attempt that the account can pay. A replacement is made only of what waits in a pool for too low a fee: what no node has, because
// it was refused or cannot be paid, is sent again as it is.
func (p *payer) signOne(ctx context.Context, at chain.Slot, s signing, funds *spendable) (chain.Attempt, error) {
	if len(s.prev) > 0 {
		low, err := p.chain.Underpriced(ctx, at, s.prev[len(s.prev)-1])
		if err == nil && !low {
			err = chain.ErrNoReplacement
		}
		if err != nil {
			return chain.Attempt{}, err
		}
	}
	att, err := p.chain.Sign(ctx, at, s.payment(), s.prev)
	if err != nil {
		return chain.Attempt{}, err
	}
	return att, funds.affords(ctx, s.prev, att)
}

// storeAttempts stores signatures in one transaction and answers how many. A slot that was settled meanwhile takes none, and what follows it
// is signed anew.
func (p *payer) storeAttempts(ctx context.Context, made []records.Signed) (stored int, err error) {
	if len(made) == 0 {
		return 0, nil
	}
	begun := time.Now()
	var refused error
	err = p.Store.Update(ctx, func(tx *records.Tx) error {
		stored, refused, err = tx.AddAttempts(made...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("storing %d attempts: %w", len(made), err)
	}
	if refused != nil {
		p.log.WithField("payment", made[stored].Slot.PaymentID).WithError(refused).Debug("settled while it was signed")
	}
	for _, s := range made[:stored] {
		p.log.WithFields(logrus.Fields{"payment": s.Slot.PaymentID, "tx": s.Attempt.Hash, "number": s.Slot.Nonce, "attempt": s.Attempt.Seq}).Info("payment signed")
		traced(s.Slot, s.Attempt.Hash).Done(ctx, "store", begun, nil)
	}
	return stored, nil
}
