package records

import (
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Tracing describes how the blocks of a chain were searched for native coin that contracts moved.
type Tracing struct {
	Traced   bool      // some block was traced
	LostAt   time.Time // when the first block passed untraced since the last traced one; zero: none has
	Untraced uint64    // blocks that have passed untraced since then
	First    int64     // lowest untraced block that no comparison of all balances covers; -1: none
	Last     int64     // highest of them
}

type tracingRow struct {
	Traced   int    `db:"traced"`
	LostAt   int64  `db:"lost_at"`
	Untraced uint64 `db:"untraced"`
	First    int64  `db:"first"`
	Last     int64  `db:"last"`
}

// Tracing returns what is known about a chain's traces.
func (tx Chains) Tracing(id chain.ID) (Tracing, error) {
	r := tracingRow{First: -1, Last: -1}
	_, err := tx.get(&r, `SELECT traced, lost_at, untraced, first, last FROM tracing WHERE chain = ?`, string(id))
	return Tracing{r.Traced == 1, sqlstore.TimeOrZero(r.LostAt), r.Untraced, r.First, r.Last}, sqlstore.Doing(err, "reading how %s was traced", id)
}

// NoteTracing records which of the blocks that are applied were traced. Most groups of blocks
// change nothing.
func (tx Chains) NoteTracing(id chain.ID, blocks []chain.Block) error {
	if !slices.ContainsFunc(blocks, func(b chain.Block) bool { return b.Tracing != chain.TracingUnneeded }) {
		return nil
	}
	before, err := tx.Tracing(id)
	if err != nil {
		return err
	}
	after, now := before, sqlstore.FromMillis(tx.millis())
	for _, b := range blocks {
		after.add(b, now)
	}
	if after == before {
		return nil
	}
	_, err = tx.exec(`INSERT INTO tracing (chain, traced, lost_at, untraced, first, last) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (chain) DO UPDATE SET traced = excluded.traced, lost_at = excluded.lost_at, untraced = excluded.untraced,
		first = excluded.first, last = excluded.last`, string(id), sqlstore.Bit(after.Traced), sqlstore.ToMillis(after.LostAt), after.Untraced, after.First, after.Last)
	return sqlstore.Doing(err, "noting how %s was traced", id)
}

func (t *Tracing) add(b chain.Block, now time.Time) {
	switch b.Tracing {
	case chain.Traced:
		t.Traced, t.LostAt, t.Untraced = true, time.Time{}, 0
	case chain.Untraced:
		if t.Untraced++; t.LostAt.IsZero() {
			t.LostAt = now
		}
		height := int64(b.Height)
		if t.First < 0 || height < t.First {
			t.First = height
		}
		t.Last = max(t.Last, height)
	}
}

// CoverUntraced records that all balances were compared at a height: untraced blocks up to there
// need nothing more.
func (tx Chains) CoverUntraced(id chain.ID, height uint64) error {
	_, err := tx.exec(`UPDATE tracing SET first = CASE WHEN last > ? THEN ? ELSE -1 END, last = CASE WHEN last > ? THEN last ELSE -1 END
		WHERE chain = ? AND first >= 0 AND first <= ?`, height, height+1, height, string(id), height)
	return sqlstore.Doing(err, "noting which untraced blocks of %s are covered", id)
}
