package exchangeapi

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// alone counts in memory, as the only program that serves calls from its database. What the memory of a program before has known is replaced by one
// durable mark: calls are let through only with timestamps below it, it is moved ahead before they are, and who takes over refuses what is below it.
//
//	refused (used, or not known) ◀── floor ── known one by one, in used ──▶ until ── not before the mark is moved ──▶
type alone struct {
	db  *sqlx.DB
	now func() time.Time

	mu      sync.Mutex
	program string // what the mark is ours by; "" until the first call takes it over
	floor   int64  // timestamps below are refused
	until   int64  // the mark
	used    halves
	cycles  map[string]calls
	counted map[string]bool // keys whose cycles are not stored
}

// markStep is how far the mark is moved ahead of a call: so long at most does a program after a crash refuse what it cannot know, and so often does
// a busy one write.
const markStep = 200 * time.Millisecond

// markTime bounds a write of the mark, for which all calls wait.
const markTime = 10 * time.Second

// errTakenOver: who sees it must not let anything through.
var errTakenOver = errors.New("another program serves the private requests of this database of API keys")

func newAlone(db *sqlx.DB, now func() time.Time) *alone {
	return &alone{db: db, now: now, cycles: map[string]calls{}, counted: map[string]bool{}, used: halves{young: newHalf()}}
}

func (a *alone) call(_ context.Context, c call) (wait time.Duration, err error) {
	digest := sha256.Sum256([]byte(c.text))
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.cover(c.at); err != nil {
		return 0, err
	}
	now := a.now().UnixMilli()
	a.floor = max(a.floor, a.used.forget(now))
	switch {
	case c.at < a.floor:
		return max(0, time.Duration(a.floor-now)*time.Millisecond), errForgotten
	case a.used.has(digest):
		return 0, errRepeated
	}
	if wait, err := a.count(c, now); err != nil {
		return wait, err
	}
	a.used.add(digest, c.at)
	return 0, nil
}

// cover sees to it that the mark is above a timestamp, and ours.
func (a *alone) cover(at int64) error {
	if a.program != "" && at < a.until {
		return nil
	}
	program, floor, until := a.program, a.floor, int64(0)
	err := a.write(func(ctx context.Context, tx *sqlx.Tx) (err error) {
		if program == "" {
			if program, floor, err = a.takeOver(ctx, tx); err != nil {
				return err
			}
		}
		until = max(floor, at+markStep.Milliseconds())
		return a.move(ctx, tx, program, until)
	})
	if err != nil {
		return fmt.Errorf("moving the mark of used requests: %w", err)
	}
	a.program, a.floor, a.until = program, floor, until
	clear(a.counted)
	return nil
}

func (a *alone) write(f func(context.Context, *sqlx.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), markTime)
	defer cancel()
	return inTx(ctx, a.db, func(tx *sqlx.Tx) error { return f(ctx, tx) })
}

// takeOver makes the mark ours, so that no other program can move it any more, and answers where it stood. In a database of before there were marks,
// calls have been counted up to now.
func (a *alone) takeOver(ctx context.Context, tx *sqlx.Tx) (program string, before int64, err error) {
	err = tx.GetContext(ctx, &before, `SELECT until FROM api_mark WHERE id = 1`)
	if errors.Is(err, sql.ErrNoRows) {
		err = tx.GetContext(ctx, &before, `SELECT ? * (SELECT COUNT(*) > 0 FROM api_cycles)`, a.now().Add(maxAhead).UnixMilli())
	}
	if err != nil {
		return "", 0, err
	}
	program = randomText()
	_, err = tx.ExecContext(ctx, `INSERT INTO api_mark (id, program, until) VALUES (1, ?, ?)
		ON CONFLICT (id) DO UPDATE SET program = excluded.program`, program, before)
	return program, before, err
}

// move stores the mark, and the cycles with it.
func (a *alone) move(ctx context.Context, tx *sqlx.Tx, program string, until int64) error {
	r, err := tx.ExecContext(ctx, `UPDATE api_mark SET until = ? WHERE id = 1 AND program = ?`, until, program)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return errors.Join(errTakenOver, err)
	}
	for key := range a.counted {
		_, err := tx.ExecContext(ctx, `INSERT INTO api_cycles (api_key, started, calls) VALUES (?, ?, ?)
			ON CONFLICT (api_key) DO UPDATE SET started = excluded.started, calls = excluded.calls`, key, a.cycles[key].Started, a.cycles[key].Calls)
		if err != nil {
			return err
		}
	}
	return nil
}

// count is like together's, in memory. Cycles of before are read once.
func (a *alone) count(c call, now int64) (wait time.Duration, err error) {
	n, known := a.cycles[c.key]
	if !known {
		err := a.db.Get(&n, `SELECT started, calls FROM api_cycles WHERE api_key = ?`, c.key)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, fmt.Errorf("reading a cycle of calls: %w", err)
		}
	}
	if n.Started <= now-c.cycle.length.Milliseconds() {
		n = calls{Started: now}
	}
	if n.Calls >= c.cycle.limit {
		return n.left(c.cycle, now), errOverrun
	}
	n.Calls++
	a.cycles[c.key], a.counted[c.key] = n, true
	return 0, nil
}

// leave takes the mark back to what was used, so that the next program need not wait.
func (a *alone) leave() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.program == "" {
		return nil
	}
	a.until = max(a.floor, a.used.end())
	err := a.write(func(ctx context.Context, tx *sqlx.Tx) error { return a.move(ctx, tx, a.program, a.until) })
	if errors.Is(err, errTakenOver) {
		return nil // the other one knows better
	}
	return err
}

// halves are used requests in two halves by age, so that forgetting is cheap: the older half as a whole.
type halves struct {
	young, old half
	turned     int64 // when young began, Unix milliseconds
}

type half struct {
	digests map[[sha256.Size]byte]struct{}
	last    int64 // the newest timestamp
}

func newHalf() half { return half{digests: map[[sha256.Size]byte]struct{}{}} }

// end is above all timestamps of the half.
func (h *half) end() int64 {
	if h.last == 0 {
		return 0
	}
	return h.last + 1
}

// forget drops the older half once nothing in it could pass the window, and the younger when it is as old. It answers below which timestamp
// nothing is known any more.
func (h *halves) forget(now int64) (floor int64) {
	age := now - h.turned
	if age < onceLife.Milliseconds() {
		return 0
	}
	floor = h.old.end()
	h.old, h.young, h.turned = h.young, newHalf(), now
	if age >= 2*onceLife.Milliseconds() {
		floor = max(floor, h.old.end())
		h.old = half{}
	}
	return floor
}

func (h *halves) has(digest [sha256.Size]byte) bool {
	_, young := h.young.digests[digest]
	_, old := h.old.digests[digest]
	return young || old
}

func (h *halves) add(digest [sha256.Size]byte, at int64) {
	h.young.digests[digest] = struct{}{}
	h.young.last = max(h.young.last, at)
}

func (h *halves) end() int64 { return max(h.young.end(), h.old.end()) }
