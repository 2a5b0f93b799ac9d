package bridge

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/watcher"
)

// idleCase is about a daemon that has nothing to do but to follow its chains.
//
// The real watcher runs with everything that it does by the clock, ten times as fast, and so do the two ledgers in memory: a block a second on
// the exchange chain, one in twelve seconds on the source chain. A look for sweeps, which comes every ten minutes, is measured by itself and added.
func idleCase() bench.Case {
	return bench.Case{
		Name: "idle", Unit: "second", Prepare: fillIdle, Ours: idle,
		About: "a daemon that follows two chains without payments, with 100,000 past ones (at scale 10: 1,000,000)",
		Goals: []bench.Goal{{Of: bench.CPU, Budget: 20e6, Limit: 5e6, Absolute: true}},
	}
}

const (
	idleHaste   = 10 // times as fast as a day
	idleSeconds = 150
	sweepEvery  = 600 // seconds
)

func fillIdle(ctx context.Context, r *bench.Run) error {
	return simPast(ctx, simEngine{}, filepath.Join(r.Data, "past"), r.N(pastPayments))
}

func idle(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	dir := filepath.Join(r.Dir, "work")
	if err := (simEngine{}).copy(ctx, filepath.Join(r.Data, "past"), dir); err != nil {
		return bench.Figure{}, err
	}
	s, err := openSimRig(ctx, simEngine{}, dir)
	if err != nil {
		return bench.Figure{}, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	w, err := watcher.New(watcher.Config{
		Poll: time.Second / idleHaste, Reconcile: 30 * time.Second / idleHaste, QuoteEvery: time.Minute / idleHaste, Sweep: "0 0 1 1 *",
	}, s.parts)
	if err != nil {
		return bench.Figure{}, err
	}
	sweep := bench.CPUTime()
	if err := w.Sweep(ctx); err != nil {
		return bench.Figure{}, err
	}
	sweep = bench.CPUTime() - sweep
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	f, err = s.whileIdle(r, done)
	stop()
	err = errors.Join(err, <-done)
	f.CPU += sweep * time.Duration(f.Units) / sweepEvery
	f.Note("sweep", float64(sweep), "ns")
	return f, err
}

// whileIdle makes the ledgers' blocks in time, and counts a second for each look at the exchange chain's head, of which a daemon that cannot keep
// up has fewer.
func (s *simRig) whileIdle(r *bench.Run, done chan error) (bench.Figure, error) {
	tick := time.NewTicker(time.Second / idleHaste)
	defer tick.Stop()
	pass := func(seconds int) error {
		for i := range seconds {
			select {
			case err := <-done:
				done <- nil
				return errors.Join(errors.New("the watcher ended"), err)
			case <-tick.C:
			}
			s.exchange.mine()
			s.exchange.finalize(2)
			if i%12 == 0 {
				s.source.mine()
				s.source.finalize(2)
			}
		}
		return nil
	}
	if err := pass(2 * idleHaste); err != nil { // what a start does once
		return bench.Figure{}, err
	}
	heads, commits := s.exchange.headsSoFar(), s.commits()
	f, err := r.Measure(1, func() error { return pass(r.UpTo(idleSeconds)) })
	f.Units = max(1, s.exchange.headsSoFar()-heads)
	f.Note("commits", float64(s.commits()-commits)/float64(f.Units), "")
	return f, err
}
