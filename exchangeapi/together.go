package exchangeapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// together counts in the database, for several programs at a time: every call is a transaction.
type together struct {
	db  *sqlx.DB
	now func() time.Time
}

func (t *together) call(ctx context.Context, c call) (wait time.Duration, err error) {
	err = inTx(ctx, t.db, func(tx *sqlx.Tx) error {
		if err := remember(ctx, tx, c.text, t.now(), onceLife); err != nil {
			return err
		}
		wait, err = t.count(ctx, tx, c)
		return err
	})
	return wait, err
}

func (t *together) leave() error { return nil }

// remember keeps a text until it is too old anyway; errRepeated if it is there already.
func remember(ctx context.Context, tx *sqlx.Tx, text string, now time.Time, life time.Duration) error {
	if _, err := tx.ExecContext(ctx, tx.Rebind(`DELETE FROM api_once WHERE expires < ?`), now.UnixMilli()); err != nil {
		return fmt.Errorf("forgetting old requests: %w", err)
	}
	digest := sha256.Sum256([]byte(text))
	r, err := tx.ExecContext(ctx, tx.Rebind(`INSERT INTO api_once (digest, expires) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING`),
		hex.EncodeToString(digest[:]), now.Add(life).UnixMilli())
	if err != nil {
		return fmt.Errorf("remembering a request: %w", err)
	}
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		return errRepeated
	}
	return err
}

// count starts a cycle with its first call and refuses what is beyond the limit until the cycle has passed.
func (t *together) count(ctx context.Context, tx *sqlx.Tx, c call) (wait time.Duration, err error) {
	now := t.now().UnixMilli()
	passed := now - c.cycle.length.Milliseconds()
	var row calls
	err = tx.GetContext(ctx, &row, tx.Rebind(`INSERT INTO api_cycles (api_key, started, calls) VALUES (?, ?, 1)
		ON CONFLICT (api_key) DO UPDATE SET
			calls = CASE WHEN api_cycles.started > ? THEN api_cycles.calls + 1 ELSE 1 END,
			started = CASE WHEN api_cycles.started > ? THEN api_cycles.started ELSE excluded.started END
		RETURNING started, calls`),
		c.key, now, passed, passed)
	if err != nil {
		return 0, fmt.Errorf("counting a call: %w", err)
	}
	if row.Calls > c.cycle.limit {
		return row.left(c.cycle, now), errOverrun
	}
	return 0, nil
}

// calls are how many of a key's cycle are used.
type calls struct {
	Started int64 `db:"started"` // Unix milliseconds
	Calls   int   `db:"calls"`
}

// left is how long the cycle still lasts.
func (c calls) left(of cycle, now int64) time.Duration {
	return time.Duration(c.Started+of.length.Milliseconds()-now) * time.Millisecond
}
