package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"
)

// Run contains a part's parameters and tools.
type Run struct {
	Case, Side string
	Scale      float64 // how much of the usual work
	Dir        string  // the part's own, gone when it is done
	Argument   string  // what a helper was started with
	Profile    string  // folder for a CPU profile of what is measured, or ""
	Stderr     io.Writer
}

// arguments are the command line that asks the program for the part.
func (r *Run) arguments() []string {
	return []string{"part", r.Case, r.Side, "--scale", fmt.Sprint(r.Scale), "--dir", r.Dir, "--argument", r.Argument, "--profile", r.Profile}
}

// N is n at the run's scale, at least 1.
func (r *Run) N(n int) int { return max(1, int(math.Round(float64(n)*r.Scale))) }

// UpTo is n, or less at scales below 1: for what makes a figure no better, or another one, when
// there is more of it.
func (r *Run) UpTo(n int) int { return min(n, r.N(n)) }

// Measure does the work and returns its cost: CPU of the complete process and wall time, with the
// note "allocs", allocations per unit.
func (r *Run) Measure(units int, work func() error) (Figure, error) {
	stop, err := r.profile()
	if err != nil {
		return Figure{}, err
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, cpu := time.Now(), cpuTime()
	err = work()
	f := Figure{Units: units, CPU: cpuTime() - cpu, Wall: time.Since(start)}
	runtime.ReadMemStats(&after)
	f.Note("allocs", math.Floor(float64(after.Mallocs-before.Mallocs)/float64(units)*100)/100, "")
	return f, errors.Join(err, stop())
}

// profile writes a CPU profile until stop is called; to none without a folder.
func (r *Run) profile() (stop func() error, err error) {
	if r.Profile == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(filepath.Join(r.Profile, r.Case+"-"+r.Side+".pprof"))
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		return nil, fmt.Errorf("profiling: %w", err)
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// cpuTime is the user and system time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the only errors are wrong arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Process is a helper that runs next to a part.
type Process struct {
	*exec.Cmd
	in    io.Closer
	lines *bufio.Scanner
}

// Start starts a helper of the run's case, in the run's directory.
func (r *Run) Start(ctx context.Context, helper, argument string) (*Process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	beside := *r
	beside.Side, beside.Argument, beside.Profile = helper, argument, ""
	p := &Process{Cmd: exec.CommandContext(ctx, exe, beside.arguments()...)}
	p.Stderr = r.Stderr
	out, err := p.StdoutPipe()
	if err == nil {
		p.in, err = p.StdinPipe()
	}
	if err == nil {
		err = p.Cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", helper, err)
	}
	p.lines = bufio.NewScanner(out)
	return p, nil
}

// Line returns the helper's next line.
func (p *Process) Line() (string, error) {
	if !p.lines.Scan() {
		return "", errors.Join(errors.New("a helper ended before it said what was expected"), p.lines.Err())
	}
	return p.lines.Text(), nil
}

// End lets the helper end and waits for it.
func (p *Process) End() error {
	if err := errors.Join(p.in.Close(), p.Wait()); err != nil {
		return fmt.Errorf("running a helper: %w", err)
	}
	return nil
}

// AwaitEnd waits until whoever started this helper wants nothing more of it.
func AwaitEnd() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// outcome is the output of a part's process, one line of JSON.
type outcome struct {
	Figure  Figure `json:"figure"`
	Skipped string `json:"skipped,omitempty"`
	Error   string `json:"error,omitempty"`
}

// RunPart runs one part and prints its outcome to w as JSON: the work of Measure's child processes.
// A helper prints its lines.
func RunPart(ctx context.Context, cases []Case, r *Run, w io.Writer) error {
	for i := range cases {
		if c := &cases[i]; c.Name == r.Case {
			if helper := c.Helpers[r.Side]; helper != nil {
				return helper(ctx, r, func(line string) { fmt.Fprintln(w, line) })
			}
			return json.NewEncoder(w).Encode(c.outcome(ctx, r))
		}
	}
	return fmt.Errorf("there is no case %q", r.Case)
}

func (c *Case) outcome(ctx context.Context, r *Run) (o outcome) {
	err := fmt.Errorf("case %s has no side %q", c.Name, r.Side)
	for _, s := range c.sides() {
		if s.Name == r.Side {
			o.Figure, err = s.Part(ctx, r)
		}
	}
	switch {
	case errors.Is(err, ErrSkip):
		o.Skipped = err.Error()
	case err != nil:
		o.Error = err.Error()
	}
	return o
}
