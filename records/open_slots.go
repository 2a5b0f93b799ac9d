package records

import (
	"fmt"
	"strings"

	"gatewayd/chain"
)

// Which open slots are read: all of them, or those that stand in no block of the line. The first form names its index's condition for SQLite.
const (
	openSlots    = `s.chain = ? AND s.account = ? AND s.state IN ('open','forked') AND s.state = 'open'`
	unminedSlots = `s.chain = ? AND s.account = ? AND s.state = 'open' AND s.mined_in = ''`
)

// OpenSlots answers all slots of an account that wait for a final block, lowest number first. There may be tens of thousands. All of them
// stand on the account's current line.
func (tx *Tx) OpenSlots(id chain.ID, account string) ([]OpenSlot, error) {
	return tx.readOpen(openSlots, id, account)
}

// UnminedSlots answers the open slots of an account that stand in no block of the line yet, lowest number first: what is to be signed and sent.
func (tx *Tx) UnminedSlots(id chain.ID, account string) ([]OpenSlot, error) {
	return tx.readOpen(unminedSlots, id, account)
}

func (tx *Tx) readOpen(which string, id chain.ID, account string) ([]OpenSlot, error) {
	out, err := tx.openWith(which, id, account)
	if err != nil {
		return nil, fmt.Errorf("reading the open slots of %s on %s: %w", account, id, err)
	}
	return out, nil
}

// openWith reads the slots with their payments and attempts in three queries, however many there are.
func (tx *Tx) openWith(which string, id chain.ID, account string) ([]OpenSlot, error) {
	a, err := tx.Account(id, account)
	if err != nil {
		return nil, err
	}
	slots, err := tx.slotRows(`s WHERE `+which+` ORDER BY s.number`, string(id), account)
	if err != nil || len(slots) == 0 {
		return nil, err
	}
	payments, err := tx.paymentsOfSlots(which, id, account)
	if err != nil {
		return nil, err
	}
	attempts, err := tx.attemptsOfSlots(which, id, account)
	if err != nil {
		return nil, err
	}
	out := make([]OpenSlot, len(slots))
	for i, r := range slots {
		out[i] = OpenSlot{
			Slot: r.slot(), KeyPath: a.KeyPath, Payment: payments[r.PaymentID], Attempts: attempts[place{r.Lineage, r.Number}], Mined: r.MinedIn != "",
		}
	}
	return out, tx.link(out)
}

// qualified puts a table's name before each column of a list.
func qualified(table, columns string) string {
	return table + "." + strings.Join(strings.Split(columns, ", "), ", "+table+".")
}

// place is a slot of one account.
type place struct{ lineage, number uint64 }

func (tx *Tx) paymentsOfSlots(which string, id chain.ID, account string) (map[uint64]Payment, error) {
	var rows []paymentRow
	err := tx.list(&rows, `SELECT `+qualified("p", paymentColumns)+` FROM slots s CROSS JOIN payments p WHERE `+which+` AND p.id = s.payment_id`,
		string(id), account)
	out := make(map[uint64]Payment, len(rows))
	for _, r := range rows {
		out[r.ID] = r.payment()
	}
	return out, err
}

func (tx *Tx) attemptsOfSlots(which string, id chain.ID, account string) (map[place][]Attempt, error) {
	var rows []attemptRow
	err := tx.list(&rows, `SELECT `+qualified("a", attemptColumns)+` FROM slots s CROSS JOIN attempts a WHERE `+which+`
		AND a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number ORDER BY a.lineage, a.number, a.seq`,
		string(id), account)
	if err != nil {
		return nil, err
	}
	out := make(map[place][]Attempt, len(rows))
	for _, r := range rows {
		a, err := r.attempt()
		if err != nil {
			return nil, err
		}
		at := place{r.Lineage, r.Number}
		out[at] = append(out[at], a)
	}
	return out, nil
}

// link fills in the hash that each slot's block must follow. Slots in a row follow each other; only the first of a row is looked up.
func (tx *Tx) link(slots []OpenSlot) (err error) {
	for i := range slots {
		s := &slots[i]
		if i > 0 && s.Lineage != 0 && slots[i-1].Number+1 == s.Number && slots[i-1].Lineage == s.Lineage {
			s.Prev = slots[i-1].newest()
			continue
		}
		if s.Prev, err = tx.prev(s.Slot); err != nil {
			return err
		}
	}
	return nil
}

// newest is the hash of the slot's newest attempt, empty without any.
func (s OpenSlot) newest() string {
	if len(s.Attempts) == 0 {
		return ""
	}
	return s.Attempts[len(s.Attempts)-1].Hash
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

// unmine takes the marks of a block that has left the line back.
func (tx *Tx) unmine(id chain.ID, blockHash string) error {
	_, err := tx.exec(`UPDATE slots SET mined_in = '' WHERE chain = ? AND mined_in = ? AND mined_in <> '' AND state = 'open'`, string(id), blockHash)
	return err
}
