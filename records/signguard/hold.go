package signguard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
	"github.com/jmoiron/sqlx"

	"gatewayd/internal/database"
)

// ErrLost means that this signer no longer holds the sign-guard: the request is not signed.
var ErrLost = errors.New("the sign-guard is lost")

// holdLock is the advisory lock of the session of who holds a sign-guard on a server.
var holdLock = fmt.Sprintf("SELECT pg_try_advisory_lock(%d)", database.LockGuardHolder)

// A signer that waits tries to take the sign-guard at every askEvery, and the holder sends a query
// at every beatEvery. The server ends a session that was idle for holdIdle, and with it the lock,
// so no signer's clock decides who holds.
const (
	retryEvery = 500 * time.Millisecond
	beatEvery  = 2 * time.Second
	holdIdle   = 8 * time.Second
)

// Held is a sign-guard that one signer holds, of all that have it open. Fencing decides, not the
// lock: each holder has an epoch of its own, and a commit of an earlier one returns ErrLost.
type Held struct {
	*Guard
	fileLock *flock.Flock // of a file
	conn     *sqlx.Conn   // of a server: its session has the lock
	pool     *sqlx.DB     // of that one session
}

// Hold waits until no other signer holds the sign-guard and takes it. It calls waits once with the
// reason for the wait.
func (g *Guard) Hold(ctx context.Context, waits func(why string)) (*Held, error) {
	told := ""
	for {
		h, why, err := g.tryHold(ctx)
		if err != nil || h != nil {
			return h, err
		}
		if why != told {
			waits(why)
			told = why
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryEvery):
		}
	}
}

// tryHold takes the sign-guard or returns the reason why it cannot now. It waits for a server that
// does not answer.
func (g *Guard) tryHold(ctx context.Context) (h *Held, why string, err error) {
	h = &Held{}
	var locked bool
	if g.file != "" {
		h.fileLock = flock.New(g.file + ".lock")
		if locked, err = h.fileLock.TryLock(); err != nil {
			return nil, "", fmt.Errorf("locking the sign-guard: %w", err)
		}
	} else if locked, err = h.lockServer(ctx, g.url); err != nil {
		h.Release()
		return nil, "its server does not answer: " + err.Error(), ctx.Err()
	}
	if !locked {
		h.Release()
		return nil, g.heldBy(ctx), nil
	}
	next := *g
	if next.epoch, err = g.beginEpoch(ctx); err != nil {
		h.Release()
		return nil, "", fmt.Errorf("taking the sign-guard: %w", err)
	}
	h.Guard = &next
	return h, "", nil
}

// lockServer opens a session that has the lock as long as it lives.
func (h *Held) lockServer(ctx context.Context, url string) (locked bool, err error) {
	db, err := database.Open(ctx, url, database.SQLite{}, database.Postgres{Writers: 1, Params: map[string]string{
		"application_name": "gatewayd signer, who holds the sign-guard", "idle_session_timeout": holdIdle.String(), "statement_timeout": holdIdle.String(),
	}})
	if err != nil {
		return false, err
	}
	h.pool = db.Writes
	if h.conn, err = h.pool.Connx(ctx); err != nil {
		return false, err
	}
	err = h.conn.GetContext(ctx, &locked, holdLock)
	return locked, err
}

// heldBy names who holds it.
func (g *Guard) heldBy(ctx context.Context) string {
	var holder string
	if err := g.db.one(ctx, &holder, `SELECT holder FROM identity`); err != nil || holder == "" {
		return "another signer holds it"
	}
	return holder + " holds it"
}

// beginEpoch begins an epoch: from its commit on, nothing of an earlier one is committed.
func (g *Guard) beginEpoch(ctx context.Context) (epoch uint64, err error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	err = g.write(ctx, func(t session) error {
		if _, err := t.exec(ctx, `UPDATE identity SET epoch = epoch + 1, holder = ?`, fmt.Sprintf("%s/%d", host, os.Getpid())); err != nil {
			return err
		}
		return errors.Join(restartBooks(ctx, t), t.one(ctx, &epoch, `SELECT epoch FROM identity`)) // an earlier version may have held it
	})
	return epoch, err
}

// Keep waits until ctx ends, or is ErrLost: the server has ended the session that has the lock.
func (h *Held) Keep(ctx context.Context) error {
	if h.conn == nil {
		<-ctx.Done() // the lock of a file is the process's
		return nil
	}
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := h.Check(ctx); err != nil {
			return err
		}
	}
}

// Check asks the server whether the session that has the lock lives; ErrLost if not.
func (h *Held) Check(ctx context.Context) error {
	if h.conn == nil {
		return nil
	}
	asked, cancel := context.WithTimeout(ctx, holdIdle)
	defer cancel()
	if _, err := h.conn.ExecContext(asked, "SELECT 1"); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: its server has ended the session: %w", ErrLost, err)
	}
	return nil
}

// Release gives the sign-guard back.
func (h *Held) Release() {
	if h.fileLock != nil {
		_ = h.fileLock.Close()
	}
	if h.conn != nil {
		_ = h.conn.Close()
	}
	if h.pool != nil {
		_ = h.pool.Close()
	}
}
