package records

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Payments are the orders to pay, from queued to paid or void.
type Payments struct{ *Tx }

// Payments returns the statements on payments.
func (tx *Tx) Payments() Payments { return Payments{tx} }

type paymentRow struct {
	Payment
	TransferID sql.NullInt64 `db:"transfer_id"`
	CreatedAt  int64         `db:"created_at"`
	ChangedAt  int64         `db:"changed_at"`
}

const paymentColumns = `id, transfer_id, purpose, network, token, chain, account, asset, amount, payee, payee_label, source, mark, ` +
	`state, reason, gen, tx, created_at, changed_at`

// queuedRow is a payment's row with its place in the order of service (rank).
type queuedRow struct {
	paymentRow
	Class Class  `db:"class"`
	Owner string `db:"owner"`
	Rank  uint64 `db:"rank"`
}

const queuedColumns = paymentColumns + `, class, owner, rank`

func (r paymentRow) payment() Payment {
	p := r.Payment
	p.TransferID, p.CreatedAt, p.ChangedAt = uint64(r.TransferID.Int64), sqlstore.FromMillis(r.CreatedAt), sqlstore.FromMillis(r.ChangedAt)
	return p
}

func paymentsOf(rows []paymentRow) []Payment { return sqlstore.Each(rows, paymentRow.payment) }

// Queue stores an order to pay, queued or held according to its State (queued when empty),
// and returns its ID. ErrConflict: the transfer has a live payment already (a credit and a refund
// exclude each other), is not decided yet, or its block left the chain. Also: the account sweeps to
// the payee already, the payee's top-up is in progress, or some of the asset is on its way to the
// cold address. A merge is in progress, or one has the same source.
func (tx Payments) Queue(p Payment) (uint64, error) {
	if p.State == "" {
		p.State = Queued
	}
	id, err := tx.queuePayment(p)
	return id, sqlstore.Doing(err, "queueing a %s for transfer %d", p.Purpose, p.TransferID)
}

func (tx Payments) queuePayment(p Payment) (uint64, error) {
	if err := checkPayment(p); err != nil {
		return 0, err
	}
	owner, err := tx.checkFree(p)
	if err != nil {
		return 0, err
	}
	return tx.storePayment(p, owner)
}

// storePayment stores a payment that was checked. owner is whose turn it takes.
func (tx Payments) storePayment(p Payment, owner string) (uint64, error) {
	rank, err := tx.rank(p, owner)
	if err != nil {
		return 0, err
	}
	id, err := tx.nextID("payments")
	if err != nil {
		return 0, err
	}
	p.ID, p.Gen, p.Tx, p.Reason = id, 0, "", Reason(sqlstore.Note(string(p.Reason)))
	if p.TransferID == 0 {
		p.Mark = rand.Text()
	}
	_, err = tx.execNamed(`INSERT INTO payments (`+queuedColumns+`) `+sqlstore.NamedValues(queuedColumns), queuedRow{
		paymentRow: paymentRow{Payment: p, TransferID: sql.NullInt64{Int64: int64(p.TransferID), Valid: p.TransferID != 0}, CreatedAt: tx.millis(), ChangedAt: tx.millis()},
		Class:      ClassOf(p.Purpose), Owner: owner, Rank: rank,
	})
	if err != nil {
		return 0, err
	}
	detail := fmt.Sprintf("%s of %s %s to %s on %s for transfer %d", p.Purpose, p.Amount, p.Asset, p.Payee, p.Chain, p.TransferID)
	return id, tx.logPayment(id, string(p.State), detail)
}

func (tx *Tx) logPayment(id uint64, event, detail string) error {
	return tx.log("payment", fmt.Sprint(id), event, detail)
}

func checkPayment(p Payment) error {
	switch {
	case p.State != Queued && p.State != HeldPayment:
		return fmt.Errorf("payment state %q: must be queued or held", p.State)
	case p.Purpose == chain.Receive && p.Source == "":
		return errors.New("payment source: empty in a receive")
	case p.Purpose != chain.Receive && p.Payee == "":
		return errors.New("payment payee: empty")
	case p.Purpose != chain.Receive && p.Purpose != chain.Allow && p.Purpose != chain.Merge && p.Amount.IsZero():
		return errors.New("payment amount: zero")
	}
	return nil
}

// checkFree finds violations of the table's constraints in advance, so that a refusal leaves the
// transaction usable on both engines. It returns the user whose turn the payment takes; none when
// it has no transfer.
func (tx Payments) checkFree(p Payment) (owner string, err error) {
	var taken bool
	switch p.Purpose {
	case chain.Credit, chain.Refund:
		return tx.checkCause(p.TransferID, `x.purpose IN ('credit','refund')`)
	case chain.Receive:
		return tx.checkCause(p.TransferID, `x.purpose = 'receive'`)
	case chain.Sweep:
		taken, err = tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND account = ? AND asset = ? AND payee = ? AND purpose = 'sweep' AND state IN ('queued','bound','held')`,
			string(p.Chain), p.Account, string(p.Asset), p.Payee)
	case chain.Gas:
		taken, err = tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND payee = ? AND purpose = 'gas' AND state IN ('queued','bound','held')`, string(p.Chain), p.Payee)
	case chain.Allow:
		taken, err = tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND account = ? AND asset = ? AND purpose = 'allow' AND state IN ('queued','bound','held')`,
			string(p.Chain), p.Account, string(p.Asset))
	case chain.Merge:
		open := `purpose = 'merge' AND source <> ''`
		if p.Source == "" {
			open = `purpose = 'merge' AND source = '' AND state IN ('queued','bound','held')`
		}
		taken, err = tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND account = ? AND source = ? AND `+open, string(p.Chain), p.Account, p.Source)
	case chain.Cold:
		_, taken, err = tx.Treasury().ColdMove(p.Chain, p.Asset)
	default:
		return "", fmt.Errorf("payment purpose %q: must be credit, refund, receive, sweep, gas, cold, allow or merge", p.Purpose)
	}
	if err == nil && taken {
		err = ErrConflict
	}
	return "", err
}

// checkCause is ErrConflict unless a transfer is decided, of the line, and without a live payment x
// that excludes the new one. It answers whose turn its payments take.
func (tx Payments) checkCause(transferID uint64, excludes string) (owner string, err error) {
	var t struct {
		Owner     string `db:"owner"`
		Live      bool   `db:"live"`
		Undecided bool   `db:"undecided"`
		OffLine   bool   `db:"off_line"`
	}
	err = tx.one(&t, `SELECT CASE WHEN t.owner <> '' THEN t.owner ELSE t.sender END AS owner,
		CASE WHEN EXISTS (SELECT 1 FROM payments x WHERE x.transfer_id = t.id AND `+excludes+` AND x.state <> 'void') THEN 1 ELSE 0 END AS live,
		CASE WHEN t.state IN ('seen','orphaned') THEN 1 ELSE 0 END AS undecided,
		CASE WHEN `+offLine+` THEN 1 ELSE 0 END AS off_line
		FROM transfers t WHERE t.id = ?`, transferID)
	switch {
	case err != nil:
		return "", err
	case t.Live:
		return "", ErrConflict
	case t.Undecided:
		return "", fmt.Errorf("%w: transfer %d is not decided", ErrConflict, transferID)
	case t.OffLine:
		return "", fmt.Errorf("%w: the block of transfer %d is not of the line", ErrConflict, transferID)
	}
	return t.Owner, nil
}

// Get returns one payment, or ErrNotFound.
func (tx Payments) Get(id uint64) (Payment, error) {
	var r paymentRow
	err := tx.one(&r, `SELECT `+paymentColumns+` FROM payments WHERE id = ?`, id)
	return r.payment(), sqlstore.Doing(err, "reading payment %d", id)
}

// Of returns all payments that a transfer caused, oldest first.
func (tx Payments) Of(transferID uint64) ([]Payment, error) {
	var rows []paymentRow
	err := tx.list(&rows, `SELECT `+paymentColumns+` FROM payments WHERE transfer_id = ? ORDER BY id`, transferID)
	return paymentsOf(rows), sqlstore.Doing(err, "reading the payments of transfer %d", transferID)
}

// Move moves a payment between queued and held, or from either to void, which frees its
// transfer for another payment. Binding and settling have their own methods. ErrConflict: it is in
// another state, the transition does not exist, a slot of it is not decided, or it would be made
// again or given back while it has a DifferingTx.
func (tx Payments) Move(id uint64, from, to PaymentState, reason Reason) error {
	return sqlstore.Doing(tx.movePayment(id, from, to, reason), "moving payment %d from %s to %s", id, from, to)
}

// checkOutcome returns ErrConflict for a credit or refund that may be paid already. Moves between
// our own accounts are recomputed from their balances.
func (tx Payments) checkOutcome(id uint64) error {
	e, differs, err := tx.Orders().DifferingTx(id)
	if err != nil || !differs {
		return err
	}
	p, err := tx.Get(id)
	if err == nil && (p.Purpose == chain.Credit || p.Purpose == chain.Refund) {
		err = fmt.Errorf("%w: its transaction %s is final on %s and moved something", ErrConflict, e.Tx, e.Chain)
	}
	return err
}

func (tx Payments) movePayment(id uint64, from, to PaymentState, reason Reason) error {
	waits := from == Queued || from == HeldPayment
	if !waits || from == to || to == Bound || to == Paid {
		return fmt.Errorf("%w: this state change is not allowed", ErrConflict)
	}
	if from == HeldPayment || to == VoidPayment {
		if err := tx.checkOutcome(id); err != nil {
			return err
		}
	}
	if to == VoidPayment {
		undecided, err := tx.exists(`SELECT 1 FROM slots WHERE payment_id = ? AND state IN ('open','forked')`, id)
		if err != nil {
			return err
		}
		if undecided {
			return fmt.Errorf("%w: a slot of it is not decided", ErrConflict)
		}
	}
	err := tx.change(`UPDATE payments SET state = ?, reason = ?, changed_at = ? WHERE id = ? AND state = ?`, string(to), sqlstore.Note(string(reason)), tx.millis(), id, string(from))
	if err != nil {
		return err
	}
	return tx.logPayment(id, string(to), string(reason))
}

// CausesOf returns the IDs of the payments' transfers.
func CausesOf(list []Payment) (ids []uint64) {
	for _, q := range list {
		if q.TransferID != 0 {
			ids = append(ids, q.TransferID)
		}
	}
	return ids
}
