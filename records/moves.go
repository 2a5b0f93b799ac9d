package records

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Move is a payment between our own accounts, or to the cold address, that an operator has ordered.
type Move struct {
	Actor string `db:"actor"` // empty: the daemon itself
	Why   string `db:"why"`
}

// MovedPayment is a payment to the cold address, or between our own accounts by an operator's
// order.
type MovedPayment struct {
	Payment
	Move
}

// ColdMove is the payment of an asset to the cold address that is neither paid nor void, if there
// is any.
func (tx Treasury) ColdMove(id chain.ID, asset chain.Asset) (p Payment, found bool, err error) {
	var r paymentRow
	found, err = tx.get(&r, `SELECT `+paymentColumns+` FROM payments
		WHERE chain = ? AND asset = ? AND purpose = 'cold' AND state IN ('queued','bound','held') ORDER BY id LIMIT 1`, string(id), string(asset))
	return r.payment(), found, sqlstore.Doing(err, "finding pending transfers of %s to cold storage", asset)
}

// OrderMove queues a payment as an operator's order: its amount is not recomputed. ErrConflict as
// of QueuePayment.
func (tx Treasury) OrderMove(p Payment, why string) (uint64, error) {
	id, err := tx.Payments().Queue(p)
	if err != nil {
		return 0, err
	}
	err = tx.noteOrder(id, why)
	return id, sqlstore.Doing(err, "noting who ordered payment %d", id)
}

func (tx Treasury) noteOrder(id uint64, why string) error {
	_, err := tx.exec(`INSERT INTO moves (payment_id, actor, why, created_at) VALUES (?, ?, ?, ?)`, id, sqlstore.Note(tx.sql.Actor()), sqlstore.Note(why), tx.millis())
	if err == nil {
		err = tx.logPayment(id, "ordered", why)
	}
	return err
}

// MoveOrder answers who ordered a payment and why; false: no operator did.
func (tx Treasury) MoveOrder(payment uint64) (m Move, found bool, err error) {
	found, err = tx.get(&m, `SELECT actor, why FROM moves WHERE payment_id = ?`, payment)
	if err != nil {
		err = fmt.Errorf("reading who ordered payment %d: %w", payment, err)
	}
	return m, found, err
}

// Moved returns the newest payments to the cold address and those that operators have ordered, the
// newest first.
func (tx Treasury) Moved(limit int) ([]MovedPayment, error) {
	var rows []struct {
		paymentRow
		Move
	}
	err := tx.list(&rows, `SELECT `+paymentColumns+`, COALESCE((SELECT m.actor FROM moves m WHERE m.payment_id = id), '') AS actor,
		COALESCE((SELECT m.why FROM moves m WHERE m.payment_id = id), '') AS why FROM payments WHERE id IN (
			SELECT id FROM (SELECT c.id FROM payments c WHERE c.transfer_id IS NULL AND c.purpose = 'cold' ORDER BY c.id DESC LIMIT ?) cold UNION
			SELECT payment_id FROM (SELECT o.payment_id FROM moves o ORDER BY o.payment_id DESC LIMIT ?) ordered) ORDER BY id DESC LIMIT ?`, limit, limit, limit)
	if err != nil {
		return nil, fmt.Errorf("reading what was moved: %w", err)
	}
	list := make([]MovedPayment, len(rows))
	for i, r := range rows {
		list[i] = MovedPayment{r.payment(), r.Move}
	}
	return list, nil
}

// WaitingMove returns a payment of ours to ourselves that is neither paid nor void, with the same
// account, asset and payee, or to the cold address with the same asset.
func (tx Treasury) WaitingMove(p Payment) (Payment, bool, error) {
	if p.Purpose == chain.Cold {
		return tx.ColdMove(p.Chain, p.Asset)
	}
	var r paymentRow
	found, err := tx.get(&r, `SELECT `+paymentColumns+` FROM payments WHERE chain = ? AND account = ? AND asset = ? AND payee = ? AND purpose = 'sweep'
		AND state IN ('queued','bound','held')`, string(p.Chain), p.Account, string(p.Asset), p.Payee)
	return r.payment(), found, sqlstore.Doing(err, "finding pending transfers from %s to %s", p.Account, p.Payee)
}

// SettleUnknownCold records that an unknown transaction of a stopped account, which sent money to
// the cold address, was a payment there: the payment p is made, and paid by it. That it did so is
// the caller's to know. What waits for the same is void: it was counted before that. ErrConflict as
// of SettleUnknownTx.
func (tx Recovery) SettleUnknownCold(p Payment, hash, why string) error {
	a, err := tx.Accounts().Get(p.Chain, p.Account)
	if err == nil {
		_, err = tx.unknownTx(a, hash)
	}
	if err == nil {
		err = tx.voidBlockedSlots(a)
	}
	if err != nil {
		return err
	}
	var waiting []paymentRow
	err = tx.list(&waiting, `SELECT `+paymentColumns+` FROM payments
		WHERE chain = ? AND asset = ? AND purpose = 'cold' AND state IN ('queued','held') ORDER BY id LIMIT 1`, string(p.Chain), string(p.Asset))
	for _, w := range waiting {
		if err == nil {
			err = tx.Payments().Move(w.ID, w.State, VoidPayment, Reason("recounted: "+hash+" went to the cold address"))
		}
	}
	if err != nil {
		return err
	}
	p.State = Queued
	id, err := tx.Payments().storePayment(p, "")
	if err == nil {
		err = tx.Treasury().noteOrder(id, why)
	}
	if err == nil {
		err = tx.settleUnknownTx(hash, []uint64{id})
	}
	return err
}
