package exchange

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/cmd/gatewaybench/exchange/ladder"
)

// rates are how many orders enter in one second of the exchange chain's clock, which an order's id begins with: one, as in a
// quiet market, to a thousand.
var rates = []int{1, 10, 1000}

// matchingCases put the exchange's book, with the 18 decimals and the fees of both sides that the exchange computes, beside
// the ladder on the same streams. All trades must be the same.
//
// The best general order books in Go that are published were run on the same streams by hand (ns of CPU a step, the same
// machine as the simple book before this one at 403 and 166): on nw1 geseq 222 and fmstephe 364, on w2 normal geseq 121 and
// fmstephe 188. Four fifths of the better one is the absolute goal.
func matchingCases() []bench.Case {
	one := []string{""}
	return []bench.Case{
		matching{"recorded", "10,000 recorded steps on a book of 10,000, or --stream", one, recordedStream, 100, nil}.bench(),
		matching{"nw1", "60 % resting, 30 % cancels, 10 % crossing orders", one, nw1Stream, 1, map[string]float64{"": 0.8 * 222}}.bench(),
		matching{"w2", "five courses of a price", ladder.Scenarios(), swingStream, 1, map[string]float64{"normal": 0.8 * 121}}.bench(),
		matching{"gaps", "prices of nine decimals, far apart", one, gapStream, 1, nil}.bench(),
		restingCase(),
	}
}

// matching is a kind of stream and how an engine is measured on it.
type matching struct {
	name, about string
	courses     []string // names that the stream has one of at a time
	stream      func(r *bench.Run, course string) (*ladder.Stream, error)
	repeat      int                // how often a stream is played, each time on a new book
	open        map[string]float64 // by course: four fifths of the best open book, in ns
}

func (m matching) bench() bench.Case {
	return bench.Case{
		Name: "matching-" + m.name, Group: bench.Exchange, Unit: "step",
		About: m.about + "; 18 decimals and fees; 1, 10 and 1,000 orders a second of the chain's clock; yardstick: plain ladder",
		Ours:  m.part(func(s *ladder.Stream, rate int) (engine, error) { return newExchangeBook(s, rate) }),
		Yardsticks: []bench.Yardstick{{Name: "ladder", Part: m.part(func(s *ladder.Stream, _ int) (engine, error) {
			return &plain{Ladder: ladder.New(s)}, nil
		})}},
		Goals: m.goals(), Same: []string{"trades", "volume", "cancels that hit", "hash"},
	}
}

// goals has one for each course and rate, so that the worst counts, and no allocations.
func (m matching) goals() []bench.Goal {
	var goals []bench.Goal
	for _, course := range m.courses {
		for _, rate := range rates {
			goals = append(goals, bench.Goal{Of: cpuOf(course, rate), Budget: 5, Limit: 3})
			if open := m.open[course]; open > 0 {
				goals = append(goals, bench.Goal{Of: cpuOf(course, rate), Budget: open, Limit: open * 0.5 / 0.8, Absolute: true})
			}
		}
	}
	return append(goals, bench.Goal{Of: "allocs", Absolute: true})
}

func cpuOf(course string, rate int) string {
	return strings.ReplaceAll(fmt.Sprintf("%s %s at %d", bench.CPU, course, rate), "  ", " ")
}

// engine plays steps. What it wants to do with them before the clock runs is prepare.
type engine interface {
	prepare(steps []ladder.Step) error
	play(i int) // the i-th of the prepared steps
	totals() (ladder.Totals, error)
}

// plain is the ladder as an engine.
type plain struct {
	*ladder.Ladder
	steps []ladder.Step
}

func (p *plain) prepare(steps []ladder.Step) error {
	p.steps = steps
	return nil
}

func (p *plain) play(i int) { p.Step(&p.steps[i]) }

func (p *plain) totals() (ladder.Totals, error) { return p.Totals, nil }

// part measures an engine on every course.
func (m matching) part(open func(*ladder.Stream, int) (engine, error)) bench.Part {
	return func(ctx context.Context, r *bench.Run) (bench.Figure, error) {
		var sum bench.Figure
		var all ladder.Totals
		var late latencies
		mallocs := uint64(0)
		for _, course := range m.courses {
			s, err := m.stream(r, course)
			if err != nil {
				return bench.Figure{}, err
			}
			for _, rate := range rates {
				c := clocked{stream: s, rate: rate, open: open}
				if err := c.measure(ctx, repeats(r, m.repeat), &late); err != nil {
					return bench.Figure{}, err
				}
				sum.Units, sum.CPU, sum.Wall = sum.Units+c.steps, sum.CPU+c.cpu, sum.Wall+c.wall
				mallocs += c.mallocs
				sum.Note(cpuOf(course, rate), float64(c.cpu)/float64(c.steps), "ns")
				all.Add(c.totals)
			}
		}
		late.note(&sum)
		sum.Note("allocs", float64(mallocs*100/uint64(sum.Units))/100, "")
		noteTotals(&sum, all)
		return sum, nil
	}
}

// repeats is n where the work is much too short at scale 1.
func repeats(r *bench.Run, n int) int {
	if n == 1 {
		return 1
	}
	return r.N(n)
}

func noteTotals(f *bench.Figure, t ladder.Totals) {
	f.Text("trades", fmt.Sprint(t.Trades))
	f.Text("volume", fmt.Sprint(t.Volume))
	f.Text("cancels that hit", fmt.Sprint(t.Cancels))
	f.Text("hash", fmt.Sprintf("%016x", t.Hash))
}

// atOnce is how many steps are prepared at a time, for each engine alike: so many that reading the clock does not count (half
// a nanosecond a step), and so few that prepared steps come from the cache, as an order does that has just been decoded,
// and do not drive the book out of it.
const atOnce = 1 << 11

// clocked is an engine on a stream, measured.
type clocked struct {
	stream *ladder.Stream
	rate   int
	open   func(*ladder.Stream, int) (engine, error)

	steps     int
	cpu, wall time.Duration
	mallocs   uint64
	totals    ladder.Totals
}

// measure plays the stream so often, and once more for the latencies.
func (c *clocked) measure(ctx context.Context, times int, late *latencies) error {
	for range times {
		if err := c.play(ctx); err != nil {
			return err
		}
	}
	return c.time(ctx, late)
}

// play plays the stream once; what fills the book is not measured. Preparing steps allocates nothing, or it would count.
func (c *clocked) play(ctx context.Context) error {
	var before, after runtime.MemStats
	err := c.each(ctx, func(e engine, n int) {
		if before.Mallocs == 0 {
			runtime.ReadMemStats(&before)
		}
		start, cpu := time.Now(), bench.CPUTime()
		for i := range n {
			e.play(i)
		}
		c.cpu, c.wall = c.cpu+bench.CPUTime()-cpu, c.wall+time.Since(start)
		c.steps += n
	})
	runtime.ReadMemStats(&after)
	c.mallocs += after.Mallocs - before.Mallocs
	return err
}

// time plays the stream once more with a clock around each step.
func (c *clocked) time(ctx context.Context, late *latencies) error {
	return c.each(ctx, func(e engine, n int) {
		for i := range n {
			start := time.Now()
			e.play(i)
			late.add(time.Since(start))
		}
	})
}

// each opens an engine, fills it, and hands its prepared steps to do.
func (c *clocked) each(ctx context.Context, do func(e engine, n int)) error {
	e, err := c.open(c.stream, c.rate)
	if err != nil {
		return err
	}
	runtime.GC()
	for at := 0; at < len(c.stream.Steps); {
		end := min(at+atOnce, len(c.stream.Steps))
		if at < c.stream.Prefill {
			end = min(end, c.stream.Prefill)
		}
		if err := errors.Join(ctx.Err(), e.prepare(c.stream.Steps[at:end])); err != nil {
			return err
		}
		if at >= c.stream.Prefill {
			do(e, end-at)
		} else {
			for i := range end - at {
				e.play(i)
			}
		}
		at = end
	}
	c.totals, err = e.totals()
	return err
}

// latencies counts durations up to 16 µs by their nanoseconds, and keeps the longer ones.
type latencies struct {
	fine   [1 << 14]uint64
	coarse []time.Duration
	count  int
}

func (l *latencies) add(d time.Duration) {
	l.count++
	if d >= 0 && int(d) < len(l.fine) {
		l.fine[d]++
		return
	}
	l.coarse = append(l.coarse, d)
}

// at is the shortest duration that so many thousandths of all do not exceed; 0 if there are none.
func (l *latencies) at(thousandths int) time.Duration {
	left := (l.count*thousandths + 999) / 1000 // as many as that, from the shortest
	for d, n := range l.fine {
		if left -= int(n); left <= 0 {
			return time.Duration(d)
		}
	}
	slices.Sort(l.coarse)
	return l.coarse[left-1]
}

func (l *latencies) note(f *bench.Figure) {
	if l.count == 0 {
		return
	}
	f.Note("p50", float64(l.at(500)), "ns")
	f.Note("p99", float64(l.at(990)), "ns")
	f.Note("p99.9", float64(l.at(999)), "ns")
}

//go:embed ladder/testdata/stream-20k.bin
var recording []byte

const (
	recordedPrefill  = 10_000
	recordedDecimals = 3
	maxStream        = 1 << 30 // bytes
)

// recordedStream is the file that the user named, or the one that is built in.
func recordedStream(r *bench.Run, _ string) (*ladder.Stream, error) {
	if r.Stream == "" {
		return streamOf("built-in stream", recording)
	}
	return ReadStream(r.Stream)
}

// ReadStream reads a stream file: 24-byte records, of which the first 10,000, or half of fewer than 20,000, only fill the
// book. An error names the record and the rule that it breaks.
func ReadStream(path string) (*ladder.Stream, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the stream: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxStream+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the stream: %w", err)
	case len(raw) > maxStream:
		return nil, fmt.Errorf("stream %s: more than %d bytes", path, maxStream)
	case len(raw) == 0:
		return nil, fmt.Errorf("stream %s: no records", path)
	}
	return streamOf(path, raw)
}

func streamOf(name string, raw []byte) (*ladder.Stream, error) {
	records, err := ladder.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", name, err)
	}
	s, err := ladder.NewStream(name, records, min(recordedPrefill, len(records)/2), recordedDecimals)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", name, err)
	}
	if len(s.Prices) == 0 || s.Prices[len(s.Prices)-1] > maxTicks {
		return nil, fmt.Errorf("stream %s: no order, or a price above %d ticks", name, int64(maxTicks))
	}
	return s, nil
}

func nw1Stream(r *bench.Run, _ string) (*ladder.Stream, error) { return ladder.NW1(r.N(1_000_000), 42) }

func swingStream(r *bench.Run, course string) (*ladder.Stream, error) {
	return ladder.Swing(course, r.N(400_000), 23)
}

func gapStream(r *bench.Run, _ string) (*ladder.Stream, error) { return ladder.Gaps(r.N(500_000), 7) }
