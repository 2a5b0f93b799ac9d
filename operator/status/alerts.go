package status

import (
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/records/control"
)

// Alerts writes the lines of the log that monitoring waits for: a warning when a condition begins, and "over" when it has ended, each once and with
// the same fields. It outlives a Monitor, so that a daemon that has lost its lease and takes it again repeats nothing. One goroutine may use it.
type Alerts struct {
	log   logrus.FieldLogger
	known []Condition // told, and not over
}

// NewAlerts knows of no condition yet.
func NewAlerts(log logrus.FieldLogger) *Alerts { return &Alerts{log: log} }

// Tell compares all that is not as it should be with what was told before. What an operator has ordered alerts nobody.
func (a *Alerts) Tell(now time.Time, found []Condition) {
	var known []Condition
	for _, c := range found {
		if c.Kind == ChannelClosed || slices.ContainsFunc(known, c.same) {
			continue
		}
		if i := slices.IndexFunc(a.known, c.same); i >= 0 {
			known = append(known, a.known[i])
			continue
		}
		if c.Since.IsZero() {
			c.Since = now
		}
		known = append(known, c)
		a.line(c).Warn(c.Detail)
	}
	for _, c := range a.known {
		if !slices.ContainsFunc(known, c.same) {
			a.line(c).WithField("lasted", now.Sub(c.Since).Round(time.Second).String()).Info("over")
		}
	}
	a.known = known
}

// storeDown tells that the store did not take what was seen. Of everything else nothing new is known.
func (a *Alerts) storeDown(now time.Time, err error) {
	down := Down().Conditions[0]
	down.Detail += ": " + err.Error()
	a.Tell(now, append(slices.Clone(a.known), down))
}

// line has a field for all that a condition says.
func (a *Alerts) line(c Condition) *logrus.Entry {
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

// toldTo are the conditions that people are told of when they begin and when they are over: what an operator has ordered he knows.
func toldTo(found []Condition) (list []control.Condition) {
	for _, c := range found {
		if c.Kind != ChannelClosed {
			list = append(list, control.Condition{
				Kind: string(c.Kind), Subject: c.Subject, Chain: c.Chain, Network: c.Network, Token: c.Token, Direction: c.Direction, Stops: c.Stops, Detail: c.Detail, Since: c.Since,
			})
		}
	}
	return list
}

// same tells whether both are about the same thing, whatever their words.
func (c Condition) same(other Condition) bool {
	c.Detail, c.Since, c.Stops = other.Detail, other.Since, other.Stops
	return c == other
}
