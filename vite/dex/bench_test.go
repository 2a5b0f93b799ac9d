package dex_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/budget"
)

// engine is a book that plays a stream.
type engine interface {
	ready(steps []step) error // what is not measured of the next steps
	play(i int)               // the i-th of the ready steps
	result() (totals, error)
}

// atOnce is the number of steps prepared at a time, for each book alike. It is large enough that
// reading the clock does not count. It is small enough that prepared steps come from the cache, as
// a just decoded order does, without displacing the book.
const atOnce = 512

// play plays the stream; what fills the book is not measured.
func (s *stream) play(t testing.TB, e engine) (made totals, cost budget.Cost) {
	for at := 0; at < len(s.steps); {
		end := min(at+atOnce, len(s.steps))
		if at < s.prefill {
			end = min(end, s.prefill)
		}
		require.NoError(t, e.ready(s.steps[at:end]))
		part := budget.Measure(end-at, func() {
			for i := range end - at {
				e.play(i)
			}
		})
		if at >= s.prefill {
			cost.Add(part)
		}
		at = end
	}
	made, err := e.result()
	require.NoError(t, err)
	return made, cost
}

func exchangeBookOf(t testing.TB, s *stream, rate int) *exchangeBook {
	b, err := newExchangeBook(s, rate)
	require.NoError(t, err)
	return b
}

// BenchmarkBudgetMatching compares the exchange's book, with 18 decimals and fees, with the plain
// one, at 1, 10 and 1,000 orders in one second of the exchange chain's clock, which is the prefix
// of an order's ID.
//
// The best published general order books in Go were run on the same streams by hand, on a quiet
// machine (ns of CPU a step): geseq 222 and fmstephe 364 on nw1, 121 and 188 on w2 normal. Four
// fifths of the better one is the absolute goal.
func BenchmarkBudgetMatching(b *testing.B) {
	scaled := func(steps int) int {
		if testing.Short() {
			return steps / 100
		}
		return steps
	}
	for _, s := range []struct {
		name   string
		stream *stream
		repeat int
		atMost float64 // ns a step; 0 without a measurement
	}{
		{"recorded", recorded(b), max(1, scaled(30)), 0}, {"nw1", nw1(scaled(500_000)), 1, 0.8 * 222},
		{"w2-normal", w2Normal(scaled(400_000)), 1, 0.8 * 121}, {"gaps", gaps(scaled(300_000)), 1, 0},
	} {
		for _, rate := range []int{1, 10, 1000} {
			b.Run(fmt.Sprintf("%s/at=%d", s.name, rate), func(b *testing.B) {
				var want totals
				side := func(open func() engine) func() budget.Cost {
					return func() (cost budget.Cost) {
						for range s.repeat {
							made, c := s.stream.play(b, open())
							if want == (totals{}) {
								want = made
							}
							require.Equal(b, want, made, "a fast answer that is wrong is no answer")
							cost.Add(c)
						}
						return cost
					}
				}
				budget.Compare(b, 0.8, budget.Cost.PerCPU,
					side(func() engine { return exchangeBookOf(b, s.stream, rate) }), side(func() engine { return newPlainBook() }))
				if s.atMost > 0 {
					b.ReportMetric(s.atMost, "ns/budget")
				}
			})
		}
	}
}

// TestRecorded plays the stream for which three independent engines give the same result, in whole
// units and with decimals.
func TestRecorded(t *testing.T) {
	s := recorded(t)
	whole := *s
	whole.decimals = 0
	integers, err := newBookOf(&whole, 1, 0, 0)
	require.NoError(t, err)
	for name, e := range map[string]engine{"plain": newPlainBook(), "integers": integers, "amounts": exchangeBookOf(t, s, 1)} {
		made, _ := s.play(t, e)
		require.Equal(t, []uint64{3061, 103_718, 3014}, []uint64{uint64(made.trades), made.volume, uint64(made.cancels)}, name)
	}
}

// TestBooksTradeAlike: on every stream the exchange's book, however many orders share a second,
// makes the plain book's trades.
func TestBooksTradeAlike(t *testing.T) {
	for name, s := range map[string]*stream{"nw1": nw1(20_000), "w2-normal": w2Normal(10_000), "gaps": gaps(10_000)} {
		want, _ := s.play(t, newPlainBook())
		require.Greater(t, want.trades, len(s.steps)/20, name)
		require.Greater(t, want.cancels, len(s.steps)/10, name)
		for _, rate := range []int{1, 7, 1 << 16} {
			made, _ := s.play(t, exchangeBookOf(t, s, rate))
			require.Equal(t, want, made, "%s, %d orders a second", name, rate)
		}
	}
}

// TestStreamsAreFixed: a stream is the same on every machine and in every run.
func TestStreamsAreFixed(t *testing.T) {
	hashes := map[string]uint64{}
	for name, s := range map[string]*stream{"nw1": nw1(20_000), "w2-normal": w2Normal(20_000), "gaps": gaps(20_000)} {
		made, _ := s.play(t, newPlainBook())
		hashes[name] = made.hash
	}
	require.Equal(t, map[string]uint64{"nw1": 0x872676a49d7eb753, "w2-normal": 0x1ff56ca9aeb5b5c7, "gaps": 0x35d73d5a2add5332}, hashes)
}
