// Package reconcile compares our accounts' holdings with the books and with the liabilities, and
// closes the channels of differing ones.
//
//	Books     every few seconds: the rules of the books, the liabilities of paying accounts,
//	          and whether a direction can pay anything at all
//	Auditor   each account's coin after a final block; a surplus becomes a transfer like any other
//	Solvency  balance sheets: all holdings of a token compared with all its liabilities
//
// It pays nothing and decides no transfer: the watcher decides what a movement becomes, and calls
// its rounds.
package reconcile

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
)

// store is the database: one writing transaction at a time, or one consistent read.
type store interface {
	viewer
	Update(ctx context.Context, fn func(*records.Tx) error) error
}

// Parts are the dependencies of the comparisons.
type Parts struct {
	Store    store
	Chains   map[chain.ID]chain.Chain
	Networks func() []records.Network // the configured ones at this moment
	// Classify turns a movement into the row it becomes at first sight; not ok when it concerns no
	// account of ours.
	Classify func(tx *records.Tx, id chain.ID, t chain.Transfer) (row records.Transfer, ok bool, err error)
	Log      logrus.FieldLogger
	Now      func() time.Time
}

// network is the configured network of a name; one that has left the configuration has no tokens.
func (p Parts) network(name string) records.Network {
	for _, n := range p.Networks() {
		if n.Name == name {
			return n
		}
	}
	return records.Network{}
}

// less is a-b, or nothing.
func less(a, b chain.Amount) chain.Amount {
	d, err := a.Sub(b)
	if err != nil {
		return chain.Amount{}
	}
	return d
}
