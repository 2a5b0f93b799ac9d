package watcher

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// readingSigner holds credits as unproven until it has read a block.
type readingSigner struct {
	Signer
	read  []uint64
	asked int
}

func (s *readingSigner) ReadOutcomes(ctx context.Context, id chain.ID, height uint64) error {
	if id == "eth" && s.asked > 0 {
		s.read = append(s.read, height)
	}
	return s.Signer.ReadOutcomes(ctx, id, height)
}

func (s *readingSigner) Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) ([]chain.Verdict, error) {
	if id == "eth" || len(s.read) > 0 {
		return s.Signer.Authorize(ctx, id, claims...)
	}
	s.asked++
	verdicts := make([]chain.Verdict, len(claims))
	for i := range claims {
		verdicts[i] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonUnproven, Text: "less arrived"}
	}
	return verdicts, nil
}

// TestSignerReadsWhatAddressesSpent: coin at an address that was swept before is held by a signer
// that has not seen the sweep. The daemon shows it the sweep's block and asks again at once.
func TestSignerReadsWhatAddressesSpent(t *testing.T) {
	r := newCoinRig(t)
	owner, address := r.user()
	r.eth.Deposit(r.eth.Address("depositor"), address, chain.Native, units(3000), chain.Memo{Type: -1})
	r.settle(3*finality + 6)
	r.sweep()
	r.settle(3*finality + 6)
	r.requireHolding(r.vite, owner, "tti_native", 3000)
	s := &readingSigner{Signer: r.parts.Signer}
	r.parts.Signer = s
	r.restartDaemon()
	r.eth.Hide(address, units(5000))
	r.settle(finality + 1)
	r.passHour()
	r.settle(6*finality + 6)
	require.Equal(t, 1, s.asked)
	require.NotEmpty(t, s.read)
	r.requireHolding(r.vite, owner, "tti_native", 8000)
	r.requireSound()
}
