package records

import (
	"fmt"

	"gatewayd/records/sqlstore"
)

// Cancelling is the reason of a bound payment whose slot is to be cancelled. Nothing else is signed
// at the slot from then on.
const Cancelling = "cancelling"

// Cancelled is the reason with which a payment is queued again when its slot is cancelled.
const Cancelled = "cancelled"

// unsigned is true of a bound payment whose open slot has no attempt. The list of states names the
// condition of the index slots_live for SQLite.
const unsigned = `EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = payments.id AND s.state IN ('open','paid') AND s.state = 'open'
	AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number))`

// OrderCancel marks the payment of an open slot without attempts: the number is used up by a
// cancellation, which is signed, stored and sent like a payment. ErrConflict: something was signed
// for the slot, it is decided, or it is of a ledger that links blocks.
func (tx Slots) OrderCancel(s Slot, why string) error {
	return sqlstore.Doing(tx.orderCancel(s, why), "cancelling slot %s", s.name())
}

func (tx Slots) orderCancel(s Slot, why string) error {
	if s.Branch != 0 {
		return fmt.Errorf("%w: an unsigned number of a linked ledger uses up nothing", ErrConflict)
	}
	open, err := tx.exists(`SELECT 1 FROM slots WHERE chain = ? AND account = ? AND lineage = ? AND number = ? AND payment_id = ? AND state = 'open'`,
		string(s.Chain), s.Account, s.Branch, s.Nonce, s.PaymentID)
	if err != nil {
		return err
	}
	if !open {
		return fmt.Errorf("%w: the slot is not open", ErrConflict)
	}
	err = tx.change(`UPDATE payments SET reason = '`+Cancelling+`', changed_at = ? WHERE id = ? AND state = 'bound' AND reason = '' AND `+unsigned,
		tx.millis(), s.PaymentID)
	if err != nil {
		return err
	}
	return tx.logPayment(s.PaymentID, Cancelling, s.name()+": "+why)
}

// ForkUnsigned begins a new line of an account whose ledger links blocks at a slot without
// attempts, behind what is final. Lines exclude each other, so nothing is paid twice if a signature
// of the slot exists after all. ErrConflict: something was signed for the slot, or what comes
// before it is not decided.
func (tx Slots) ForkUnsigned(s Slot, why string) error {
	return sqlstore.Doing(tx.forkUnsigned(s, why), "leaving slot %s", s.name())
}

func (tx Slots) forkUnsigned(s Slot, why string) error {
	open, err := tx.Open(s.Chain, s.Account)
	if err != nil {
		return err
	}
	if len(open) == 0 || open[0].key() != s.key() || len(open[0].Attempts) > 0 || open[0].Prev == "" {
		return fmt.Errorf("%w: it is not the first that waits, or something is signed for it", ErrConflict)
	}
	_, err = tx.NewBranch(s.Chain, s.Account, s.Nonce, open[0].Prev, why)
	return err
}

// MayApprove reports whether people may approve a payment: it waits, or it is bound and nothing is
// signed for it yet.
func (tx Slots) MayApprove(p Payment) (bool, error) {
	switch {
	case p.State == Queued || p.State == HeldPayment:
		return true, nil
	case p.State != Bound || p.Reason == Cancelling:
		return false, nil
	}
	return tx.exists(`SELECT 1 FROM payments WHERE id = ? AND state = 'bound' AND `+unsigned, p.ID)
}
