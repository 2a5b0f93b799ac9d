package records

import (
	"fmt"
	"slices"
	"strings"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Slots bind payments to the numbers of accounts, with their signed attempts and outcomes.
type Slots struct{ *Tx }

// Slots returns the statements on slots.
func (tx *Tx) Slots() Slots { return Slots{tx} }

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
	Branch    uint64 `db:"lineage"`
	Number    uint64 `db:"number"`
	Place     int    `db:"place"`
	PaymentID uint64 `db:"payment_id"`
	Gen       int    `db:"gen"`
	Coin      string `db:"coin"`
	State     string `db:"state"`
	Tx        string `db:"tx"`
	BlockHash string `db:"block_hash"`
	MinedIn   string `db:"mined_in"`
	CreatedAt int64  `db:"created_at"`
	ChangedAt int64  `db:"changed_at"`
}

const slotColumns = `chain, account, lineage, number, place, payment_id, gen, coin, state, tx, block_hash, mined_in, created_at, changed_at`

func (r slotRow) slot() Slot {
	return Slot{
		Chain: chain.ID(r.Chain), Account: r.Account, Branch: r.Branch, Nonce: r.Number, Place: r.Place, PaymentID: r.PaymentID, Gen: r.Gen, Coin: r.Coin,
		State: r.State, Tx: r.Tx, BlockHash: r.BlockHash, CreatedAt: sqlstore.FromMillis(r.CreatedAt), ChangedAt: sqlstore.FromMillis(r.ChangedAt),
	}
}

// name is a slot in texts.
func (s Slot) name() string {
	if s.Branch == operatorLine {
		return fmt.Sprintf("%s %s settled/%d", s.Chain, s.Account, s.Nonce)
	}
	return fmt.Sprintf("%s %s %d/%d", s.Chain, s.Account, s.Branch, s.Nonce)
}

// Bind is BindAll of one payment: what it waits for is the error.
func (tx Slots) Bind(paymentID uint64, maxUnmined int) (Slot, error) {
	bound, waiting, err := tx.BindAll([][]uint64{{paymentID}}, maxUnmined)
	if err == nil && len(bound) == 0 {
		err = waiting[paymentID]
	}
	if err != nil {
		return Slot{}, err
	}
	return bound[0], nil
}

// BindAll gives queued payments of one account the account's next numbers, permanently and in the
// given order (rule R2). The payments of a batch share one number, in their order. A payment that
// must wait gets none, and its batch goes without it; waiting contains the reason, by payment.
// ErrFull: maxUnmined numbers of the account are in no block yet. ErrWaits, with
// ErrConflict: the payment is not queued, the account may not sign, or the payment's transfer is
// not decided or left the chain. Also: an older branch of ours may still pay it or, with ErrHalted
// too, its chain or its transfer's chain is halted. After any other error the transaction must not
// be committed.
func (tx Slots) BindAll(batches [][]uint64, maxUnmined int) (bound []Slot, waiting map[uint64]error, err error) {
	return tx.bindAll(batches, maxUnmined, false)
}

// BindCoins is BindAll on a ledger of coins: each number gets a coin of its own too, the largest
// that the account may spend, and for a merge a small one. Without one the payments wait with
// ErrFull.
func (tx Slots) BindCoins(batches [][]uint64, maxUnmined int) (bound []Slot, waiting map[uint64]error, err error) {
	return tx.bindAll(batches, maxUnmined, true)
}

func (tx Slots) bindAll(batches [][]uint64, maxUnmined int, coins bool) (bound []Slot, waiting map[uint64]error, err error) {
	bound, waiting, err = tx.bindSlots(batches, maxUnmined, coins)
	if err != nil {
		return nil, nil, fmt.Errorf("binding payments %v: %w", batches, err)
	}
	for id, why := range waiting {
		waiting[id] = fmt.Errorf("binding payment %d: %w", id, why)
	}
	return bound, waiting, nil
}

func (tx Slots) bindSlots(batches [][]uint64, maxUnmined int, coins bool) (bound []Slot, waiting map[uint64]error, err error) {
	found, err := tx.bindable(slices.Concat(batches...))
	if err != nil || len(found) == 0 {
		return nil, nil, err
	}
	a, err := tx.Accounts().Get(found[0].Chain, found[0].Account)
	if err != nil {
		return nil, nil, err
	}
	unmined, err := tx.CountUnmined(a.Chain, a.Account)
	if err != nil {
		return nil, nil, err
	}
	most := maxUnmined - unmined
	var anchors anchors
	if coins {
		if anchors, err = tx.anchors(a, found, len(batches)); err != nil {
			return nil, nil, err
		}
		most = min(most, len(anchors.large)+len(anchors.small))
	}
	waiting = map[uint64]error{}
	next := a.Next
	for _, batch := range batches {
		place, taken, coin := 0, int(next-a.Next), ""
		for range batch {
			p := found[0]
			found = found[1:]
			why := p.checkBindable(a)
			if why == nil && taken >= most {
				why = ErrFull
			}
			if why != nil {
				waiting[p.ID] = why
				continue
			}
			s := Slot{
				Chain: a.Chain, Account: a.Account, Branch: a.Branch, Nonce: next, Place: place, PaymentID: p.ID, Gen: p.Gen, State: SlotOpen,
				CreatedAt: tx.now, ChangedAt: tx.now,
			}
			if coins && place == 0 {
				coin = anchors.take(p.Purpose)
			}
			s.Coin = coin
			bound = append(bound, s)
			place++
		}
		next += uint64(min(place, 1))
	}
	return bound, waiting, tx.bind(a, next, bound)
}

// anchors are free coins of an account: small ones for merges, and large ones for other payments.
type anchors struct{ large, small []string }

// take takes one for a number, of the other kind if there is none of its own.
func (c *anchors) take(p chain.Purpose) (out string) {
	from := &c.large
	if len(c.large) == 0 || p == chain.Merge && len(c.small) > 0 {
		from = &c.small
	}
	out, *from = (*from)[0], (*from)[1:]
	return out
}

// anchors returns the coins for so many numbers.
func (tx Slots) anchors(a Account, list []bindRow, count int) (c anchors, err error) {
	if c.large, err = tx.Coins().free(a, count); err != nil {
		return c, err
	}
	merges := 0
	for _, p := range list {
		if p.Purpose == chain.Merge {
			merges++
		}
	}
	if merges > 0 {
		c.small, err = tx.Coins().smallest(a, merges)
	}
	c.large = slices.DeleteFunc(c.large, func(out string) bool { return slices.Contains(c.small, out) })
	return c, err
}

// bind takes an account's numbers below next and stores their slots.
func (tx Slots) bind(a Account, next uint64, slots []Slot) error {
	if len(slots) == 0 {
		return nil
	}
	err := tx.change(`UPDATE accounts SET next = ? WHERE chain = ? AND account = ? AND lineage = ? AND next = ? AND state = 'ok'`,
		next, string(a.Chain), a.Account, a.Branch, a.Next)
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
func (tx Slots) openSlots(slots []Slot) error {
	rows, payments := make([][]any, len(slots)), make([]uint64, len(slots))
	for i, s := range slots {
		payments[i] = s.PaymentID
		rows[i] = []any{string(s.Chain), s.Account, s.Branch, s.Nonce, s.Place, s.PaymentID, s.Gen, s.Coin, s.State, "", "", "", tx.millis(), tx.millis()}
	}
	if err := tx.insert(`slots (`+slotColumns+`)`, rows, ""); err != nil {
		return err
	}
	if err := tx.Coins().take(slots); err != nil {
		return err
	}
	return sqlstore.ChangeAll(tx.sql, payments, `UPDATE payments SET state = 'bound', reason = '', changed_at = ? WHERE state = 'queued' AND id IN `, tx.millis())
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
func (tx Slots) bindable(payments []uint64) ([]bindRow, error) {
	read := make(map[uint64]bindRow, len(payments))
	err := sqlstore.InGroups(payments, func(set string, in []any, _ int) error {
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

// checkBindable returns why the payment cannot be bound now. It is the last check before money may
// leave.
func (p bindRow) checkBindable(a Account) error {
	transfer := uint64(p.TransferID.Int64)
	switch {
	case p.State != Queued:
		return fmt.Errorf("%w: %w: the payment is %s", ErrWaits, ErrConflict, p.State)
	case a.State != AccountOK:
		return fmt.Errorf("%w: %w: the account is %s", ErrWaits, ErrConflict, a.State)
	case p.Halted != "":
		return fmt.Errorf("%w: %w: %w: %s", ErrWaits, ErrConflict, ErrHalted, p.Halted)
	case p.Undecided:
		return fmt.Errorf("%w: %w: transfer %d is not decided", ErrWaits, ErrConflict, transfer)
	case p.OffLine:
		return fmt.Errorf("%w: %w: the block of transfer %d is not of the line", ErrWaits, ErrConflict, transfer)
	case p.ForkedAt >= 0 && uint64(p.ForkedAt) < a.Base: // it may be part of the chain: the payment would be on it twice
		return fmt.Errorf("%w: %w: an older slot of it is not decided", ErrWaits, ErrConflict)
	}
	return nil
}

// CountUnmined counts the numbers that Unmined returns.
func (tx Slots) CountUnmined(id chain.ID, account string) (n int, err error) {
	err = tx.one(&n, `SELECT COUNT(*) FROM slots WHERE chain = ? AND account = ? AND place = 0 AND state = 'open' AND mined_in = ''`, string(id), account)
	return n, err
}

// Of returns all slots that a payment has had, oldest first.
func (tx Slots) Of(paymentID uint64) ([]Slot, error) {
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

func (tx Slots) slotRows(where string, args ...any) ([]slotRow, error) {
	var rows []slotRow
	err := tx.list(&rows, `SELECT `+slotColumns+` FROM slots `+where, args...)
	return rows, err
}

// Conditions for open slots: all of them, or those that are in no block of the chain. The first
// form names its index's condition for SQLite.
const (
	openSlots    = `s.chain = ? AND s.account = ? AND s.state IN ('open','forked') AND s.state = 'open'`
	unminedSlots = `s.chain = ? AND s.account = ? AND s.state = 'open' AND s.mined_in = ''`
)

// Open returns all numbers of an account that wait for a final block, lowest first. There may be
// tens of thousands. All of them are on the account's current branch.
func (tx Slots) Open(id chain.ID, account string) ([]OpenSlot, error) {
	return tx.readOpen(openSlots, id, account)
}

// Unmined returns the numbers of an account that are in no block of the chain yet, lowest first:
// those to sign and send.
func (tx Slots) Unmined(id chain.ID, account string) ([]OpenSlot, error) {
	return tx.readOpen(unminedSlots, id, account)
}

func (tx Slots) readOpen(which string, id chain.ID, account string) ([]OpenSlot, error) {
	out, err := tx.openWith(which, id, account)
	if err != nil {
		return nil, fmt.Errorf("reading the open slots of %s on %s: %w", account, id, err)
	}
	return out, nil
}

// openWith reads the slots with their payments and attempts in three queries, however many there
// are.
func (tx Slots) openWith(which string, id chain.ID, account string) ([]OpenSlot, error) {
	a, err := tx.Accounts().Get(id, account)
	if err != nil {
		return nil, err
	}
	slots, err := tx.slotRows(`s WHERE `+which+` ORDER BY s.number, s.place`, string(id), account)
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
	var out []OpenSlot
	for _, r := range slots {
		p := payments[r.PaymentID]
		if last := len(out) - 1; last >= 0 && out[last].Branch == r.Branch && out[last].Nonce == r.Number {
			out[last].addMember(p)
			continue
		}
		out = append(out, OpenSlot{
			Slot: r.slot(), KeyPath: a.KeyPath, Payment: p, Attempts: attempts[branchNumber{r.Branch, r.Number}], Mined: r.MinedIn != "",
		})
	}
	return out, tx.link(out)
}

func (s *OpenSlot) addMember(p Payment) {
	if len(s.Members) == 0 {
		s.Members = []Payment{s.Payment}
	}
	s.Members = append(s.Members, p)
}

// qualified puts a table's name before each column of a list.
func qualified(table, columns string) string {
	return table + "." + strings.Join(strings.Split(columns, ", "), ", "+table+".")
}

// branchNumber identifies a slot of one account.
type branchNumber struct{ branch, number uint64 }

func (tx Slots) paymentsOfSlots(which string, id chain.ID, account string) (map[uint64]Payment, error) {
	var rows []paymentRow
	err := tx.list(&rows, `SELECT `+qualified("p", paymentColumns)+` FROM slots s CROSS JOIN payments p WHERE `+which+` AND p.id = s.payment_id`,
		string(id), account)
	out := make(map[uint64]Payment, len(rows))
	for _, r := range rows {
		out[r.ID] = r.payment()
	}
	return out, err
}

func (tx Slots) attemptsOfSlots(which string, id chain.ID, account string) (map[branchNumber][]Attempt, error) {
	var rows []attemptRow
	err := tx.list(&rows, `SELECT `+qualified("a", attemptColumns)+` FROM slots s CROSS JOIN attempts a WHERE `+which+`
		AND s.place = (SELECT MIN(o.place) FROM slots o WHERE o.chain = s.chain AND o.account = s.account AND o.lineage = s.lineage AND o.number = s.number AND o.state = 'open')
		AND a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number ORDER BY a.lineage, a.number, a.seq`,
		string(id), account)
	if err != nil {
		return nil, err
	}
	out := make(map[branchNumber][]Attempt, len(rows))
	for _, r := range rows {
		a, err := r.attempt()
		if err != nil {
			return nil, err
		}
		at := branchNumber{r.Branch, r.Number}
		out[at] = append(out[at], a)
	}
	return out, nil
}

// link fills in the hash that each slot's block must follow. Slots in a row follow each other; only
// the first of a row is looked up.
func (tx Slots) link(slots []OpenSlot) (err error) {
	for i := range slots {
		s := &slots[i]
		if i > 0 && s.Branch != 0 && slots[i-1].Nonce+1 == s.Nonce && slots[i-1].Branch == s.Branch {
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

// prev returns the hash that a block in the slot must follow: the base's for the first of a branch,
// else that of the number before it, which is the newest attempt until a final block decides.
func (tx Slots) prev(s Slot) (hash string, err error) {
	if s.Branch == 0 {
		return "", nil
	}
	found, err := tx.get(&hash, `SELECT base_hash FROM lineages WHERE chain = ? AND account = ? AND lineage = ? AND base = ?`,
		string(s.Chain), s.Account, s.Branch, s.Nonce)
	if err != nil || found {
		return hash, err
	}
	_, err = tx.get(&hash, `SELECT CASE WHEN s.tx <> '' THEN s.tx ELSE COALESCE((SELECT a.hash FROM attempts a
		WHERE a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number ORDER BY a.seq DESC LIMIT 1), '') END
		FROM slots s WHERE s.chain = ? AND s.account = ? AND s.lineage = ? AND s.number = ? ORDER BY s.tx DESC LIMIT 1`, string(s.Chain), s.Account, s.Branch, s.Nonce-1)
	return hash, err
}

// unmarkMined takes the marks of a block that has left the line back.
func (tx Slots) unmarkMined(id chain.ID, blockHash string) error {
	_, err := tx.exec(`UPDATE slots SET mined_in = '' WHERE chain = ? AND mined_in = ? AND mined_in <> '' AND state = 'open'`, string(id), blockHash)
	return err
}
