package database

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

const serverMicros = `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`

// maxSwept bounds the rows that one Take removes.
const maxSwept = 100

// Limits counts what clients take from limits, in all processes on one server together. Table is
// its owner's, with the columns client (TEXT, the key) and full_at (BIGINT, with an index). A row
// has the moment at which its client has everything again.
type Limits struct {
	Server *sqlx.DB // nil for SQLite, which one process serves: its own count is enough
	Table  string
}

// Take counts one for a client, who may take burst at once and then one in each period. It returns
// the client's waiting time; 0 when it may continue.
func (l Limits) Take(ctx context.Context, limit, client string, period time.Duration, burst int) (wait time.Duration, err error) {
	if l.Server == nil {
		return 0, nil
	}
	digest := sha256.Sum256([]byte(limit + "\n" + client))
	row, one := hex.EncodeToString(digest[:]), period.Microseconds()
	var full int64
	err = l.Server.GetContext(ctx, &full, `INSERT INTO `+l.Table+` AS l (client, full_at) VALUES ($1, `+serverMicros+` + $2)
		ON CONFLICT (client) DO UPDATE SET full_at = GREATEST(l.full_at, `+serverMicros+`) + $2
		WHERE l.full_at <= `+serverMicros+` + $3 RETURNING full_at`, row, one, one*int64(burst-1))
	if errors.Is(err, sql.ErrNoRows) {
		return l.wait(ctx, row, one*int64(burst-1))
	}
	if err == nil {
		err = l.sweep(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("counting a client: %w", err)
	}
	return 0, nil
}

// wait returns the time until a client that has used all up may take one.
func (l Limits) wait(ctx context.Context, row string, rest int64) (time.Duration, error) {
	var micros int64
	err := l.Server.GetContext(ctx, &micros, `SELECT full_at - $2 - `+serverMicros+` FROM `+l.Table+` WHERE client = $1`, row, rest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading a client's waiting time: %w", err)
	}
	return time.Duration(max(1, micros)) * time.Microsecond, nil
}

// sweep removes clients that have everything again.
func (l Limits) sweep(ctx context.Context) error {
	_, err := l.Server.ExecContext(ctx, `DELETE FROM `+l.Table+` WHERE client IN (
		SELECT client FROM `+l.Table+` WHERE full_at < `+serverMicros+` ORDER BY full_at LIMIT $1 FOR UPDATE SKIP LOCKED)`, maxSwept)
	return err
}
