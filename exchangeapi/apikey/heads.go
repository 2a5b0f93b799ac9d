package apikey

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/jmoiron/sqlx"

	"gatewayd/internal/database"
	"gatewayd/vite/core"
)

// Head is the newest block of a delegation address that a process was about to send. The chain has
// it, unless that process ended before it was sent.
type Head struct {
	Height uint64
	Hash   core.Hash
	stored time.Time // by this process's clock
	taken  bool      // a node has accepted it
}

// Times of a head.
const (
	// headIdle ends the session of a process that holds a head and is frozen or cut off. It is above
	// the time in which a block is sent and looked up.
	headIdle = 15 * time.Second
	// headLost is the time after which a block that no process has reported as accepted counts as
	// lost: longer than a process can take to send it, and nodes to exchange it.
	headLost = 20 * time.Second
	// headDropped is the same for an accepted block. A node that is behind gets it within this time,
	// else the chain has dropped it.
	headDropped = 10 * time.Minute
	// headTimeout bounds a statement on a head that must not end with the request.
	headTimeout = 5 * time.Second
)

// headConns bounds the heads that one process holds at a time.
const headConns = 16

// lost reports whether a node that does not have the block will not get it any more.
func (h Head) lost() bool {
	age := time.Since(h.stored)
	return age > headDropped || !h.taken && age > headLost
}

// HeadLock lets one process at a time extend the account chain of a delegation address. It is for
// one goroutine. On SQLite, which one process serves, it does nothing and has no head.
type HeadLock struct {
	Head    // zero for none
	before  Head
	conn    *sqlx.Conn // nil on SQLite
	network string
	agent   core.Address
}

// LockHead waits until no other process extends the account chain of a delegation address. Unlock
// must follow. PostgreSQL serves those that wait in their order, so that none waits for long.
func (s *Store) LockHead(ctx context.Context, network string, agent core.Address) (*HeadLock, error) {
	l := &HeadLock{network: network, agent: agent}
	if s.heads == nil {
		return l, nil
	}
	var err error
	if l.conn, err = s.heads.Connx(ctx); err != nil {
		return nil, fmt.Errorf("connecting to the API keys: %w", err)
	}
	_, err = l.conn.ExecContext(ctx, `SELECT set_config('idle_session_timeout', $1, false), pg_advisory_lock($2, $3)`,
		headIdle.String(), database.LockDelegation, l.number())
	if err == nil {
		err = l.read(ctx)
	}
	if err != nil {
		l.Unlock()
		return nil, fmt.Errorf("waiting for other processes that use %s: %w", agent, err)
	}
	return l, nil
}

// number is the second number of the lock. Two addresses with the same number wait for each other.
func (l *HeadLock) number() int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(l.network + "|" + l.agent.String())) // never fails
	return int32(h.Sum32())
}

const serverClock = `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`

// read reads the stored head. Its age is reckoned by the server's clock.
func (l *HeadLock) read(ctx context.Context) error {
	var row struct {
		Height uint64 `db:"height"`
		Hash   string `db:"hash"`
		Age    int64  `db:"age"`
		Taken  bool   `db:"taken"`
	}
	err := l.conn.GetContext(ctx, &row, `SELECT height, hash, `+serverClock+` - stored AS age, taken = 1 AS taken FROM api_heads WHERE network = $1 AND agent = $2`,
		l.network, l.agent.String())
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		l.Hash, err = core.ParseHash(row.Hash)
	}
	l.Height, l.taken, l.stored = row.Height, row.Taken, time.Now().Add(-time.Duration(row.Age)*time.Millisecond)
	return err
}

// IsLost reports whether a node that does not have the head will not get it any more. It reads an
// old head again: its process reports the acceptance with the end of its lock.
func (l *HeadLock) IsLost(ctx context.Context) (bool, error) {
	if l.conn == nil || !l.lost() {
		return false, nil
	}
	err := l.read(ctx)
	return l.lost(), err
}

// Follows reports whether hash is the block after which the chain is extended, as far as other
// processes decide it.
func (l *HeadLock) Follows(hash core.Hash) bool { return l.conn == nil || l.Hash == hash }

// Advance stores a block that is about to be sent. It must not be sent after an error.
func (l *HeadLock) Advance(ctx context.Context, height uint64, hash core.Hash) error {
	l.before, l.Head = l.Head, Head{Height: height, Hash: hash, stored: time.Now()}
	return l.store(ctx)
}

// SendBefore is the time after which the stored block must not be sent any more: others may count
// it as lost.
func (l *HeadLock) SendBefore(limit time.Duration) time.Time { return l.stored.Add(limit) }

// Taken notes that a node has accepted the stored block. Unlock stores it.
func (l *HeadLock) Taken() { l.taken = true }

// Undo stores the head before the last Advance again: the chain has refused the block.
func (l *HeadLock) Undo(ctx context.Context) error {
	l.Head = l.before
	return l.store(ctx)
}

func (l *HeadLock) store(ctx context.Context) error {
	if l.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), headTimeout)
	defer cancel()
	_, err := l.conn.ExecContext(ctx, `INSERT INTO api_heads (network, agent, height, hash, stored, taken) VALUES ($1, $2, $3, $4, `+serverClock+` - $5, CAST(CAST($6 AS BOOLEAN) AS INT))
		ON CONFLICT (network, agent) DO UPDATE SET height = excluded.height, hash = excluded.hash, stored = excluded.stored, taken = excluded.taken`,
		l.network, l.agent.String(), l.Height, l.Hash.String(), time.Since(l.stored).Milliseconds(), l.taken)
	if err != nil {
		return fmt.Errorf("storing the head of %s: %w", l.agent, err)
	}
	return nil
}

// Unlock lets other processes extend the chain.
func (l *HeadLock) Unlock() {
	if l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), headTimeout)
	defer cancel()
	// A connection that fails here ends, and the lock with it.
	_, _ = l.conn.ExecContext(ctx, `WITH accepted AS (UPDATE api_heads SET taken = 1 WHERE network = $1 AND agent = $2 AND hash = $3 AND $4 AND taken = 0)
		SELECT pg_advisory_unlock_all(), set_config('idle_session_timeout', '0', false)`, l.network, l.agent.String(), l.Hash.String(), l.taken)
	_ = l.conn.Close()
}
