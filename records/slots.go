package records

import (
	"errors"
	"fmt"

	"gatewayd/chain"
)

// States of a slot.
const (
	SlotOpen   = "open"
	SlotPaid   = "paid"
	SlotVoid   = "void"
	SlotForked = "forked"
)

type slotRow struct {
	Chain     string `db:"chain"`
	Account   string `db:"account"`
	Lineage   uint64 `db:"lineage"`
	Number    uint64 `db:"number"`
	PaymentID uint64 `db:"payment_id"`
	Gen       int    `db:"gen"`
	State     string `db:"state"`
	Tx        string `db:"tx"`
	BlockHash string `db:"block_hash"`
	MinedIn   string `db:"mined_in"`
	CreatedAt int64  `db:"created_at"`
	ChangedAt int64  `db:"changed_at"`
}

const slotColumns = `chain, account, lineage, number, payment_id, gen, state, tx, block_hash, mined_in, created_at, changed_at`

func (r slotRow) slot() Slot {
	return Slot{
		Chain: chain.ID(r.Chain), Account: r.Account, Lineage: r.Lineage, Number: r.Number, PaymentID: r.PaymentID, Gen: r.Gen,
		State: r.State, Tx: r.Tx, BlockHash: r.BlockHash, CreatedAt: fromMillis(r.CreatedAt), ChangedAt: fromMillis(r.ChangedAt),
	}
}

// name is a slot in texts.
func (s Slot) name() string {
	if s.Lineage == operatorLine {
		return fmt.Sprintf("%s %s settled/%d", s.Chain, s.Account, s.Number)
	}
	return fmt.Sprintf("%s %s %d/%d", s.Chain, s.Account, s.Lineage, s.Number)
}

// BindSlot gives a queued payment the next number of its account, for good (rule R2). ErrFull: maxUnmined slots of the account are in no block
// yet. ErrWaits, with ErrConflict: the payment is not queued, the account may not sign, the payment's transfer is not decided or left the line, an
// older line of ours may still pay it, or, with ErrHalted too, its chain or its transfer's chain is halted. Both leave the transaction as it was;
// after any other error it must not be committed.
func (tx *Tx) BindSlot(paymentID uint64, maxUnmined int) (Slot, error) {
	s, err := tx.bindSlot(paymentID, maxUnmined)
	if err != nil {
		return Slot{}, fmt.Errorf("binding payment %d: %w", paymentID, err)
	}
	return s, nil
}

func (tx *Tx) bindSlot(paymentID uint64, maxUnmined int) (Slot, error) {
	p, err := tx.Payment(paymentID)
	if err != nil {
		return Slot{}, err
	}
	a, err := tx.Account(p.Chain, p.Account)
	if err != nil {
		return Slot{}, err
	}
	if err := tx.checkBind(p, a, maxUnmined); errors.Is(err, ErrConflict) {
		return Slot{}, fmt.Errorf("%w: %w", ErrWaits, err)
	} else if err != nil {
		return Slot{}, err
	}
	r := slotRow{
		Chain: string(a.Chain), Account: a.Account, Lineage: a.Lineage, Number: a.Next, PaymentID: p.ID, Gen: p.Gen, State: SlotOpen,
		CreatedAt: tx.millis(), ChangedAt: tx.millis(),
	}
	err = tx.change(`UPDATE accounts SET next = next + 1 WHERE chain = ? AND account = ? AND lineage = ? AND next = ? AND state = 'ok'`,
		r.Chain, r.Account, r.Lineage, r.Number)
	if err != nil {
		return Slot{}, err
	}
	if err := tx.openSlot(r); err != nil {
		return Slot{}, err
	}
	return r.slot(), tx.logPayment(p.ID, string(Bound), "to slot "+r.slot().name())
}

// openSlot stores a slot and binds its payment to it.
func (tx *Tx) openSlot(r slotRow) error {
	_, err := tx.exec(`INSERT INTO slots (`+slotColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Chain, r.Account, r.Lineage, r.Number, r.PaymentID, r.Gen, r.State, r.Tx, r.BlockHash, r.MinedIn, r.CreatedAt, r.ChangedAt)
	if err != nil {
		return err
	}
	return tx.change(`UPDATE payments SET state = 'bound', reason = '', changed_at = ? WHERE id = ? AND state = 'queued' AND gen = ?`, r.CreatedAt, r.PaymentID, r.Gen)
}

// checkBind is the last gate before money may leave.
func (tx *Tx) checkBind(p Payment, a Account, maxUnmined int) error {
	switch {
	case p.State != Queued:
		return fmt.Errorf("%w: the payment is %s", ErrConflict, p.State)
	case a.State != AccountOK:
		return fmt.Errorf("%w: the account is %s", ErrConflict, a.State)
	}
	if err := tx.checkRunning(p); err != nil {
		return err
	}
	if err := tx.checkCause(p); err != nil {
		return err
	}
	// A forked slot below the base of the line may be part of the line: the payment would stand on it twice.
	twice, err := tx.exists(`SELECT 1 FROM slots WHERE payment_id = ? AND state = 'forked' AND number < ?`, p.ID, a.Base)
	if err != nil {
		return err
	}
	if twice {
		return fmt.Errorf("%w: an older slot of it is not decided", ErrConflict)
	}
	unmined, err := tx.unmined(a.Chain, a.Account)
	if err == nil && unmined >= maxUnmined {
		err = ErrFull
	}
	return err
}

// unmined counts the slots of an account that stand in no block of the line yet.
func (tx *Tx) unmined(id chain.ID, account string) (n int, err error) {
	err = tx.one(&n, `SELECT COUNT(*) FROM slots WHERE chain = ? AND account = ? AND state = 'open' AND mined_in = ''`, string(id), account)
	return n, err
}

// checkRunning is ErrConflict and ErrHalted when the payment's chain or the chain of its transfer is halted.
func (tx *Tx) checkRunning(p Payment) error {
	var halted string
	found, err := tx.get(&halted, `SELECT chain FROM cursors WHERE state = 'halted'
		AND (chain = ? OR chain = (SELECT chain FROM transfers WHERE id = ?)) LIMIT 1`, string(p.Chain), p.TransferID)
	if err == nil && found {
		return fmt.Errorf("%w: %w: %s", ErrConflict, ErrHalted, halted)
	}
	return err
}

// checkCause is ErrConflict unless the payment's transfer, if it has one, is decided and of the line.
func (tx *Tx) checkCause(p Payment) error {
	if p.TransferID == 0 {
		return nil
	}
	undecided, err := tx.exists(`SELECT 1 FROM transfers WHERE id = ? AND state IN ('seen','orphaned')`, p.TransferID)
	if err != nil {
		return err
	}
	if undecided {
		return fmt.Errorf("%w: transfer %d is not decided", ErrConflict, p.TransferID)
	}
	return tx.onLine(p.TransferID)
}

// Slots answers all slots that a payment has had, oldest first.
func (tx *Tx) Slots(paymentID uint64) ([]Slot, error) {
	rows, err := tx.slotRows(`WHERE payment_id = ? ORDER BY gen`, paymentID)
	if err != nil {
		return nil, fmt.Errorf("reading the slots of payment %d: %w", paymentID, err)
	}
	out := make([]Slot, len(rows))
	for i, r := range rows {
		out[i] = r.slot()
	}
	return out, nil
}

func (tx *Tx) slotRows(where string, args ...any) ([]slotRow, error) {
	var rows []slotRow
	err := tx.list(&rows, `SELECT `+slotColumns+` FROM slots `+where, args...)
	return rows, err
}
