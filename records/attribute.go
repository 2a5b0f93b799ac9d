package records

import (
	"encoding/json"
	"fmt"

	"gatewayd/chain"
)

// Attribution is whose a held deposit is and what is owed for it. Net counts the gateway token's units.
type Attribution struct {
	Token  string
	Owner  string // user's exchange-chain address, which is paid
	Policy Policy // in force now: frozen with the rest
	Net    chain.Amount
}

// Attribute makes a held deposit that nobody was named for final, as its owner's. It happens once: no row that has an owner gets another.
// ErrConflict: it is not such a deposit any more, or its block left the line.
func (tx *Tx) Attribute(id uint64, a Attribution) error {
	if err := tx.attribute(id, a); err != nil {
		return fmt.Errorf("attributing transfer %d: %w", id, err)
	}
	return nil
}

func (tx *Tx) attribute(id uint64, a Attribution) error {
	if err := tx.onLine(id); err != nil {
		return err
	}
	policy, err := json.Marshal(a.Policy)
	if err != nil {
		return err
	}
	err = tx.change(`UPDATE transfers SET state = 'final', reason = ?, token = ?, owner = ?, payee = ?, net = ?, policy = ?, changed_at = ?
		WHERE id = ? AND state = 'held' AND direction = 'deposit' AND owner = '' AND failed = 0`,
		ReasonOperator, a.Token, a.Owner, a.Owner, a.Net, string(policy), tx.millis(), id)
	if err == nil {
		err = tx.bookDeposit(id, true)
	}
	if err != nil {
		return err
	}
	return tx.logTransfer(id, string(Final), fmt.Sprintf("owner %s, %s of %s", a.Owner, a.Net, a.Token))
}

// AllowRefundTo notes that an operator wants a transfer refunded to somebody else than its sender. Without it such a refund is a breach of the books.
func (tx *Tx) AllowRefundTo(id uint64, payee string) error {
	_, err := tx.exec(`INSERT INTO refund_payees (transfer_id, payee, actor, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (transfer_id, payee) DO NOTHING`,
		id, note(payee), note(tx.actor), tx.millis())
	if err != nil {
		return fmt.Errorf("ordering the refund of transfer %d to %s: %w", id, payee, err)
	}
	return nil
}

// Reclassify decides a held transfer, which nobody was named for and which was of no token, again: as final or refused, a deposit or a withdrawal
// of the token and to the owner that t says, or money of the operators' own. It happens once. ErrConflict: it is not such a transfer, a payment
// for it lives, or its block left the line.
func (tx *Tx) Reclassify(t Transfer) error {
	if err := tx.reclassify(t); err != nil {
		return fmt.Errorf("deciding transfer %d again: %w", t.ID, err)
	}
	return nil
}

func (tx *Tx) reclassify(t Transfer) error {
	if err := tx.onLine(t.ID); err != nil {
		return err
	}
	live, err := tx.exists(`SELECT 1 FROM payments WHERE transfer_id = ? AND state <> 'void'`, t.ID)
	if err == nil && live {
		err = fmt.Errorf("%w: a payment for it lives", ErrConflict)
	}
	if err != nil {
		return err
	}
	policy, err := json.Marshal(t.Policy)
	if err != nil {
		return err
	}
	err = tx.change(`UPDATE transfers SET direction = ?, token = ?, owner = ?, payee = ?, payee_label = ?, net = ?, fee = ?, policy = ?, state = ?, reason = ?, changed_at = ?
		WHERE id = ? AND state = 'held' AND owner = '' AND token = '' AND failed = 0`,
		string(t.Direction), t.Token, t.Owner, t.Payee, t.PayeeLabel, t.Net, t.Fee, string(policy), string(t.State), note(t.Reason), tx.millis(), t.ID)
	if err == nil {
		err = tx.bookDeposit(t.ID, true)
	}
	if err != nil {
		return err
	}
	return tx.logTransfer(t.ID, string(t.State), fmt.Sprintf("decided again as a %s: %s", t.Direction, t.Reason))
}
