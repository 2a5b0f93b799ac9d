package records

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatewayd/records/sqlstore"
)

// The history's event names of a condition. The detail is the Condition as JSON.
const (
	ConditionSubject = "condition"
	ConditionBegan   = "began"
	ConditionOver    = "over"
)

// Changes are the conditions of now that before has not, each once, and those of before that are
// over.
func Changes(before, now []Condition) (began, over []Condition) {
	for i, c := range now {
		if !slices.ContainsFunc(before, c.sameAs) && !slices.ContainsFunc(now[:i], c.sameAs) {
			began = append(began, c)
		}
	}
	for _, c := range before {
		if !slices.ContainsFunc(now, c.sameAs) {
			over = append(over, c)
		}
	}
	return began, over
}

// TellConditions compares the present conditions with the announced ones, also of earlier daemons,
// and writes their beginnings and ends into the history.
func TellConditions(tx *Tx, now []Condition) error {
	told, err := toldConditions(tx)
	if err != nil {
		return err
	}
	began, over := Changes(told, now)
	for _, c := range began {
		if c.Since.IsZero() {
			c.Since = tx.SQL().Now()
		}
		_, err := tx.execNamed(`INSERT INTO told_conditions (kind, chain, network, token, direction, subject, stops, detail, since)
			VALUES (:kind, :chain, :network, :token, :direction, :subject, :stops, :detail, :since)`,
			c.params(params{"since": sqlstore.ToMillis(c.Since)}))
		if err == nil {
			err = logCondition(tx, ConditionBegan, c)
		}
		if err != nil {
			return fmt.Errorf("noting the condition %s: %w", c.Kind, err)
		}
	}
	for _, c := range over {
		_, err := tx.SQL().Exec(`DELETE FROM told_conditions WHERE kind = ? AND chain = ? AND network = ? AND token = ? AND direction = ? AND subject = ?`,
			c.Kind, string(c.Chain), c.Network, c.Token, string(c.Direction), c.Subject)
		if err == nil {
			err = logCondition(tx, ConditionOver, c)
		}
		if err != nil {
			return fmt.Errorf("noting the end of condition %s: %w", c.Kind, err)
		}
	}
	return nil
}

// sameAs reports whether both are about the same thing, whatever their details.
func (c Condition) sameAs(o Condition) bool {
	return c.Kind == o.Kind && c.Chain == o.Chain && c.Network == o.Network && c.Token == o.Token && c.Direction == o.Direction && sqlstore.Note(c.Subject) == sqlstore.Note(o.Subject)
}

func toldConditions(tx *Tx) ([]Condition, error) {
	var rows []conditionRow
	err := tx.SQL().List(&rows, `SELECT kind, subject, chain, network, token, direction, stops, detail, since FROM told_conditions ORDER BY since, kind, subject`)
	return sqlstore.Each(rows, conditionRow.condition), sqlstore.Doing(err, "reading the reported conditions")
}

func logCondition(tx *Tx, event string, c Condition) error {
	c.Detail = strings.ToValidUTF8(c.Detail[:min(len(c.Detail), sqlstore.MaxNote/4)], "") // so that the complete detail fits a line
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return tx.SQL().LogEvent(ConditionSubject, c.Kind, event, string(text))
}
