package pay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/status"
)

// A payment that the signer holds after it was bound blocks all later numbers of its account. On a
// ledger of coins it blocks none. It leaves its number once the signer has held it for some time,
// without an operator. Where accounts count nonces, the number is cancelled: ordered, signed,
// stored, read back and sent. The final block that shows it queues the payment again. Where the
// ledger links blocks, an unsigned number uses up nothing: a new branch begins there.
const (
	TellUnsignedAfter = 15 * time.Second
	LeaveHeldAfter    = 10 * time.Minute // the signer holds or refuses it
	leaveLaterAfter   = time.Hour        // the signer cannot decide yet, for instance because its nodes are away
)

// heldError is the signer's verdict on a bound payment.
type heldError struct {
	payment uint64
	verdict chain.Verdict
}

func (e heldError) Error() string {
	return fmt.Sprintf("payment %d is bound and %s: %s", e.payment, e.verdict.State, e.verdict.Text)
}

// heldBound is a slot that nothing is signed for, with the signer's verdict: the first one of its
// account, or any on a ledger of coins.
type heldBound struct {
	account records.Account
	slot    records.Slot
	record  uint64 // 0: its payment has none
	since   time.Time
	verdict chain.Verdict
	others  int  // payments of the same number, which wait for it
	blocks  bool // later numbers
	stays   bool // it is tried until it is signed: a merge, for which no user waits
}

// leavesAfter is zero for a batch: its other payments do not wait for a person.
func (h heldBound) leavesAfter() time.Duration {
	switch {
	case h.verdict.State == chain.LaterClaim:
		return leaveLaterAfter
	case h.others > 0:
		return 0
	}
	return LeaveHeldAfter
}

// noteUnsigned stores the signer's verdict on the next unsigned slot of a group. It returns whether
// the signer holds it, and the rest of the error. The slot's payment leaves it when it is time.
func (p *payer) noteUnsigned(ctx context.Context, a records.Account, rest []prepared, signErr error) (held bool, err error) {
	if len(rest) == 0 || len(rest[0].prev) > 0 || rest[0].cancels() {
		return false, signErr
	}
	s := rest[0].slot
	var why heldError
	switch {
	case errors.As(signErr, &why) && slices.Contains(idsOf(s.Payments()), why.payment):
	case errors.Is(signErr, chain.ErrNotNow): // the fees are used up, or it was signed and not stored, and its payee is listed now
		verdicts, err := p.all.claim(ctx, p.id, s.Payments())
		if err != nil {
			return false, err
		}
		n := slices.IndexFunc(verdicts, func(v chain.Verdict) bool { return v.State != chain.Authorized })
		if n < 0 {
			delete(p.stuck.unsigned, keyOf(s.Slot))
			return false, nil
		}
		why = heldError{s.Payments()[n].ID, verdicts[n]}
	case s.Payment.Purpose == chain.Merge && signErr != nil && !errors.Is(signErr, chain.ErrUnavailable):
		why = heldError{s.PaymentID, chain.Verdict{State: chain.RefusedClaim, Reason: chain.ReasonRefused, Text: signErr.Error()}}
	default:
		return false, signErr
	}
	h := heldBound{account: a, slot: s.Slot, since: p.deps.Now(), verdict: why.verdict, others: len(s.Payments()) - 1, blocks: !p.coins, stays: s.Payment.Purpose == chain.Merge}
	for _, q := range s.Payments() {
		if q.ID == why.payment {
			h.record = q.TransferID
		}
	}
	if known, has := p.stuck.unsigned[keyOf(s.Slot)]; has {
		h.since = known.since
	}
	p.stuck.unsigned[keyOf(s.Slot)] = h
	p.log.WithError(why).Debug("bound, and not signed")
	return true, p.leaveSlot(ctx, h)
}

func firstHeld(a, b heldBound) int {
	return cmp.Or(strings.Compare(a.slot.Account, b.slot.Account), cmp.Compare(a.slot.Branch, b.slot.Branch), cmp.Compare(a.slot.Nonce, b.slot.Nonce))
}

// leaveSlot takes a payment that was held for long out of its slot.
func (p *payer) leaveSlot(ctx context.Context, h heldBound) error {
	if h.stays || p.deps.Now().Sub(h.since) < h.leavesAfter() {
		return nil
	}
	why := fmt.Sprintf("the signer has not signed it since %s: %s", h.since.UTC().Format("15:04:05 UTC"), h.verdict.Text)
	err := p.deps.Store.Update(ctx, func(tx *records.Tx) error {
		if h.slot.Branch == 0 {
			return tx.Slots().OrderCancel(h.slot, why)
		}
		return tx.Slots().ForkUnsigned(h.slot, why)
	})
	if errors.Is(err, records.ErrConflict) { // it was decided meanwhile, or what comes before it is not final
		return nil
	}
	if err != nil {
		return err
	}
	p.log.WithField("payment", h.slot.PaymentID).WithField("number", h.slot.Nonce).Warn("payment releases its number: " + why)
	delete(p.stuck.unsigned, keyOf(h.slot))
	p.deps.Wake()
	return nil
}

// dropSigned forgets slots of an account that wait for a signature no more.
func (k *stuckSlots) dropSigned(a records.Account, unmined []records.OpenSlot) {
	maps.DeleteFunc(k.unsigned, func(of slotKey, _ heldBound) bool {
		return of.account == a.Account && !slices.ContainsFunc(unmined, func(s records.OpenSlot) bool { return keyOf(s.Slot) == of && len(s.Attempts) == 0 })
	})
}

func (h heldBound) condition(id chain.ID) records.Condition {
	c := records.Condition{Kind: string(status.PaymentsHeld), Chain: id, Network: h.account.Network, Subject: h.account.Account}
	blocked := ""
	if h.blocks {
		blocked = " and blocks later payments"
	}
	if paysUsers(h.account) {
		c.Stops, c.Direction = h.blocks, records.Withdrawal
		if h.account.Kind == records.KindGateway {
			c.Direction = records.Deposit
		}
	}
	c.Detail = fmt.Sprintf("the signer does not sign payment %d, which is bound to number %d of %s account %s%s: %s",
		h.slot.PaymentID, h.slot.Nonce, h.account.Kind, h.account.Account, blocked, h.verdict.Text)
	if h.stays {
		c.Detail += ". It only brings coins together: give daemon and signer the same `merge_below`"
	} else {
		c.Detail += ". It releases the number automatically at " + h.since.Add(h.leavesAfter()).UTC().Format("15:04 UTC")
	}
	if h.record != 0 {
		c.Detail += fmt.Sprintf("; see `gatewayd records show %d`", h.record)
	}
	return c
}
