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
	Flowing State = "flowing" // payments are pending, and nothing blocks them
	Idle    State = "idle"    // no payment is pending, and nothing would block one
	Blocked State = "blocked" // at least one condition blocks payments
	Unknown State = "unknown" // the database, the daemon or the nodes of a chain do not answer
)

// State returns whether payments flow, of which some are pending.
func (r Report) State(pending uint64) State {
	switch {
	case slices.ContainsFunc(r.Conditions, silence):
		return Unknown
	case !r.Flows():
		return Blocked
	case pending > 0:
		return Flowing
	}
	return Idle
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
	case Blocked:
		return "Payments are blocked."
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
}
