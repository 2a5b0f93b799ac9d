package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"gatewayd/internal/database"
)

// leadership is a process's place as the one that follows. It belongs to the goroutine that
// follows.
type leadership struct {
	conn *sqlx.Conn // nil while another process leads
}

// lead reports whether this process is the one that follows, and becomes it if there is none. A
// database of SQLite is taken for ours alone. The lock keeps processes out of each other's way, no
// more: what makes double work impossible is the comparison of cursors in each transaction.
func (s *store) lead(ctx context.Context) (bool, error) {
	if s.lock == "" {
		return true, nil
	}
	if s.leader.conn != nil {
		if s.leader.conn.PingContext(ctx) == nil {
			return true, nil
		}
		s.stopLeading(ctx)
	}
	conn, err := s.writes.Connx(ctx)
	if err != nil {
		return false, fmt.Errorf("asking who follows the chain: %w", err)
	}
	var leads bool
	if err := conn.GetContext(ctx, &leads, "SELECT pg_try_advisory_lock($1)", database.LockIndexFollower); err != nil || !leads {
		return false, errors.Join(err, conn.Close())
	}
	s.leader.conn = conn
	return true, nil
}

// stopLeading lets another process follow.
func (s *store) stopLeading(ctx context.Context) {
	if s.leader.conn == nil {
		return
	}
	// A connection that fails here ends, and the lock with it.
	_, _ = s.leader.conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", database.LockIndexFollower)
	_ = s.leader.conn.Close()
	s.leader.conn = nil
}

// standBy keeps the cache as new as what another process has stored.
func (f *follower) standBy(ctx context.Context) error {
	var moved bool
	err := f.index.store.view(ctx, func(t *tx) error {
		for _, c := range []contract{fund, trade} {
			at, err := t.cursor(c)
			if err != nil {
				return err
			}
			moved = moved || at != f.index.at(c)
		}
		return nil
	})
	if err == nil && moved {
		err = f.recover(ctx)
	}
	f.index.loadTokens(ctx)
	return errors.Join(errMovedByOther, err)
}

// resync reads everything again. If other processes have stored changes that our subscribers did
// not receive, it ends their subscriptions. It is called under commits.
func (x *Index) resync(ctx context.Context) error {
	before := x.cursors
	if err := x.reload(ctx); err != nil {
		return err
	}
	for c, at := range x.cursors {
		if before[c] != at {
			x.feed.endAll()
			return nil
		}
	}
	return nil
}

// endAll ends every subscription, so that no subscriber assumes that its data is complete.
func (f *feed) endAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subscribers {
		f.end(s)
	}
}
