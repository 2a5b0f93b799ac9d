package records

import (
	"cmp"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// maxApprovals bounds what is kept for one payment.
const maxApprovals = 16

type approvalRow struct {
	PaymentID uint64 `db:"payment_id"`
	Approver  string `db:"approver"`
	Expires   int64  `db:"expires"`
	Nonce     string `db:"nonce"`
	Signature string `db:"signature"`

	AuthenticatorData string `db:"authenticator_data"`
	ClientData        string `db:"client_data"`
}

// Approve keeps what an approver has signed of a payment that waits. ErrConflict: it does not
// wait, the approver has approved it and that still counts, or too many have.
func (tx Payments) Approve(id uint64, a chain.Approval) error {
	return sqlstore.Doing(tx.addApproval(id, a), "approving payment %d", id)
}

func (tx Payments) addApproval(id uint64, a chain.Approval) error {
	p, err := tx.Get(id)
	if err != nil {
		return err
	}
	if may, err := tx.Slots().MayApprove(p); err != nil || !may {
		return cmp.Or(err, fmt.Errorf("%w: it is %s", ErrConflict, p.State))
	}
	known, err := tx.Approvals([]uint64{id})
	if err != nil {
		return err
	}
	for _, k := range known[id] {
		if k.Key == a.Key && k.Expires*1000 > tx.millis() {
			return fmt.Errorf("%w: this approver has approved it before, which counts until %s", ErrConflict, sqlstore.FromMillis(k.Expires*1000).UTC().Format("2006-01-02 15:04 UTC"))
		}
	}
	if len(known[id]) >= maxApprovals {
		return fmt.Errorf("%w: it has %d approvals", ErrConflict, len(known[id]))
	}
	_, err = tx.execNamed(`INSERT INTO approvals (payment_id, approver, expires, nonce, signature, authenticator_data, client_data, actor, created_at)
		VALUES (:payment_id, :approver, :expires, :nonce, :signature, :authenticator_data, :client_data, :actor, :created_at)
		ON CONFLICT (payment_id, approver) DO UPDATE SET expires = excluded.expires, nonce = excluded.nonce, signature = excluded.signature,
		authenticator_data = excluded.authenticator_data, client_data = excluded.client_data, actor = excluded.actor, created_at = excluded.created_at`,
		params{
			"payment_id": id, "approver": a.Key, "expires": a.Expires, "nonce": a.Nonce, "signature": a.Signature,
			"authenticator_data": a.AuthenticatorData, "client_data": a.ClientData, "actor": sqlstore.Note(tx.sql.Actor()), "created_at": tx.millis(),
		})
	if err != nil {
		return err
	}
	return tx.logPayment(id, "approved", "by the key "+a.Key)
}

// Approvals returns what approvers have signed of payments, in the order of their keys.
func (tx Payments) Approvals(payments []uint64) (map[uint64][]chain.Approval, error) {
	out := map[uint64][]chain.Approval{}
	if len(payments) == 0 {
		return out, nil
	}
	var rows []approvalRow
	err := tx.listIn(&rows, `SELECT payment_id, approver, expires, nonce, signature, authenticator_data, client_data FROM approvals WHERE payment_id IN (?) ORDER BY payment_id, approver`, payments)
	if err != nil {
		return nil, fmt.Errorf("reading approvals: %w", err)
	}
	for _, r := range rows {
		out[r.PaymentID] = append(out[r.PaymentID], chain.Approval{
			Key: r.Approver, Expires: r.Expires, Nonce: r.Nonce, Signature: r.Signature, AuthenticatorData: r.AuthenticatorData, ClientData: r.ClientData,
		})
	}
	return out, nil
}

// maxEarlier bounds the withdrawals that Earlier reads.
const maxEarlier = 100

// Earlier are the paid withdrawals among the newest ones to a payee.
type Earlier struct {
	Count int       `json:"count"`
	Last  time.Time `json:"last,omitzero"` // of the payment that was paid last
	More  bool      `json:"more"`          // there are older withdrawals to the payee, which were not read
}

// Earlier returns the paid withdrawals on a chain among the newest ones to a payee.
func (tx Payments) Earlier(id chain.ID, payee string) (Earlier, error) {
	var row struct {
		Read int   `db:"read"`
		Paid int   `db:"paid"`
		Last int64 `db:"last"`
	}
	_, err := tx.get(&row, `SELECT COUNT(*) AS read, COUNT(p.id) AS paid, COALESCE(MAX(p.changed_at), 0) AS last
		FROM (SELECT id FROM transfers WHERE payee = ? AND payee <> '' ORDER BY id DESC LIMIT ? + 0) t
		LEFT JOIN payments p ON p.transfer_id = t.id AND p.chain = ? AND p.purpose = 'credit' AND p.state = 'paid'`, payee, maxEarlier, string(id))
	return Earlier{Count: row.Paid, Last: sqlstore.TimeOrZero(row.Last), More: row.Read == maxEarlier}, sqlstore.Doing(err, "reading earlier payments to %s", payee)
}
