package status

import (
	"fmt"
	"slices"
	"time"

	"gatewayd/chain"
)

// State is whether payments flow, in one word.
type State string

const (
	Flowing  State = "flowing"  // payments are pending, and nothing blocks them
	Idle     State = "idle"     // no payment is pending, and nothing would block one
	Degraded State = "degraded" // payments of some tokens are blocked; all others are possible
	Blocked  State = "blocked"  // no withdrawal is possible, or no deposit
	Unknown  State = "unknown"  // the same, because the database, the daemon or nodes do not answer
)

// State returns whether payments flow, of which some are pending.
func (r Report) State(pending uint64) State {
	switch {
	case r.Flows() && pending > 0:
		return Flowing
	case r.Flows():
		return Idle
	case len(r.Outage()) == 0:
		return Degraded
	case slices.ContainsFunc(r.Conditions, silence):
		return Unknown
	}
	return Blocked
}

// silence is a condition under which nothing is known about payments.
func silence(c Condition) bool {
	return slices.Contains([]Kind{StoreDown, DaemonDown, NodesDown, NodesDisagree}, c.Kind)
}

// Headline is the state as a sentence for operators. Every surface shows it.
func (r Report) Headline(pending uint64) string {
	switch r.State(pending) {
	case Flowing:
		return "Payments are flowing."
	case Idle:
		return "No pending payments."
	case Degraded:
		return fmt.Sprintf("Payments of %d of %d tokens are blocked. All others are possible.", len(r.Blocked()), len(r.Channels)/2)
	case Blocked:
		if out := r.Outage(); len(out) == 1 {
			return fmt.Sprintf("All %ss are blocked.", out[0])
		}
		return "All payments are blocked."
	}
	c := r.Conditions[slices.IndexFunc(r.Conditions, silence)]
	what := c.Detail
	if c.Kind == NodesDown {
		what = fmt.Sprintf("the nodes of chain %s do not answer", c.Chain)
	}
	if c.Kind == NodesDisagree {
		what = fmt.Sprintf("the nodes of chain %s disagree", c.Chain)
	}
	if !c.Since.IsZero() {
		what += " since " + c.Since.UTC().Format(time.DateTime) + " UTC"
	}
	return "Unknown: " + what + "."
}

// AddSilent adds that the nodes of a chain did not answer the process that reads the report. The
// daemon notices that later.
func (r *Report) AddSilent(id chain.ID, why string) {
	known := func(c Condition) bool { return c.Chain == id && (c.Kind == NodesDown || c.Kind == NodesDisagree) }
	if slices.ContainsFunc(r.Conditions, known) {
		return
	}
	silent := Condition{Kind: NodesDown, Chain: id, Stops: true, Detail: fmt.Sprintf("the nodes of chain %s do not answer here: %s", id, why)}
	r.Conditions = slices.Insert(r.Conditions, 0, silent)
	for i, c := range r.Channels {
		if silent.hits(c.network, c.Token, c.Direction) {
			r.Channels[i].Conditions = append(c.Conditions, silent)
		}
	}
}
