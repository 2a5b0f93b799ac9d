package signguard

import (
	"context"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Signed is the signature of one payment at a number, in one of an account's branches.
type Signed struct {
	Branch    uint64 `json:"branch" db:"lineage"`
	Place     int    `json:"place,omitempty" db:"place"` // of the payment in its transaction
	Digest    string `json:"digest" db:"digest"`
	PaymentID uint64 `json:"payment" db:"payment_id"`
	Cause     string `json:"cause" db:"cause"`         // empty: it has no payee, or was signed before there were authorizations
	Live      bool   `json:"live" db:"live"`           // not decided
	Coin      string `json:"coin,omitempty" db:"coin"` // of the slot, on a ledger of coins
}

// SignedAt returns what was signed at a number of an account, whatever became of it.
func (g *Guard) SignedAt(ctx context.Context, id chain.ID, account string, number uint64) (list []Signed, err error) {
	err = g.db.all(ctx, &list, `SELECT lineage, place, digest, payment_id, cause, live,
		COALESCE((SELECT a.coin FROM anchors a WHERE a.chain = guard.chain AND a.account = guard.account AND a.number = guard.number), '') AS coin
		FROM guard WHERE chain = ? AND account = ? AND number = ? ORDER BY lineage, place`,
		string(id), account, number)
	return list, sqlstore.Doing(err, "asking the sign-guard what was signed at %d of %s on %s", number, account, id)
}

// Outcome is what a final block shows of one payment that was signed at a number of an account.
type Outcome struct {
	Chain   chain.ID
	Account string
	Number  uint64
	Branch  uint64
	Place   int  // of the payment in its transaction
	Member  bool // the other payments of the transaction, and what follows it, have outcomes of their own
	Paid    bool // what was signed there is done; otherwise it never will be, nor what follows it in its line
	Receive bool // it was signed to take something in
}

// Decide stores outcomes. A paid cause is never authorized again, and the cause of an impossible
// payment becomes free. Either way the number of its payment is free: restored records assign
// numbers again.
func (g *Guard) Decide(ctx context.Context, list []Outcome) error {
	if len(list) == 0 {
		return nil
	}
	err := g.update(ctx, func(t session) error {
		for _, o := range list {
			if err := decide(ctx, t, o); err != nil {
				return err
			}
		}
		return nil
	})
	return sqlstore.Doing(err, "noting what final blocks show at the sign-guard")
}

func decide(ctx context.Context, t session, o Outcome) error {
	slot := []any{string(o.Chain), o.Account, o.Branch, o.Number}
	switch {
	case !o.Paid && o.Branch > 0 && !o.Member: // nothing that follows it in its branch is possible any more
		_, err := t.exec(ctx, `UPDATE guard SET live = 0 WHERE chain = ? AND account = ? AND lineage = ? AND number >= ?`, slot...)
		return err
	case !o.Paid || o.Receive:
		_, err := t.exec(ctx, `UPDATE guard SET live = 0 WHERE chain = ? AND account = ? AND lineage = ? AND number = ? AND place = ?`, append(slot, o.Place)...)
		return err
	}
	var causes []string
	err := t.all(ctx, &causes, `SELECT cause FROM guard WHERE chain = ? AND account = ? AND lineage = ? AND number = ? AND place = ? AND live = 1 AND cause <> ''`,
		append(slot, o.Place)...)
	if err != nil || len(causes) == 0 {
		return err
	}
	r, err := t.exec(ctx, `UPDATE authorizations SET state = 'spent' WHERE cause = ?`, causes[0])
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return err
	}
	_, err = t.exec(ctx, `UPDATE guard SET live = 0 WHERE chain = ? AND account = ? AND live = 1 AND cause <> '' AND cause = ?`, slot[0], slot[1], causes[0])
	return err
}

// Undecided reports whether something that was signed for a payment is not proven void.
func (g *Guard) Undecided(ctx context.Context, paymentID uint64) (bool, error) {
	var n int
	err := g.db.one(ctx, &n, `SELECT COUNT(*) FROM guard WHERE payment_id = ? AND live = 1`, paymentID)
	return n > 0, sqlstore.Doing(err, "asking the sign-guard for payment %d", paymentID)
}
