package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// costs are the CPU times of a side's unit, round by round.
type costs map[string][]int

// launch answers from the script; a side that is not in it fails.
func (c costs) launch(asked *[]string) launch {
	return func(_ context.Context, r *Run) (Figure, float64, error) {
		*asked = append(*asked, r.Side)
		if len(c[r.Side]) == 0 {
			return Figure{}, 0, errors.New("boom")
		}
		cost := c[r.Side][0]
		if len(c[r.Side]) > 1 {
			c[r.Side] = c[r.Side][1:]
		}
		f := Figure{Units: 10, CPU: time.Duration(10 * cost), Wall: time.Duration(20 * cost)}
		f.Note("memory", float64(50*cost), "B")
		return f, float64(cost) / 1000, nil
	}
}

func fakeCase(goals ...Goal) Case {
	return Case{Name: "fake", Unit: "order", Yardsticks: []Side{{Name: "plain"}, {Name: "other"}}, Goals: goals}
}

func (c costs) run(t *testing.T, k Case) (result Result, asked []string) {
	results, err := measureWith(t.Context(), []Case{k}, Config{Rounds: 3, Scale: 1, Stderr: io.Discard}, c.launch(&asked))
	require.NoError(t, err)
	require.Len(t, results, 1)
	return results[0], asked
}

func TestRoundsGoForthAndBack(t *testing.T) {
	r, asked := costs{ours: {100, 120, 140}, "plain": {50}, "other": {100}}.run(t, fakeCase(Goal{Of: CPU, Budget: 2.5, Limit: 1.5}))
	require.Equal(t, "ours plain other other plain ours ours plain other", strings.Join(asked, " "))
	v := r.Verdict[0]
	require.Equal(t, []float64{2, 2.4, 2.8}, []float64{v.Least, v.Median, v.Most})
	require.Equal(t, "plain", v.Against, "the cheapest")
	require.True(t, v.Met)
	require.False(t, v.AtLimit)
}

func TestGoals(t *testing.T) {
	script := costs{ours: {100}, "plain": {600}, "other": {200}}
	for want, g := range map[float64]Goal{
		0.5:  {Of: CPU},
		5000: {Of: "memory", Absolute: true},
		-100: {Of: CPU, Added: true},
	} {
		g.Budget = want
		r, _ := script.run(t, fakeCase(g))
		require.Empty(t, r.Error)
		require.InDelta(t, want, r.Verdict[0].Median, 1e-9)
		require.True(t, r.Verdict[0].Met)
	}
}

func TestFailures(t *testing.T) {
	all, same := costs{ours: {1}, "plain": {1}, "other": {2}}, fakeCase(Goal{Of: CPU, Budget: 1})
	same.Same = []string{"memory"}
	for want, c := range map[string]struct {
		script costs
		of     Case
	}{
		"plain: boom":                            {costs{ours: {1}, "other": {1}}, fakeCase(Goal{Of: CPU})},
		"ours reports no p99":                    {all, fakeCase(Goal{Of: "p99"})},
		"memory: ours has 50 B, other has 100 B": {all, same},
	} {
		r, _ := c.script.run(t, c.of)
		require.Equal(t, want, r.Error)
		require.Empty(t, r.Verdict)
	}
}

func TestCancelStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := measureWith(ctx, []Case{fakeCase(Goal{Of: CPU})}, Config{Rounds: 3, Scale: 1, Stderr: io.Discard}, func(context.Context, *Run) (Figure, float64, error) {
		cancel()
		return Figure{}, 0, ctx.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
}

// tinyCases are for tests of the process around a part.
func tinyCases() []Case {
	return []Case{{
		Name: "tiny",
		Ours: func(ctx context.Context, r *Run) (Figure, error) {
			p, err := r.Start(ctx, "helper", "7")
			if err != nil {
				return Figure{}, err
			}
			said, err := p.Line()
			if err = errors.Join(err, p.End()); err != nil {
				return Figure{}, err
			}
			f, err := r.Measure(1, func() error { return nil })
			f.Note("said "+said, 1, "")
			return f, err
		},
		Helpers: map[string]Helper{"helper": func(_ context.Context, r *Run, say func(string)) error {
			say(r.Argument)
			return AwaitEnd()
		}},
		Yardsticks: []Side{
			{"failing", func(context.Context, *Run) (Figure, error) { return Figure{}, errors.New("boom") }},
			{"skipping", func(context.Context, *Run) (Figure, error) { return Figure{}, fmt.Errorf("%w: too small", ErrSkip) }},
		},
	}}
}

func TestProcess(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	run := func(side string) (Figure, error) {
		f, _, err := process(exe, os.Stderr)(t.Context(), &Run{Case: "tiny", Side: side, Scale: 1, Dir: t.TempDir()})
		return f, err
	}
	f, err := run(ours)
	require.NoError(t, err)
	require.Contains(t, f.Notes, "said 7")
	_, err = run("failing")
	require.EqualError(t, err, "boom")
	_, err = run("skipping")
	require.ErrorIs(t, err, ErrSkip)
	_, err = run("unknown")
	require.ErrorContains(t, err, `no side "unknown"`)
}

func TestOthers(t *testing.T) {
	start := time.Unix(1000, 0)
	before := parseStat("cpu  1000 10 100 5000 50 5 5 30 0 0\ncpu0 1 2", start)
	after := parseStat("cpu  1200 10 160 5100 80 5 5 50 0 0", start.Add(2*time.Second))
	require.InDelta(t, 0.4, before.others(after, 2*time.Second), 1e-9, "2.8 s busy of which 2 s ours, in 2 s")
	require.Zero(t, before.others(after, 3*time.Second))
	require.Zero(t, ticks{}.others(after, 0), "nothing known")
	require.Equal(t, ticks{}, parseStat("cpu 1 2", start))
}

func TestTable(t *testing.T) {
	r, _ := costs{ours: {680, 700, 720}, "plain": {400}, "other": {500}}.run(t, fakeCase(Goal{Of: CPU, Budget: 2.5, Limit: 1.5}, Goal{Of: Wall, Budget: 1.5, Limit: 1},
		Goal{Of: "memory", Budget: 40_000, Limit: 20_000, Absolute: true}, Goal{Of: CPU, Budget: 400, Limit: 200, Added: true}))
	var b bytes.Buffer
	require.NoError(t, Table(&b, []Result{r, {Name: "broken", Error: "ours: boom"}}))
	require.Equal(t, `CASE    PER         OURS     YARDSTICK     MEDIAN [LEAST..MOST]        BUDGET (LIMIT)        VERDICT         ROUNDS
fake    cpu/order   700 ns   400 ns plain  1.75x [1.70x..1.80x]        <= 2.50x (1.50x)      met             3, 3 noisy
fake    wall/order  1.40 µs  800 ns plain  1.75x [1.70x..1.80x]        <= 1.50x (1x)         missed by 17 %  3, 3 noisy
fake    memory      34.2 KB  -             34.2 KB [33.2 KB..35.2 KB]  <= 39.1 KB (19.5 KB)  met             3, 3 noisy
fake    cpu/order   700 ns   400 ns plain  300 ns [280 ns..320 ns]     <= 400 ns (200 ns)    met             3, 3 noisy
broken  ours: boom

fake, per order
  ours: cpu 700 ns; wall 1.40 µs; memory 34.2 KB;
  plain: cpu 400 ns; wall 800 ns; memory 19.5 KB;
  other: cpu 500 ns; wall 1 µs; memory 24.4 KB;
`, b.String())
}
