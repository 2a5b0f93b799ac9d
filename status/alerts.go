package status

import (
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/records"
)

// Alerts writes the lines of the log that monitoring waits for: a warning when a condition begins,
// and "over" when it has ended, each once and with the same fields. It outlives a Monitor, so that
// a daemon that has lost its lease and takes it again repeats nothing. One goroutine may use it.
type Alerts struct {
	log   logrus.FieldLogger
	known []records.Condition // announced, and not over
}

// NewAlerts starts without conditions.
func NewAlerts(log logrus.FieldLogger) *Alerts { return &Alerts{log: log} }

// Update logs the conditions that have begun and ended since the last call. A state that an
// operator has ordered causes no alert.
func (a *Alerts) Update(now time.Time, found []Condition) { a.update(now, alertable(found)) }

func (a *Alerts) update(now time.Time, found []records.Condition) {
	began, over := records.Changes(a.known, found)
	for _, c := range began {
		if c.Since.IsZero() {
			c.Since = now
		}
		a.known = append(a.known, c)
		a.line(c).Warn(c.Detail)
	}
	for _, c := range over {
		a.known = slices.DeleteFunc(a.known, func(k records.Condition) bool { return k == c })
		a.line(c).WithField("lasted", now.Sub(c.Since).Round(time.Second).String()).Info("over")
	}
}

// reportStoreDown logs that the store cannot be written. It leaves all other conditions as they
// were.
func (a *Alerts) reportStoreDown(now time.Time, err error) {
	down := alertable(Down().Conditions)
	down[0].Detail += ": " + err.Error()
	a.update(now, append(down, a.known...))
}

// line returns a log entry with a field for each part of a condition.
func (a *Alerts) line(c records.Condition) *logrus.Entry {
	fields := logrus.Fields{"condition": c.Kind, "stops": c.Stops, "since": c.Since.UTC().Format(time.RFC3339)}
	for name, value := range map[string]string{
		"chain": string(c.Chain), "network": c.Network, "token": c.Token, "direction": string(c.Direction), "subject": c.Subject,
	} {
		if value != "" {
			fields[name] = value
		}
	}
	return a.log.WithFields(fields)
}

// alertable are the conditions that alert people when they begin and when they are over: all but
// those that an operator has ordered.
func alertable(found []Condition) (list []records.Condition) {
	for _, c := range found {
		if c.Kind != ChannelClosed {
			list = append(list, records.Condition{
				Kind: string(c.Kind), Subject: c.Subject, Chain: c.Chain, Network: c.Network, Token: c.Token, Direction: c.Direction, Stops: c.Stops, Detail: c.Detail, Since: c.Since,
			})
		}
	}
	return list
}
