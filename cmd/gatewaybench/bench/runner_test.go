package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// figures is a launch that answers from a script: for each side the figures of its rounds.
type figures struct {
	sides map[string][]measured
	fail  map[string]error
	asked []string
}

func (f *figures) launch(_ context.Context, config PartConfig) (measured, error) {
	f.asked = append(f.asked, config.Side)
	if err := f.fail[config.Side]; err != nil {
		return measured{}, err
	}
	next := f.sides[config.Side][0]
	if len(f.sides[config.Side]) > 1 {
		f.sides[config.Side] = f.sides[config.Side][1:]
	}
	return next, nil
}

func costs(noise float64, costs ...int) (list []measured) {
	for _, c := range costs {
		list = append(list, measured{Figure{Units: 10, CPU: time.Duration(10 * c), Wall: time.Duration(20 * c)}, noise})
	}
	return list
}

func fakeCase(goals ...Goal) Case {
	return Case{
		Name: "fake", Group: Exchange, Unit: "order", About: "a fake", Yardsticks: []Yardstick{{Name: "plain"}, {Name: "other"}},
		Goals: goals, Scales: []float64{1},
	}
}

func (f *figures) run(t *testing.T, c Case, change func(*Config)) Result {
	config := Config{Cases: []Case{c}, Rounds: 3, Stderr: io.Discard}
	if change != nil {
		change(&config)
	}
	require.NoError(t, config.Check())
	results, err := (&Runner{config: config, launch: f.launch}).Run(t.Context())
	require.NoError(t, err)
	require.Len(t, results, 1)
	return results[0]
}

func TestMedianOfRatios(t *testing.T) {
	f := &figures{sides: map[string][]measured{
		sideOurs: costs(0, 200, 330, 240), "plain": costs(0, 100, 110, 100), "other": costs(0, 101, 100, 300),
	}}
	r := f.run(t, fakeCase(Goal{Of: CPU, Budget: 2.5, Limit: 1.5}, Goal{Of: Wall, Budget: 2, Limit: 1}), nil)
	require.Empty(t, r.Error)
	v := r.Verdict[0]
	require.Equal(t, []float64{2, 2.4, 3.3}, []float64{v.Least, v.Median, v.Most})
	require.True(t, v.Met)
	require.False(t, v.AtLimit)
	require.Equal(t, 240.0, v.Ours)
	require.Equal(t, 100.0, v.Yardstick, "the cheapest of each round")
	require.False(t, r.Verdict[1].Met)
	require.InDelta(t, 0.2, r.Verdict[1].Miss, 1e-9)
	require.Equal(t, []string{"ours", "plain", "other", "other", "plain", "ours", "ours", "plain", "other"}, f.asked)
}

// Who waits sees which case it is of how many, what is measured, and what each round gave.
func TestProgress(t *testing.T) {
	f := &figures{sides: map[string][]measured{sideOurs: costs(0, 200), "plain": costs(0, 100), "other": costs(0, 100)}}
	second := fakeCase(Goal{Of: CPU, Budget: 2.5})
	second.Name = "second"
	var told bytes.Buffer
	config := Config{Cases: []Case{fakeCase(Goal{Of: CPU, Budget: 2.5}), second}, Only: []string{"second"}, Rounds: 1, Stderr: &told}
	_, err := (&Runner{config: config, launch: f.launch}).Run(t.Context())
	require.NoError(t, err)
	require.Regexp(t, `^second 1x: case 1 of 1, after 0s
    round 1: ours
    round 1: plain
    round 1: other
second 1x: round 1, 1 of 1: .*
$`, told.String())
}

func TestMoreIsBetterSumsAndAbsolutes(t *testing.T) {
	noted := func(v float64) measured {
		m := costs(0, 100)[0]
		m.Figure.Note("memory", v, "B")
		return m
	}
	f := &figures{sides: map[string][]measured{sideOurs: {noted(5000)}, "plain": costs(0, 600), "other": costs(0, 200)}}
	r := f.run(t, fakeCase(
		Goal{Of: CPU, Budget: 2, Limit: 3, AtLeast: true},
		Goal{Of: CPU, Budget: 0.2, Limit: 0.1, Sum: true},
		Goal{Of: "memory", Budget: 8192, Limit: 6144, Absolute: true},
		Goal{Of: "memory", Budget: 4000, Limit: 3000, Absolute: true},
	), nil)
	require.Empty(t, r.Error)
	var medians []float64
	var met []bool
	for _, v := range r.Verdict {
		medians, met = append(medians, v.Median), append(met, v.Met)
	}
	require.Equal(t, []float64{2, 0.125, 5000, 5000}, medians)
	require.Equal(t, []bool{true, true, true, false}, met)
	require.InDelta(t, 0.25, r.Verdict[3].Miss, 1e-9)
}

// Where all sides are to cost the same, a dear yardstick counts as much as we do.
func TestSpread(t *testing.T) {
	f := &figures{sides: map[string][]measured{sideOurs: costs(0, 110), "plain": costs(0, 150), "other": costs(0, 100)}}
	r := f.run(t, fakeCase(Goal{Of: CPU, Budget: 1.6, Limit: 1.5, Spread: true}, Goal{Of: CPU, Budget: 1.4, Spread: true}), nil)
	require.Empty(t, r.Error)
	require.Equal(t, []float64{1.5, 150, 100}, []float64{r.Verdict[0].Median, r.Verdict[0].Ours, r.Verdict[0].Yardstick})
	require.True(t, r.Verdict[0].Met)
	require.False(t, r.Verdict[1].Met)
	f = &figures{sides: map[string][]measured{sideOurs: costs(0, 50), "plain": costs(0, 150), "other": costs(0, 100)}}
	r = f.run(t, fakeCase(Goal{Of: CPU, Budget: 2, Spread: true}), nil)
	require.InDelta(t, 3, r.Verdict[0].Median, 1e-9, "ours is the cheapest")
}

func TestNoisyRoundsAreDoneAgain(t *testing.T) {
	for name, c := range map[string]struct {
		noise             []float64
		done, used, noisy int
	}{
		"all quiet":          {[]float64{0, 0.1, 0.2}, 3, 3, 0},
		"two dropped":        {[]float64{0, 1.5, 0.1, 0.9, 0.2}, 5, 3, 0},
		"never quiet enough": {[]float64{0.9, 0.6, 0.65, 0, 0.8}, 5, 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := &figures{sides: map[string][]measured{"plain": costs(0, 100), "other": costs(0, 100)}}
			for _, n := range c.noise {
				f.sides[sideOurs] = append(f.sides[sideOurs], costs(n, 100+int(100*n))...)
			}
			r := f.run(t, fakeCase(Goal{Of: CPU, Budget: 1, Limit: 1}), nil)
			require.Equal(t, c.done, r.Done)
			require.Len(t, r.Rounds, c.used)
			require.Equal(t, c.noisy, r.Noisy)
			require.Less(t, r.Verdict[0].Most, 1.7, "the quietest count")
		})
	}
}

func TestFailures(t *testing.T) {
	boom := errors.New("boom")
	both := costs(0, 100)
	with := func(text string) []measured {
		m := costs(0, 100)[0]
		m.Figure.Text("hash", text)
		return []measured{m}
	}
	same := fakeCase(Goal{Of: CPU, Budget: 1, Limit: 1})
	same.Same = []string{"hash"}
	for name, c := range map[string]struct {
		launch         figures
		of             Case
		error, skipped string
	}{
		"a side fails": {figures{fail: map[string]error{"plain": boom}, sides: map[string][]measured{sideOurs: both, "other": both}},
			fakeCase(Goal{Of: CPU, Budget: 1}), "plain: boom", ""},
		"a side cannot": {figures{fail: map[string]error{sideOurs: skipped("skipped: needs 12 GB")}},
			fakeCase(Goal{Of: CPU, Budget: 1}), "", "ours: skipped: needs 12 GB"},
		"no such note": {figures{sides: map[string][]measured{sideOurs: both, "plain": both, "other": both}},
			fakeCase(Goal{Of: "p99", Budget: 1}), "ours reports no p99", ""},
		"different answers": {figures{sides: map[string][]measured{sideOurs: with("a"), "plain": with("a"), "other": with("b")}},
			same, "hash: ours has a, other has b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.launch.run(t, c.of, nil)
			require.Equal(t, c.error, r.Error)
			require.Equal(t, c.skipped, r.Skipped)
			require.Empty(t, r.Verdict)
		})
	}
}

func TestOneFailureDoesNotStopTheOthers(t *testing.T) {
	bad := fakeCase(Goal{Of: "nothing", Budget: 1})
	bad.Name = "bad"
	all := costs(0, 100)
	f := &figures{sides: map[string][]measured{sideOurs: all, "plain": all, "other": all}}
	config := Config{Cases: []Case{bad, fakeCase(Goal{Of: CPU, Budget: 1})}, Rounds: 1, Stderr: io.Discard}
	results, err := (&Runner{config: config, launch: f.launch}).Run(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, results[0].Error)
	require.Empty(t, results[1].Error)
	require.True(t, results[1].Verdict[0].Met)
}

func TestCancelStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var dir string
	r := &Runner{config: Config{Cases: []Case{fakeCase(Goal{Of: CPU, Budget: 1})}, Rounds: 3, Stderr: io.Discard},
		launch: func(ctx context.Context, config PartConfig) (measured, error) {
			dir = config.Dir
			require.DirExists(t, dir)
			cancel()
			return measured{}, ctx.Err()
		}}
	results, err := r.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, results)
	require.NoDirExists(t, filepath.Dir(dir), "everything that was temporary is gone")
}

func TestPrepareOnceForEachScale(t *testing.T) {
	dir := t.TempDir()
	c := fakeCase(Goal{Of: CPU, Budget: 1})
	c.Prepare = func(context.Context, *Run) error { return nil }
	var prepared []string
	launch := func(_ context.Context, config PartConfig) (measured, error) {
		if config.Side == sidePrepare {
			prepared = append(prepared, fmt.Sprint(config.Scale))
			return measured{}, os.WriteFile(filepath.Join(config.Data, "file"), nil, 0o600)
		}
		require.FileExists(t, filepath.Join(config.Data, "file"))
		return costs(0, 100)[0], nil
	}
	config := Config{Cases: []Case{c}, Rounds: 6, Scales: []float64{1, 10}, Dir: dir, Stderr: io.Discard}
	for range 2 {
		results, err := (&Runner{config: config, launch: launch}).Run(t.Context())
		require.NoError(t, err)
		require.Empty(t, results[1].Error)
		require.Equal(t, []int{6, 2}, []int{results[0].Done, results[1].Done}, "fewer rounds of what takes longer")
	}
	require.Equal(t, []string{"1", "10"}, prepared)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "no half preparations")
}

// Without a directory to keep it in, what a case has prepared is gone before the next case.
func TestWhatIsPreparedGoesWithItsCase(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	first := fakeCase(Goal{Of: CPU, Budget: 1})
	first.Prepare = func(context.Context, *Run) error { return nil }
	second := first
	second.Name = "second"
	var prepared []string
	launch := func(_ context.Context, config PartConfig) (measured, error) {
		if config.Side == sidePrepare {
			for _, data := range prepared {
				require.NoDirExists(t, data)
			}
			prepared = append(prepared, strings.TrimSuffix(config.Data, ".part"))
			return measured{}, os.WriteFile(filepath.Join(config.Data, "file"), nil, 0o600)
		}
		require.FileExists(t, filepath.Join(config.Data, "file"))
		return costs(0, 100)[0], nil
	}
	results, err := (&Runner{config: Config{Cases: []Case{first, second}, Rounds: 2, Stderr: io.Discard}, launch: launch}).Run(t.Context())
	require.NoError(t, err)
	require.Len(t, results, 2)
	require.Empty(t, results[0].Error+results[1].Error)
	require.Len(t, prepared, 2)
}

func TestAFailedPreparationLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	c := fakeCase(Goal{Of: CPU, Budget: 1})
	c.Prepare = func(context.Context, *Run) error { return nil }
	f := &figures{fail: map[string]error{sidePrepare: errors.New("boom")}}
	r := f.run(t, c, func(config *Config) { config.Dir = dir })
	require.Contains(t, r.Error, "preparing: boom")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestConfigRefusals(t *testing.T) {
	good := Config{Cases: []Case{fakeCase()}, Rounds: 5}
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no rounds":     {func(c *Config) { c.Rounds = 0 }, "rounds: 0 is not between 1 and 1000"},
		"no size":       {func(c *Config) { c.Scales = []float64{0} }, "scale: 0 is not above 0 and at most 1000"},
		"other group":   {func(c *Config) { c.Group = Bridge }, "no case in group bridge; see --list"},
		"unknown names": {func(c *Config) { c.Only = []string{"no", "none"} }, "no case has a name that begins with no or none; see --list"},
		"both":          {func(c *Config) { c.Group, c.Only = Exchange, []string{"no"} }, "no case in group exchange has a name that begins with no;"},
	} {
		t.Run(name, func(t *testing.T) {
			config := good
			c.change(&config)
			require.ErrorContains(t, config.Check(), c.want)
		})
	}
	require.NoError(t, good.Check())
}

// tinyCases are for tests of the process around a part.
func tinyCases() []Case {
	return []Case{{
		Name: "tiny", Group: Exchange, Unit: "step", About: "counts", Goals: []Goal{{Of: CPU, Budget: 1}},
		Ours: func(ctx context.Context, r *Run) (Figure, error) {
			c, err := r.Command(ctx, "helper", "seven")
			if err != nil {
				return Figure{}, err
			}
			raw, err := c.Output()
			if err != nil {
				return Figure{}, err
			}
			help, err := ReadOutcome(raw)
			if err != nil {
				return Figure{}, err
			}
			f, err := r.Measure(1, func() error { return nil })
			f.Text("helper says", help.Notes[0].Text)
			return f, err
		},
		Helpers: map[string]Part{"helper": func(_ context.Context, r *Run) (Figure, error) {
			f := Figure{Units: 1}
			f.Text("told", r.Argument)
			return f, nil
		}},
		Yardsticks: []Yardstick{
			{"failing", func(context.Context, *Run) (Figure, error) { return Figure{}, errors.New("boom") }},
			{"skipping", func(context.Context, *Run) (Figure, error) { return Figure{}, fmt.Errorf("%w: too small", ErrSkip) }},
			{"panicking", func(context.Context, *Run) (Figure, error) { panic("broken") }},
			{"hanging", func(ctx context.Context, r *Run) (Figure, error) {
				r.Progress("hanging")
				<-ctx.Done()
				select {} // killed by the signal
			}},
		},
	}}
}

func TestProcess(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	var stderr bytes.Buffer
	run := process(exe, &stderr)
	config := PartConfig{Case: "tiny", Side: sideOurs, Scale: 1, Dir: t.TempDir()}
	m, err := run(t.Context(), config)
	require.NoError(t, err)
	said, _ := m.Figure.note("helper says")
	require.Equal(t, "seven", said.Text)
	require.Positive(t, m.Figure.Wall)

	config.Side = "failing"
	_, err = run(t.Context(), config)
	require.EqualError(t, err, "boom")
	config.Side = "skipping"
	_, err = run(t.Context(), config)
	require.ErrorIs(t, err, ErrSkip)
	require.EqualError(t, err, "skipped: too small")
	config.Side = "unknown"
	_, err = run(t.Context(), config)
	require.ErrorContains(t, err, `no side "unknown"`)
	config.Side = "panicking"
	_, err = run(t.Context(), config)
	require.ErrorContains(t, err, "exit status 2")
	require.Contains(t, stderr.String(), "broken")
}

// signalling cancels when something is written.
type signalling struct{ cancel func() }

func (s signalling) Write(p []byte) (int, error) { s.cancel(); return len(p), nil }

func TestProcessIsEndedWithItsRunner(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = process(exe, signalling{cancel})(ctx, PartConfig{Case: "tiny", Side: "hanging", Scale: 1})
	require.ErrorIs(t, err, context.Canceled)
}

func TestOthers(t *testing.T) {
	start := time.Unix(1000, 0)
	stat := func(line string, after time.Duration) ticks {
		return parseStat([]byte(line+"\ncpu0 1 2"), start.Add(after))
	}
	before := stat("cpu  1000 10 100 5000 50 5 5 30 0 0", 0)
	after := stat("cpu  1200 10 160 5100 80 5 5 50 0 0", 2*time.Second)
	require.InDelta(t, 0.4, before.others(after, 2*time.Second), 1e-9, "2.8 s busy of which 2 s ours, in 2 s")
	require.Zero(t, before.others(after, 3*time.Second))
	require.Zero(t, ticks{}.others(after, 0), "nothing known")
	require.False(t, stat("intr 1 2 3", 0).ok)
	require.False(t, stat("cpu 1 2", 0).ok)
}

func TestTable(t *testing.T) {
	ours := costs(0.1, 680, 700, 720)
	for i := range ours {
		ours[i].Figure.Note("p99", 1234, "ns")
		ours[i].Figure.Note("per order", 190, "B")
		ours[i].Figure.Text("trades", "3061")
	}
	f := &figures{sides: map[string][]measured{sideOurs: ours, "plain": costs(0, 400), "other": costs(0.9, 500)}}
	c := fakeCase(Goal{Of: CPU, Budget: 2.5, Limit: 1.5}, Goal{Of: Wall, Budget: 1.5, Limit: 1}, Goal{Of: "per order", Budget: 200, Limit: 100, Absolute: true})
	results := []Result{
		f.run(t, c, nil),
		{Name: "broken", Scale: 10, Error: "ours: boom"},
		{Name: "big", Scale: 10, Skipped: "skipped: needs 12 GB"},
	}
	var b strings.Builder
	require.NoError(t, Table(&b, results))
	golden, err := os.ReadFile("testdata/table.txt")
	require.NoError(t, err)
	require.Equal(t, string(golden), b.String())
}

func TestJSON(t *testing.T) {
	f := &figures{sides: map[string][]measured{sideOurs: costs(0, 150), "plain": costs(0, 100), "other": costs(0, 100)}}
	r := f.run(t, fakeCase(Goal{Of: CPU, Budget: 2.5, Limit: 1.5}), nil)
	var b bytes.Buffer
	require.NoError(t, JSON(&b, []Result{r}))
	var back []Result
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	r.Case = nil
	require.Equal(t, []Result{r}, back)
	require.Contains(t, b.String(), `"cpu_ns": 1500`)
}

func TestShow(t *testing.T) {
	for want, c := range map[string]struct {
		v    float64
		unit string
	}{
		"42 ns": {42, "ns"}, "1.23 µs": {1234, "ns"}, "12.3 ms": {12.34e6, "ns"}, "2 s": {2e9, "ns"},
		"190 B": {190, "B"}, "7.81 KB": {8000, "B"}, "114 MB": {120e6, "B"},
		"3061": {3061, ""}, "0.42": {0.42, ""}, "12.5 cores": {12.5, "cores"}, "0": {0, ""},
	} {
		require.Equal(t, want, show(c.v, c.unit))
	}
}
