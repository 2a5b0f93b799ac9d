// Package status decides whether payouts and credits flow, and if not why. Every surface asks it:
// the gateway's pages and its health, the operators' commands, metrics, alerts and the console.
//
// Conditions in rows (halted chains, stopped accounts, channels, late payments) are read on
// request. The Monitor of the running daemon writes down its own knowledge (nodes, loops) every ten
// seconds, together with a heartbeat, so that commands and other processes report the same. Nothing
// is cached: a condition ends as soon as its cause does.
//
//	nodes, cursors ──Monitor──▶ conditions, heartbeat ─┐
//	halted chains, accounts, channels, payments ───────┴─Read──▶ Report ──▶ every surface
package status

import (
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
)

// Condition is one deviation from the normal state. Empty fields mean all: every network on the
// chain, every token of the network, both directions.
type Condition struct {
	Kind      Kind              `json:"kind"`
	Chain     chain.ID          `json:"chain,omitempty"`
	Network   string            `json:"network,omitempty"`
	Token     string            `json:"token,omitempty"`
	Direction records.Direction `json:"direction,omitempty"`
	Subject   string            `json:"subject,omitempty"` // account or node
	Detail    string            `json:"detail"`            // a sentence for operators; not for strangers
	Since     time.Time         `json:"since,omitzero"`
	Stops     bool              `json:"stops"` // money does not move because of it

	Halt records.HaltBlocks `json:"halt,omitzero"` // of a halted chain
}

// hits reports whether the condition is about a channel.
func (c Condition) hits(n records.Network, token string, d records.Direction) bool {
	return (c.Chain == "" || c.Chain == n.Source || c.Chain == n.Exchange) && (c.Network == "" || c.Network == n.Name) &&
		(c.Token == "" || c.Token == token) && (c.Direction == "" || c.Direction == d)
}

// Channel is the combined state of a token in one direction on a network: the operators' state, the
// daemon's, and the present obstacles.
type Channel struct {
	records.Channel
	Conditions []Condition // that stop it, and are not its own flag

	network records.Network
}

// Automatic is the state required by the daemon's flag and the conditions alone.
func (c Channel) Automatic() string {
	if len(c.Conditions) > 0 {
		return records.ChannelMaintain
	}
	return c.Channel.Automatic
}

// State is the worst of all.
func (c Channel) State() string {
	if s := c.Channel.State(); s != records.ChannelOpen || len(c.Conditions) == 0 {
		return s
	}
	return records.ChannelMaintain
}

// Since returns when the channel's flags changed last, or when the oldest of its obstacles began.
// It is zero while the channel is open, and if the time is unknown.
func (c Channel) Since() (since time.Time) {
	if c.Channel.State() != records.ChannelOpen {
		return c.ChangedAt
	}
	for _, x := range c.Conditions {
		if !x.Since.IsZero() && (since.IsZero() || x.Since.Before(since)) {
			since = x.Since
		}
	}
	return since
}

// Why returns the reasons of the state for operators, the daemon's own flag or the operator's
// reason first.
func (c Channel) Why() string {
	var all []string
	if c.Channel.Why != "" {
		all = append(all, c.Channel.Why)
	}
	for _, x := range c.Conditions {
		all = append(all, x.Detail)
	}
	return strings.Join(all, "; ")
}

// Report is the state of the gateway.
type Report struct {
	Conditions []Condition `json:"conditions"` // those that stop something first
	Channels   []Channel   `json:"-"`
}

// Flows is true when all money moves that operators let move.
func (r Report) Flows() bool { return !slices.ContainsFunc(r.Conditions, r.blocks) }

// blocks reports whether a condition blocks payments that operators let move. Where they let
// nothing move, any condition counts that would block some.
func (r Report) blocks(c Condition) bool {
	if !c.Stops || !slices.ContainsFunc(r.Channels, Channel.Allowed) {
		return c.Stops
	}
	return slices.ContainsFunc(r.Channels, func(x Channel) bool {
		return x.Allowed() && c.hits(x.network, x.Token, x.Direction)
	})
}

// Down is the report where the store does not answer, or not in time.
func Down() Report {
	return Report{Conditions: []Condition{{Kind: StoreDown, Detail: "the database does not answer", Stops: true}}}
}
