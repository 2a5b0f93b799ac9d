// Package pay makes the payments: it chooses, binds, signs, stores, reads back and sends. Final
// blocks decide what became of them (package follow).
package pay

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/transfers"
	"gatewayd/watcher/frozen"
)

// Signer authorizes what may be bound. It has the keys and the sign-guard, which knows what was
// signed where and survives a restored database (docs/payment-rules.md 5). It signs orders, as many
// of them as it passes, and is signguard.ErrRefused for another payment at a known slot.
type Signer interface {
	Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) ([]chain.Verdict, error)
	Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error)
	// ReadOutcomes lets the signer see for itself what a final block shows of its signatures.
	ReadOutcomes(ctx context.Context, id chain.ID, height uint64) error
	Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error)
	SignedAt(ctx context.Context, id chain.ID, account string, number uint64) ([]signguard.Signed, error)
}

// Parts are the dependencies of Payers. Store must be fenced by the daemon's lease.
type Parts struct {
	Store        records.Transactor
	Chains       map[chain.ID]chain.Chain
	Owns         func(chain.ID) bool // whether AskHeld and Quote work for a chain
	Networks     func() []records.Network
	Rules        func() transfers.Rules
	Tokens       *frozen.Tokens
	Signer       Signer
	Wake         func() // wakes the payers of all chains
	ReplaceAfter uint64 // blocks that a payout may stay unmined before its fee is raised
	Log          logrus.FieldLogger
	Now          func() time.Time
}

// Payers are the payers of all chains.
type Payers struct {
	deps  Parts
	byID  map[chain.ID]*payer
	spent spentShown
}

// New makes a payer for each chain.
func New(p Parts) *Payers {
	ps := &Payers{deps: p, byID: map[chain.ID]*payer{}}
	for id, c := range p.Chains {
		ps.byID[id] = &payer{
			deps: p, all: ps, id: id, chain: c, coins: chain.CapabilitiesOf(c).Coins != nil, log: p.Log.WithField("chain", id),
			sent: map[string]uint64{}, same: map[string]uint64{}, waiting: map[uint64]uint64{}, short: map[string]bool{},
			allowed: map[paidFrom]bool{}, merged: map[string]uint64{}, frozen: map[paidFrom]uint64{}, ends: map[signedBy]end{},
			stuck: stuckSlots{id: id, coins: chain.CapabilitiesOf(c).Coins != nil, now: p.Now, refused: map[string]refusal{}, unsigned: map[slotKey]heldBound{}},
		}
	}
	return ps
}

// Round works through the accounts of a chain that have something to pay.
func (ps *Payers) Round(ctx context.Context, id chain.ID) error { return ps.byID[id].round(ctx) }
