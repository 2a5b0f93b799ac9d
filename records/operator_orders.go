package records

import (
	"encoding/json"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Orders are the decisions of operators about transfers.
type Orders struct{ *Tx }

// Orders returns the statements on orders.
func (tx *Tx) Orders() Orders { return Orders{tx} }

// Attribution is whose a held deposit is and what is owed for it. Net counts the gateway token's
// units.
type Attribution struct {
	Token  string
	Owner  string // user's exchange-chain address, which is paid
	Policy Policy // in force now: frozen with the rest
	Net    chain.Amount
}

// Attribute assigns a held deposit without an owner to one, and makes it final. It happens once: no
// row that has an owner gets another. ErrConflict: it is no longer such a deposit, or its block
// left the chain.
func (tx Orders) Attribute(id uint64, a Attribution) error {
	return sqlstore.Doing(tx.attribute(id, a), "attributing transfer %d", id)
}

func (tx Orders) attribute(id uint64, a Attribution) error {
	if err := tx.Transfers().onLine(id); err != nil {
		return err
	}
	policy, err := json.Marshal(a.Policy)
	if err != nil {
		return err
	}
	err = tx.changeNamed(`UPDATE transfers SET state = 'final', reason = :reason, token = :token, owner = :owner, payee = :owner, net = :net,
		policy = :policy, changed_at = :now WHERE id = :id AND state = 'held' AND direction = 'deposit' AND owner = '' AND failed = 0`,
		params{"reason": ReasonOperator, "token": a.Token, "owner": a.Owner, "net": a.Net, "policy": string(policy), "now": tx.millis(), "id": id})
	if err == nil {
		err = tx.Treasury().bookDeposit(id, true)
	}
	if err != nil {
		return err
	}
	return tx.logTransfer(id, string(Final), fmt.Sprintf("owner %s, %s of %s", a.Owner, a.Net, a.Token))
}

// AllowRefundTo notes that an operator wants a transfer refunded to a party other than its sender.
// Without it such a refund is a breach of the books.
func (tx Orders) AllowRefundTo(id uint64, payee string) error {
	_, err := tx.exec(`INSERT INTO refund_payees (transfer_id, payee, actor, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (transfer_id, payee) DO NOTHING`,
		id, sqlstore.Note(payee), sqlstore.Note(tx.sql.Actor()), tx.millis())
	return sqlstore.Doing(err, "ordering the refund of transfer %d to %s", id, payee)
}

// Reclassify decides a held transfer again that has no owner and no token. It becomes final or
// refused, a deposit or a withdrawal of the token and the owner in t, or money of the operators. It
// happens once. ErrConflict: it is not such a transfer, a payment for it lives, or its block left
// the chain.
func (tx Orders) Reclassify(t Transfer) error {
	return sqlstore.Doing(tx.reclassify(t), "deciding transfer %d again", t.ID)
}

func (tx Orders) reclassify(t Transfer) error {
	if err := tx.Transfers().onLine(t.ID); err != nil {
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
	err = tx.changeNamed(`UPDATE transfers SET direction = :direction, token = :token, owner = :owner, payee = :payee, payee_label = :payee_label,
		net = :net, fee = :fee, policy = :policy, state = :state, reason = :reason, changed_at = :now
		WHERE id = :id AND state = 'held' AND owner = '' AND token = '' AND failed = 0`,
		params{
			"direction": t.Direction, "token": t.Token, "owner": t.Owner, "payee": t.Payee, "payee_label": t.PayeeLabel, "net": t.Net, "fee": t.Fee,
			"policy": string(policy), "state": t.State, "reason": sqlstore.Note(string(t.Reason)), "now": tx.millis(), "id": t.ID,
		})
	if err == nil {
		err = tx.Treasury().bookDeposit(t.ID, true)
	}
	if err != nil {
		return err
	}
	return tx.logTransfer(t.ID, string(t.State), fmt.Sprintf("decided again as a %s: %s", t.Direction, t.Reason))
}

// Incidents returns the ids of a chain's transfers that were decided and whose blocks left the
// chain, oldest first; at most 1000.
func (tx Orders) Incidents(id chain.ID) (ids []uint64, err error) {
	err = tx.list(&ids, `SELECT id FROM transfers WHERE chain = ? AND incident <> '' ORDER BY id LIMIT ? + 0`, string(id), maxPage)
	return ids, sqlstore.Doing(err, "reading the incidents of %s", id)
}

// MarkLost marks the decided transfers above a height as gone with their blocks: the nodes have
// another past from there on.
func (tx Orders) MarkLost(id chain.ID, above uint64) error {
	lost, err := tx.Transfers().Where(`WHERE chain = ? AND height > ? AND state IN ('final','held','refused') AND incident = '' ORDER BY height, id LIMIT ? + 0`,
		string(id), above, maxPage)
	for i := range lost {
		if err != nil {
			break
		}
		err = tx.markIncident(&lost[i])
	}
	return sqlstore.Doing(err, "marking what %s has lost above block %d", id, above)
}

func (tx Orders) markIncident(t *Transfer) error {
	t.Incident = fmt.Sprintf("decided, then its block %d %s left the chain", t.Height, t.BlockHash)
	if err := tx.change(`UPDATE transfers SET incident = ? WHERE id = ?`, t.Incident, t.ID); err != nil {
		return err
	}
	return tx.logTransfer(t.ID, "incident", t.Incident)
}

// clearIncidents removes the marks of transfers whose blocks are in our chain: the nodes agree with
// them again.
func (tx Orders) clearIncidents(id chain.ID) error {
	back, err := tx.Transfers().Where(`WHERE chain = ? AND incident <> '' AND EXISTS (SELECT 1 FROM blocks b
		WHERE b.chain = transfers.chain AND b.hash = transfers.block_hash AND b.canonical = 1) ORDER BY id LIMIT ? + 0`, string(id), maxPage)
	for _, t := range back {
		if err == nil {
			err = tx.clearIncident(t.ID)
		}
	}
	return err
}

func (tx Orders) clearIncident(transfer uint64) error {
	if err := tx.change(`UPDATE transfers SET incident = '' WHERE id = ?`, transfer); err != nil {
		return err
	}
	if _, err := tx.exec(`DELETE FROM write_offs WHERE transfer_id = ?`, transfer); err != nil {
		return err
	}
	return tx.logTransfer(transfer, "incident_over", "its block is on the chain again")
}

// Loss is the amount paid for a transfer that has left its chain.
type Loss struct {
	Chain  chain.ID     `db:"chain"`
	Asset  chain.Asset  `db:"asset"`
	Amount chain.Amount `db:"amount"`
}

// WriteOff records an operator's statement that a transfer's block has left the chain permanently.
// The amount paid for it is then lost: it causes no more conditions, and the balance sheet counts
// it as lost. It is reverted when the block returns. Where the payment only waits, nothing is lost:
// the payment becomes void and the transfer orphaned, so that it is decided again if its block
// returns. ErrConflict: the transfer is no incident, or its loss was written off before. Or a
// payment for it is in progress, so that the loss is unknown. Or nothing was paid and its block is
// still in our chain.
func (tx Orders) WriteOff(id uint64) (Loss, error) {
	l, err := tx.writeOffIncident(id)
	return l, sqlstore.Doing(err, "writing off transfer %d", id)
}

func (tx Orders) writeOffIncident(id uint64) (l Loss, err error) {
	t, err := tx.Transfers().Get(id)
	if err == nil && t.Incident == "" {
		err = fmt.Errorf("%w: its block is on the chain", ErrConflict)
	}
	if err != nil {
		return l, err
	}
	before, err := tx.losses([]uint64{id})
	if err == nil && len(before) > 0 {
		err = fmt.Errorf("%w: it was written off before", ErrConflict)
	}
	if err != nil {
		return l, err
	}
	l, waiting, err := tx.lossOf(t)
	if err != nil {
		return l, err
	}
	if len(waiting) > 0 {
		return l, tx.giveUp(t, waiting)
	}
	_, err = tx.execNamed(`INSERT INTO write_offs (transfer_id, network, token, chain, asset, amount, actor, created_at)
		VALUES (:transfer_id, :network, :token, :chain, :asset, :amount, :actor, :created_at)`,
		params{
			"transfer_id": id, "network": t.Network, "token": t.Token, "chain": l.Chain, "asset": l.Asset, "amount": l.Amount,
			"actor": sqlstore.Note(tx.sql.Actor()), "created_at": tx.millis(),
		})
	if err == nil {
		err = tx.logTransfer(id, "written_off", fmt.Sprintf("%s of %s", l.Amount, l.Asset))
	}
	return l, err
}

// lossOf is the payment that was made for a transfer; nothing when none was. Then it names what
// waits to be paid, and the receives with it.
func (tx Orders) lossOf(t Transfer) (l Loss, waiting []Payment, err error) {
	l = Loss{Chain: t.Chain, Asset: t.Asset}
	payments, err := tx.Payments().Of(t.ID)
	owed := false
	for _, p := range payments {
		switch waits := p.State == Queued || p.State == HeldPayment; {
		case p.State == VoidPayment || p.Purpose == chain.Receive && !waits:
		case waits:
			waiting = append(waiting, p)
			owed = owed || p.Purpose != chain.Receive
		case p.State == Paid:
			return Loss{p.Chain, p.Asset, p.Amount}, nil, nil
		default:
			return l, nil, fmt.Errorf("%w: payment %d is %s: its chain decides first what is lost", ErrConflict, p.ID, p.State)
		}
	}
	if !owed {
		waiting = nil
	}
	return l, waiting, err
}

// giveUp ends the pending payments of an incident, and makes it a transfer that was never decided.
// ErrConflict: its block is in our chain, or a slot of a payment is not decided. Or an order
// refunded it less or to another party, which its reason would not show when it is decided again.
func (tx Orders) giveUp(t Transfer, waiting []Payment) error {
	stands, err := tx.exists(`SELECT 1 FROM blocks WHERE chain = ? AND hash = ? AND canonical = 1`, string(t.Chain), t.BlockHash)
	switch {
	case err != nil:
		return err
	case stands:
		return fmt.Errorf("%w: nothing was paid for it, and its block is of the line that the records follow: resume the chain first", ErrConflict)
	case t.State == Refused && (t.Reason == ReasonOperator || t.Reason == ReasonPayoutFailed):
		return fmt.Errorf("%w: its refund is not paid, and its reason %s is not of its first sight", ErrConflict, t.Reason)
	}
	for _, p := range waiting {
		if err := tx.Payments().movePayment(p.ID, p.State, VoidPayment, "its transfer was written off"); err != nil {
			return fmt.Errorf("payment %d: %w", p.ID, err)
		}
	}
	if t.State == Final && t.Reason == ReasonOperator {
		t.Reason = "" // it is final again if it returns
	}
	if err := tx.Transfers().moveTransfer(t.ID, t.State, Orphaned, t.Reason); err != nil {
		return err
	}
	return tx.change(`UPDATE transfers SET incident = '' WHERE id = ? AND incident <> ''`, t.ID)
}

// incidentLosses is losses of those transfers that are incidents.
func (tx Orders) incidentLosses(transfers []Transfer) (map[uint64]Loss, error) {
	var ids []uint64
	for _, t := range transfers {
		if t.Incident != "" {
			ids = append(ids, t.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return tx.losses(ids)
}

// losses returns what was written off of transfers.
func (tx Orders) losses(ids []uint64) (map[uint64]Loss, error) {
	var rows []struct {
		Loss
		ID uint64 `db:"transfer_id"`
	}
	if err := tx.listIn(&rows, `SELECT transfer_id, chain, asset, amount FROM write_offs WHERE transfer_id IN (?)`, ids); err != nil {
		return nil, fmt.Errorf("reading what was written off: %w", err)
	}
	out := make(map[uint64]Loss, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Loss
	}
	return out, nil
}

// DifferingTx returns the newest transaction of a payment that is final on its chain and moved
// something other than the payment, unless an operator has stated that nothing moved
// (NothingMoved). A payment that has one may be paid: it is neither made again nor given back.
func (tx Orders) DifferingTx(paymentID uint64) (e OwnTx, found bool, err error) {
	var r ownTxRow
	found, err = tx.get(&r, `SELECT e.chain, e.tx, e.block_hash, e.height, e.account, e.number, e.ok, e.void, e.fee FROM slots s CROSS JOIN attempts a CROSS JOIN effects e
		WHERE s.payment_id = ? AND s.state = 'void' AND a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number
		AND a.hash = s.tx AND a.kind <> 'cancel' AND e.chain = s.chain AND e.account = s.account AND e.number = s.number AND e.tx = s.tx
		AND e.block_hash = s.block_hash AND (e.ok = 0 AND e.void = 0 OR substr(e.members, s.place + 1, 1) = 'd')
		AND NOT EXISTS (SELECT 1 FROM history h WHERE h.subject = 'payment' AND h.subject_id = ? AND h.event = 'nothing_moved' AND h.detail = e.tx)
		ORDER BY s.gen DESC LIMIT 1`, paymentID, fmt.Sprint(paymentID))
	return r.ownTx(), found, sqlstore.Doing(err, "finding the effects of payment %d", paymentID)
}

// NothingMoved keeps in the history an operator's word that a payment's DifferingTx moved nothing,
// as of a token that answers false: it may be made again, or given back. ErrConflict: it is none.
func (tx Orders) NothingMoved(paymentID uint64, hash string) error {
	e, found, err := tx.DifferingTx(paymentID)
	if err == nil && (!found || e.Tx != hash) {
		err = fmt.Errorf("%w: %s is not one of its differing transactions", ErrConflict, hash)
	}
	if err == nil {
		err = tx.logPayment(paymentID, "nothing_moved", hash)
	}
	return sqlstore.Doing(err, "noting that payment %d moved nothing", paymentID)
}

// SettleDiffering records an operator's statement that a held payment was paid by its DifferingTx:
// payment and a slot of the operators' branch are paid, permanently. ErrConflict: it is none, or
// the payment is not held, or a slot of it is not decided.
func (tx Orders) SettleDiffering(paymentID uint64, hash string) error {
	return sqlstore.Doing(tx.settleDiffering(paymentID, hash), "settling payment %d by %s", paymentID, hash)
}

func (tx Orders) settleDiffering(paymentID uint64, hash string) error {
	e, found, err := tx.DifferingTx(paymentID)
	if err == nil && (!found || e.Tx != hash) {
		err = fmt.Errorf("%w: %s is not one of its differing transactions", ErrConflict, hash)
	}
	if err == nil {
		err = tx.Slots().checkFinal(e.Chain, e.BlockHash)
	}
	if err != nil {
		return err
	}
	err = tx.change(`UPDATE payments SET state = 'queued', changed_at = ? WHERE id = ? AND state = 'held'`, tx.millis(), paymentID)
	if err != nil {
		return err
	}
	var place int // in the transaction, as it was bound
	if err := tx.one(&place, `SELECT s.place FROM slots s WHERE s.payment_id = ? AND s.tx = ? ORDER BY s.gen DESC LIMIT 1`, paymentID, hash); err != nil {
		return err
	}
	s, err := tx.Recovery().operatorSlot(paymentID, e, place)
	if err == nil {
		err = tx.Slots().decideSlot(s, SlotPaid, hash, e.BlockHash)
	}
	if err == nil {
		err = tx.change(`UPDATE payments SET state = 'paid', reason = '', tx = ?, changed_at = ? WHERE id = ? AND state = 'bound'`, hash, tx.millis(), paymentID)
	}
	if err == nil {
		err = tx.Treasury().noteSweep(paymentID)
	}
	if err != nil {
		return err
	}
	return tx.logPayment(paymentID, string(Paid), fmt.Sprintf("%s in block %s, slot %s", hash, e.BlockHash, s.name()))
}
