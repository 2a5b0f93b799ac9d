package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Config says what to measure and how often.
type Config struct {
	Cases   []Case
	Group   string    // "" for all
	Only    []string  // names of cases, or beginnings of names; empty for all
	Rounds  int       // that count, at scale 1
	Scales  []float64 // empty for each case's own
	Stream  string    // a stream file for the cases that play one
	Dir     string    // where parts work, on a disk; keeps what cases prepare. "" for a temporary one that goes when all is done
	Profile string    // folder that a CPU profile of each side is written to, of its last round; "" for none

	Stderr io.Writer // progress
}

// quiet is how many cores others may use during a round that counts.
const quiet = 0.25

// again is how many rounds are done in place of ones that were not quiet: half as many as are wanted.
func again(rounds int) int { return (rounds + 1) / 2 }

// Check names the first thing that is wrong.
func (c *Config) Check() error {
	if c.Rounds < 1 || c.Rounds > 1000 {
		return fmt.Errorf("rounds: %d is not between 1 and 1000", c.Rounds)
	}
	for _, s := range c.Scales {
		if !(s > 0 && s <= 1000) {
			return fmt.Errorf("scale: %v is not above 0 and at most 1000", s)
		}
	}
	if len(c.chosen()) == 0 {
		return fmt.Errorf("no case%s; see --list", c.wish())
	}
	return nil
}

// wish says which cases are wanted, behind "no case".
func (c *Config) wish() (text string) {
	if c.Group != "" {
		text = " in group " + c.Group
	}
	if len(c.Only) > 0 {
		text += " has a name that begins with " + strings.Join(c.Only, " or ")
	}
	return text
}

func (c *Config) chosen() []Case {
	var chosen []Case
	for _, k := range c.Cases {
		named := func(only string) bool { return strings.HasPrefix(k.Name, only) }
		if (c.Group == "" || c.Group == k.Group) && (len(c.Only) == 0 || slices.ContainsFunc(c.Only, named)) {
			chosen = append(chosen, k)
		}
	}
	return chosen
}

// Runner measures cases, one part at a time.
type Runner struct {
	config Config
	launch launch
	passes bool // what cases prepare goes with the case, for nobody has named a directory to keep it
}

// New returns a runner whose parts are processes of this program.
func New(config Config) (*Runner, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return &Runner{config: config, launch: process(exe, config.Stderr)}, nil
}

// Run measures every chosen case. A case that fails does not stop the others: it is a result with an error. Run itself
// fails only when it is told to stop or cannot write files.
func (r *Runner) Run(ctx context.Context) (results []Result, err error) {
	for _, dir := range []string{r.config.Dir, r.config.Profile} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making the directory: %w", err)
		}
	}
	work, err := os.MkdirTemp(r.config.Dir, "gatewayd-bench-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the parts: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if r.config.Dir == "" {
		r.config.Dir, r.passes = filepath.Join(work, "data"), true
	}
	start, chosen := time.Now(), r.config.chosen()
	for i, c := range chosen {
		for _, scale := range r.scales(&c) {
			r.progress("%s %s: case %d of %d, after %s", c.Name, times(scale), i+1, len(chosen), time.Since(start).Round(time.Second))
			result := r.one(ctx, &c, scale, work)
			if ctx.Err() != nil {
				return results, context.Cause(ctx)
			}
			results = append(results, result)
		}
	}
	return results, nil
}

func (r *Runner) scales(c *Case) []float64 {
	switch {
	case len(r.config.Scales) > 0:
		return r.config.Scales
	case c.Scales != nil:
		return c.Scales
	}
	return []float64{1, 10}
}

// one measures a case at a scale.
func (r *Runner) one(ctx context.Context, c *Case, scale float64, work string) Result {
	result := Result{Case: c, Name: c.Name, Group: c.Group, Unit: c.Unit, Scale: scale}
	data, err := r.prepare(ctx, c, scale, work)
	if err == nil {
		err = r.rounds(ctx, &result, data, work)
	}
	if r.passes && data != "" { // some have gigabytes
		err = errors.Join(err, os.RemoveAll(data))
	}
	if err == nil {
		err = result.judge()
	}
	if err != nil {
		result.fail(err)
		r.progress("%s %s: %v", c.Name, times(scale), err)
	}
	return result
}

// prepare returns the case's data at the scale, made now unless an earlier run has left it.
func (r *Runner) prepare(ctx context.Context, c *Case, scale float64, work string) (string, error) {
	if c.Prepare == nil {
		return "", nil
	}
	data := filepath.Join(r.config.Dir, c.Name+"-"+times(scale))
	if _, err := os.Stat(data); err == nil {
		r.progress("%s %s: data of %s", c.Name, times(scale), data)
		return data, nil
	}
	r.progress("%s %s: preparing", c.Name, times(scale))
	half := data + ".part"
	if err := os.RemoveAll(half); err != nil {
		return "", fmt.Errorf("removing half a preparation: %w", err)
	}
	if err := os.MkdirAll(half, 0o700); err != nil {
		return "", fmt.Errorf("making a directory for prepared data: %w", err)
	}
	if _, err := r.side(ctx, c, sidePrepare, scale, half, work); err != nil {
		return "", fmt.Errorf("preparing: %w", errors.Join(err, os.RemoveAll(half)))
	}
	if err := os.Rename(half, data); err != nil {
		return "", fmt.Errorf("keeping the prepared data: %w", err)
	}
	return data, nil
}

// rounds does rounds until enough were quiet or enough were tried, and keeps the quietest.
func (r *Runner) rounds(ctx context.Context, result *Result, data, work string) error {
	need := r.config.Rounds
	if result.Scale > 1 { // it takes longer, and shows how a figure grows more than what it is
		need = max(1, need/3)
	}
	var all []Round
	for n, calm := 0, 0; calm < need && n < need+again(need); n++ {
		round, err := r.round(ctx, result.Case, result.Scale, n, data, work)
		if err != nil {
			return err
		}
		if round.Noise <= quiet {
			calm++
		}
		all = append(all, round)
		r.progress("%s %s: round %d, %d of %d: %s", result.Name, times(result.Scale), n+1, calm, need, round.line(result.Case))
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Noise < all[j].Noise })
	result.Done = len(all)
	result.Rounds = all[:min(need, len(all))]
	for _, round := range result.Rounds {
		if round.Noise > quiet {
			result.Noisy++
		}
	}
	return nil
}

// round does every side once, every second time in reverse.
func (r *Runner) round(ctx context.Context, c *Case, scale float64, n int, data, work string) (Round, error) {
	names := c.sides()
	order := slices.Clone(names)
	if n%2 == 1 {
		slices.Reverse(order)
	}
	round := Round{Sides: make([]Side, len(names))}
	for _, name := range order {
		r.progress("    round %d: %s", n+1, name)
		m, err := r.side(ctx, c, name, scale, data, work)
		if err != nil {
			return Round{}, fmt.Errorf("%s: %w", name, err)
		}
		round.Noise = max(round.Noise, m.Noise)
		round.Sides[slices.Index(names, name)] = Side{Name: name, measured: m}
	}
	return round, round.same(c.Same)
}

// sides names what a round measures, ours first.
func (c *Case) sides() []string {
	names := []string{sideOurs}
	for _, y := range c.Yardsticks {
		names = append(names, y.Name)
	}
	return names
}

// side runs one part in a directory that goes with it.
func (r *Runner) side(ctx context.Context, c *Case, side string, scale float64, data, work string) (m measured, err error) {
	dir, err := os.MkdirTemp(work, "part-")
	if err != nil {
		return measured{}, fmt.Errorf("making a directory for a part: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return r.launch(ctx, PartConfig{Case: c.Name, Side: side, Scale: scale, Dir: dir, Data: data, Stream: r.config.Stream, Profile: r.config.Profile})
}

func (r *Runner) progress(format string, args ...any) {
	fmt.Fprintf(r.config.Stderr, format+"\n", args...)
}

// times shows a scale: 1x, 10x, 0.1x.
func times(scale float64) string { return strconv.FormatFloat(scale, 'g', 4, 64) + "x" }
