package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/jmoiron/sqlx"

	"gatewayd/internal/database"
)

// leadership is a process's place as the one that follows. It belongs to the goroutine that
// follows.
type leadership struct {
	conn *sqlx.Conn // nil while another process leads
}

// lockTime bounds the requests for the followers' lock, and the work of an announcement: a network
// that loses everything answers none.
const lockTime = 5 * time.Second

// lead reports whether this process is the one that follows, and becomes it if there is none. A
// database of SQLite is taken for ours alone. The lock keeps processes out of each other's way, no
// more: what makes double work impossible is the comparison of cursors in each transaction.
func (s *store) lead(ctx context.Context) (bool, error) {
	if !s.shared() {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	// A connection that fails here ends, and the lock with it.
	_, _ = s.leader.conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", database.LockIndexFollower)
	_ = s.leader.conn.Close()
	s.leader.conn = nil
}

// endLeaderSessions ends all sessions of the process that has the followers' lock. It reads no
// table of ours. PostgreSQL shows the halves of a lock's number.
const endLeaderSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE datname = current_database() AND usename = current_user AND application_name <> $3 AND application_name IN (
		SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND l.database = a.datid AND a.datname = current_database() AND l.granted
			AND CAST(l.classid AS BIGINT) = $1 AND CAST(l.objid AS BIGINT) = $2 AND l.objsubid = 1)`

// endLeader ends the sessions of a process that follows and is stuck: frozen, or cut off from the
// database. They may hold the writers' lock too.
func (s *store) endLeader(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	key := uint64(database.LockIndexFollower)
	_, err := s.reads.ExecContext(ctx, endLeaderSessions, int64(key>>32), int64(key&0xffffffff), s.sessions)
	return err
}

// The time in which another process must store a block that our node has, and the time without any
// progress after which we take its place.
const (
	leaderDelay    = 2 * time.Second
	leaderPatience = 8 * time.Second
)

// leaderWatch judges the process that follows for us by what our own node has. The zero value is
// ready. It is not safe for concurrent use.
type leaderWatch struct {
	tops  map[contract]uint64 // what the database must reach
	since time.Time           // when our node had it
	at    map[contract]cursor // what the database had
	moved time.Time           // when that last changed
}

// See takes the heights of our node and of the database. It returns how long the database has
// lacked a block of our node, and how long it has not changed meanwhile.
func (w *leaderWatch) See(tops map[contract]uint64, at map[contract]cursor, now time.Time) (behind, stuck time.Duration) {
	if !maps.Equal(w.at, at) {
		w.at, w.moved = at, now
	}
	for c := range w.tops { // the chain may have taken blocks back
		w.tops[c] = min(w.tops[c], tops[c])
	}
	if at[fund].height >= w.tops[fund] && at[trade].height >= w.tops[trade] {
		w.tops, w.since = tops, now
	}
	return now.Sub(w.since), min(now.Sub(w.since), now.Sub(w.moved))
}

// errLeaderBehind marks an index for which another process follows the chain, too late or not at
// all.
var errLeaderBehind = errors.New("the process that follows the chain into this index has not stored what our node has")

// errNotCompared marks an index that another process feeds, while our node is away.
var errNotCompared = errors.New("comparing the index with our node")

// standBy compares what another process has stored with our node, and takes its place when that
// process is stuck.
func (f *follower) standBy(ctx context.Context) error {
	x := f.index
	x.loadTokens(ctx)
	tops := map[contract]uint64{}
	for _, c := range []contract{fund, trade} {
		top, err := x.node.LatestAccountBlock(ctx, c.address())
		if err != nil {
			return fmt.Errorf("%w: reading the newest block of dex %s: %w", errNotCompared, c, err)
		}
		if top != nil {
			tops[c] = top.Height
		}
	}
	x.lag.setTops(tops)
	behind, stuck := f.leader.See(tops, x.allCursors(), x.config.Now())
	if behind <= leaderDelay {
		return nil
	}
	if stuck <= leaderPatience {
		return errLeaderBehind
	}
	x.log.Warn("the process that follows the chain into this index is stuck: its sessions on the database are ended, and this process follows")
	f.leader.moved = x.config.Now()
	return errors.Join(errLeaderBehind, x.store.endLeader(ctx))
}

// resync reads everything again. If other processes have stored changes that our subscribers did
// not receive, it ends their subscriptions. It is called under commits.
func (x *Index) resync(ctx context.Context) error {
	before, seq := x.cursors, x.seq
	if err := x.reload(ctx); err != nil {
		return err
	}
	if seq != x.seq || !maps.Equal(before, x.cursors) {
		x.feed.endAll()
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
