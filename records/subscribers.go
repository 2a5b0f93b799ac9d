package records

import (
	"time"

	"gatewayd/records/sqlstore"
)

// Subscriber is an external receiver of the history's events.
type Subscriber struct {
	Name     string        `db:"name"`
	Seq      uint64        `db:"seq"`      // the last line of the history that it has taken
	Attempts int           `db:"attempts"` // without success, at the line after it
	Fault    string        `db:"fault"`    // why the last one failed
	NextAt   time.Time     // when it is tried again
	For      time.Duration // since it took the last line, or began to take none
}

type subscriberRow struct {
	Subscriber
	NextAt    int64 `db:"next_at"`
	ChangedAt int64 `db:"changed_at"`
}

func (r subscriberRow) subscriber(now time.Time) Subscriber {
	s := r.Subscriber
	s.NextAt, s.For = sqlstore.TimeOrZero(r.NextAt), now.Sub(sqlstore.FromMillis(r.ChangedAt))
	return s
}

const subscriberColumns = `name, seq, attempts, fault, next_at, changed_at`

// AddSubscriber lets a new subscriber begin at the end of the history; one that is there already
// stays where it is.
func AddSubscriber(tx *Tx, name string) error {
	_, err := tx.SQL().Exec(`INSERT INTO subscribers (name, seq, changed_at) SELECT ?, COALESCE(MAX(seq), 0), ? FROM history WHERE true ON CONFLICT (name) DO NOTHING`, sqlstore.Note(name), tx.SQL().Millis())
	return sqlstore.Doing(err, "adding the subscriber %s", name)
}

// SubscriberOf returns one by name, or ErrNotFound.
func SubscriberOf(tx *Tx, name string) (Subscriber, error) {
	var r subscriberRow
	err := tx.SQL().One(&r, `SELECT `+subscriberColumns+` FROM subscribers WHERE name = ?`, sqlstore.Note(name))
	return r.subscriber(tx.SQL().Now()), sqlstore.Doing(err, "reading the subscriber %s", name)
}

// Subscribers returns all that there ever were.
func Subscribers(tx *Tx) ([]Subscriber, error) {
	var rows []subscriberRow
	err := tx.SQL().List(&rows, `SELECT `+subscriberColumns+` FROM subscribers ORDER BY name`)
	return sqlstore.Each(rows, func(r subscriberRow) Subscriber { return r.subscriber(tx.SQL().Now()) }), sqlstore.Doing(err, "reading the subscribers")
}

// Took notes that a subscriber has taken the history up to a line.
func SubscriberTook(tx *Tx, name string, seq uint64) error {
	_, err := tx.SQL().Exec(`UPDATE subscribers SET seq = ?, attempts = 0, fault = '', next_at = 0, changed_at = ? WHERE name = ? AND seq < ?`, seq, tx.SQL().Millis(), name, seq)
	return sqlstore.Doing(err, "noting what %s has taken", name)
}

// Refused notes that a subscriber did not take the next line, why, and when it is tried again.
func SubscriberRefused(tx *Tx, name, why string, again time.Time) error {
	_, err := tx.SQL().Exec(`UPDATE subscribers SET attempts = attempts + 1, changed_at = CASE WHEN attempts = 0 THEN ? ELSE changed_at END, fault = ?, next_at = ? WHERE name = ?`,
		tx.SQL().Millis(), sqlstore.Note(why), sqlstore.ToMillis(again), name)
	return sqlstore.Doing(err, "noting that %s accepts nothing", name)
}
