package exchangeapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

var (
	errRepeated = errors.New("it was signed for once and used already")
	errOverrun  = errors.New("the cycle's calls are used up")
)

// cycle is how many private calls a key has and for how long they count.
type cycle struct {
	limit  int
	length time.Duration
}

// useOnce remembers a signed text for a while; errRepeated if it was used before. Counting follows in the same transaction, so that a repeat
// uses up nothing. It holds for all programs on the database.
func (k *Keys) useOnce(ctx context.Context, text string, life time.Duration) error {
	return k.inTx(ctx, func(tx *sqlx.Tx) error { return k.remember(ctx, tx, text, life) })
}

// call uses a signed request up and counts it; errRepeated, errOverrun. wait is how long the cycle still lasts.
func (k *Keys) call(ctx context.Context, key, text string, life time.Duration, c cycle) (wait time.Duration, err error) {
	err = k.inTx(ctx, func(tx *sqlx.Tx) error {
		if err := k.remember(ctx, tx, text, life); err != nil {
			return err
		}
		wait, err = k.count(ctx, tx, key, c)
		return err
	})
	return wait, err
}

func (k *Keys) inTx(ctx context.Context, f func(*sqlx.Tx) error) error {
	tx, err := k.db.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("counting a call: %w", err)
	}
	defer tx.Rollback() // answers ErrTxDone after a commit
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("counting a call: %w", err)
	}
	return nil
}

func (k *Keys) remember(ctx context.Context, tx *sqlx.Tx, text string, life time.Duration) error {
	now := k.now()
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
func (k *Keys) count(ctx context.Context, tx *sqlx.Tx, key string, c cycle) (wait time.Duration, err error) {
	now := k.now().UnixMilli()
	var row struct {
		Started int64 `db:"started"`
		Calls   int   `db:"calls"`
	}
	err = tx.GetContext(ctx, &row, tx.Rebind(`INSERT INTO api_cycles (api_key, started, calls) VALUES (?, ?, 1)
		ON CONFLICT (api_key) DO UPDATE SET
			calls = CASE WHEN api_cycles.started > ? THEN api_cycles.calls + 1 ELSE 1 END,
			started = CASE WHEN api_cycles.started > ? THEN api_cycles.started ELSE excluded.started END
		RETURNING started, calls`),
		key, now, now-c.length.Milliseconds(), now-c.length.Milliseconds())
	if err != nil {
		return 0, fmt.Errorf("counting a call: %w", err)
	}
	if row.Calls > c.limit {
		return time.Duration(row.Started+c.length.Milliseconds()-now) * time.Millisecond, errOverrun
	}
	return 0, nil
}
