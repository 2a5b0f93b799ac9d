package apikey

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

// memoryGuard counts in memory, as the only program that serves calls from its database. One
// durable watermark replaces the memory of an earlier program. Calls pass only with timestamps
// below it, and it is moved ahead of them. A successor refuses all timestamps below it.
//
//	refused (used, or unknown) ◀── floor ── known one by one ──▶ until ── after the next move ──▶
type memoryGuard struct {
	db  *sqlx.DB
	now func() time.Time

	mu      sync.Mutex
	program string // what the watermark is ours by; "" until the first call takes it over
	floor   int64  // timestamps below are refused
	until   int64  // the watermark
	used    generations
	cycles  map[string]usedCalls
	counted map[string]bool // keys whose cycles are not stored
}

// watermarkStep is the distance by which the watermark is moved ahead of a call. After a crash a
// program refuses unknown requests for at most this long. A busy program writes the watermark once
// in this time.
const watermarkStep = 200 * time.Millisecond

// watermarkTimeout bounds a write of the watermark, for which all calls wait.
const watermarkTimeout = 10 * time.Second

// errTakenOver: who sees it must not let anything through.
var errTakenOver = errors.New("another program serves the private requests of this database of API keys")

func newMemoryGuard(db *sqlx.DB, now func() time.Time) *memoryGuard {
	return &memoryGuard{db: db, now: now, cycles: map[string]usedCalls{}, counted: map[string]bool{}, used: generations{young: newGeneration()}}
}

func (g *memoryGuard) call(_ context.Context, c Call) (u Usage, wait time.Duration, err error) {
	digest := sha256.Sum256([]byte(c.Text))
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.raiseWatermark(c.At); err != nil {
		return Usage{}, 0, err
	}
	now := g.now().UnixMilli()
	g.floor = max(g.floor, g.used.expire(now))
	switch {
	case c.At < g.floor:
		return Usage{}, max(0, time.Duration(g.floor-now)*time.Millisecond), ErrForgotten
	case g.used.has(digest):
		return Usage{}, 0, ErrRepeated
	}
	if u, err = g.count(c, now); err != nil {
		return u, u.Reset, err
	}
	g.used.add(digest, c.At)
	return u, 0, nil
}

// raiseWatermark moves the watermark above a timestamp, and takes it over if it is not ours yet.
func (g *memoryGuard) raiseWatermark(at int64) error {
	if g.program != "" && at < g.until {
		return nil
	}
	program, floor, until := g.program, g.floor, int64(0)
	err := g.write(func(ctx context.Context, tx *sqlx.Tx) (err error) {
		if program == "" {
			if program, floor, err = g.takeOver(ctx, tx); err != nil {
				return err
			}
		}
		until = max(floor, at+watermarkStep.Milliseconds())
		return g.storeWatermark(ctx, tx, program, until)
	})
	if err != nil {
		return fmt.Errorf("moving the mark of used requests: %w", err)
	}
	g.program, g.floor, g.until = program, floor, until
	clear(g.counted)
	return nil
}

func (g *memoryGuard) write(f func(context.Context, *sqlx.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), watermarkTimeout)
	defer cancel()
	return inTx(ctx, g.db, func(tx *sqlx.Tx) error { return f(ctx, tx) })
}

// takeOver makes the watermark ours, so that no other program can move it any more, and answers
// where it stood. In a database of before there were watermarks, calls have been counted up to now.
func (g *memoryGuard) takeOver(ctx context.Context, tx *sqlx.Tx) (program string, before int64, err error) {
	err = tx.GetContext(ctx, &before, `SELECT until FROM api_mark WHERE id = 1`)
	if errors.Is(err, sql.ErrNoRows) {
		err = tx.GetContext(ctx, &before, `SELECT ? * (SELECT COUNT(*) > 0 FROM api_cycles)`, g.now().Add(maxAhead).UnixMilli())
	}
	if err != nil {
		return "", 0, err
	}
	program = randomText()
	_, err = tx.ExecContext(ctx, `INSERT INTO api_mark (id, program, until) VALUES (1, ?, ?)
		ON CONFLICT (id) DO UPDATE SET program = excluded.program`, program, before)
	return program, before, err
}

// storeWatermark stores the watermark, and the cycles with it.
func (g *memoryGuard) storeWatermark(ctx context.Context, tx *sqlx.Tx, program string, until int64) error {
	r, err := tx.ExecContext(ctx, `UPDATE api_mark SET until = ? WHERE id = 1 AND program = ?`, until, program)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return errors.Join(errTakenOver, err)
	}
	for key := range g.counted {
		_, err := tx.ExecContext(ctx, `INSERT INTO api_cycles (api_key, started, calls) VALUES (?, ?, ?)
			ON CONFLICT (api_key) DO UPDATE SET started = excluded.started, calls = excluded.calls`, key, g.cycles[key].Started, g.cycles[key].Calls)
		if err != nil {
			return err
		}
	}
	return nil
}

// count is like databaseGuard's, in memory. Cycles of before are read once.
func (g *memoryGuard) count(c Call, now int64) (Usage, error) {
	n, known := g.cycles[c.Key]
	if !known {
		err := g.db.Get(&n, `SELECT started, calls FROM api_cycles WHERE api_key = ?`, c.Key)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return Usage{}, fmt.Errorf("reading a cycle of calls: %w", err)
		}
	}
	if n.Started <= now-c.Cycle.Length.Milliseconds() {
		n = usedCalls{Started: now}
	}
	if n.Calls+c.Cost > c.Cycle.Limit {
		return n.usage(c.Cycle, now), ErrOverrun
	}
	n.Calls += c.Cost
	g.cycles[c.Key], g.counted[c.Key] = n, true
	return n.usage(c.Cycle, now), nil
}

// close lowers the watermark to what was used, so that the next program need not wait.
func (g *memoryGuard) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.program == "" {
		return nil
	}
	g.until = max(g.floor, g.used.end())
	err := g.write(func(ctx context.Context, tx *sqlx.Tx) error { return g.storeWatermark(ctx, tx, g.program, g.until) })
	if errors.Is(err, errTakenOver) {
		return nil // the other one knows better
	}
	return err
}

// generations holds used requests in two generations, so that expiry is cheap: the older generation
// is dropped at once.
type generations struct {
	young, old generation
	youngSince int64 // when young began, Unix milliseconds
}

type generation struct {
	digests map[[sha256.Size]byte]struct{}
	last    int64 // the newest timestamp
}

func newGeneration() generation { return generation{digests: map[[sha256.Size]byte]struct{}{}} }

// end is above all timestamps of the generation.
func (h *generation) end() int64 {
	if h.last == 0 {
		return 0
	}
	return h.last + 1
}

// expire drops the older generation once nothing in it could pass the window, and the younger when
// it is as old. It answers below which timestamp nothing is known any more.
func (h *generations) expire(now int64) (floor int64) {
	age := now - h.youngSince
	if age < replayRetention.Milliseconds() {
		return 0
	}
	floor = h.old.end()
	h.old, h.young, h.youngSince = h.young, newGeneration(), now
	if age >= 2*replayRetention.Milliseconds() {
		floor = max(floor, h.old.end())
		h.old = generation{}
	}
	return floor
}

func (h *generations) has(digest [sha256.Size]byte) bool {
	_, young := h.young.digests[digest]
	_, old := h.old.digests[digest]
	return young || old
}

func (h *generations) add(digest [sha256.Size]byte, at int64) {
	h.young.digests[digest] = struct{}{}
	h.young.last = max(h.young.last, at)
}

func (h *generations) end() int64 { return max(h.young.end(), h.old.end()) }
