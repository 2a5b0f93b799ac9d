package status

import (
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
)

// Health is the answer of /health, for supervisors: well while withdrawals and deposits are
// possible, at least of some tokens. Strangers read it, so it names kinds, chains and tokens, never
// accounts, nodes or amounts.
type Health struct {
	// ok, degraded (some tokens are blocked), halted (a chain is), stopped (something else is),
	// unknown (the daemon or nodes are silent), down (the store is)
	Status   string         `json:"status"`
	Reasons  []Reason       `json:"reasons"`  // why payments are blocked
	Warnings []Reason       `json:"warnings"` // payments flow, but need an operator's attention
	Blocked  []BlockedToken `json:"blocked"`
	Chains   []ChainHealth  `json:"chains"`
}

// Reason is a condition as strangers may see it.
type Reason struct {
	Kind  Kind     `json:"kind"`
	Chain chain.ID `json:"chain,omitempty"`
}

// ChainHealth is the followed position of a chain.
type ChainHealth struct {
	ID     chain.ID `json:"id"`
	Height uint64   `json:"height"` // how far it has been followed
	Head   uint64   `json:"head"`   // how far it goes
	Halted bool     `json:"halted"`
}

// Well is true when a supervisor has nothing to do.
func (h Health) Well() bool { return h.Status == "ok" || h.Status == "degraded" }

// DownHealth is the health where the store does not answer, or not in time.
func DownHealth() Health { return Health{Status: "down", Chains: []ChainHealth{}}.with(Down()) }

// ReadHealth returns the health of the given networks and their chains.
func ReadHealth(tx *records.Tx, networks []records.Network) (Health, error) {
	h := Health{Status: "ok", Chains: []ChainHealth{}}
	report, err := Read(tx, networks)
	if err != nil {
		return Health{}, err
	}
	state := report.State(0)
	switch state {
	case Degraded:
		h.Status = "degraded"
	case Unknown:
		h.Status = "unknown"
	case Blocked:
		h.Status = "stopped"
	}
	for _, id := range chainsOf(networks) {
		cursor, err := tx.Chains().Cursor(id)
		if err != nil {
			return Health{}, err
		}
		h.Chains = append(h.Chains, ChainHealth{id, cursor.Height, cursor.Head, cursor.Halted})
		if cursor.Halted && state != Degraded {
			h.Status = "halted"
		}
	}
	return h.with(report), nil
}

// with adds a report's conditions, each kind and chain once.
func (h Health) with(r Report) Health {
	h.Reasons, h.Warnings, h.Blocked = []Reason{}, []Reason{}, r.Blocked()
	for _, c := range r.Conditions {
		list := &h.Warnings
		if r.blocks(c) {
			list = &h.Reasons
		}
		if one := (Reason{c.Kind, c.Chain}); !slices.Contains(*list, one) {
			*list = append(*list, one)
		}
	}
	return h
}

// chainsOf are the chains of all networks, each once.
func chainsOf(networks []records.Network) (ids []chain.ID) {
	for _, n := range networks {
		ids = append(ids, n.Source, n.Exchange)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
