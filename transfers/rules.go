// Package transfers decides what a transfer becomes: classify it at first sight, decide it when it
// is final, queue the credit or the refund, and carry out operators' orders. Every function works
// on a records transaction, with the configured networks and an address check.
//
//	block ──Classify──▶ seen ──Decide──▶ final ──▶ credit
//	                                ├──▶ refused ──▶ refund
//	                                └──▶ held ──operator's order──▶ credit or refund
//
// It does not own rows (records), and it neither reads blocks nor pays (watcher).
package transfers

import (
	"errors"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
)

// Rules are the terms by which transfers are decided.
type Rules struct {
	Networks []records.Network
	// Payable returns the canonical form of an address that a chain can pay.
	Payable func(id chain.ID, address, label string) (canonical string, ok bool)
	Now     func() time.Time
}

// Payable checks addresses by their chains. An address on an unconfigured chain is not payable.
func Payable(chains map[chain.ID]chain.Chain) func(id chain.ID, address, label string) (string, bool) {
	return func(id chain.ID, address, label string) (string, bool) {
		c, ok := chains[id]
		if !ok {
			return "", false
		}
		canonical, err := c.CheckAddress(address, label)
		return canonical, err == nil
	}
}

var (
	// ErrNothingToDo is returned for an operator's order that does not fit the record's state.
	ErrNothingToDo = errors.New("nothing to do")
	// ErrNoQuote is returned for a withdrawal whose fee depends on a network cost that was not
	// quoted yet.
	ErrNoQuote = errors.New("no network cost has been quoted yet")
)

// Network returns the configured network of a name. One that has left the configuration has no
// name and no tokens.
func (r Rules) Network(name string) records.Network {
	for _, n := range r.Networks {
		if n.Name == name {
			return n
		}
	}
	return records.Network{}
}
