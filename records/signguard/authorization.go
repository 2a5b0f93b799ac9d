package signguard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
)

// ErrUnauthorized says that nothing has authorized the payment of a signature.
var ErrUnauthorized = errors.New("the payment is not authorized")

// Authorization is the leave to sign one payment. There is at most one for a cause, whatever number the records give the payment.
type Authorization struct {
	Key       string // the cause: a transfer and what may be done with it once, or a payment without a transfer
	Digest    string // as of the signatures
	Chain     chain.ID
	Account   string
	PaymentID uint64
	Network   string
	Token     string
	User      string
	Payee     string
	Asset     chain.Asset
	Amount    chain.Amount
	At        time.Time
	Evidence  bool // what is signed stays so until a final block has decided it; otherwise new lines end old ones, and the daemon is believed
}

// State is what the sign-guard knows of a cause.
type State string

// The states of an authorization.
const (
	Unknown State = "unknown" // never authorized, or for something else of which nothing can be paid
	Living  State = "living"  // authorized as it is
	Moved   State = "moved"   // authorized under another number, which nothing is signed for
	Waits   State = "waits"   // authorized under another number, whose signature is not decided
	Taken   State = "taken"   // something else is signed for the same cause, and not proven void
	Spent   State = "spent"   // paid
)

const authorizationSchema = `CREATE TABLE IF NOT EXISTS authorizations (
	cause TEXT NOT NULL PRIMARY KEY, digest TEXT NOT NULL, chain TEXT NOT NULL, account TEXT NOT NULL, payment_id BIGINT NOT NULL,
	network TEXT NOT NULL, token TEXT NOT NULL, user_account TEXT NOT NULL, payee TEXT NOT NULL, asset TEXT NOT NULL, amount TEXT NOT NULL,
	created_at BIGINT NOT NULL, state TEXT NOT NULL CHECK (state IN ('living','spent')));
CREATE INDEX IF NOT EXISTS authorizations_of_payment ON authorizations (payment_id);
CREATE INDEX IF NOT EXISTS authorizations_since ON authorizations (created_at);
CREATE INDEX IF NOT EXISTS guard_of_cause ON guard (cause) WHERE live = 1 AND cause <> '';
`

// States answers what is known of each, in order. It changes nothing.
func (g *Guard) States(ctx context.Context, wanted []Authorization) ([]State, error) {
	list := make([]State, len(wanted))
	for i, w := range wanted {
		var err error
		if list[i], err = state(ctx, g.db, w); err != nil {
			return nil, fmt.Errorf("asking the sign-guard for payment %d: %w", w.PaymentID, err)
		}
	}
	return list, nil
}

// Authorize gives leave for those that may have it, in one durable commit, and answers the state of each: Living is authorized.
func (g *Guard) Authorize(ctx context.Context, wanted []Authorization) ([]State, error) {
	list := make([]State, len(wanted))
	err := g.update(ctx, func(t session) error {
		for i, w := range wanted {
			s, err := state(ctx, t, w)
			if err == nil && (s == Unknown || s == Moved) {
				s, err = Living, authorize(ctx, t, w)
			}
			if err != nil {
				return fmt.Errorf("authorizing payment %d: %w", w.PaymentID, err)
			}
			list[i] = s
		}
		return nil
	})
	return list, err
}

// authorize writes an authorization. Its number may have been another payment's before the records were restored, which has none then.
func authorize(ctx context.Context, t session, w Authorization) error {
	_, err := t.exec(ctx, `UPDATE authorizations SET payment_id = 0 WHERE payment_id = ? AND chain = ? AND account = ? AND cause <> ?`,
		w.PaymentID, string(w.Chain), w.Account, w.Key)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `INSERT INTO authorizations
		(cause, digest, chain, account, payment_id, network, token, user_account, payee, asset, amount, created_at, state)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'living')
		ON CONFLICT (cause) DO UPDATE SET digest = excluded.digest, chain = excluded.chain, account = excluded.account, payment_id = excluded.payment_id,
			network = excluded.network, token = excluded.token, user_account = excluded.user_account, payee = excluded.payee, asset = excluded.asset,
			amount = excluded.amount, created_at = CASE WHEN authorizations.digest = excluded.digest THEN authorizations.created_at ELSE excluded.created_at END`,
		w.Key, w.Digest, string(w.Chain), w.Account, w.PaymentID, w.Network, w.Token, w.User, w.Payee, string(w.Asset), w.Amount, w.At.UnixMilli())
	return err
}

// authorizationRow is what is known of a cause, and of the payment's number.
type authorizationRow struct {
	Digest    string `db:"digest"`
	Chain     string `db:"chain"`
	Account   string `db:"account"`
	PaymentID uint64 `db:"payment_id"`
	State     string `db:"state"`
	Signed    bool   `db:"signed"` // for this cause, and not void
}

// binding is a signature that may still pay or has paid. Where the ledger links blocks, lines exclude each other, and only the newest counts.
const (
	bindingEver = `g.live = 1`
	bindingNow  = bindingEver + ` AND (g.lineage = 0 OR g.lineage = (SELECT MAX(m.lineage) FROM guard m WHERE m.chain = g.chain AND m.account = g.account))`
)

func state(ctx context.Context, db session, w Authorization) (State, error) {
	if w.Key == "" || w.Digest == "" || w.PaymentID == 0 {
		return "", fmt.Errorf("%w: a cause, a digest and a payment are wanted", ErrRefused)
	}
	var rows []authorizationRow
	binding := bindingNow
	if w.Evidence {
		binding = bindingEver
	}
	err := db.all(ctx, &rows, `SELECT digest, chain, account, payment_id, state,
		EXISTS (SELECT 1 FROM guard g WHERE g.cause = ? AND g.cause <> '' AND `+binding+`) AS signed FROM authorizations WHERE cause = ?`, w.Key, w.Key)
	if err != nil {
		return "", err
	}
	s := Unknown
	if len(rows) > 0 {
		s = rows[0].state(w)
	}
	if s != Unknown && s != Moved {
		return s, nil
	}
	var others int // that are signed under the number: it is theirs until they are decided
	err = db.one(ctx, &others, `SELECT COUNT(*) FROM guard g WHERE g.payment_id = ? AND g.chain = ? AND g.account = ?
		AND g.cause <> ? AND NOT (g.cause = '' AND g.digest = ?) AND `+binding, w.PaymentID, string(w.Chain), w.Account, w.Key, w.Digest)
	if others > 0 {
		s = Waits
	}
	return s, err
}

func (r authorizationRow) state(w Authorization) State {
	same := r.Digest == w.Digest && r.Chain == string(w.Chain) && r.Account == w.Account
	switch {
	case r.State == string(Spent):
		return Spent
	case same && r.PaymentID == w.PaymentID && !(w.Evidence && r.Signed):
		return Living
	case same && !r.Signed:
		return Moved
	case same:
		return Waits
	case r.Signed:
		return Taken
	}
	return Unknown
}

// causeOf finds the authorization of a signature, or is ErrUnauthorized. What pays nobody needs none. With evidence, no other line may have one for it.
func causeOf(ctx context.Context, t session, id chain.ID, w Signature) (string, error) {
	if w.Cancel || w.Receive {
		return "", nil
	}
	var causes []string
	err := t.all(ctx, &causes, `SELECT cause FROM authorizations WHERE payment_id = ? AND chain = ? AND account = ? AND digest = ? AND state = 'living' LIMIT 1`,
		w.PaymentID, string(id), w.Slot.Account, w.Digest)
	if err != nil {
		return "", err
	}
	if len(causes) == 0 {
		return "", ErrUnauthorized
	}
	if !w.Evidence {
		return causes[0], nil
	}
	var others int
	err = t.one(ctx, &others, `SELECT COUNT(*) FROM guard WHERE cause = ? AND cause <> '' AND live = 1`, causes[0])
	if err == nil && others > 0 {
		err = fmt.Errorf("%w again: a signature for it is not decided by a final block", ErrUnauthorized)
	}
	return causes[0], err
}
