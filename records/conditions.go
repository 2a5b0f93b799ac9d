package records

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Condition is a fact that blocks payments, or may soon, reported by a part of the running daemon.
// Empty fields mean all: every network of the chain, every token of the network.
type Condition struct {
	Kind      string    `json:"kind" db:"kind"`
	Subject   string    `json:"subject,omitempty" db:"subject"` // what it is about, for operators: a node, an account
	Chain     chain.ID  `json:"chain,omitempty" db:"chain"`
	Network   string    `json:"network,omitempty" db:"network"`
	Token     string    `json:"token,omitempty" db:"token"`
	Direction Direction `json:"direction,omitempty" db:"direction"` // empty for both
	Stops     bool      `json:"stops" db:"stops"`                   // money does not move because of it
	Detail    string    `json:"detail" db:"detail"`                 // in words, for operators
	Since     time.Time `json:"since,omitzero"`
	Seen      time.Time `json:"-"`
}

// maxConditions bounds the conditions of one source.
const maxConditions = 100

type conditionRow struct {
	Condition
	Since int64 `db:"since"`
	Seen  int64 `db:"seen"`
}

func (r conditionRow) condition() Condition {
	r.Condition.Since, r.Condition.Seen = sqlstore.FromMillis(r.Since), sqlstore.TimeOrZero(r.Seen)
	return r.Condition
}

// params are a condition's columns and others.
func (c Condition) params(others params) params {
	maps.Copy(others, params{
		"kind": c.Kind, "subject": sqlstore.Note(c.Subject), "chain": c.Chain, "network": c.Network, "token": c.Token,
		"direction": c.Direction, "stops": sqlstore.Bit(c.Stops), "detail": sqlstore.Note(c.Detail),
	})
	return others
}

// NoteConditions replaces a source's earlier conditions. A condition that continues keeps its start
// time. Conditions beyond a hundred are dropped.
func NoteConditions(tx *Tx, source string, now []Condition) error {
	now = now[:min(len(now), maxConditions)]
	for _, c := range now {
		_, err := tx.execNamed(`INSERT INTO conditions (source, kind, subject, chain, network, token, direction, stops, detail, since, seen)
			VALUES (:source, :kind, :subject, :chain, :network, :token, :direction, :stops, :detail, :now, :now)
			ON CONFLICT (source, kind, subject) DO UPDATE SET chain = excluded.chain, network = excluded.network, token = excluded.token,
			direction = excluded.direction, stops = excluded.stops, detail = excluded.detail, seen = excluded.seen`,
			c.params(params{"source": source, "now": tx.millis()}))
		if err != nil {
			return fmt.Errorf("noting the condition %s of %s: %w", c.Kind, source, err)
		}
	}
	return sqlstore.Doing(deleteConditions(tx, source, now), "forgetting conditions of %s", source)
}

// DropSources deletes the conditions of the sources with a name prefix, except those in keep.
func DropSources(tx *Tx, prefix string, keep []string) error {
	var sources []string
	if err := tx.SQL().List(&sources, `SELECT DISTINCT source FROM conditions ORDER BY source`); err != nil {
		return fmt.Errorf("reading the receivers of conditions: %w", err)
	}
	for _, source := range sources {
		if !strings.HasPrefix(source, prefix) || slices.Contains(keep, source) {
			continue
		}
		if err := NoteConditions(tx, source, nil); err != nil {
			return err
		}
	}
	return nil
}

// deleteConditions deletes the conditions that a source no longer reports.
func deleteConditions(tx *Tx, source string, now []Condition) error {
	var before []conditionRow
	if err := tx.SQL().List(&before, `SELECT kind, subject FROM conditions WHERE source = ?`, source); err != nil {
		return err
	}
	for _, b := range before {
		if slices.ContainsFunc(now, func(c Condition) bool { return c.Kind == b.Kind && sqlstore.Note(c.Subject) == b.Subject }) {
			continue
		}
		if _, err := tx.SQL().Exec(`DELETE FROM conditions WHERE source = ? AND kind = ? AND subject = ?`, source, b.Kind, b.Subject); err != nil {
			return err
		}
	}
	return nil
}

// Conditions returns the latest conditions of all sources, the oldest first.
func Conditions(tx *Tx) ([]Condition, error) {
	var rows []conditionRow
	err := tx.SQL().List(&rows, `SELECT kind, subject, chain, network, token, direction, stops, detail, since, seen FROM conditions ORDER BY since, source, kind, subject`)
	return sqlstore.Each(rows, conditionRow.condition), sqlstore.Doing(err, "reading the conditions")
}

// Beat records that a part of the daemon is at work, by the database's clock.
func Beat(tx *Tx, role string) error { return BeatAt(tx, role, 0) }

// BeatAt is Beat as of so long after the database's present time.
func BeatAt(tx *Tx, role string, after time.Duration) error {
	now, err := tx.SQL().Clock()
	if err == nil {
		now += after.Milliseconds()
		_, err = tx.SQL().Exec(`INSERT INTO heartbeats (role, at) VALUES (?, ?) ON CONFLICT (role) DO UPDATE SET at = excluded.at`, role, now)
	}
	return sqlstore.Doing(err, "noting the heartbeat of %s", role)
}

// Heartbeat is the last sign of life of a part of the daemon, by the database's clock.
type Heartbeat struct {
	At  time.Time
	Age time.Duration
}

// LastBeat returns the last heartbeat of a part of the daemon; false if there was none.
func LastBeat(tx *Tx, role string) (beat Heartbeat, ever bool, err error) {
	all, err := LastBeats(tx, role)
	beat, ever = all[role]
	return beat, ever, err
}

// LastBeats returns the last heartbeats of parts of the daemon, of those that ever had one.
func LastBeats(tx *Tx, roles ...string) (map[string]Heartbeat, error) {
	var rows []struct {
		Role string `db:"role"`
		At   int64  `db:"at"`
	}
	now, err := tx.SQL().Clock()
	if err == nil {
		err = tx.SQL().ListIn(&rows, `SELECT role, at FROM heartbeats WHERE role IN (?)`, roles)
	}
	beats := make(map[string]Heartbeat, len(rows))
	for _, r := range rows {
		beats[r.Role] = Heartbeat{time.UnixMilli(r.At).UTC(), time.Duration(now-r.At) * time.Millisecond}
	}
	return beats, sqlstore.Doing(err, "reading the heartbeats of %v", roles)
}
