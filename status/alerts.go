package status

import (
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/records"
)

// Alerts writes the lines of the log that monitoring waits for: a warning when an alert begins or
// changes, and "over" when it has ended, each once. Their field alert is began, changed or over. It
// outlives a Monitor, so that a daemon that has lost its lease and takes it again repeats nothing.
// One goroutine may use it.
type Alerts struct {
	log   logrus.FieldLogger
	known []records.Condition // announced, and not over
	last  Report
}

// NewAlerts starts without conditions.
func NewAlerts(log logrus.FieldLogger) *Alerts { return &Alerts{log: log} }

// Update logs the alerts that have begun, changed and ended since the last call. A state that an
// operator has ordered causes no alert.
func (a *Alerts) Update(now time.Time, r Report) {
	before := a.last.Alerts(a.known)
	a.last, a.known = r, records.Announced(a.known, alertable(r.Conditions), now)
	a.write(now, before)
}

// reportStoreDown logs that the store cannot be written. It leaves all other conditions as they
// were.
func (a *Alerts) reportStoreDown(now time.Time, err error) {
	before := a.last.Alerts(a.known)
	down := alertable(Down().Conditions)
	down[0].Detail += ": " + err.Error()
	a.known = records.Announced(a.known, append(down, a.known...), now)
	a.write(now, before)
}

func (a *Alerts) write(now time.Time, before []records.Alert) {
	for _, c := range records.AlertChanges(before, a.last.Alerts(a.known)) {
		line := a.line(c.Alert).WithField("alert", c.Event)
		if c.Event == records.ConditionOver {
			line.WithField("lasted", now.Sub(c.Since).Round(time.Second).String()).Info("over")
			continue
		}
		line.Warn(c.Detail)
	}
}

// line returns a log entry with a field for each part of an alert.
func (a *Alerts) line(c records.Alert) *logrus.Entry {
	fields := logrus.Fields{"condition": c.Kind, "stops": c.Stops, "severity": c.Severity, "since": c.Since.UTC().Format(time.RFC3339)}
	for name, value := range map[string]string{
		"chain": string(c.Chain), "network": c.Network, "token": c.Token, "direction": string(c.Direction), "subject": c.Subject,
		"tokens": strings.Join(c.Tokens, ", "),
	} {
		if value != "" {
			fields[name] = value
		}
	}
	return a.log.WithFields(fields)
}

// alertable are the conditions that alert people: all but those that an operator has ordered.
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
