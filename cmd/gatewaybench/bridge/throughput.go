package bridge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/watcher"
)

// throughputCases are about payments: what one costs, however many wait for a final block and however many were ever made.
//
// What is measured is the real watcher with its store and sign-guard on disk, from the block in which transfers become final to the broadcast
// of their payouts, and the settling of the payouts that become final meanwhile. What a ledger and its client cost is not in it: blocks come out
// of memory and attempts are not signed by a key.
func throughputCases() []bench.Case {
	return []bench.Case{
		throughputCase("bridge-throughput", "SQLite", func() (simEngine, error) { return simEngine{}, nil }),
		throughputCase("bridge-throughput-postgres", "the PostgreSQL of "+postgresVariable, postgresEngine),
	}
}

func throughputCase(name, where string, engine func() (simEngine, error)) bench.Case {
	side := func(waiting int, past bool) bench.Part {
		return func(ctx context.Context, r *bench.Run) (bench.Figure, error) {
			e, err := engine()
			if err != nil {
				return bench.Figure{}, err
			}
			return payments(ctx, r, e, waiting, past)
		}
	}
	return bench.Case{
		Name: name, Unit: "payment", Ours: side(manyWaiting, true),
		Prepare: func(ctx context.Context, r *bench.Run) error {
			e, err := engine()
			if err != nil {
				return err
			}
			return fillWaiting(ctx, r, e)
		},
		About: "deposits and withdrawals in blocks of 200 are followed, decided, bound, stored and sent while 20,000 payouts each way wait for a final block and 100,000 were made before (at scale 10: 1,000,000), on " + where + "; yardsticks: the same with fewer",
		Yardsticks: []bench.Side{
			{Name: "1,000 wait", Part: side(someWaiting, true)}, {Name: "16 wait", Part: side(fewWaiting, true)},
			{Name: "20,000 wait, no past", Part: side(manyWaiting, false)}, {Name: "1,000 wait, no past", Part: side(someWaiting, false)}, {Name: "16 wait, no past", Part: side(fewWaiting, false)},
		},
		Goals: []bench.Goal{
			{Of: bench.CPU, Budget: 1.2, Limit: 1.1, Spread: true},
			{Of: "deposit cpu", Budget: 3e6, Limit: 1e6, Absolute: true},
			{Of: "withdrawal cpu", Budget: 3e6, Limit: 1e6, Absolute: true},
			{Of: "deposit wall", Budget: 1e9 / 200, Limit: 1e9 / 500, Absolute: true},
			{Of: "withdrawal wall", Budget: 1e9 / 200, Limit: 1e9 / 500, Absolute: true},
			{Of: "commits", Budget: 0.1, Limit: 0.05, Absolute: true},
		},
		Same: []string{"sent"},
	}
}

const (
	pastPayments   = 100_000
	manyWaiting    = 20_000
	someWaiting    = 1_000
	fewWaiting     = 16
	paymentsABlock = 200
	blocksMeasured = 10
	maxRounds      = 20 // without anything sent, before a side gives up
)

func waitingFolder(data string, waiting int, past bool) string {
	return filepath.Join(data, fmt.Sprintf("waiting-%d-past-%t", waiting, past))
}

// fillWaiting makes a store for each side.
func fillWaiting(ctx context.Context, r *bench.Run, e simEngine) error {
	for _, past := range []bool{false, true} {
		payments := 0
		if past {
			payments = r.N(pastPayments)
		}
		first := waitingFolder(r.Data, fewWaiting, past)
		for _, waiting := range []int{fewWaiting, someWaiting, manyWaiting} {
			r.Progress("%d wait after %d", r.UpTo(waiting), payments)
			dir := waitingFolder(r.Data, waiting, past)
			var err error
			if dir == first {
				err = simPast(ctx, e, dir, payments)
			} else {
				err = e.copy(ctx, first, dir)
			}
			if err == nil {
				err = letWait(ctx, r, e, dir, waiting)
			}
			if err != nil {
				return fmt.Errorf("filling %s: %w", dir, err)
			}
		}
	}
	return nil
}

// depth is how many blocks a side keeps from becoming final: every second one has payouts of the same direction. Fewer than a block of them wait
// in a block of their own.
func depth(r *bench.Run, waiting int) int { return max(1, 2*r.UpTo(waiting)/block(r)) }

func block(r *bench.Run) int { return min(paymentsABlock, r.N(100*paymentsABlock)) }

// open opens a side's rig.
func open(ctx context.Context, r *bench.Run, e simEngine, dir string, waiting int) (*simRig, error) {
	s, err := openSimRig(ctx, e, dir)
	if err == nil && waiting == fewWaiting {
		s.source.tail, s.exchange.tail = r.UpTo(waiting), r.UpTo(waiting)
	}
	return s, err
}

// letWait makes payments in both directions until as many wait as are wanted: a block of deposits, a block of withdrawals, and so on.
func letWait(ctx context.Context, r *bench.Run, e simEngine, dir string, waiting int) error {
	s, err := open(ctx, r, e, dir, waiting)
	if err != nil {
		return err
	}
	w, err := watcher.New(watcher.Config{}, s.parts)
	depth := depth(r, waiting)
	for i := range depth {
		if err == nil {
			err = s.round(ctx, w, depth, block(r)*(1-i%2), block(r)*(i%2))
		}
	}
	if err == nil {
		err = s.drain(ctx, w, depth)
	}
	return errors.Join(err, s.save())
}

// round makes a block of each ledger and lets the gateway work on them.
func (s *simRig) round(ctx context.Context, w *watcher.Watcher, depth, deposits, withdrawals int) error {
	s.mine(deposits, withdrawals)
	s.source.finalize(uint64(depth))
	s.exchange.finalize(uint64(depth))
	return w.Step(ctx)
}

func (s *simRig) mine(deposits, withdrawals int) {
	s.source.mine(s.deposits(deposits)...)
	s.exchange.mine(s.withdrawals(withdrawals)...)
}

// steadyRound is a round in which no more payments become final than were sent: every side settles as many as it makes, however many wait.
func (s *simRig) steadyRound(ctx context.Context, w *watcher.Watcher, depth, deposits, withdrawals int) error {
	s.mine(deposits, withdrawals)
	s.source.finalizeAsMany(uint64(depth))
	s.exchange.finalizeAsMany(uint64(depth))
	return w.Step(ctx)
}

// drain goes on until nothing more is sent.
func (s *simRig) drain(ctx context.Context, w *watcher.Watcher, depth int) error {
	for {
		before := s.allSent()
		if err := s.round(ctx, w, depth, 0, 0); err != nil {
			return err
		}
		if s.allSent() == before {
			return nil
		}
	}
}

func (s *simRig) allSent() int { return s.source.sentSoFar() + s.exchange.sentSoFar() }

// payments measures one side: deposits first, then withdrawals.
func payments(ctx context.Context, r *bench.Run, e simEngine, waiting int, past bool) (f bench.Figure, err error) {
	work := filepath.Join(r.Dir, "work")
	if err := e.copy(ctx, waitingFolder(r.Data, waiting, past), work); err != nil {
		return bench.Figure{}, err
	}
	s, err := open(ctx, r, e, work, waiting)
	if err != nil {
		return bench.Figure{}, err
	}
	w, err := watcher.New(watcher.Config{}, s.parts)
	if err == nil {
		err = s.drain(ctx, w, depth(r, waiting)) // what a start does once
	}
	if err != nil {
		return bench.Figure{}, errors.Join(err, s.close())
	}
	n := block(r) * blocksMeasured
	var in, out direction
	before := s.commits()
	s.source.count()
	s.exchange.count()
	f, err = r.Measure(2*n, func() (err error) {
		if in, err = s.oneWay(ctx, w, r, waiting, block(r), 0); err != nil {
			return err
		}
		out, err = s.oneWay(ctx, w, r, waiting, 0, block(r))
		return err
	})
	f.Note("deposit cpu", float64(in.cpu)/float64(n), "ns")
	f.Note("withdrawal cpu", float64(out.cpu)/float64(n), "ns")
	f.Note("deposit wall", float64(in.wall)/float64(n), "ns")
	f.Note("withdrawal wall", float64(out.wall)/float64(n), "ns")
	f.Note("commits", float64(s.commits()-before)/float64(2*n), "")
	f.Note("sent", float64(in.sent+out.sent), "")
	f.Note("settled", float64(s.source.settledSoFar()+s.exchange.settledSoFar()), "")
	f.Note("waiting", float64(in.waiting+out.waiting)/float64(in.rounds+out.rounds), "")
	return f, errors.Join(err, s.close())
}

// direction is what the payments one way cost, from the first block to the last broadcast.
type direction struct {
	cpu, wall       time.Duration
	sent            int
	rounds, waiting int // waiting: the sum over rounds of what then stood in a block that was not final, of both chains
}

func (s *simRig) oneWay(ctx context.Context, w *watcher.Watcher, r *bench.Run, waiting, deposits, withdrawals int) (d direction, err error) {
	start, cpu, before := time.Now(), bench.CPUTime(), s.allSent()
	want := (deposits + 2*withdrawals) * blocksMeasured // a withdrawal is received, too
	for i, idle := 0, 0; d.sent < want; i++ {
		if i >= blocksMeasured {
			deposits, withdrawals = 0, 0
		}
		if err := s.steadyRound(ctx, w, depth(r, waiting), deposits, withdrawals); err != nil {
			return d, err
		}
		d.rounds, d.waiting = d.rounds+1, d.waiting+s.source.notFinal()+s.exchange.notFinal()
		if sent := s.allSent() - before; sent > d.sent {
			d.sent, idle = sent, 0
		} else if idle++; idle > maxRounds {
			return d, fmt.Errorf("%d of %d were sent", d.sent, want)
		}
	}
	d.cpu, d.wall = bench.CPUTime()-cpu, time.Since(start)
	return d, nil
}
