package watcher

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// cutStore is a database whose answer to one COMMIT of twelve is lost on the way: half of these
// were stored, and nobody is told which.
type cutStore struct {
	records.Transactor
	rng    *rand.Rand
	whole  bool // no more cuts
	stored int  // cuts of what was stored
	lost   int  // cuts of what was not
}

var errCut = errors.New("the connection died")

func (s *cutStore) Update(ctx context.Context, fn func(*records.Tx) error) error {
	cut := !s.whole && s.rng.IntN(12) == 0
	lost := cut && s.rng.IntN(2) == 0
	unknown := fmt.Errorf("committing: %w: %w", records.ErrUnknownOutcome, errCut)
	err := s.Transactor.Update(ctx, func(tx *records.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		if lost {
			return unknown
		}
		return nil
	})
	switch {
	case lost && errors.Is(err, errCut):
		s.lost++
		return unknown
	case err == nil && cut:
		s.stored++
		return unknown
	}
	return err
}

// cuts is how many models TestLostCommits runs; GATEWAYD_CUTS asks for another number. A full run
// takes 1,000.
func cuts(t *testing.T) uint64 {
	t.Helper()
	if text := os.Getenv("GATEWAYD_CUTS"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		return n
	}
	if shortRun() {
		return 5
	}
	return 25
}

// TestLostCommits is a daemon that often does not know whether its work was stored (rule R7), under
// re-orgs, dropped transactions and lying nodes, and that dies now and then as well. It reads again
// and goes on: nobody is paid twice, and in the end everybody has what is due.
func TestLostCommits(t *testing.T) {
	first, stored, lost := seed(t), 0, 0
	for s := first; s < first+cuts(t); s++ {
		m := newModel(t, s, map[string]int{})
		cutting := &cutStore{Transactor: m.store, rng: rand.New(rand.NewPCG(s, 2))}
		m.parts.Store = cutting
		m.restart(neverCrashes, "")
		for range 60 {
			m.randomEvents()
			if m.step() {
				m.restart(neverCrashes, "")
			}
			if m.rng.IntN(25) == 0 {
				m.restart(m.rng.IntN(200), "")
			}
			require.NoError(t, m.check(), "GATEWAYD_SEED=%d", s)
		}
		cutting.whole = true
		require.NoError(t, m.settle(), "GATEWAYD_SEED=%d", s)
		stored, lost = stored+cutting.stored, lost+cutting.lost
	}
	t.Logf("GATEWAYD_SEED=%d: %d answers lost of what was stored, %d of what was not", first, stored, lost)
	require.Positive(t, stored)
	require.Positive(t, lost)
}
