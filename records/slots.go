package records

import (
	"fmt"

	"gatewayd/chain"
)

// MaxOpenSlots is how many slots of one account may wait for a final block (facts/reliability.md 1.2: what a node's pool takes from one account).
const MaxOpenSlots = 16

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
	CreatedAt int64  `db:"created_at"`
	ChangedAt int64  `db:"changed_at"`
}

const slotColumns = `chain, account, lineage, number, payment_id, gen, state, tx, block_hash, created_at, changed_at`

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

// BindSlot gives a queued payment the next number of its account, for good (rule R2). ErrConflict: the payment is not queued, the account may
// not sign, the payment's transfer is not decided or left the line, or an older line of ours may still pay it. ErrFull: MaxOpenSlots are open.
// ErrConflict and ErrHalted: the payment's chain or its transfer's chain is halted.
func (tx *Tx) BindSlot(paymentID uint64) (Slot, error) {
	s, err := tx.bindSlot(paymentID)
	if err != nil {
		return Slot{}, fmt.Errorf("binding payment %d: %w", paymentID, err)
	}
	return s, nil
}

func (tx *Tx) bindSlot(paymentID uint64) (Slot, error) {
	p, err := tx.Payment(paymentID)
	if err != nil {
		return Slot{}, err
	}
	a, err := tx.Account(p.Chain, p.Account)
	if err != nil {
		return Slot{}, err
	}
	if err := tx.checkBind(p, a); err != nil {
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
	_, err := tx.exec(`INSERT INTO slots (`+slotColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Chain, r.Account, r.Lineage, r.Number, r.PaymentID, r.Gen, r.State, r.Tx, r.BlockHash, r.CreatedAt, r.ChangedAt)
	if err != nil {
		return err
	}
	return tx.change(`UPDATE payments SET state = 'bound', changed_at = ? WHERE id = ? AND state = 'queued' AND gen = ?`, r.CreatedAt, r.PaymentID, r.Gen)
}

// checkBind is the last gate before money may leave.
func (tx *Tx) checkBind(p Payment, a Account) error {
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
	var open int
	if err := tx.one(&open, `SELECT COUNT(*) FROM slots WHERE chain = ? AND account = ? AND state = 'open'`, string(a.Chain), a.Account); err != nil {
		return err
	}
	if open >= MaxOpenSlots {
		return ErrFull
	}
	return nil
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

// OpenSlots answers the slots of an account that wait for a final block, lowest number first: what is to be signed and sent. All of them
// stand on the account's current line.
func (tx *Tx) OpenSlots(id chain.ID, account string) ([]OpenSlot, error) {
	out, err := tx.openSlots(id, account)
	if err != nil {
		return nil, fmt.Errorf("reading the open slots of %s on %s: %w", account, id, err)
	}
	return out, nil
}

func (tx *Tx) openSlots(id chain.ID, account string) ([]OpenSlot, error) {
	a, err := tx.Account(id, account)
	if err != nil {
		return nil, err
	}
	rows, err := tx.slotRows(`WHERE chain = ? AND account = ? AND state = 'open' ORDER BY number`, string(id), account)
	if err != nil {
		return nil, err
	}
	out := make([]OpenSlot, len(rows))
	for i, r := range rows {
		o := OpenSlot{Slot: r.slot(), KeyPath: a.KeyPath}
		if o.Payment, err = tx.Payment(r.PaymentID); err != nil {
			return nil, err
		}
		if o.Attempts, err = tx.Attempts(o.Slot); err != nil {
			return nil, err
		}
		if o.Prev, err = tx.prev(o.Slot); err != nil {
			return nil, err
		}
		if o.Mined, err = tx.mined(o.Slot); err != nil {
			return nil, err
		}
		out[i] = o
	}
	return out, nil
}

// prev is the hash that a block in the slot must follow: the base's for the first of a lineage, else that of the number before it, which is
// the newest attempt until a final block has told.
func (tx *Tx) prev(s Slot) (hash string, err error) {
	if s.Lineage == 0 {
		return "", nil
	}
	found, err := tx.get(&hash, `SELECT base_hash FROM lineages WHERE chain = ? AND account = ? AND lineage = ? AND base = ?`,
		string(s.Chain), s.Account, s.Lineage, s.Number)
	if err != nil || found {
		return hash, err
	}
	_, err = tx.get(&hash, `SELECT CASE WHEN s.tx <> '' THEN s.tx ELSE COALESCE((SELECT a.hash FROM attempts a
		WHERE a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number ORDER BY a.seq DESC LIMIT 1), '') END
		FROM slots s WHERE s.chain = ? AND s.account = ? AND s.lineage = ? AND s.number = ?`, string(s.Chain), s.Account, s.Lineage, s.Number-1)
	return hash, err
}

// mined tells whether an attempt of the slot stands in a block of the current line.
func (tx *Tx) mined(s Slot) (bool, error) {
	return tx.exists(`SELECT 1 FROM attempts a JOIN effects e ON e.chain = a.chain AND e.tx = a.hash
		JOIN blocks b ON b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1
		WHERE a.chain = ? AND a.account = ? AND a.lineage = ? AND a.number = ?`, string(s.Chain), s.Account, s.Lineage, s.Number)
}
