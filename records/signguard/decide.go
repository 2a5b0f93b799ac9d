package signguard

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"gatewayd/chain"
)

// Signed is what was signed at a number, in one of an account's lines.
type Signed struct {
	Branch    uint64 `db:"lineage"`
	Digest    string `db:"digest"`
	PaymentID uint64 `db:"payment_id"`
}

// SignedAt answers what may still pay, or has paid, at a number of an account.
func (g *Guard) SignedAt(ctx context.Context, id chain.ID, account string, number uint64) (list []Signed, err error) {
	err = g.db.SelectContext(ctx, &list, `SELECT lineage, digest, payment_id FROM guard WHERE chain = ? AND account = ? AND number = ? AND live = 1`,
		string(id), account, number)
	if err != nil {
		return nil, fmt.Errorf("asking the sign-guard what was signed at %d of %s on %s: %w", number, account, id, err)
	}
	return list, nil
}

// Outcome is what a final block shows of a number of an account.
type Outcome struct {
	Chain   chain.ID
	Account string
	Number  uint64
	Branch  uint64
	Paid    bool // what was signed there is done; otherwise it never will be, nor what follows it in its line
}

// Decide writes outcomes down. What was paid for is never authorized again, and what never will be leaves its cause free.
func (g *Guard) Decide(ctx context.Context, list []Outcome) error {
	if len(list) == 0 {
		return nil
	}
	err := g.update(ctx, func(t *sqlx.Tx) error {
		for _, o := range list {
			statement := `UPDATE guard SET live = 0 WHERE chain = ? AND account = ? AND lineage = ? AND (number = ? OR lineage > 0 AND number >= ?)`
			args := []any{string(o.Chain), o.Account, o.Branch, o.Number, o.Number}
			if o.Paid {
				statement = `UPDATE authorizations SET state = 'spent' WHERE cause IN
					(SELECT cause FROM guard WHERE chain = ? AND account = ? AND lineage = ? AND number = ? AND live = 1)`
				args = args[:4]
			}
			if _, err := t.ExecContext(ctx, statement, args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("noting what final blocks show at the sign-guard: %w", err)
	}
	return nil
}

// Undecided tells whether something that was signed for a payment is not proven void.
func (g *Guard) Undecided(ctx context.Context, paymentID uint64) (bool, error) {
	var n int
	if err := g.db.GetContext(ctx, &n, `SELECT COUNT(*) FROM guard WHERE payment_id = ? AND live = 1`, paymentID); err != nil {
		return false, fmt.Errorf("asking the sign-guard for payment %d: %w", paymentID, err)
	}
	return n > 0, nil
}
