package records

import (
	"fmt"
	"slices"
	"time"

	"gatewayd/chain"
)

// Condition is something that keeps money from moving, or may soon, as a part of the running daemon sees it. Empty fields stand for all: of
// every network of the chain, of every token of the network.
type Condition struct {
	Kind    string
	Subject string // what it is about, for operators: a node, an account
	Chain   chain.ID
	Network string
	Token   string
	// Direction is empty for both.
	Direction Direction
	Stops     bool   // money does not move because of it
	Detail    string // in words, for operators
	Since     time.Time
	Seen      time.Time
}

// maxConditions bounds what one source may tell.
const maxConditions = 100

type conditionRow struct {
	Kind      string `db:"kind"`
	Subject   string `db:"subject"`
	Chain     string `db:"chain"`
	Network   string `db:"network"`
	Token     string `db:"token"`
	Direction string `db:"direction"`
	Stops     bool   `db:"stops"`
	Detail    string `db:"detail"`
	Since     int64  `db:"since"`
	Seen      int64  `db:"seen"`
}

// NoteConditions replaces what a source has told before. A condition that goes on keeps the time since when. Of more than a hundred the
// rest is left out.
func (tx *Tx) NoteConditions(source string, now []Condition) error {
	now = now[:min(len(now), maxConditions)]
	for _, c := range now {
		_, err := tx.exec(`INSERT INTO conditions (source, kind, subject, chain, network, token, direction, stops, detail, since, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (source, kind, subject) DO UPDATE SET chain = excluded.chain, network = excluded.network, token = excluded.token,
			direction = excluded.direction, stops = excluded.stops, detail = excluded.detail, seen = excluded.seen`,
			source, c.Kind, note(c.Subject), string(c.Chain), c.Network, c.Token, string(c.Direction), bit(c.Stops), note(c.Detail), tx.millis(), tx.millis())
		if err != nil {
			return fmt.Errorf("noting the condition %s of %s: %w", c.Kind, source, err)
		}
	}
	if err := tx.forgetConditions(source, now); err != nil {
		return fmt.Errorf("forgetting conditions of %s: %w", source, err)
	}
	return nil
}

// forgetConditions drops what a source does not tell any more.
func (tx *Tx) forgetConditions(source string, now []Condition) error {
	var before []conditionRow
	if err := tx.list(&before, `SELECT kind, subject FROM conditions WHERE source = ?`, source); err != nil {
		return err
	}
	for _, b := range before {
		if slices.ContainsFunc(now, func(c Condition) bool { return c.Kind == b.Kind && note(c.Subject) == b.Subject }) {
			continue
		}
		if _, err := tx.exec(`DELETE FROM conditions WHERE source = ? AND kind = ? AND subject = ?`, source, b.Kind, b.Subject); err != nil {
			return err
		}
	}
	return nil
}

// Conditions answers what all sources told last, the oldest first.
func (tx *Tx) Conditions() ([]Condition, error) {
	var rows []conditionRow
	err := tx.list(&rows, `SELECT kind, subject, chain, network, token, direction, stops, detail, since, seen FROM conditions ORDER BY since, source, kind, subject`)
	if err != nil {
		return nil, fmt.Errorf("reading the conditions: %w", err)
	}
	out := make([]Condition, len(rows))
	for i, r := range rows {
		out[i] = Condition{r.Kind, r.Subject, chain.ID(r.Chain), r.Network, r.Token, Direction(r.Direction), r.Stops, r.Detail, fromMillis(r.Since), fromMillis(r.Seen)}
	}
	return out, nil
}

// Beat records that a part of the daemon is at work, by the database's clock.
func (tx *Tx) Beat(role string) error {
	now, err := tx.clock()
	if err == nil {
		_, err = tx.exec(`INSERT INTO heartbeats (role, at) VALUES (?, ?) ON CONFLICT (role) DO UPDATE SET at = excluded.at`, role, now)
	}
	if err != nil {
		return fmt.Errorf("noting the heartbeat of %s: %w", role, err)
	}
	return nil
}

// SinceBeat answers how long ago a part of the daemon was last at work, by the database's clock; false when it never was.
func (tx *Tx) SinceBeat(role string) (age time.Duration, ever bool, err error) {
	var at int64
	ever, err = tx.get(&at, `SELECT at FROM heartbeats WHERE role = ?`, role)
	if err == nil && ever {
		var now int64
		now, err = tx.clock()
		age = time.Duration(now-at) * time.Millisecond
	}
	if err != nil {
		return 0, false, fmt.Errorf("reading the heartbeat of %s: %w", role, err)
	}
	return age, ever, nil
}

// StoppedOwn answers the accounts of a chain that sign nothing any more, but for deposit addresses: those that pay, and what they share.
func (tx *Tx) StoppedOwn(id chain.ID) ([]Account, error) {
	var rows []accountRow
	err := tx.list(&rows, `SELECT `+accountColumns+` FROM accounts WHERE chain = ? AND kind <> 'deposit' AND state IN ('halted','recovering') ORDER BY seq`, string(id))
	if err != nil {
		return nil, fmt.Errorf("reading the stopped accounts on %s: %w", id, err)
	}
	out := make([]Account, len(rows))
	for i, r := range rows {
		out[i] = r.account()
	}
	return out, nil
}

// Waiting is what an account has not brought into a block for longest.
type Waiting struct {
	Payment uint64
	Network string
	Token   string
	Purpose chain.Purpose
	Since   time.Time
	For     time.Duration // by now
}

// OldestWaiting answers the oldest payment of an account that is queued and the oldest that is signed or bound and stands in no block; at most two.
func (tx *Tx) OldestWaiting(id chain.ID, account string) ([]Waiting, error) {
	type row struct {
		ID      uint64 `db:"id"`
		Network string `db:"network"`
		Token   string `db:"token"`
		Purpose string `db:"purpose"`
		At      int64  `db:"at"`
	}
	var queued, unmined []row
	err := tx.list(&queued, `SELECT id, network, token, purpose, changed_at AS at FROM payments
		WHERE chain = ? AND account = ? AND state IN ('queued','held','bound') AND state = 'queued' ORDER BY id LIMIT 1`, string(id), account)
	if err == nil {
		err = tx.list(&unmined, `SELECT p.id, p.network, p.token, p.purpose, s.created_at AS at FROM slots s JOIN payments p ON p.id = s.payment_id
			WHERE s.chain = ? AND s.account = ? AND s.state = 'open' AND s.mined_in = '' ORDER BY s.number LIMIT 1`, string(id), account)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for what waits at %s on %s: %w", account, id, err)
	}
	var out []Waiting
	for _, r := range append(queued, unmined...) {
		at := fromMillis(r.At)
		out = append(out, Waiting{r.ID, r.Network, r.Token, chain.Purpose(r.Purpose), at, tx.now.Sub(at)})
	}
	return out, nil
}
