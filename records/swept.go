package records

import (
	"fmt"

	"gatewayd/chain"
)

// Swept records once how much a paid sweep brought, in units of its asset, when its fee left less than was asked for; an order to pay itself
// never changes. ErrConflict: the payment is no paid sweep, or it asked for less.
func (tx *Tx) Swept(paymentID uint64, brought chain.Amount) error {
	p, err := tx.Payment(paymentID)
	if err == nil && p.Amount != brought {
		err = tx.swept(p, brought)
	}
	if err != nil {
		return fmt.Errorf("noting what payment %d brought: %w", paymentID, err)
	}
	return nil
}

func (tx *Tx) swept(p Payment, brought chain.Amount) error {
	if p.Purpose != chain.Sweep || p.State != Paid || p.Amount.Less(brought) {
		return fmt.Errorf("%w: a %s of %s that is %s does not bring %s", ErrConflict, p.Purpose, p.Amount, p.State, brought)
	}
	if _, err := tx.exec(`INSERT INTO swept (payment_id, brought, created_at) VALUES (?, ?, ?)`, p.ID, brought, tx.millis()); err != nil {
		return err
	}
	missing, err := p.Amount.Sub(brought)
	if err == nil {
		err = tx.bookLess(p, missing)
	}
	if err != nil {
		return err
	}
	return tx.logPayment(p.ID, "swept", fmt.Sprintf("%s of %s, the rest was kept for its fee", brought, p.Amount))
}
