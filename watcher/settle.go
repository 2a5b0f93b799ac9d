package watcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
)

// errFailed marks the last step of a payment that failed on its chain.
var errFailed = errors.New("failed on chain")

// maxGen is how often a payment may fail on its chain, provably, before it is given up.
const maxGen = 1

// settleOwnTxs lets final blocks decide our slots: paid when one of our attempts stands there and did what it says (E6), void when it
// failed (E7), and the account stops when something stands there that we never signed (E9). A payout that failed for a reason which only the chain
// knows is left for a later call, and put to f.blame. more tells that others may be left.
func (f *follower) settleOwnTxs(ctx context.Context, tx *records.Tx) (more bool, err error) {
	effects, err := tx.UnsettledOwnTxs(f.id, maxSettled)
	if err != nil {
		return false, err
	}
	more = len(effects) == maxSettled
	for len(effects) > 0 {
		paid, err := tx.SettlePlain(f.id, effects)
		if err != nil {
			return false, err
		}
		for _, s := range paid {
			f.log.WithFields(logrus.Fields{"payment": s.PaymentID, "tx": s.Tx}).Info("payment paid")
			traced(s, s.Tx).Done(ctx, "final", time.Now(), nil)
		}
		f.showNewLine(paid, effects)
		effects = effects[len(paid):]
		if len(effects) == 0 {
			break
		}
		if err := f.settleNext(ctx, tx, effects[0]); err != nil {
			return false, err
		}
		effects = effects[1:]
	}
	return more, nil
}

// settleNext acts on one effect, unless that has to wait for an answer of the chain.
func (f *follower) settleNext(ctx context.Context, tx *records.Tx, e records.OwnTx) error {
	switch err := f.settleOwnTx(ctx, tx, e); {
	case errors.Is(err, errNotAsked):
		return nil
	case err != nil:
		return fmt.Errorf("settling our transaction %s: %w", e.Tx, err)
	}
	return tx.MarkSettled(e)
}

func (f *follower) settleOwnTx(ctx context.Context, tx *records.Tx, e records.OwnTx) error {
	slot, att, known, err := tx.AttemptByHash(f.id, e.Tx)
	if err != nil {
		return err
	}
	if !known {
		f.shown.show(e.Height)
		return f.foreign(tx, e)
	}
	log := f.log.WithFields(logrus.Fields{"payment": slot.PaymentID, "tx": e.Tx, "height": e.Height})
	if slot.State == "forked" {
		f.shown.show(e.Height)
		log.Warn("a block of an older line of ours is final: going on from it")
		if _, err := tx.NewBranch(f.id, e.Account, e.Number+1, e.Tx, "an older line became final"); err != nil {
			return err
		}
	}
	if e.OK && att.Kind != "cancel" {
		log.Info("payment paid")
		traced(slot, e.Tx).Done(ctx, "final", time.Now(), nil)
		return f.paid(tx, slot, att, e)
	}
	return f.failed(ctx, tx, slot, att, e)
}

// paid settles a slot that did what its attempt says. How much a sweep of coins brought stands in the attempt, whose hash is the block's.
func (f *follower) paid(tx *records.Tx, slot records.Slot, att records.Attempt, e records.OwnTx) error {
	if err := tx.SettlePaid(slot, e.Tx, e.BlockHash); err != nil {
		return err
	}
	p, err := tx.Payment(slot.PaymentID)
	c, ok := f.chain.(emptier)
	if err != nil || !ok || p.Purpose != chain.Sweep || p.Asset != chain.Native {
		return err
	}
	brought, err := c.Swept(att.Attempt)
	if err != nil {
		return fmt.Errorf("reading what was swept: %w", err)
	}
	return tx.Swept(p.ID, brought)
}

// foreign handles a final transaction of our account that no slot has. Before the account was adopted that is history; a cancellation of ours
// has done what it should; anything else stops the account until an operator has looked at it.
func (f *follower) foreign(tx *records.Tx, e records.OwnTx) error {
	a, err := tx.Account(f.id, e.Account)
	if err != nil || a.State == records.AccountNew || e.Number < a.Base {
		return err
	}
	log := f.log.WithFields(logrus.Fields{"account": e.Account, "tx": e.Tx, "number": e.Number})
	if cancelled, err := tx.IsCancel(f.id, e.Tx); err != nil || cancelled {
		log.Info("number cancelled")
		return err
	}
	log.Error("account halted: our records do not know this transaction of it")
	why := fmt.Sprintf("transaction %s at number %d was not signed by this daemon", e.Tx, e.Number)
	return tx.SetAccountState(f.id, e.Account, records.AccountHalted, why)
}

// failed frees a payment whose slot is spent. A payout of a withdrawal fails by its payee, who could make it cost us a fee again and again: it goes
// back to its sender, less the fee that he paid. Only what failed for want of ours is tried once more, as other payments are. When something
// moved that the payment does not say (a token that takes fees), nothing is tried again: the payment is held for an operator.
func (f *follower) failed(ctx context.Context, tx *records.Tx, slot records.Slot, att records.Attempt, e records.OwnTx) error {
	p, t, err := withdrawalOf(tx, slot.PaymentID)
	if err != nil {
		return err
	}
	again, reason := e.Void && slot.Gen < maxGen, records.ReasonPayoutFailed
	if !e.Void {
		reason = records.ReasonPayoutDiffers
	}
	if again && t.ID != 0 && att.Kind != "cancel" {
		if again, err = f.oursFailed(tx, p, att, e); err != nil {
			return err
		}
	}
	if !f.shown.show(e.Height) {
		return errNotAsked
	}
	f.log.WithFields(logrus.Fields{"payment": slot.PaymentID, "tx": e.Tx, "height": e.Height, "again": again}).Warn("payment failed on chain")
	traced(slot, e.Tx).Done(ctx, "final", time.Now(), errFailed)
	if err := f.Signer.Free(ctx, slot.PaymentID); err != nil { // proven by the final block, so also right if this transaction is lost
		return fmt.Errorf("freeing the sign-guard: %w", err)
	}
	if err := tx.SettleVoid(slot, e.Tx, e.BlockHash, reason, again); err != nil || again || !e.Void || t.ID == 0 {
		return err
	}
	p.State = records.HeldPayment
	return f.giveUp(tx, p, t, records.ReasonPayoutFailed, t.Net)
}

// withdrawalOf answers a payment and, if it is the payout of a withdrawal, that.
func withdrawalOf(tx *records.Tx, payment uint64) (p records.Payment, t records.Transfer, err error) {
	if p, err = tx.Payment(payment); err != nil || p.Purpose != chain.Credit {
		return p, t, err
	}
	if t, err = tx.Transfer(p.TransferID); err != nil || t.Direction != records.Withdrawal {
		return p, records.Transfer{}, err
	}
	return p, t, nil
}

// giveUp turns a payout of a withdrawal that is queued or held into a refund of an amount. The payout is void first, so the two can never both live.
func (w *Watcher) giveUp(tx *records.Tx, p records.Payment, t records.Transfer, reason string, back chain.Amount) error {
	if err := tx.MovePayment(p.ID, p.State, records.VoidPayment, reason); err != nil {
		return err
	}
	if err := tx.MoveTransfer(t.ID, t.State, records.Refused, reason); err != nil {
		return err
	}
	return queueRefund(tx, w.network(t.Network), t, t.From, back)
}

// errNotAsked: the chain has not been asked yet for whose want a payout failed, or the signer has not seen that it did.
var errNotAsked = errors.New("the chain was not asked yet why a payout failed, or the signer was not shown the block")

// blamer is a chain that can tell for whose want a payment failed in a final block.
type blamer interface {
	// FailedForUs tells whether an attempt of a payment that failed in the block at a final height did so for want of ours: the account had less of
	// the asset than the payment says, moved being what its transactions before that one took in the same block, or the attempt used up all the
	// gas that we gave it, and we would have given more. chain.ErrUnavailable: no majority of the nodes tells, or keeps the state of that block.
	FailedForUs(ctx context.Context, height uint64, account string, pay chain.Payment, moved chain.Amount, a chain.Attempt) (bool, error)
}

// blame collects what has to be asked outside the database transaction that settles, and keeps the answers until they are used. Its keys are
// transactions in blocks. It decides how often a payout is tried, never whether one is paid.
type blame struct {
	open  map[string]failure
	known map[string]bool
}

// failure is a payout that a final block shows to have failed.
type failure struct {
	effect  records.OwnTx
	payment records.Payment
	attempt chain.Attempt
	moved   chain.Amount
}

func inBlock(e records.OwnTx) string { return e.Tx + " " + e.BlockHash }

// oursFailed tells whether a payout that failed is to be tried again, because it failed for want of ours. errNotAsked: the next call will know.
func (f *follower) oursFailed(tx *records.Tx, p records.Payment, att records.Attempt, e records.OwnTx) (bool, error) {
	if _, ok := f.chain.(blamer); !ok || p.Asset == chain.Native { // coins that an account lacks keep a transaction out of blocks
		return !ok && p.Asset != chain.Native, nil
	}
	if ours, ok := f.blame.known[inBlock(e)]; ok {
		return ours, nil
	}
	moved, err := tx.PaidBefore(e, p.Asset)
	if err != nil {
		return false, err
	}
	if f.blame.open == nil {
		f.blame = blame{map[string]failure{}, map[string]bool{}}
	}
	f.blame.open[inBlock(e)] = failure{e, p, att.Attempt, moved}
	return false, errNotAsked
}

// ask puts to the chain what settling has left open, and tells whether there was anything. Where no majority of nodes tells, the payout counts as
// failed for want of ours: it is tried once more at most, and a second failure costs the same as a first.
func (f *follower) ask(ctx context.Context) (asked bool, err error) {
	f.blame.known = map[string]bool{}
	for at, q := range f.blame.open {
		ours, err := f.chain.(blamer).FailedForUs(ctx, q.effect.Height, q.effect.Account, order(q.payment, chain.Amount{}), q.moved, q.attempt)
		if err != nil && ctx.Err() != nil {
			return false, err
		}
		if err != nil {
			f.log.WithField("payment", q.payment.ID).WithError(err).Warn("asking why a payout failed")
		}
		f.blame.known[at] = ours || err != nil
		asked = true
	}
	clear(f.blame.open)
	return asked, nil
}
