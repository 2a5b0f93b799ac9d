package pay

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
	"gatewayd/transfers"
)

// signing is a slot that wants a signature, and what was signed for it before.
type signing struct {
	chain   chain.Chain
	slot    records.OpenSlot
	prev    []chain.Attempt
	maxCost chain.Amount // see Payers.ceilings
}

// cancels reports whether the slot's number is to be used up without paying.
func (s signing) cancels() bool { return s.slot.Payment.Reason == records.Cancelling }

func (s signing) payment() chain.Payment {
	if s.cancels() {
		return chain.Payment{Purpose: chain.Cancel, Asset: chain.Native, To: s.slot.Account}
	}
	return transfers.BatchPayment(s.chain, s.slot, s.maxCost)
}

func (s signing) chainSlot() chain.Slot {
	return chain.Slot{Account: s.slot.Account, Key: s.slot.KeyPath, Branch: s.slot.Branch, Nonce: s.slot.Nonce, Prev: s.slot.Prev, Coin: s.slot.Coin}
}

// sign makes and stores the first attempt of bound slots, in order, and replacements for those that
// stay unmined too long. It answers how many it stored.
func (p *payer) sign(ctx context.Context, a records.Account, slots []records.OpenSlot, cur records.Cursor) (int, error) {
	todo := p.toSign(slots, cur)
	if len(todo) == 0 {
		return 0, nil
	}
	if err := p.setCeilings(ctx, todo); err != nil {
		return 0, err
	}
	funds, err := newSpendable(p.chain, a.Account, signedOf(slots)) // a slot counts with its attempt as soon as that is made
	if err != nil {
		return 0, err
	}
	ready, prepareErr := p.prepareGroup(ctx, a, todo, funds, cur)
	stored, err := p.signReady(ctx, a, ready, cur)
	return stored, errors.Join(prepareErr, err)
}

// signReady signs and stores transactions up to the first that the signer does not sign. On a
// ledger of coins those behind one that it holds do not wait for that one.
func (p *payer) signReady(ctx context.Context, a records.Account, ready []prepared, cur records.Cursor) (int, error) {
	made, signErr := p.signGroup(ctx, ready, cur)
	if errors.Is(signErr, signguard.ErrRefused) {
		return 0, p.haltAccount(ctx, a.Account, signErr)
	}
	stored, err := p.storeAttempts(ctx, made)
	if err != nil {
		return 0, errors.Join(signErr, err)
	}
	notNow := errors.Is(signErr, chain.ErrNotNow)
	held, signErr := p.noteUnsigned(ctx, a, ready[len(made):], signErr)
	if notNow { // the budget of fees is used up, or a payee is listed now; conditions report both
		if n := len(made); n < len(ready) && len(ready[n].prev) > 0 {
			p.same[ready[n].prev[len(ready[n].prev)-1].Hash] = cur.Height // what follows it is signed in the next round
			p.deps.Wake()
		}
		p.log.WithError(signErr).Debug("bound, but may not be signed now")
		if errors.Is(signErr, chain.ErrNotNow) {
			signErr = nil
		}
	}
	if held && p.coins && signErr == nil {
		more, err := p.signReady(ctx, a, ready[len(made)+1:], cur)
		return stored + more, err
	}
	return stored, signErr
}

// signedOf leaves out slots without an attempt.
func signedOf(slots []records.OpenSlot) []records.OpenSlot {
	return slices.DeleteFunc(slices.Clone(slots), func(s records.OpenSlot) bool { return len(s.Attempts) == 0 })
}

// toSign returns the slots to sign: those without an attempt, and those whose newest attempt is
// ReplaceAfter blocks old and is to be replaced. Merges come last: they are bounded, and keep no
// payment waiting.
func (p *payer) toSign(slots []records.OpenSlot, cur records.Cursor) (todo []signing) {
	payments := 0
	if p.coins {
		slots = slices.Clone(slots)
		slices.SortStableFunc(slots, mergesLast)
	}
	for _, s := range slots {
		if payments += len(s.Payments()); payments > MaxGroup && len(todo) > 0 {
			break // so many the signer takes at once
		}
		if len(s.Attempts) == 0 {
			todo = append(todo, signing{chain: p.chain, slot: s})
			continue
		}
		if p.mayReplace(s.Attempts[len(s.Attempts)-1], cur) {
			todo = append(todo, signing{chain: p.chain, slot: s, prev: attempts(s)})
		}
	}
	return todo
}

func attempts(s records.OpenSlot) []chain.Attempt {
	list := make([]chain.Attempt, len(s.Attempts))
	for i, a := range s.Attempts {
		list[i] = a.Attempt
	}
	return list
}

func mergesLast(a, b records.OpenSlot) int {
	merge := map[bool]int{true: 1}
	return merge[a.Payment.Purpose == chain.Merge] - merge[b.Payment.Purpose == chain.Merge]
}

// setCeilings sets the most that each transaction may cost.
func (p *payer) setCeilings(ctx context.Context, todo []signing) error {
	return p.deps.Store.View(ctx, func(tx *records.Tx) error {
		ceilings, err := p.all.ceilings(tx, paymentsOf(todo))
		for i, s := range todo {
			if err == nil {
				todo[i].maxCost, err = sumCeilings(s.slot.Payments(), ceilings)
			}
		}
		return err
	})
}

// paymentsOf returns the payments of slots, with all members of batches.
func paymentsOf(todo []signing) (list []records.Payment) {
	for _, s := range todo {
		list = append(list, s.slot.Payments()...)
	}
	return list
}

// batchLimit is the share by which the ceiling of a batch exceeds the sum of its payments'
// ceilings: what a batch may use is several times what it takes, while single payments take most of
// it.
const batchLimit = 3

// sumCeilings is the most that one transaction of payments may cost: zero, which leaves it to the
// chain's own ceiling, if one of them has no ceiling.
func sumCeilings(list []records.Payment, ceilings map[uint64]chain.Amount) (sum chain.Amount, err error) {
	for _, p := range list {
		one := ceilings[p.ID]
		if one.IsZero() || len(list) == 1 {
			return one, nil
		}
		if sum, err = sum.Add(one); err != nil {
			return sum, err
		}
	}
	return sum.Mul(batchLimit)
}

// prepared is a transaction that wants a signature.
type prepared struct {
	signing
	at      chain.Slot
	attempt chain.Attempt
	done    func(error) // ends the step in its trace
}

func (r prepared) order() chain.Order {
	return chain.Order{Slot: r.at, Payment: r.payment(), Unsigned: r.attempt.Raw}
}

// prepareGroup prepares transactions as far as it can be done now: what cannot be prepared stops
// what follows it. Where the ledger links blocks, each follows the hash of the one before, which
// needs no signature.
func (p *payer) prepareGroup(ctx context.Context, a records.Account, todo []signing, funds *spendable, cur records.Cursor) (ready []prepared, faults error) {
	for i, s := range todo {
		at := s.chainSlot()
		if i > 0 && at.Prev == "" && at.Branch != 0 && len(ready) > 0 && ready[len(ready)-1].at.Nonce+1 == at.Nonce {
			at.Prev = ready[len(ready)-1].attempt.Hash
		}
		step, done := transfers.PaymentTrace(s.slot.Slot, "").Begin(ctx, "sign")
		att, err := p.prepareOne(step, at, s, funds)
		if err != nil {
			done(err)
		}
		switch {
		case len(s.prev) > 0 && keepsAttempt(err):
			p.same[s.prev[len(s.prev)-1].Hash] = cur.Height
			faults = errors.Join(faults, orderChild(ctx, p, a, at, s))
			continue
		case errors.Is(err, chain.ErrNotNow), errors.Is(err, chain.ErrFeeCeiling), errors.Is(err, errNoCoin):
			p.log.WithField("payment", s.slot.PaymentID).WithError(err).Debug("bound, but cannot be signed now")
			if err := leaveBatch(ctx, p, s, err); err != nil || !p.coins {
				return ready, errors.Join(faults, err)
			}
			continue
		case err != nil:
			return ready, errors.Join(faults, fmt.Errorf("preparing payment %d: %w", s.slot.PaymentID, err))
		}
		ready = append(ready, prepared{s, at, att, done})
	}
	return ready, faults
}

// signGroup has all of a group signed at once. The signer may refuse one of them and what follows
// it.
func (p *payer) signGroup(ctx context.Context, ready []prepared, cur records.Cursor) ([]records.Signed, error) {
	if len(ready) == 0 {
		return nil, nil
	}
	orders := make([]chain.Order, len(ready))
	for i, r := range ready {
		orders[i] = r.order()
	}
	signed, err := p.deps.Signer.Sign(ctx, p.id, orders...)
	if errors.Is(err, signguard.ErrUnauthorized) {
		var more []chain.SignedTx
		more, err = p.signAuthorized(ctx, ready[len(signed):], orders[len(signed):])
		signed = append(signed, more...)
	}
	if err != nil {
		err = fmt.Errorf("asking the signer: %w", err)
	}
	for _, r := range ready[len(signed):] {
		r.done(err)
	}
	made := make([]records.Signed, len(signed))
	for i, tx := range signed {
		r, kind := ready[i], records.AttemptPay
		r.done(nil)
		p.recordSigned(r.at)
		switch {
		case r.cancels():
			kind = records.AttemptCancel
		case len(r.prev) > 0:
			kind = records.AttemptReplace
		}
		r.attempt.Seq, r.attempt.Hash, r.attempt.Raw = len(r.prev), tx.Hash, tx.Raw
		made[i] = records.Signed{Slot: r.slot.Slot, Attempt: records.Attempt{Attempt: r.attempt, Kind: kind, Head: cur.Height}}
	}
	return made, err
}

// signAuthorized asks the signer to authorize payments that are bound already, by an earlier
// version or before the sign-guard was restored from a backup, and signs them up to the first that
// is not authorized.
func (p *payer) signAuthorized(ctx context.Context, ready []prepared, orders []chain.Order) ([]chain.SignedTx, error) {
	var list []records.Payment
	var of []int // the order of each payment
	for i, r := range ready {
		if r.cancels() { // it has no payee
			continue
		}
		for _, q := range r.slot.Payments() {
			list, of = append(list, q), append(of, i)
		}
	}
	verdicts, err := p.all.claim(ctx, p.id, list)
	if err != nil {
		return nil, err
	}
	n := slices.IndexFunc(verdicts, func(v chain.Verdict) bool { return v.State != chain.Authorized })
	if n < 0 {
		return p.deps.Signer.Sign(ctx, p.id, orders...)
	}
	why := heldError{list[n].ID, verdicts[n]}
	if of[n] == 0 {
		return nil, why
	}
	signed, err := p.deps.Signer.Sign(ctx, p.id, orders[:of[n]]...)
	return signed, errors.Join(why, err)
}

// prepareOne makes a transaction that the account can pay.
func (p *payer) prepareOne(ctx context.Context, at chain.Slot, s signing, funds *spendable) (chain.Attempt, error) {
	if len(s.prev) > 0 {
		if err := p.checkUnderpriced(ctx, at, s.prev[len(s.prev)-1]); err != nil {
			return chain.Attempt{}, err
		}
	}
	att, err := p.chain.Prepare(ctx, at, s.payment(), s.prev)
	if err != nil {
		return chain.Attempt{}, err
	}
	return att, funds.checkAttempt(ctx, s.prev, att)
}

// storeAttempts stores signatures in one transaction and returns their number. A slot that was
// settled meanwhile takes none, and later ones are signed again.
func (p *payer) storeAttempts(ctx context.Context, made []records.Signed) (stored int, err error) {
	if len(made) == 0 {
		return 0, nil
	}
	begun := time.Now()
	var refused error
	err = p.deps.Store.Update(ctx, func(tx *records.Tx) error {
		stored, refused, err = tx.Slots().AddAttempts(made...)
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
		transfers.PaymentTrace(s.Slot, s.Attempt.Hash).Done(ctx, "store", begun, nil)
	}
	return stored, nil
}
