package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Config selects the cases and the number of rounds.
type Config struct {
	Only    []string // names of cases, or beginnings of names; empty for all
	Rounds  int
	Scale   float64 // how much of the usual work
	Dir     string  // where parts work, "" for the system's temporary directory
	Profile string  // folder that a CPU profile of each side is written to, of its last round; "" for none

	Stderr io.Writer // progress
}

// quiet is the number of cores that others may use during a round that is not noisy.
const quiet = 0.25

// choose returns the cases that are wanted, or the first thing that is wrong.
func (c *Config) choose(cases []Case) (chosen []Case, err error) {
	if c.Rounds < 1 || c.Rounds > 1000 {
		return nil, fmt.Errorf("rounds: %d is not between 1 and 1000", c.Rounds)
	}
	if !(c.Scale > 0 && c.Scale <= 1000) {
		return nil, fmt.Errorf("scale: %v is not above 0 and at most 1000", c.Scale)
	}
	for _, k := range cases {
		named := func(only string) bool { return strings.HasPrefix(k.Name, only) }
		if len(c.Only) == 0 || slices.ContainsFunc(c.Only, named) {
			chosen = append(chosen, k)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no case has a name that begins with %s; see --list", strings.Join(c.Only, " or "))
	}
	return chosen, nil
}

// runner measures cases, one part at a time.
type runner struct {
	Config
	launch launch
	work   string // temporary directory
}

// Measure measures the chosen cases; each part is a process of this program. A case that fails does
// not stop the others: it is a result with an error.
func Measure(ctx context.Context, cases []Case, config Config) ([]Result, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return measureWith(ctx, cases, config, process(exe, config.Stderr))
}

func measureWith(ctx context.Context, cases []Case, config Config, l launch) (results []Result, err error) {
	chosen, err := config.choose(cases)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{config.Dir, config.Profile} {
		if dir != "" {
			err = errors.Join(err, os.MkdirAll(dir, 0o700))
		}
	}
	work, tempErr := os.MkdirTemp(config.Dir, "gatewayd-bench-")
	if err = errors.Join(err, tempErr); err != nil {
		return nil, fmt.Errorf("making a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	r := runner{config, l, work}
	for i := range chosen {
		r.progress("%s %gx: case %d of %d", chosen[i].Name, r.Scale, i+1, len(chosen))
		result := r.one(ctx, &chosen[i])
		if ctx.Err() != nil {
			return results, context.Cause(ctx)
		}
		results = append(results, result)
	}
	return results, nil
}

// one measures a case.
func (r *runner) one(ctx context.Context, c *Case) Result {
	result := Result{Case: c, Name: c.Name, Unit: c.Unit}
	var err error
	for n := 0; n < r.Rounds && err == nil; n++ {
		var round Round
		if round, err = r.round(ctx, c, n); err == nil {
			result.Rounds = append(result.Rounds, round)
		}
	}
	if err == nil {
		err = result.judge()
	}
	if err != nil {
		result.fail(err)
		r.progress("%s: %v", c.Name, err)
	}
	return result
}

// round does every side once, every second time in reverse.
func (r *runner) round(ctx context.Context, c *Case, n int) (Round, error) {
	sides := c.sides()
	round := Round{Sides: make([]Measured, len(sides))}
	for k := range sides {
		i := k
		if n%2 == 1 {
			i = len(sides) - 1 - k
		}
		f, others, err := r.side(ctx, c, sides[i].Name)
		if err != nil {
			return Round{}, fmt.Errorf("%s: %w", sides[i].Name, err)
		}
		round.Sides[i], round.Others = Measured{sides[i].Name, f}, max(round.Others, others)
		cost, _ := f.cost(c.Goals[0].Of)
		r.progress("    round %d, %s: %s of %s", n+1, sides[i].Name, cost.show(), c.Goals[0].Of)
	}
	return round, round.same(c.Same)
}

// side runs one part in a directory that goes with it.
func (r *runner) side(ctx context.Context, c *Case, side string) (f Figure, others float64, err error) {
	dir, err := os.MkdirTemp(r.work, "part-")
	if err != nil {
		return Figure{}, 0, fmt.Errorf("making a directory for a part: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return r.launch(ctx, &Run{Case: c.Name, Side: side, Scale: r.Scale, Dir: dir, Profile: r.Profile})
}

func (r *runner) progress(format string, args ...any) { fmt.Fprintf(r.Stderr, format+"\n", args...) }
