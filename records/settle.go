package records

import (
	"fmt"

	"gatewayd/chain"
)

// SettlePaid records that an attempt of the slot, hash tx, stands in the final block and did what it says: slot and payment are paid, for good.
// Slots of other lineages with the same number are thereby void. A forked slot may turn out to be the one that pays, after Branch has taken
// its payment out of every other slot. ErrNotFinal: the block is not a final block of the line. ErrConflict: the slot is decided, tx is
// not an attempt of it that pays, or the payment is bound elsewhere.
func (tx *Tx) SettlePaid(s Slot, hash, blockHash string) error {
	if err := tx.settlePaid(s, hash, blockHash); err != nil {
		return fmt.Errorf("settling slot %s as paid by %s: %w", s.name(), hash, err)
	}
	return nil
}

func (tx *Tx) settlePaid(s Slot, hash, blockHash string) error {
	if err := tx.checkFinal(s.Chain, blockHash); err != nil {
		return err
	}
	pays, err := tx.exists(`SELECT 1 FROM attempts WHERE chain = ? AND hash = ? AND account = ? AND lineage = ? AND number = ? AND kind <> 'cancel'`,
		string(s.Chain), hash, s.Account, s.Lineage, s.Number)
	if err != nil {
		return err
	}
	if !pays {
		return fmt.Errorf("%w: no attempt of it that pays", ErrConflict)
	}
	if err := tx.voidSiblings(s, hash, blockHash); err != nil {
		return err
	}
	elsewhere, err := tx.exists(`SELECT 1 FROM slots WHERE payment_id = ? AND state IN ('open','paid') AND NOT (lineage = ? AND number = ?)`, s.PaymentID, s.Lineage, s.Number)
	if err != nil {
		return err
	}
	if elsewhere {
		return fmt.Errorf("%w: payment %d is bound elsewhere", ErrConflict, s.PaymentID)
	}
	if err := tx.decide(s, SlotPaid, hash, blockHash); err != nil {
		return err
	}
	err = tx.change(`UPDATE payments SET state = 'paid', reason = '', tx = ?, changed_at = ? WHERE id = ? AND state IN ('bound','queued','held')`,
		hash, tx.millis(), s.PaymentID)
	if err != nil {
		return err
	}
	if err := tx.noteSweep(s.PaymentID); err != nil {
		return err
	}
	return tx.logPayment(s.PaymentID, string(Paid), fmt.Sprintf("%s in block %s, slot %s", hash, blockHash, s.name()))
}

// SettleVoid records that the slot's number is used up in the final block by tx without paying: a failed attempt, a cancellation, or something
// else. The payment of an open slot is queued again under its next generation, or held for an operator with the reason. A forked slot's
// payment is free already. Errors as SettlePaid's.
func (tx *Tx) SettleVoid(s Slot, hash, blockHash, reason string, requeue bool) error {
	if err := tx.settleVoid(s, hash, blockHash, reason, requeue); err != nil {
		return fmt.Errorf("settling slot %s as void by %s: %w", s.name(), hash, err)
	}
	return nil
}

func (tx *Tx) settleVoid(s Slot, hash, blockHash, reason string, requeue bool) error {
	if err := tx.checkFinal(s.Chain, blockHash); err != nil {
		return err
	}
	if err := tx.voidSiblings(s, hash, blockHash); err != nil {
		return err
	}
	to := HeldPayment
	if requeue {
		to = Queued
	}
	return tx.voidSlot(s, hash, blockHash, reason, to)
}

// voidSlot decides a slot as void and frees its payment when the slot was open.
func (tx *Tx) voidSlot(s Slot, hash, blockHash, reason string, to PaymentState) error {
	open, err := tx.exists(`SELECT 1 FROM slots WHERE chain = ? AND account = ? AND lineage = ? AND number = ? AND state = 'open'`,
		string(s.Chain), s.Account, s.Lineage, s.Number)
	if err != nil {
		return err
	}
	if err := tx.decide(s, SlotVoid, hash, blockHash); err != nil {
		return err
	}
	if err := tx.logPayment(s.PaymentID, "slot_void", fmt.Sprintf("%s by %s in block %s", s.name(), hash, blockHash)); err != nil || !open {
		return err
	}
	return tx.free(s.PaymentID, to, reason)
}

// free takes a bound payment out of its slot, under a new generation.
func (tx *Tx) free(paymentID uint64, to PaymentState, reason string) error {
	err := tx.change(`UPDATE payments SET state = ?, reason = ?, gen = gen + 1, changed_at = ? WHERE id = ? AND state = 'bound'`,
		string(to), note(reason), tx.millis(), paymentID)
	if err != nil {
		return err
	}
	return tx.logPayment(paymentID, string(to), reason)
}

// decide writes the outcome of an undecided slot.
func (tx *Tx) decide(s Slot, state, hash, blockHash string) error {
	return tx.change(`UPDATE slots SET state = ?, tx = ?, block_hash = ?, mined_in = '', changed_at = ?
		WHERE chain = ? AND account = ? AND lineage = ? AND number = ? AND payment_id = ? AND state IN ('open','forked')`,
		state, hash, blockHash, tx.millis(), string(s.Chain), s.Account, s.Lineage, s.Number, s.PaymentID)
}

// voidSiblings decides the slots of other lineages with the same number: a final block stands there, and it is none of theirs.
func (tx *Tx) voidSiblings(s Slot, hash, blockHash string) error {
	rows, err := tx.slotRows(`WHERE chain = ? AND account = ? AND number = ? AND lineage + 0 <> ? AND state IN ('open','forked') ORDER BY lineage + 0`,
		string(s.Chain), s.Account, s.Number, s.Lineage)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := tx.voidSlot(r.slot(), hash, blockHash, "another line became final", Queued); err != nil {
			return err
		}
	}
	return nil
}

// checkFinal is ErrNotFinal unless the block is canonical and not above the final point (rules R3 and R4).
func (tx *Tx) checkFinal(id chain.ID, blockHash string) error {
	final, err := tx.exists(`SELECT 1 FROM blocks b JOIN cursors c ON c.chain = b.chain
		WHERE b.chain = ? AND b.hash = ? AND b.canonical = 1 AND b.height <= c.final_height`, string(id), blockHash)
	if err == nil && !final {
		return fmt.Errorf("%w: %s", ErrNotFinal, blockHash)
	}
	return err
}

// Branch begins a new line of an account whose ledger links blocks: the next block has number base and follows baseHash. Open slots that
// are not on the way to baseHash become forked and their payments are queued again: no line holds a payment twice, and lines exclude each other
// (docs/payment-rules.md 3). It answers the new lineage. ErrConflict: the account counts nonces, or a final block stands at base or above.
func (tx *Tx) Branch(id chain.ID, account string, base uint64, baseHash, why string) (uint64, error) {
	a, err := tx.Account(id, account)
	if err == nil {
		err = tx.branch(&a, base, baseHash, why)
	}
	if err != nil {
		return 0, fmt.Errorf("branching the account %s on %s at %d: %w", account, id, base, err)
	}
	return a.Lineage, nil
}

func (tx *Tx) branch(a *Account, base uint64, baseHash, why string) error {
	if a.Lineage == 0 || baseHash == "" || base == 0 {
		return fmt.Errorf("%w: the account's blocks are not linked, or no base is given", ErrConflict)
	}
	decided, err := tx.exists(`SELECT 1 FROM slots WHERE chain = ? AND account = ? AND number >= ? AND state IN ('paid','void')
		AND lineage IN (SELECT l.lineage FROM lineages l WHERE l.chain = ? AND l.account = ? UNION SELECT CAST(? AS BIGINT))`,
		string(a.Chain), a.Account, base, string(a.Chain), a.Account, int64(operatorLine))
	if err != nil {
		return err
	}
	if decided {
		return fmt.Errorf("%w: a final block stands there", ErrConflict)
	}
	if err := tx.fork(a, base, baseHash, why); err != nil {
		return err
	}
	a.Lineage++
	if err := tx.addLineage(*a, base, baseHash, why); err != nil {
		return err
	}
	err = tx.change(`UPDATE accounts SET lineage = ?, base = ?, next = ? WHERE chain = ? AND account = ? AND lineage = ?`,
		a.Lineage, base, base, string(a.Chain), a.Account, a.Lineage-1)
	if err != nil {
		return err
	}
	return tx.log("account", a.Account, "branched", fmt.Sprintf("on %s, lineage %d, base %d %s: %s", a.Chain, a.Lineage, base, baseHash, why))
}

// fork excludes the open slots that the new line does not contain. Those below base stay when baseHash is an attempt of a slot of their
// lineage or of a later one; when baseHash is none of our attempts, no open slot can be told to be on the line.
func (tx *Tx) fork(a *Account, base uint64, baseHash, why string) error {
	onLine := int64(-1)
	_, err := tx.get(&onLine, `SELECT lineage FROM attempts WHERE chain = ? AND account = ? AND hash = ? AND number = ?`,
		string(a.Chain), a.Account, baseHash, base-1)
	if err != nil {
		return err
	}
	rows, err := tx.slotRows(`WHERE chain = ? AND account = ? AND state IN ('open','forked') AND state = 'open' AND (number >= ? OR lineage > ?) ORDER BY number`,
		string(a.Chain), a.Account, base, onLine)
	if err != nil {
		return err
	}
	for _, r := range rows {
		s := r.slot()
		err := tx.change(`UPDATE slots SET state = 'forked', mined_in = '', changed_at = ? WHERE chain = ? AND account = ? AND lineage = ? AND number = ? AND state = 'open'`,
			tx.millis(), r.Chain, r.Account, r.Lineage, r.Number)
		if err == nil {
			err = tx.logPayment(r.PaymentID, "slot_forked", s.name()+": "+why)
		}
		if err == nil {
			err = tx.free(r.PaymentID, Queued, why)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
