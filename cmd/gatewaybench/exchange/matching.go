package exchange

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"gatewayd/cmd/gatewaybench/bench"
)

// rates are how many orders enter in one second of the exchange chain's clock, which an order's id begins with: one, as in a quiet market, to a
// thousand.
var rates = []int{1, 10, 1000}

// matchingCases put the exchange's book beside a plain one on the same streams. All trades must be the same.
//
// The best general order books in Go that are published were run on the same streams by hand, on a quiet machine (ns of CPU a step): geseq 222 and
// fmstephe 364 on nw1, 121 and 188 on w2 normal. Four fifths of the better one is the absolute goal.
func matchingCases() []bench.Case {
	return []bench.Case{
		matchingCase("recorded", "10,000 recorded steps on a book of 10,000", 0, 30, func(*bench.Run) (*stream, error) { return recorded() }),
		matchingCase("nw1", "60 % resting, 30 % cancels, 10 % crossing orders", 222, 1, func(r *bench.Run) (*stream, error) { return nw1(r.N(500_000)), nil }),
		matchingCase("w2-normal", "orders, cancels and modifies around a price that swings by a hundredth", 121, 1, func(r *bench.Run) (*stream, error) { return w2Normal(r.N(400_000)), nil }),
		matchingCase("gaps", "prices of nine decimals, far apart", 0, 1, func(r *bench.Run) (*stream, error) { return gaps(r.N(300_000)), nil }),
	}
}

// matchingCase plays a stream so often, each time on a new book. geseq is what the best open book takes, in ns; 0 where nobody has measured.
func matchingCase(name, about string, geseq float64, repeat int, make func(*bench.Run) (*stream, error)) bench.Case {
	c := bench.Case{
		Name: "matching-" + name, Unit: "step", Same: []string{"trades", "volume", "cancels that hit", "hash"},
		About: about + "; 18 decimals and fees; 1, 10 and 1,000 orders a second of the chain's clock; yardstick: a B-tree of prices with lists of orders",
		Ours:  matchingPart(repeat, make, func(s *stream, rate int) (engine, error) { return newExchangeBook(s, rate) }),
		Yardsticks: []bench.Side{{Name: "plain book", Part: matchingPart(repeat, make, func(*stream, int) (engine, error) {
			return newPlainBook(), nil
		})}},
	}
	for _, rate := range rates {
		c.Goals = append(c.Goals, bench.Goal{Of: cpuAt(rate), Budget: 0.8, Limit: 0.5})
		if geseq > 0 {
			c.Goals = append(c.Goals, bench.Goal{Of: cpuAt(rate), Budget: 0.8 * geseq, Limit: 0.5 * geseq, Absolute: true})
		}
	}
	return c
}

func cpuAt(rate int) string { return fmt.Sprint("cpu at ", rate) }

// engine is a book that plays a stream.
type engine interface {
	ready(steps []step) error // what is not measured of the next steps
	play(i int)               // the i-th of the ready steps
	result() (totals, error)
}

func matchingPart(repeat int, make func(*bench.Run) (*stream, error), open func(*stream, int) (engine, error)) bench.Part {
	return func(ctx context.Context, r *bench.Run) (sum bench.Figure, err error) {
		s, err := make(r)
		if err != nil {
			return bench.Figure{}, err
		}
		var all totals
		for _, rate := range rates {
			at := bench.Figure{}
			for range min(repeat, r.N(repeat)) {
				e, err := open(s, rate)
				if err == nil {
					err = s.play(ctx, e, &at)
				}
				if err != nil {
					return bench.Figure{}, err
				}
				made, err := e.result()
				if err != nil {
					return bench.Figure{}, err
				}
				all.add(made)
			}
			sum.Units, sum.CPU, sum.Wall = sum.Units+at.Units, sum.CPU+at.CPU, sum.Wall+at.Wall
			sum.Note(cpuAt(rate), float64(at.CPU)/float64(at.Units), "ns")
		}
		all.note(&sum)
		return sum, nil
	}
}

func (t *totals) add(o totals) {
	t.trades, t.cancels, t.volume, t.hash = t.trades+o.trades, t.cancels+o.cancels, t.volume+o.volume, t.hash*31+o.hash
}

func (t *totals) note(f *bench.Figure) {
	f.Note("trades", float64(t.trades), "")
	f.Note("volume", float64(t.volume), "")
	f.Note("cancels that hit", float64(t.cancels), "")
	f.Note("hash", float64(t.hash>>11), "") // as much as a float64 holds
}

// atOnce is how many steps are made ready at a time, for each book alike: so many that reading the clock does not count, and so few that prepared steps
// come from the cache, as an order does that has just been decoded, and do not drive the book out of it.
const atOnce = 512

// play plays the stream; what fills the book is not measured.
func (s *stream) play(ctx context.Context, e engine, f *bench.Figure) error {
	runtime.GC()
	for at := 0; at < len(s.steps); {
		end := min(at+atOnce, len(s.steps))
		if at < s.prefill {
			end = min(end, s.prefill)
		}
		if err := errors.Join(ctx.Err(), e.ready(s.steps[at:end])); err != nil {
			return err
		}
		start, cpu := time.Now(), bench.CPUTime()
		for i := range end - at {
			e.play(i)
		}
		if at >= s.prefill {
			f.CPU, f.Wall, f.Units = f.CPU+bench.CPUTime()-cpu, f.Wall+time.Since(start), f.Units+end-at
		}
		at = end
	}
	return nil
}
