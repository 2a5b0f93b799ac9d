package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/transfers"
)

// errFailed marks the last step of a payment that failed on its chain.
var errFailed = errors.New("failed on chain")

// maxGen is the number of times that a payment may provably fail on its chain before it is given
// up.
const maxGen = 1

// settleOwnTxs lets final blocks decide our slots. A slot is paid when one of our attempts is in
// the block and did what its fields request (E6), void when it failed (E7). The account stops when
// the block has a transaction that we never signed (E9). A payout that failed for a reason which
// only the chain knows is left for a later call, and queued in f.failures. more is set when others
// may be left; it is not while all of a group wait.
func (f *Follower) settleOwnTxs(ctx context.Context, tx *records.Tx) (more bool, err error) {
	ownTxs, err := tx.OwnTxs().Unsettled(f.id, MaxSettled)
	if err != nil {
		return false, err
	}
	full, settled := len(ownTxs) == MaxSettled, 0
	f.news = f.news || len(ownTxs) > 0
	for len(ownTxs) > 0 {
		var paid []records.Slot
		done := 0
		if !f.coins { // there, a transaction may also end slots of others
			if paid, done, err = tx.Slots().SettlePaidPrefix(f.id, ownTxs); err != nil {
				return false, err
			}
		}
		for _, s := range paid {
			f.log.WithFields(logrus.Fields{"payment": s.PaymentID, "tx": s.Tx}).Info("payment paid")
			transfers.PaymentTrace(s, s.Tx).Done(ctx, "final", time.Now(), nil)
		}
		f.addBranchBlocks(paid, ownTxs)
		settled += done
		ownTxs = ownTxs[done:]
		if len(ownTxs) == 0 {
			break
		}
		decided, err := f.settleNext(ctx, tx, ownTxs[0])
		if err != nil {
			return false, err
		}
		if decided {
			settled++
		}
		ownTxs = ownTxs[1:]
	}
	return full && settled > 0, nil
}

// settleNext settles one own transaction, unless that has to wait for an answer of the chain or of
// the signer.
func (f *Follower) settleNext(ctx context.Context, tx *records.Tx, e records.OwnTx) (done bool, err error) {
	switch err := f.settleOwnTx(ctx, tx, e); {
	case errors.Is(err, errAnswerPending):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("settling our transaction %s: %w", e.Tx, err)
	}
	return true, tx.OwnTxs().MarkSettled(e)
}

func (f *Follower) settleOwnTx(ctx context.Context, tx *records.Tx, e records.OwnTx) error {
	slots, att, err := tx.Slots().AttemptByHash(f.id, e.Tx)
	if err != nil {
		return err
	}
	if len(slots) == 0 {
		f.signerBlocks.add(e.Height)
		return f.handleUnknownTx(tx, e)
	}
	if f.coins {
		if err := f.voidDisplaced(ctx, tx, e); err != nil {
			return err
		}
	}
	if slots[0].State == records.SlotForked {
		f.signerBlocks.add(e.Height)
		f.log.WithFields(logrus.Fields{"tx": e.Tx, "height": e.Height}).Warn("a block of an older fork is final: continuing from it")
		if _, err := tx.Slots().NewBranch(f.id, e.Account, e.Number+1, e.Tx, "an older fork became final"); err != nil {
			return err
		}
	}
	return f.settleSlots(ctx, tx, slots, att, e)
}

// settleSlots settles the payments of a transaction one by one. It is errAnswerPending when one of
// them waits for an answer; the others do not wait for it.
func (f *Follower) settleSlots(ctx context.Context, tx *records.Tx, slots []records.Slot, att records.Attempt, e records.OwnTx) (pending error) {
	made := e.Made(len(slots))
	for i, slot := range slots {
		if slot.State != records.SlotOpen && slot.State != records.SlotForked {
			continue // it was settled when another of them had to wait
		}
		one := e
		one.OK, one.Void = made[i] == chain.MemberPaid, made[i] == chain.MemberVoid
		var err error
		if one.OK && att.Kind != records.AttemptCancel {
			f.log.WithFields(logrus.Fields{"payment": slot.PaymentID, "tx": e.Tx, "height": e.Height}).Info("payment paid")
			transfers.PaymentTrace(slot, e.Tx).Done(ctx, "final", time.Now(), nil)
			err = f.settlePaid(tx, slot, att, one)
		} else {
			err = f.settleFailed(ctx, tx, slot, att, one, len(slots) > 1)
		}
		switch {
		case errors.Is(err, errAnswerPending):
			pending = err
		case err != nil:
			return err
		}
	}
	return pending
}

// settlePaid settles a slot whose transaction did what its attempt requests. The amount of a sweep
// of coins is read from the attempt.
func (f *Follower) settlePaid(tx *records.Tx, slot records.Slot, att records.Attempt, e records.OwnTx) error {
	if err := tx.Slots().SettlePaid(slot, e.Tx, e.BlockHash); err != nil {
		return err
	}
	p, err := tx.Payments().Get(slot.PaymentID)
	c := chain.CapabilitiesOf(f.chain).Swept
	if err != nil || c == nil || p.Purpose != chain.Sweep || p.Asset != chain.Native {
		return err
	}
	brought, err := c.Swept(att.Attempt)
	if err != nil {
		return fmt.Errorf("reading what was swept: %w", err)
	}
	return tx.Treasury().Swept(p.ID, brought)
}

// voidDisplaced frees the payments of slots whose coin another transaction of ours spends.
func (f *Follower) voidDisplaced(ctx context.Context, tx *records.Tx, e records.OwnTx) error {
	slots, err := tx.Coins().Displaced(f.id, e.Tx, e.BlockHash)
	if err != nil || len(slots) == 0 {
		return err
	}
	if !f.signerBlocks.add(e.Height) {
		return errAnswerPending
	}
	for _, s := range slots {
		f.log.WithFields(logrus.Fields{"payment": s.PaymentID, "tx": e.Tx, "height": e.Height}).Warn("another transaction of ours spends the payment's coin")
		if err := f.deps.Signer.Free(ctx, s.PaymentID); err != nil {
			return fmt.Errorf("freeing the sign-guard: %w", err)
		}
		if err := tx.Slots().SettleVoid(s, e.Tx, e.BlockHash, records.CoinSpent, true); err != nil {
			return err
		}
	}
	return nil
}

// handleUnknownTx handles a final transaction of our account that belongs to no slot. One from
// before the account was adopted is ignored, and so is a cancellation of ours. Any other halts the
// account until an operator has explained it.
func (f *Follower) handleUnknownTx(tx *records.Tx, e records.OwnTx) error {
	a, err := tx.Accounts().Get(f.id, e.Account)
	if err != nil || a.State == records.AccountNew || e.Number < a.Base {
		return err
	}
	log := f.log.WithFields(logrus.Fields{"account": e.Account, "tx": e.Tx, "number": e.Number})
	if cancelled, err := tx.Recovery().IsCancel(f.id, e.Tx); err != nil || cancelled {
		log.Info("number cancelled")
		return err
	}
	log.Error("account halted: its transaction is unknown to our records")
	why := fmt.Sprintf("transaction %s at number %d was not signed by this daemon", e.Tx, e.Number)
	return tx.Accounts().SetState(f.id, e.Account, records.AccountHalted, why)
}

// settleFailed settles a slot whose transaction failed, and frees its payment. A failed payout is
// refunded to the sender of the withdrawal less the fee he paid, because its payee may have made it
// fail and could do so again at our cost. A payout that failed because our account lacked something
// is tried again once, as other payments are, and so is one that failed in a batch: alone. When
// something else moved (a token that takes fees), or the withdrawal cannot be given back, the
// payment is held for an operator.
func (f *Follower) settleFailed(ctx context.Context, tx *records.Tx, slot records.Slot, att records.Attempt, e records.OwnTx, batch bool) error {
	p, t, err := withdrawalOf(tx, slot.PaymentID)
	if err != nil {
		return err
	}
	cancelled := att.Kind == records.AttemptCancel
	e.Void = e.Void || cancelled // its bytes have no payee, whatever its result
	again, reason := e.Void && slot.Gen < maxGen, records.ReasonPayoutFailed
	if cancelled { // it did not fail: the signer is asked again
		again, reason = true, records.Cancelled
	}
	if !e.Void {
		reason = records.ReasonPayoutDiffers
	}
	if e.Void && !cancelled && !batch {
		if again, err = f.blame(tx, failure{e, p, att.Attempt, chain.Amount{}}, t, again); err != nil {
			return err
		}
	}
	if !f.signerBlocks.add(e.Height) {
		return errAnswerPending
	}
	f.log.WithFields(logrus.Fields{"payment": slot.PaymentID, "tx": e.Tx, "height": e.Height, "again": again}).Warn("payment failed on chain")
	transfers.PaymentTrace(slot, e.Tx).Done(ctx, "final", time.Now(), errFailed)
	// Proven by the final block, so also right if this transaction is lost. A signer with its own
	// nodes does not free a payment that moved something else, nor a silent payment when its nodes
	// no longer have the balances that prove it void.
	err = f.deps.Signer.Free(ctx, slot.PaymentID)
	switch refused := errors.Is(err, signguard.ErrRefused); {
	case refused && e.Void && slot.Branch == 0:
		again, reason, e.Void = false, records.ReasonPayoutDiffers, false
	case err != nil && (e.Void || !refused):
		return fmt.Errorf("freeing the sign-guard: %w", err)
	}
	if err := tx.Slots().SettleVoid(slot, e.Tx, e.BlockHash, reason, again); err != nil || again || !e.Void || t.ID == 0 || !f.deps.Rules().Refundable(t) {
		return err
	}
	p.State = records.HeldPayment
	return f.deps.Rules().GiveUp(tx, p, t, records.ReasonPayoutFailed, t.Net)
}

// withdrawalOf returns a payment and, if it is the payout of a withdrawal, that.
func withdrawalOf(tx *records.Tx, payment uint64) (p records.Payment, t records.Transfer, err error) {
	if p, err = tx.Payments().Get(payment); err != nil || p.Purpose != chain.Credit {
		return p, t, err
	}
	if t, err = tx.Transfers().Get(p.TransferID); err != nil || t.Direction != records.Withdrawal {
		return p, records.Transfer{}, err
	}
	return p, t, nil
}
