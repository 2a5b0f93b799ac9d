package operator

import (
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/watcher/reconcile"
)

// Coverage is a token's last balance sheet, and whether it shows the present.
type Coverage struct {
	reconcile.Coverage
	State string `json:"state"` // covered, missing, uncompared, or why it is unknown: halted, unfollowed, old
}

// missedComparisons is the number of comparisons that may be late before a balance sheet is old.
const missedComparisons = 3

// coverageOf returns one row for each configured token. Without a sheet it is uncompared.
func coverageOf(networks []records.Network, sheets []reconcile.Coverage) []Coverage {
	list := []Coverage{}
	for _, n := range networks {
		for _, t := range n.Tokens {
			c := Coverage{reconcile.Coverage{Network: n.Name, Token: t.TokenID, Asset: t.Asset}, "uncompared"}
			i := slices.IndexFunc(sheets, func(s reconcile.Coverage) bool { return s.Network == n.Name && s.Token == t.TokenID })
			switch {
			case i >= 0 && sheets[i].Held.Less(sheets[i].Owed):
				c = Coverage{sheets[i], "missing"}
			case i >= 0:
				c = Coverage{sheets[i], "covered"}
			}
			list = append(list, c)
		}
	}
	return list
}

// judgeCoverage replaces the state of sheets that may be wrong about the present: a chain of the
// token is halted or not followed, or comparisons are late.
func (o *Overview) judgeCoverage(networks []records.Network, every time.Duration) {
	for i := range o.Coverage {
		c := &o.Coverage[i]
		n, _ := tokenOf(networks, c.Network, c.Token)
		late := c.At.Add(missedComparisons * (every + time.Duration(c.Pause)*time.Second))
		switch {
		case c.State == "uncompared":
		case o.anyChain("halted", n):
			c.State = "halted"
		case o.anyChain("unknown", n):
			c.State = "unfollowed"
		case o.At.After(late):
			c.State = "old"
		}
	}
}

// anyChain reports whether a chain of the network has a state.
func (o *Overview) anyChain(state string, n records.Network) bool {
	return slices.ContainsFunc(o.Chains, func(c Chain) bool {
		return c.State == state && slices.Contains([]chain.ID{n.Source, n.Exchange}, c.ID)
	})
}
