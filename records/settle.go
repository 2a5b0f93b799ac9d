package records

import (
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// SettlePaid records that the slot's attempt with a hash is in a final block and did what its
// fields request: slot and payment are paid, permanently. Slots of other branches with the same
// number become void. The slot may be forked, if NewBranch has removed its payment from every other
// slot. ErrNotFinal: the block is not a final block of the chain. ErrConflict: the slot is decided,
// the hash is not that of a paying attempt of it, or the payment is bound elsewhere.
func (tx Slots) SettlePaid(s Slot, hash, blockHash string) error {
	if err := tx.settlePaid(s, hash, blockHash); err != nil {
		return fmt.Errorf("settling slot %s as paid by %s: %w", s.name(), hash, err)
	}
	return nil
}

func (tx Slots) settlePaid(s Slot, hash, blockHash string) error {
	if err := tx.checkFinal(s.Chain, blockHash); err != nil {
		return err
	}
	pays, err := tx.exists(`SELECT 1 FROM attempts WHERE chain = ? AND hash = ? AND account = ? AND lineage = ? AND number = ? AND kind <> 'cancel'`,
		string(s.Chain), hash, s.Account, s.Branch, s.Nonce)
	if err != nil {
		return err
	}
	if !pays {
		return fmt.Errorf("%w: no attempt of it that pays", ErrConflict)
	}
	if err := tx.voidSiblings(s, hash, blockHash); err != nil {
		return err
	}
	elsewhere, err := tx.exists(`SELECT 1 FROM slots WHERE payment_id = ? AND state IN ('open','paid') AND NOT (lineage = ? AND number = ?)`, s.PaymentID, s.Branch, s.Nonce)
	if err != nil {
		return err
	}
	if elsewhere {
		return fmt.Errorf("%w: payment %d is bound elsewhere", ErrConflict, s.PaymentID)
	}
	if err := tx.decideSlot(s, SlotPaid, hash, blockHash); err != nil {
		return err
	}
	err = tx.change(`UPDATE payments SET state = 'paid', reason = '', tx = ?, changed_at = ? WHERE id = ? AND state IN ('bound','queued','held')`,
		hash, tx.millis(), s.PaymentID)
	if err != nil {
		return err
	}
	if err := tx.Treasury().noteSweep(s.PaymentID); err != nil {
		return err
	}
	return tx.logPayment(s.PaymentID, string(Paid), fmt.Sprintf("%s in block %s, slot %s", hash, blockHash, s.name()))
}

// SettleVoid records that the slot's number is used up in the final block by tx without paying: a
// failed attempt, a cancellation, or something else. The payment of an open slot is queued again
// under its next generation, or held for an operator with the reason. A forked slot's payment is
// free already. Errors as SettlePaid's.
func (tx Slots) SettleVoid(s Slot, hash, blockHash string, reason Reason, requeue bool) error {
	if err := tx.settleVoid(s, hash, blockHash, reason, requeue); err != nil {
		return fmt.Errorf("settling slot %s as void by %s: %w", s.name(), hash, err)
	}
	return nil
}

func (tx Slots) settleVoid(s Slot, hash, blockHash string, reason Reason, requeue bool) error {
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
func (tx Slots) voidSlot(s Slot, hash, blockHash string, reason Reason, to PaymentState) error {
	open, err := tx.exists(`SELECT 1 FROM slots WHERE chain = ? AND account = ? AND lineage = ? AND number = ? AND place = ? AND state = 'open'`,
		string(s.Chain), s.Account, s.Branch, s.Nonce, s.Place)
	if err != nil {
		return err
	}
	if err := tx.decideSlot(s, SlotVoid, hash, blockHash); err != nil {
		return err
	}
	if err := tx.logPayment(s.PaymentID, "slot_void", fmt.Sprintf("%s by %s in block %s", s.name(), hash, blockHash)); err != nil || !open {
		return err
	}
	return tx.freePayment(s.PaymentID, to, reason)
}

// freePayment takes a bound payment out of its slot, under a new generation. A merge ends: another
// one is ordered where it is needed.
func (tx Slots) freePayment(paymentID uint64, to PaymentState, reason Reason) error {
	p, err := tx.Payments().Get(paymentID)
	if err != nil {
		return err
	}
	if p.Purpose == chain.Merge {
		to = HeldPayment
	}
	err = tx.change(`UPDATE payments SET state = ?, reason = ?, gen = gen + 1, changed_at = ? WHERE id = ? AND state = 'bound'`,
		string(to), sqlstore.Note(string(reason)), tx.millis(), paymentID)
	if err != nil {
		return err
	}
	if err := tx.logPayment(paymentID, string(to), string(reason)); err != nil || p.Purpose != chain.Merge {
		return err
	}
	return tx.Payments().Move(paymentID, HeldPayment, VoidPayment, reason)
}

// decideSlot writes the outcome of an undecided slot.
func (tx Slots) decideSlot(s Slot, state, hash, blockHash string) error {
	err := tx.changeNamed(`UPDATE slots SET state = :state, tx = :tx, block_hash = :block_hash, mined_in = '', changed_at = :now
		WHERE chain = :chain AND account = :account AND lineage = :lineage AND number = :number AND payment_id = :payment_id AND state IN ('open','forked')`,
		params{
			"state": state, "tx": hash, "block_hash": blockHash, "now": tx.millis(),
			"chain": s.Chain, "account": s.Account, "lineage": s.Branch, "number": s.Nonce, "payment_id": s.PaymentID,
		})
	if err != nil {
		return err
	}
	return tx.Coins().release(s)
}

// voidSiblings decides the slots of other branches with the same number: a final block has that
// number, and it is none of theirs.
func (tx Slots) voidSiblings(s Slot, hash, blockHash string) error {
	rows, err := tx.slotRows(`WHERE chain = ? AND account = ? AND number = ? AND lineage + 0 <> ? AND state IN ('open','forked') ORDER BY lineage + 0`,
		string(s.Chain), s.Account, s.Nonce, s.Branch)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := tx.voidSlot(r.slot(), hash, blockHash, "another fork became final", Queued); err != nil {
			return err
		}
	}
	return nil
}

// checkFinal is ErrNotFinal unless the block is canonical and not above the final point (rules R3
// and R4).
func (tx Slots) checkFinal(id chain.ID, blockHash string) error {
	final, err := tx.exists(`SELECT 1 FROM blocks b JOIN cursors c ON c.chain = b.chain
		WHERE b.chain = ? AND b.hash = ? AND b.canonical = 1 AND b.height <= c.final_height`, string(id), blockHash)
	if err == nil && !final {
		return fmt.Errorf("%w: %s", ErrNotFinal, blockHash)
	}
	return err
}

// NewBranch begins a new branch of an account whose ledger links blocks: the next block has number
// base and follows baseHash. Open slots that are not ancestors of baseHash become forked and their
// payments are queued again. No branch holds a payment twice, and branches exclude each other
// (docs/payment-rules.md 3). It returns the new branch. ErrConflict: the account counts nonces, or
// a final block is at base or above.
func (tx Slots) NewBranch(id chain.ID, account string, base uint64, baseHash, why string) (uint64, error) {
	a, err := tx.Accounts().Get(id, account)
	if err == nil {
		err = tx.startBranch(&a, base, baseHash, why)
	}
	if err != nil {
		return 0, fmt.Errorf("branching the account %s on %s at %d: %w", account, id, base, err)
	}
	return a.Branch, nil
}

func (tx Slots) startBranch(a *Account, base uint64, baseHash, why string) error {
	if a.Branch == 0 || baseHash == "" || base == 0 {
		return fmt.Errorf("%w: the account's blocks are not linked, or no base is given", ErrConflict)
	}
	decided, err := tx.exists(`SELECT 1 FROM slots WHERE chain = ? AND account = ? AND number >= ? AND state IN ('paid','void')
		AND lineage IN (SELECT l.lineage FROM lineages l WHERE l.chain = ? AND l.account = ? UNION SELECT CAST(? AS BIGINT))`,
		string(a.Chain), a.Account, base, string(a.Chain), a.Account, int64(operatorLine))
	if err != nil {
		return err
	}
	if decided {
		return fmt.Errorf("%w: there is a final block", ErrConflict)
	}
	if err := tx.forkSlots(a, base, baseHash, why); err != nil {
		return err
	}
	a.Branch++
	if err := tx.Accounts().addBranch(*a, base, baseHash, why); err != nil {
		return err
	}
	err = tx.change(`UPDATE accounts SET lineage = ?, base = ?, next = ? WHERE chain = ? AND account = ? AND lineage = ?`,
		a.Branch, base, base, string(a.Chain), a.Account, a.Branch-1)
	if err != nil {
		return err
	}
	return tx.log("account", a.Account, "branched", fmt.Sprintf("on %s, lineage %d, base %d %s: %s", a.Chain, a.Branch, base, baseHash, why))
}

// forkSlots excludes the open slots that the new branch does not contain. Those below base stay
// when baseHash is an attempt of a slot of their branch or of a later one. When baseHash is none of
// our attempts, no open slot is known to be on the chain.
func (tx Slots) forkSlots(a *Account, base uint64, baseHash, why string) error {
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
		err := tx.change(`UPDATE slots SET state = 'forked', mined_in = '', changed_at = ? WHERE chain = ? AND account = ? AND lineage = ? AND number = ? AND place = ? AND state = 'open'`,
			tx.millis(), r.Chain, r.Account, r.Branch, r.Number, r.Place)
		if err == nil {
			err = tx.logPayment(r.PaymentID, "slot_forked", s.name()+": "+why)
		}
		if err == nil {
			err = tx.freePayment(r.PaymentID, Queued, Reason(why))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// paidRow is the slot of an attempt in a final block, with what decides whether it can be settled
// as paid and nothing else follows.
type paidRow struct {
	slotRow
	Hash    string `db:"hash"` // of the attempt
	Kind    string `db:"kind"`
	Purpose string `db:"purpose"`
	Payment string `db:"payment"` // its state
	Sibling bool   `db:"sibling"` // another line has an undecided slot with the number
}

// onlyPaid reports whether settling the slot has no other consequence: it is open, no other branch
// has an undecided slot with its number, and its payment is no sweep.
func (r paidRow) onlyPaid() bool {
	return r.State == SlotOpen && !r.Sibling && r.Kind != AttemptCancel && r.Payment == string(Bound) && r.Purpose != string(chain.Sweep)
}

// SettlePaidPrefix settles own transactions in final blocks of a chain as SettlePaid and
// MarkSettled do, many at a time: from the beginning of the list up to the first from which
// something else follows than that open slots are paid. It returns the slots that it settled, and
// of how many transactions; the caller settles the next transaction itself. ErrNotFinal as of
// SettlePaid.
func (tx Slots) SettlePaidPrefix(id chain.ID, list []OwnTx) (paid []Slot, settled int, err error) {
	for settled < len(list) {
		some := list[settled:min(len(list), settled+sqlstore.Group)]
		slots, n, err := tx.settlePaidPrefix(id, some)
		if err != nil {
			return nil, 0, fmt.Errorf("settling %d effects on %s: %w", len(some), id, err)
		}
		paid, settled = append(paid, slots...), settled+n
		if n < len(some) {
			break
		}
	}
	return paid, settled, nil
}

func (tx Slots) settlePaidPrefix(id chain.ID, list []OwnTx) (paid []Slot, settled int, err error) {
	found, err := tx.paidRows(id, list)
	if err != nil {
		return nil, 0, err
	}
	runs := map[settleRun][]Slot{}
	for _, e := range list {
		rows := found[e.Tx]
		if !allPaid(e, rows) {
			break
		}
		delete(found, e.Tx) // a slot is paid once
		settled++
		for _, r := range rows {
			s := r.slot()
			s.State, s.Tx, s.BlockHash = SlotPaid, e.Tx, e.BlockHash
			run := settleRun{e.BlockHash, s.Account, s.Branch}
			paid, runs[run] = append(paid, s), append(runs[run], s)
		}
	}
	for run, slots := range runs {
		if err := tx.settleRun(id, run, slots); err != nil {
			return nil, 0, err
		}
	}
	for _, s := range paid {
		if err := tx.logPayment(s.PaymentID, string(Paid), fmt.Sprintf("%s in block %s, slot %s", s.Tx, s.BlockHash, s.name())); err != nil {
			return nil, 0, err
		}
	}
	return paid, settled, nil
}

// allPaid reports whether an own transaction made all payments of its slots, and nothing else
// follows from it.
func allPaid(e OwnTx, rows []paidRow) bool {
	made := e.Made(len(rows))
	for i, r := range rows {
		if r.Place != i || made[i] != chain.MemberPaid || !r.onlyPaid() {
			return false
		}
	}
	return len(rows) > 0
}

// Made returns the outcomes of an own transaction's payments, of which there are count. What a
// block does not show of a batch counts as different, so that a person decides.
func (e OwnTx) Made(count int) []chain.Outcome {
	whole := chain.MemberDiffers
	switch {
	case e.OK && count == 1 && len(e.Members) == 0:
		whole = chain.MemberPaid
	case e.Void:
		whole = chain.MemberVoid
	case e.OK && len(e.Members) == count:
		return e.Members
	}
	return slices.Repeat([]chain.Outcome{whole}, count)
}

// paidRows returns the slots of each transaction, in the order of their places.
func (tx Slots) paidRows(id chain.ID, list []OwnTx) (map[string][]paidRow, error) {
	hashes := make([]string, len(list))
	for i, e := range list {
		hashes[i] = e.Tx
	}
	out := make(map[string][]paidRow, len(list))
	err := sqlstore.InGroups(hashes, func(set string, in []any, _ int) error {
		var rows []paidRow
		err := tx.list(&rows, `SELECT `+qualified("s", slotColumns)+`, a.hash, a.kind, p.purpose, p.state AS payment,
			COALESCE((SELECT 1 FROM slots o WHERE o.chain = s.chain AND o.account = s.account AND o.number = s.number AND o.lineage + 0 <> s.lineage
				AND o.state IN ('open','forked') LIMIT 1), 0) AS sibling
			FROM attempts a CROSS JOIN slots s CROSS JOIN payments p
			WHERE s.chain = a.chain AND s.account = a.account AND s.lineage = a.lineage AND s.number = a.number AND p.id = s.payment_id
			AND a.chain = ? AND a.hash IN `+set+` ORDER BY s.chain, s.account, s.lineage, s.number, s.place`, append([]any{string(id)}, in...)...)
		for _, r := range rows {
			out[r.Hash] = append(out[r.Hash], r)
		}
		return err
	})
	return out, err
}

// settleRun contains slots of one branch of an account whose attempts are in the same block.
type settleRun struct {
	blockHash, account string
	branch             uint64
}

// settleRun writes that slots are paid: the slots, their payments and the own transactions, each
// all or none.
func (tx Slots) settleRun(id chain.ID, run settleRun, slots []Slot) error {
	if err := tx.checkFinal(id, run.blockHash); err != nil {
		return err
	}
	payments := make([]uint64, len(slots))
	var numbers []uint64
	for i, s := range slots {
		payments[i] = s.PaymentID
		if s.Place == 0 {
			numbers = append(numbers, s.Nonce)
		}
	}
	err := sqlstore.ChangeAll(tx.sql, payments, `UPDATE slots SET state = 'paid', block_hash = ?, mined_in = '', changed_at = ?, tx = (SELECT a.hash FROM attempts a
			WHERE a.chain = slots.chain AND a.account = slots.account AND a.lineage = slots.lineage AND a.number = slots.number AND a.kind <> 'cancel'
			AND EXISTS (SELECT 1 FROM effects e WHERE e.chain = a.chain AND e.account = a.account AND e.number = a.number AND e.tx = a.hash AND e.block_hash = ?))
		WHERE chain = ? AND account = ? AND lineage = ? AND state IN ('open','paid') AND state = 'open' AND payment_id IN `,
		run.blockHash, tx.millis(), run.blockHash, string(id), run.account, run.branch)
	if err != nil {
		return err
	}
	for _, s := range slots {
		if s.Place == 0 && err == nil {
			err = tx.Coins().release(s)
		}
	}
	if err != nil {
		return err
	}
	err = sqlstore.ChangeAll(tx.sql, payments, `UPDATE payments SET state = 'paid', reason = '', changed_at = ?,
			tx = (SELECT s.tx FROM slots s WHERE s.payment_id = payments.id AND s.state IN ('open','paid') AND s.state = 'paid')
		WHERE state = 'bound' AND id IN `, tx.millis())
	if err != nil {
		return err
	}
	return sqlstore.ChangeAll(tx.sql, numbers, `UPDATE effects SET settled = 1 WHERE chain = ? AND account = ? AND block_hash = ? AND settled = 0 AND number IN `,
		string(id), run.account, run.blockHash)
}
