package records

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/records/sqlstore"
)

// The history's event names of an alert. The detail is the Alert as JSON.
const (
	ConditionSubject = "condition"
	ConditionBegan   = "began"
	ConditionChanged = "changed"
	ConditionOver    = "over"
)

// Severities of alerts.
const (
	Critical = "critical" // the gateway, a chain or an account cannot pay
	Warning  = "warning"
)

// Alert is one notification: a condition, or all conditions of one kind that concern tokens. Fields
// in which these differ are empty.
type Alert struct {
	Condition
	Severity string   `json:"severity,omitempty"`
	Tokens   []string `json:"tokens,omitempty"` // network, symbol and direction of each condition of a token
}

// sameAs reports whether both are the same alert, whatever tokens they list.
func (a Alert) sameAs(o Alert) bool {
	if len(a.Tokens) > 0 && len(o.Tokens) > 0 {
		return a.Kind == o.Kind
	}
	return len(a.Tokens) == len(o.Tokens) && a.Condition.sameAs(o.Condition)
}

// AlertChange is the beginning, a change or the end of an alert.
type AlertChange struct {
	Event string
	Alert
}

// AlertChanges compares alerts. One changes with its tokens and its severity.
func AlertChanges(before, now []Alert) (list []AlertChange) {
	for _, a := range now {
		i := slices.IndexFunc(before, a.sameAs)
		switch {
		case i < 0:
			list = append(list, AlertChange{ConditionBegan, a})
		case !slices.Equal(before[i].Tokens, a.Tokens), before[i].Severity != a.Severity:
			list = append(list, AlertChange{ConditionChanged, a})
		}
	}
	for _, a := range before {
		if !slices.ContainsFunc(now, a.sameAs) {
			list = append(list, AlertChange{ConditionOver, a})
		}
	}
	return list
}

// Announced are the known conditions that continue, as they were announced, and the new ones of
// now, each once. A new one without a beginning begins at the given time.
func Announced(known, now []Condition, at time.Time) (list []Condition) {
	for _, c := range known {
		if slices.ContainsFunc(now, c.sameAs) {
			list = append(list, c)
		}
	}
	for _, c := range now {
		if slices.ContainsFunc(list, c.sameAs) {
			continue
		}
		if c.Since.IsZero() {
			c.Since = at
		}
		list = append(list, c)
	}
	return list
}

// AnnounceConditions compares the present conditions with the announced ones, also of earlier
// daemons, and writes the changes of their alerts into the history.
func AnnounceConditions(tx *Tx, now []Condition, alerts func([]Condition) []Alert) error {
	before, err := announcedConditions(tx)
	if err != nil {
		return err
	}
	now = Announced(before, now, tx.SQL().Now())
	for _, c := range now {
		if slices.ContainsFunc(before, c.sameAs) {
			continue
		}
		_, err := tx.execNamed(`INSERT INTO told_conditions (kind, chain, network, token, direction, subject, stops, detail, since)
			VALUES (:kind, :chain, :network, :token, :direction, :subject, :stops, :detail, :since)`,
			c.params(params{"since": sqlstore.ToMillis(c.Since)}))
		if err != nil {
			return fmt.Errorf("noting the condition %s: %w", c.Kind, err)
		}
	}
	for _, c := range before {
		if slices.ContainsFunc(now, c.sameAs) {
			continue
		}
		_, err := tx.SQL().Exec(`DELETE FROM told_conditions WHERE kind = ? AND chain = ? AND network = ? AND token = ? AND direction = ? AND subject = ?`,
			c.Kind, string(c.Chain), c.Network, c.Token, string(c.Direction), c.Subject)
		if err != nil {
			return fmt.Errorf("noting the end of condition %s: %w", c.Kind, err)
		}
	}
	for _, c := range AlertChanges(alerts(before), alerts(now)) {
		if err := logAlert(tx, c); err != nil {
			return fmt.Errorf("noting the alert %s: %w", c.Kind, err)
		}
	}
	return nil
}

// sameAs reports whether both are about the same thing, whatever their details.
func (c Condition) sameAs(o Condition) bool {
	return c.Kind == o.Kind && c.Chain == o.Chain && c.Network == o.Network && c.Token == o.Token && c.Direction == o.Direction && sqlstore.Note(c.Subject) == sqlstore.Note(o.Subject)
}

func announcedConditions(tx *Tx) ([]Condition, error) {
	var rows []conditionRow
	err := tx.SQL().List(&rows, `SELECT kind, subject, chain, network, token, direction, stops, detail, since FROM told_conditions ORDER BY since, kind, subject`)
	return sqlstore.Each(rows, conditionRow.condition), sqlstore.Doing(err, "reading the reported conditions")
}

func logAlert(tx *Tx, c AlertChange) error {
	c.Detail = strings.ToValidUTF8(c.Detail[:min(len(c.Detail), sqlstore.MaxNote/4)], "") // so that the complete detail fits a line
	text, err := json.Marshal(c.Alert)
	if err != nil {
		return err
	}
	return tx.SQL().LogEvent(ConditionSubject, c.Kind, c.Event, string(text))
}
