package signguard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// ErrUnauthorized means that the payment of a signature has no authorization.
var ErrUnauthorized = errors.New("the payment is not authorized")

// Authorization is the leave to sign one payment. There is at most one for a cause, whatever number
// the records give the payment.
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
	// what is signed stays so until a final block has decided it; otherwise new lines end old ones,
	// and the daemon is believed
	Evidence bool
	Arrival  *chain.Arrival // coin at a deposit address that the payment uses up; nil for none
}

// State is the sign-guard's state of a cause.
type State string

// The states of an authorization.
const (
	Unknown State = "unknown" // never authorized, or for something else of which nothing can be paid
	Living  State = "living"  // authorized as it is
	Moved   State = "moved"   // authorized under another number, which nothing is signed for
	Waits   State = "waits"   // authorized under another number, whose signature is not decided
	Taken   State = "taken"   // something else is signed for the same cause, and not proven void
	Spent   State = "spent"   // paid

	Overdrawn State = "overdrawn" // more would be counted at its deposit address than arrived there
	Uncounted State = "uncounted" // coin that only balances show was credited at its address since the claim was checked
)

const authorizationSchema = `CREATE TABLE IF NOT EXISTS authorizations (
	cause TEXT NOT NULL PRIMARY KEY, digest TEXT NOT NULL, chain TEXT NOT NULL, account TEXT NOT NULL, payment_id BIGINT NOT NULL,
	network TEXT NOT NULL, token TEXT NOT NULL, user_account TEXT NOT NULL, payee TEXT NOT NULL, asset TEXT NOT NULL, amount TEXT NOT NULL,
	created_at BIGINT NOT NULL, state TEXT NOT NULL CHECK (state IN ('living','spent')));
CREATE INDEX IF NOT EXISTS authorizations_of_payment ON authorizations (payment_id);
CREATE INDEX IF NOT EXISTS authorizations_since ON authorizations (created_at);
CREATE INDEX IF NOT EXISTS guard_of_cause ON guard (cause) WHERE live = 1 AND cause <> '';
`

// States returns what is known of each, in order. It changes nothing.
func (g *Guard) States(ctx context.Context, wanted []Authorization) ([]State, error) {
	return states(ctx, g.db, wanted)
}

// Authorize gives leave for those that may have it, in one durable commit, and answers the state of
// each: Living is authorized, as of the time that it is asked at.
func (g *Guard) Authorize(ctx context.Context, wanted []Authorization) (list []State, err error) {
	err = g.update(ctx, func(t session) error {
		for _, group := range groups(wanted, Authorization.groupKey) {
			some, err := states(ctx, t, group)
			if err != nil {
				return err
			}
			if err := countArrivals(ctx, t, group, some); err != nil {
				return err
			}
			var granted []Authorization
			for i, s := range some {
				if s == Unknown || s == Moved || s == Living {
					some[i], granted = Living, append(granted, group[i])
				}
			}
			if err := authorize(ctx, t, granted); err != nil {
				return fmt.Errorf("authorizing %d payments: %w", len(granted), err)
			}
			list = append(list, some...)
		}
		return nil
	})
	return list, err
}

// groupKey is the account by which authorizations are grouped, and the cause and payment that only
// one authorization of a group may have.
func (w Authorization) groupKey() (account any, cause, payment any) {
	return [2]string{string(w.Chain), w.Account}, w.Key, w.PaymentID
}

// authorize writes authorizations of one account. A number may have been another payment's before
// the records were restored, which has none then.
func authorize(ctx context.Context, t session, granted []Authorization) error {
	rows, payments := make([][]any, len(granted)), make([]uint64, len(granted))
	for i, w := range granted {
		payments[i], rows[i] = w.PaymentID, []any{w.Key, w.Digest, string(w.Chain), w.Account, w.PaymentID, w.Network, w.Token, w.User, w.Payee, string(w.Asset),
			w.Amount, w.At.UnixMilli(), "living"}
	}
	err := sqlstore.InGroups(payments, func(set string, in []any, _ int) error {
		_, err := t.exec(ctx, `UPDATE authorizations SET payment_id = 0 WHERE chain = ? AND account = ? AND payment_id IN `+set,
			append([]any{string(granted[0].Chain), granted[0].Account}, in...)...)
		return err
	})
	if err != nil {
		return err
	}
	_, err = t.insert(ctx, `authorizations
		(cause, digest, chain, account, payment_id, network, token, user_account, payee, asset, amount, created_at, state)`, rows, `
		ON CONFLICT (cause) DO UPDATE SET digest = excluded.digest, chain = excluded.chain, account = excluded.account, payment_id = excluded.payment_id,
			network = excluded.network, token = excluded.token, user_account = excluded.user_account, payee = excluded.payee, asset = excluded.asset,
			amount = excluded.amount, created_at = excluded.created_at`)
	return err
}

// authorizationRow is the stored authorization of a cause.
type authorizationRow struct {
	Cause     string `db:"cause"`
	Digest    string `db:"digest"`
	Chain     string `db:"chain"`
	Account   string `db:"account"`
	PaymentID uint64 `db:"payment_id"`
	State     string `db:"state"`
	Signed    bool   `db:"-"` // for this cause, and not void
}

// liveRow is a signature that may still pay or has paid. Where the ledger links blocks, lines
// exclude each other, and only the newest counts.
type liveRow struct {
	authorizationRow
	Newest bool `db:"newest"`
}

// binds reports whether the signature excludes another one for the same cause.
func (r liveRow) binds(w Authorization) bool { return w.Evidence || r.Newest }

// known is the sign-guard's data of some causes, and of their payments' numbers.
type known struct {
	causes   map[string]authorizationRow
	signed   map[string][]liveRow // for the causes
	payments map[uint64][]liveRow // under the numbers
}

// states returns what is known of each, in order.
func states(ctx context.Context, db session, wanted []Authorization) ([]State, error) {
	keys, payments := make([]string, len(wanted)), make([]uint64, len(wanted))
	for i, w := range wanted {
		if w.Key == "" || w.Digest == "" || w.PaymentID == 0 {
			return nil, fmt.Errorf("asking the sign-guard for payment %d: %w: a cause, a digest and a payment are required", w.PaymentID, ErrRefused)
		}
		keys[i], payments[i] = w.Key, w.PaymentID
	}
	k := known{map[string]authorizationRow{}, map[string][]liveRow{}, map[uint64][]liveRow{}}
	if err := errors.Join(k.readCauses(ctx, db, keys), k.readPayments(ctx, db, payments)); err != nil {
		return nil, fmt.Errorf("asking the sign-guard for %d payments: %w", len(wanted), err)
	}
	list := make([]State, len(wanted))
	for i, w := range wanted {
		list[i] = k.state(w)
	}
	return list, nil
}

const liveColumns = `SELECT cause, digest, chain, account, payment_id,
	lineage = 0 OR lineage = (SELECT MAX(m.lineage) FROM guard m WHERE m.chain = g.chain AND m.account = g.account) AS newest FROM guard g WHERE live = 1 AND `

func (k *known) readCauses(ctx context.Context, db session, keys []string) error {
	return sqlstore.InGroups(keys, func(set string, in []any, _ int) error {
		var rows []authorizationRow
		var signed []liveRow
		err := errors.Join(
			db.all(ctx, &rows, `SELECT cause, digest, chain, account, payment_id, state FROM authorizations WHERE cause IN `+set, in...),
			db.all(ctx, &signed, liveColumns+`cause <> '' AND cause IN `+set, in...))
		for _, r := range rows {
			k.causes[r.Cause] = r
		}
		for _, r := range signed {
			k.signed[r.Cause] = append(k.signed[r.Cause], r)
		}
		return err
	})
}

func (k *known) readPayments(ctx context.Context, db session, payments []uint64) error {
	return sqlstore.InGroups(payments, func(set string, in []any, _ int) error {
		var signed []liveRow
		err := db.all(ctx, &signed, liveColumns+`payment_id IN `+set, in...)
		for _, r := range signed {
			k.payments[r.PaymentID] = append(k.payments[r.PaymentID], r)
		}
		return err
	})
}

func (k *known) state(w Authorization) State {
	s := Unknown
	if r, found := k.causes[w.Key]; found {
		r.Signed = slices.ContainsFunc(k.signed[w.Key], func(g liveRow) bool { return g.binds(w) })
		s = r.state(w)
	}
	if s != Unknown && s != Moved {
		return s
	}
	for _, g := range k.payments[w.PaymentID] { // what is signed under the number has it until it is decided
		own := g.Cause == w.Key || g.Cause == "" && g.Digest == w.Digest
		if g.Chain == string(w.Chain) && g.Account == w.Account && !own && g.binds(w) {
			return Waits
		}
	}
	return s
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

// causesOf finds the authorizations of signatures of one account, in order, or returns
// ErrUnauthorized. A transaction without a payee needs none. With evidence, no other branch may
// have one for it.
func causesOf(ctx context.Context, t session, id chain.ID, group []Signature) ([]string, error) {
	causes := make([]string, len(group))
	living, undecided, err := authorizationsOf(ctx, t, id, group)
	if err != nil {
		return nil, err
	}
	for i, w := range group {
		if w.Cancel || w.Receive {
			continue
		}
		cause, found := living[guardRow{w.Digest, w.PaymentID}]
		if !found {
			return nil, w.withSlot(id, ErrUnauthorized)
		}
		if w.Evidence && undecided[cause] {
			return nil, w.withSlot(id, fmt.Errorf("%w again: a signature for it is not decided by a final block", ErrUnauthorized))
		}
		causes[i] = cause
	}
	return causes, nil
}

// authorizationsOf returns the causes that are authorized for a group, and for which of them
// something is signed that is not void.
func authorizationsOf(ctx context.Context, t session, id chain.ID, group []Signature) (living map[guardRow]string, undecided map[string]bool, err error) {
	living, undecided = map[guardRow]string{}, map[string]bool{}
	var payments []uint64
	var causes []string
	for _, w := range group {
		if !w.Cancel && !w.Receive {
			payments = append(payments, w.PaymentID)
		}
	}
	err = sqlstore.InGroups(payments, func(set string, in []any, _ int) error {
		var rows []authorizationRow
		err := t.all(ctx, &rows, `SELECT cause, digest, payment_id FROM authorizations WHERE chain = ? AND account = ? AND state = 'living' AND payment_id IN `+set,
			append([]any{string(id), group[0].Slot.Account}, in...)...)
		for _, r := range rows {
			living[guardRow{r.Digest, r.PaymentID}] = r.Cause
			causes = append(causes, r.Cause)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return living, undecided, sqlstore.InGroups(causes, func(set string, in []any, _ int) error {
		var signed []string
		err := t.all(ctx, &signed, `SELECT cause FROM guard WHERE live = 1 AND cause <> '' AND cause IN `+set, in...)
		for _, cause := range signed {
			undecided[cause] = true
		}
		return err
	})
}
