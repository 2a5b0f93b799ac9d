// Package treasury queues the payments between accounts of ours: sweeps of deposit addresses,
// shares between the accounts of a pool, and what goes to the cold address. It signs and sends
// nothing.
package treasury

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
)

// Treasury has a round per kind of movement: Sweep, Level and Cold.
type Treasury struct {
	Store    records.Transactor
	Chains   map[chain.ID]chain.Chain
	Owns     func(chain.ID) bool // whether the money on a chain is moved by this process
	Networks func() []records.Network
	// AskAgain asks the signer once more about payments that it holds.
	AskAgain func(ctx context.Context, id chain.ID, held []records.Payment) error
	Wake     func() // wakes the payers
	Log      logrus.FieldLogger
	Now      func() time.Time
}
