package status

import (
	"fmt"
	"slices"
	"strings"

	"gatewayd/records"
)

// maxNames bounds the bytes of an alert's list of tokens, so that the alert fits a line of the
// history.
const maxNames = 900

// Alerts groups conditions: those of one kind of all tokens are one alert, other conditions are one
// each.
func (r Report) Alerts(list []records.Condition) (all []records.Alert) {
	group, members := map[string]int{}, map[string]int{} // by kind: place in all, number
	out := r.outage(func(c Channel) bool { return blockedBy(c, list) })
	for _, c := range list {
		severity := severityOf(c, out)
		if c.Token == "" {
			all = append(all, records.Alert{Condition: c, Severity: severity})
			continue
		}
		i, has := group[c.Kind]
		if !has {
			i = len(all)
			group[c.Kind] = i
			all = append(all, records.Alert{Condition: c, Severity: severity})
		}
		a := &all[i]
		a.Condition = common(a.Condition, c)
		if severity == records.Critical {
			a.Severity = severity
		}
		a.Tokens = append(a.Tokens, r.name(c))
		members[c.Kind]++
	}
	for kind, i := range group {
		a := &all[i]
		if n := members[kind]; n > 1 {
			a.Detail = fmt.Sprintf("%d conditions, the first: %s", n, a.Detail)
		}
		a.Tokens = bounded(a.Tokens)
	}
	return all
}

// severityOf is critical for what blocks more than a token, and for blocked tokens while no payment
// in their direction is possible.
func severityOf(c records.Condition, outage []records.Direction) string {
	switch {
	case !c.Stops:
		return records.Warning
	case c.Token == "", c.Direction == "" && len(outage) > 0, slices.Contains(outage, c.Direction):
		return records.Critical
	}
	return records.Warning
}

func blockedBy(c Channel, list []records.Condition) bool {
	return slices.ContainsFunc(list, func(x records.Condition) bool {
		return x.Stops && conditionOf(x).hits(c.network, c.Token, c.Direction)
	})
}

// common keeps the fields in which two conditions agree, the first one's detail and the earlier
// beginning.
func common(a, b records.Condition) records.Condition {
	if a.Chain != b.Chain {
		a.Chain = ""
	}
	if a.Network != b.Network {
		a.Network = ""
	}
	if a.Token != b.Token {
		a.Token = ""
	}
	if a.Direction != b.Direction {
		a.Direction = ""
	}
	if a.Subject != b.Subject {
		a.Subject = ""
	}
	if b.Since.Before(a.Since) {
		a.Since = b.Since
	}
	a.Stops = a.Stops || b.Stops
	return a
}

// name is a token's condition for people: network, symbol and direction.
func (r Report) name(c records.Condition) string {
	symbol := c.Token
	for _, x := range r.Channels {
		if x.Network == c.Network && x.Token == c.Token {
			symbol = x.symbol()
		}
	}
	return strings.Join(strings.Fields(c.Network+" "+symbol+" "+string(c.Direction)), " ")
}

// bounded sorts names and replaces those that are too many by their number.
func bounded(names []string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	size := 0
	for i, name := range names {
		if size += len(name) + len(`"",`); size > maxNames {
			return append(names[:i], fmt.Sprintf("and %d more", len(names)-i))
		}
	}
	return names
}
