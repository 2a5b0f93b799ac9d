package records

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
)

// Subscriber is somebody outside who is told what the history says.
type Subscriber struct {
	Name     string
	Seq      uint64        // the last line of the history that it has taken
	Attempts int           // without success, at the line after it
	Fault    string        // why the last one failed
	NextAt   time.Time     // when it is tried again
	For      time.Duration // since it took the last line, or began to take none
}

type subscriberRow struct {
	Name      string `db:"name"`
	Seq       uint64 `db:"seq"`
	Attempts  int    `db:"attempts"`
	Fault     string `db:"fault"`
	NextAt    int64  `db:"next_at"`
	ChangedAt int64  `db:"changed_at"`
}

func (r subscriberRow) subscriber(now time.Time) Subscriber {
	return Subscriber{r.Name, r.Seq, r.Attempts, r.Fault, timeOrZero(r.NextAt), now.Sub(fromMillis(r.ChangedAt))}
}

const subscriberColumns = `name, seq, attempts, fault, next_at, changed_at`

// AddSubscriber lets a new subscriber begin at the end of the history; one that is there already stays where it is.
func (tx *Tx) AddSubscriber(name string) error {
	_, err := tx.exec(`INSERT INTO subscribers (name, seq, changed_at) SELECT ?, COALESCE(MAX(seq), 0), ? FROM history WHERE true ON CONFLICT (name) DO NOTHING`, note(name), tx.millis())
	if err != nil {
		return fmt.Errorf("adding the subscriber %s: %w", name, err)
	}
	return nil
}

// Subscriber answers one by name, or ErrNotFound.
func (tx *Tx) Subscriber(name string) (Subscriber, error) {
	var r subscriberRow
	if err := tx.one(&r, `SELECT `+subscriberColumns+` FROM subscribers WHERE name = ?`, note(name)); err != nil {
		return Subscriber{}, fmt.Errorf("reading the subscriber %s: %w", name, err)
	}
	return r.subscriber(tx.now), nil
}

// Subscribers answers all that there ever were.
func (tx *Tx) Subscribers() ([]Subscriber, error) {
	var rows []subscriberRow
	if err := tx.list(&rows, `SELECT `+subscriberColumns+` FROM subscribers ORDER BY name`); err != nil {
		return nil, fmt.Errorf("reading the subscribers: %w", err)
	}
	out := make([]Subscriber, len(rows))
	for i, r := range rows {
		out[i] = r.subscriber(tx.now)
	}
	return out, nil
}

// Took notes that a subscriber has taken the history up to a line.
func (tx *Tx) Took(name string, seq uint64) error {
	_, err := tx.exec(`UPDATE subscribers SET seq = ?, attempts = 0, fault = '', next_at = 0, changed_at = ? WHERE name = ? AND seq < ?`, seq, tx.millis(), name, seq)
	if err != nil {
		return fmt.Errorf("noting what %s has taken: %w", name, err)
	}
	return nil
}

// Refused notes that a subscriber did not take the next line, why, and when it is tried again.
func (tx *Tx) Refused(name, why string, again time.Time) error {
	_, err := tx.exec(`UPDATE subscribers SET attempts = attempts + 1, changed_at = CASE WHEN attempts = 0 THEN ? ELSE changed_at END, fault = ?, next_at = ? WHERE name = ?`,
		tx.millis(), note(why), toMillis(again), name)
	if err != nil {
		return fmt.Errorf("noting that %s takes nothing: %w", name, err)
	}
	return nil
}

// HistoryAfter answers the lines after one, oldest first.
func (tx *Tx) HistoryAfter(seq uint64, limit int) ([]Event, error) {
	var rows []eventRow
	if err := tx.list(&rows, `SELECT `+eventColumns+` FROM history WHERE seq > ? ORDER BY seq LIMIT ? + 0`, seq, clampLimit(limit)); err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	out := make([]Event, len(rows))
	for i, r := range rows {
		out[i] = r.event()
	}
	return out, nil
}

// What the history says of a condition, as people are told it. The detail is the Condition as JSON.
const (
	ConditionSubject = "condition"
	ConditionBegan   = "began"
	ConditionOver    = "over"
)

// TellConditions compares all that is not as it should be with what was told before, also by earlier daemons, and puts into the history what has
// begun and what is over.
func (tx *Tx) TellConditions(now []Condition) error {
	told, err := tx.toldConditions()
	if err != nil {
		return err
	}
	for i, c := range now {
		if slices.ContainsFunc(append(slices.Clone(told), now[:i]...), c.sameAs) {
			continue
		}
		if c.Since.IsZero() {
			c.Since = tx.now
		}
		_, err := tx.exec(`INSERT INTO told_conditions (kind, chain, network, token, direction, subject, stops, detail, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.Kind, string(c.Chain), c.Network, c.Token, string(c.Direction), note(c.Subject), bit(c.Stops), note(c.Detail), toMillis(c.Since))
		if err == nil {
			err = tx.logCondition(ConditionBegan, c)
		}
		if err != nil {
			return fmt.Errorf("noting the condition %s: %w", c.Kind, err)
		}
	}
	for _, c := range told {
		if slices.ContainsFunc(now, c.sameAs) {
			continue
		}
		_, err := tx.exec(`DELETE FROM told_conditions WHERE kind = ? AND chain = ? AND network = ? AND token = ? AND direction = ? AND subject = ?`,
			c.Kind, string(c.Chain), c.Network, c.Token, string(c.Direction), c.Subject)
		if err == nil {
			err = tx.logCondition(ConditionOver, c)
		}
		if err != nil {
			return fmt.Errorf("noting that the condition %s is over: %w", c.Kind, err)
		}
	}
	return nil
}

// sameAs tells whether both are about the same thing, whatever their words.
func (c Condition) sameAs(o Condition) bool {
	return c.Kind == o.Kind && c.Chain == o.Chain && c.Network == o.Network && c.Token == o.Token && c.Direction == o.Direction && note(c.Subject) == note(o.Subject)
}

func (tx *Tx) toldConditions() ([]Condition, error) {
	var rows []conditionRow
	if err := tx.list(&rows, `SELECT kind, subject, chain, network, token, direction, stops, detail, since FROM told_conditions ORDER BY since, kind, subject`); err != nil {
		return nil, fmt.Errorf("reading the conditions that were told: %w", err)
	}
	out := make([]Condition, len(rows))
	for i, r := range rows {
		out[i] = Condition{
			Kind: r.Kind, Subject: r.Subject, Chain: chain.ID(r.Chain), Network: r.Network, Token: r.Token, Direction: Direction(r.Direction),
			Stops: r.Stops, Detail: r.Detail, Since: fromMillis(r.Since),
		}
	}
	return out, nil
}

func (tx *Tx) logCondition(event string, c Condition) error {
	c.Detail = strings.ToValidUTF8(c.Detail[:min(len(c.Detail), maxNote/4)], "") // so that the whole fits a line
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return tx.log(ConditionSubject, c.Kind, event, string(text))
}
