package apikey

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// Refusals of Count and UseOnce. Test with errors.Is.
var (
	ErrRepeated = errors.New("it was signed for once and used already")
	ErrOverrun  = errors.New("the cycle's calls are used up")
	// ErrForgotten: whether it was used before the program started is not known.
	ErrForgotten = errors.New("it was signed before the program knew the used signatures")
)

// Call is a private request with a good signature.
type Call struct {
	Key   string
	Text  string // what was signed, as it was signed
	At    int64  // its timestamp, Unix milliseconds, inside the window
	Cost  int    // what it uses of the cycle, 1 or more
	Cycle Cycle
}

// Cycle limits the total cost of a key's private calls within a period.
type Cycle struct {
	Limit  int
	Length time.Duration
}

// Usage is the used part of a key's cycle. It is zero where it was not read.
type Usage struct {
	Used, Limit int
	Reset       time.Duration // until the cycle ends
}

// replayGuard lets every call through once and no more of a key than its cycle has
// (docs/adr/022-the-exchange-api.md).
type replayGuard interface {
	call(ctx context.Context, c Call) (u Usage, wait time.Duration, err error)
	// close makes what is known durable. There are no calls after it.
	close() error
}

// Count uses a call up and counts it; ErrRepeated, ErrOverrun, ErrForgotten. A call that is refused
// leaves no trace. wait is when asking again makes sense.
func (s *Store) Count(ctx context.Context, c Call) (u Usage, wait time.Duration, err error) {
	return s.guard.call(ctx, c)
}

// UseOnce remembers a signed text for a while; ErrRepeated if it was used before, by whatever
// program on the database.
func (s *Store) UseOnce(ctx context.Context, text string, life time.Duration) error {
	return inTx(ctx, s.db, func(tx *sqlx.Tx) error { return storeText(ctx, tx, text, s.now(), life) })
}

func inTx(ctx context.Context, db *sqlx.DB, f func(*sqlx.Tx) error) error {
	tx, err := db.BeginTxx(ctx, nil)
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

// sharedRetention is for how long a signed request is remembered for several programs, whose clocks
// may differ by a minute: the slower one must not take what the faster one has forgotten.
const sharedRetention = replayRetention + time.Minute

// databaseGuard counts in the database, for several programs at a time: every call is a
// transaction.
type databaseGuard struct {
	db  *sqlx.DB
	now func() time.Time
}

func (g *databaseGuard) call(ctx context.Context, c Call) (u Usage, wait time.Duration, err error) {
	err = inTx(ctx, g.db, func(tx *sqlx.Tx) error {
		if err := storeText(ctx, tx, c.Text, g.now(), sharedRetention); err != nil {
			return err
		}
		u, wait, err = g.count(ctx, tx, c)
		return err
	})
	return u, wait, err
}

func (g *databaseGuard) close() error { return nil }

// storeText keeps a text until it is too old anyway; ErrRepeated if it is there already.
func storeText(ctx context.Context, tx *sqlx.Tx, text string, now time.Time, life time.Duration) error {
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
		return ErrRepeated
	}
	return err
}

// count starts a cycle with its first call and refuses what is beyond the limit until the cycle has
// passed.
func (g *databaseGuard) count(ctx context.Context, tx *sqlx.Tx, c Call) (u Usage, wait time.Duration, err error) {
	now := g.now().UnixMilli()
	passed := now - c.Cycle.Length.Milliseconds()
	var row usedCalls
	err = tx.GetContext(ctx, &row, tx.Rebind(`INSERT INTO api_cycles (api_key, started, calls) VALUES (?, ?, ?)
		ON CONFLICT (api_key) DO UPDATE SET
			calls = CASE WHEN api_cycles.started > ? THEN api_cycles.calls + excluded.calls ELSE excluded.calls END,
			started = CASE WHEN api_cycles.started > ? THEN api_cycles.started ELSE excluded.started END
		RETURNING started, calls`),
		c.Key, now, c.Cost, passed, passed)
	if err != nil {
		return Usage{}, 0, fmt.Errorf("counting a call: %w", err)
	}
	if row.Calls > c.Cycle.Limit {
		row.Calls -= c.Cost
		u = row.usage(c.Cycle, now)
		return u, u.Reset, ErrOverrun
	}
	return row.usage(c.Cycle, now), 0, nil
}

// usedCalls is the cost of the calls in a key's cycle.
type usedCalls struct {
	Started int64 `db:"started"` // Unix milliseconds
	Calls   int   `db:"calls"`
}

func (u usedCalls) usage(of Cycle, now int64) Usage {
	return Usage{Used: u.Calls, Limit: of.Limit, Reset: time.Duration(u.Started+of.Length.Milliseconds()-now) * time.Millisecond}
}
