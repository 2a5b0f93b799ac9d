package records

import (
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

// BindSlot is BindSlots of one payment: what it waits for is the error.
func (tx *Tx) BindSlot(paymentID uint64, maxUnmined int) (Slot, error) {
	bound, waits, err := tx.BindSlots([]uint64{paymentID}, maxUnmined)
	if err == nil && len(bound) == 0 {
		err = waits[paymentID]
	}
	if err != nil {
		return Slot{}, err
	}
	return bound[0], nil
}

// BindSlots gives queued payments of one account the account's next numbers, for good and in the order given (rule R2). What must wait is left out
// and told by payment. ErrFull: maxUnmined slots of the account are in no block yet. ErrWaits, with ErrConflict: the payment is not queued, the
// account may not sign, the payment's transfer is not decided or left the line, an older line of ours may still pay it, or, with ErrHalted too, its
// chain or its transfer's chain is halted. After any other error the transaction must not be committed.
func (tx *Tx) BindSlots(payments []uint64, maxUnmined int) (bound []Slot, waits map[uint64]error, err error) {
	bound, waits, err = tx.bindSlots(payments, maxUnmined)
	if err != nil {
		return nil, nil, fmt.Errorf("binding payments %v: %w", payments, err)
	}
	for id, why := range waits {
		waits[id] = fmt.Errorf("binding payment %d: %w", id, why)
	}
	return bound, waits, nil
}

func (tx *Tx) bindSlots(payments []uint64, maxUnmined int) (bound []Slot, waits map[uint64]error, err error) {
	found, err := tx.bindable(payments)
	if err != nil || len(payments) == 0 {
		return nil, nil, err
	}
	a, err := tx.Account(chain.ID(found[0].Chain), found[0].Account)
	if err != nil {
		return nil, nil, err
	}
	unmined, err := tx.unmined(a.Chain, a.Account)
	if err != nil {
		return nil, nil, err
	}
	waits = map[uint64]error{}
	for _, p := range found {
		why := p.waits(a)
		if why == nil && unmined+len(bound) >= maxUnmined {
			why = ErrFull
		}
		if why != nil {
			waits[p.ID] = why
			continue
		}
		bound = append(bound, Slot{
			Chain: a.Chain, Account: a.Account, Lineage: a.Lineage, Number: a.Next + uint64(len(bound)), PaymentID: p.ID, Gen: p.Gen, State: SlotOpen,
			CreatedAt: tx.now, ChangedAt: tx.now,
		})
	}
	return bound, waits, tx.bind(a, bound)
}

// bind takes the numbers of an account's new slots and stores them.
func (tx *Tx) bind(a Account, slots []Slot) error {
	if len(slots) == 0 {
		return nil
	}
	err := tx.change(`UPDATE accounts SET next = next + ? WHERE chain = ? AND account = ? AND lineage = ? AND next = ? AND state = 'ok'`,
		len(slots), string(a.Chain), a.Account, a.Lineage, a.Next)
	if err == nil {
		err = tx.openSlots(slots)
	}
	for _, s := range slots {
		if err == nil {
			err = tx.logPayment(s.PaymentID, string(Bound), "to slot "+s.name())
		}
	}
	return err
}

// openSlots stores slots and binds their payments to them.
func (tx *Tx) openSlots(slots []Slot) error {
	rows, payments := make([][]any, len(slots)), make([]uint64, len(slots))
	for i, s := range slots {
		payments[i] = s.PaymentID
		rows[i] = []any{string(s.Chain), s.Account, s.Lineage, s.Number, s.PaymentID, s.Gen, s.State, "", "", "", tx.millis(), tx.millis()}
	}
	if err := tx.insert(`slots (`+slotColumns+`)`, rows, ""); err != nil {
		return err
	}
	return changeAll(tx, payments, `UPDATE payments SET state = 'bound', reason = '', changed_at = ? WHERE state = 'queued' AND id IN `, tx.millis())
}

// bindRow is a payment with what may keep it from being bound.
type bindRow struct {
	paymentRow
	Undecided bool   `db:"undecided"` // its transfer
	OffLine   bool   `db:"off_line"`  // its transfer's block
	ForkedAt  int64  `db:"forked_at"` // lowest number of a slot of an older line that is not decided; -1 for none
	Halted    string `db:"halted"`    // its chain or its transfer's, if one is
}

// bindable reads payments in the order given, or is ErrNotFound. They must be one account's.
func (tx *Tx) bindable(payments []uint64) ([]bindRow, error) {
	read := make(map[uint64]bindRow, len(payments))
	err := inGroups(payments, func(set string, in []any, _ int) error {
		var rows []bindRow
		err := tx.list(&rows, `SELECT `+qualified("p", paymentColumns)+`,
			COALESCE((SELECT 1 FROM transfers t WHERE t.id = p.transfer_id AND t.state IN ('seen','orphaned') LIMIT 1), 0) AS undecided,
			COALESCE((SELECT 1 FROM transfers t WHERE t.id = p.transfer_id AND (`+offLine+`) LIMIT 1), 0) AS off_line,
			COALESCE((SELECT MIN(s.number) FROM slots s WHERE s.payment_id = p.id AND s.state = 'forked'), -1) AS forked_at,
			COALESCE((SELECT MIN(c.chain) FROM cursors c WHERE c.state = 'halted'
				AND (c.chain = p.chain OR c.chain = (SELECT t.chain FROM transfers t WHERE t.id = p.transfer_id))), '') AS halted
			FROM payments p WHERE p.id IN `+set, in...)
		for _, r := range rows {
			read[r.ID] = r
		}
		return err
	})
	out := make([]bindRow, len(payments))
	for i, id := range payments {
		r, ok := read[id]
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fmt.Errorf("payment %d: %w", id, ErrNotFound)
		case r.Chain != read[payments[0]].Chain || r.Account != read[payments[0]].Account:
			return nil, fmt.Errorf("payment %d is another account's than payment %d", id, payments[0])
		}
		out[i] = r
	}
	return out, err
}

// waits is the last gate before money may leave: why the payment cannot be bound now.
func (p bindRow) waits(a Account) error {
	transfer := uint64(p.TransferID.Int64)
	switch {
	case p.State != string(Queued):
		return fmt.Errorf("%w: %w: the payment is %s", ErrWaits, ErrConflict, p.State)
	case a.State != AccountOK:
		return fmt.Errorf("%w: %w: the account is %s", ErrWaits, ErrConflict, a.State)
	case p.Halted != "":
		return fmt.Errorf("%w: %w: %w: %s", ErrWaits, ErrConflict, ErrHalted, p.Halted)
	case p.Undecided:
		return fmt.Errorf("%w: %w: transfer %d is not decided", ErrWaits, ErrConflict, transfer)
	case p.OffLine:
		return fmt.Errorf("%w: %w: the block of transfer %d is not of the line", ErrWaits, ErrConflict, transfer)
	case p.ForkedAt >= 0 && uint64(p.ForkedAt) < a.Base: // it may be part of the line: the payment would stand on it twice
		return fmt.Errorf("%w: %w: an older slot of it is not decided", ErrWaits, ErrConflict)
	}
	return nil
}

// unmined counts the slots of an account that stand in no block of the line yet.
func (tx *Tx) unmined(id chain.ID, account string) (n int, err error) {
	err = tx.one(&n, `SELECT COUNT(*) FROM slots WHERE chain = ? AND account = ? AND state = 'open' AND mined_in = ''`, string(id), account)
	return n, err
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
