package records

import (
	"fmt"

	"gatewayd/chain"
)

// plainRow is the slot of an attempt that stands in a final block, with what decides whether there is more to it than that it is paid.
type plainRow struct {
	slotRow
	Hash    string `db:"hash"` // of the attempt
	Kind    string `db:"kind"`
	Purpose string `db:"purpose"`
	Payment string `db:"payment"` // its state
	Sibling bool   `db:"sibling"` // another line has an undecided slot with the number
}

// plain tells whether the slot is paid and nothing else follows: it is open, no other line has its number, and no books of a sweep are kept of it.
func (r plainRow) plain() bool {
	return r.State == SlotOpen && !r.Sibling && r.Kind != AttemptCancel && r.Payment == string(Bound) && r.Purpose != string(chain.Sweep)
}

// SettlePlain settles unsettled effects in final blocks of a chain as SettlePaid and MarkSettled do, many at a time: from the beginning of the list
// as far as they are plain, which is that an open slot is paid and nothing else follows from it. It answers those slots; what comes behind them
// is the caller's to look at. ErrNotFinal as SettlePaid's.
func (tx *Tx) SettlePlain(id chain.ID, list []Effect) (paid []Slot, err error) {
	for len(list) > 0 && err == nil {
		some := list[:min(len(list), rowsAtOnce[0])]
		var slots []Slot
		slots, err = tx.settlePlain(id, some)
		paid, list = append(paid, slots...), list[len(slots):]
		if len(slots) < len(some) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("settling %d effects on %s: %w", len(list), id, err)
	}
	return paid, nil
}

func (tx *Tx) settlePlain(id chain.ID, list []Effect) (paid []Slot, err error) {
	found, err := tx.plainRows(id, list)
	if err != nil {
		return nil, err
	}
	runs := map[settleRun][]Slot{}
	for _, e := range list {
		r, ok := found[e.Tx]
		if !ok || !e.OK || !r.plain() {
			break
		}
		s := r.slot()
		s.State, s.Tx, s.BlockHash = SlotPaid, e.Tx, e.BlockHash
		delete(found, e.Tx) // a slot is paid once
		run := settleRun{e.BlockHash, s.Account, s.Lineage}
		paid, runs[run] = append(paid, s), append(runs[run], s)
	}
	for run, slots := range runs {
		if err := tx.settleRun(id, run, slots); err != nil {
			return nil, err
		}
	}
	for _, s := range paid {
		if err := tx.logPayment(s.PaymentID, string(Paid), fmt.Sprintf("%s in block %s, slot %s", s.Tx, s.BlockHash, s.name())); err != nil {
			return nil, err
		}
	}
	return paid, nil
}

func (tx *Tx) plainRows(id chain.ID, list []Effect) (map[string]plainRow, error) {
	hashes := make([]string, len(list))
	for i, e := range list {
		hashes[i] = e.Tx
	}
	out := make(map[string]plainRow, len(list))
	err := inGroups(hashes, func(set string, in []any, _ int) error {
		var rows []plainRow
		err := tx.list(&rows, `SELECT `+qualified("s", slotColumns)+`, a.hash, a.kind, p.purpose, p.state AS payment,
			COALESCE((SELECT 1 FROM slots o WHERE o.chain = s.chain AND o.account = s.account AND o.number = s.number AND o.lineage + 0 <> s.lineage
				AND o.state IN ('open','forked') LIMIT 1), 0) AS sibling
			FROM attempts a CROSS JOIN slots s CROSS JOIN payments p
			WHERE s.chain = a.chain AND s.account = a.account AND s.lineage = a.lineage AND s.number = a.number AND p.id = s.payment_id
			AND a.chain = ? AND a.hash IN `+set, append([]any{string(id)}, in...)...)
		for _, r := range rows {
			out[r.Hash] = r
		}
		return err
	})
	return out, err
}

// settleRun is slots of one line of an account whose attempts stand in the same block.
type settleRun struct {
	blockHash, account string
	lineage            uint64
}

// settleRun writes that slots are paid: the slots, their payments and the effects, each all or none.
func (tx *Tx) settleRun(id chain.ID, run settleRun, slots []Slot) error {
	if err := tx.checkFinal(id, run.blockHash); err != nil {
		return err
	}
	numbers, payments, hashes := make([]uint64, len(slots)), make([]uint64, len(slots)), make([]string, len(slots))
	for i, s := range slots {
		numbers[i], payments[i], hashes[i] = s.Number, s.PaymentID, s.Tx
	}
	err := changeAll(tx, numbers, `UPDATE slots SET state = 'paid', block_hash = ?, mined_in = '', changed_at = ?, tx = (SELECT a.hash FROM attempts a
			WHERE a.chain = slots.chain AND a.account = slots.account AND a.lineage = slots.lineage AND a.number = slots.number AND a.kind <> 'cancel'
			AND EXISTS (SELECT 1 FROM effects e WHERE e.chain = a.chain AND e.tx = a.hash AND e.block_hash = ?))
		WHERE chain = ? AND account = ? AND lineage = ? AND state = 'open' AND number IN `,
		run.blockHash, tx.millis(), run.blockHash, string(id), run.account, run.lineage)
	if err != nil {
		return err
	}
	err = changeAll(tx, payments, `UPDATE payments SET state = 'paid', reason = '', changed_at = ?,
			tx = (SELECT s.tx FROM slots s WHERE s.payment_id = payments.id AND s.state IN ('open','paid') AND s.state = 'paid')
		WHERE state = 'bound' AND id IN `, tx.millis())
	if err != nil {
		return err
	}
	return changeAll(tx, hashes, `UPDATE effects SET settled = 1 WHERE chain = ? AND block_hash = ? AND settled = 0 AND tx IN `, string(id), run.blockHash)
}
