package bench

import (
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
	"strings"
	"syscall"
	"time"
)

// Run is what a part may know and use. Dir is its own and goes when it is done; Data is what Prepare has filled and must
// not be changed by the sides, "" when the case prepares nothing.
type Run struct {
	Case   string
	Scale  float64
	Dir    string
	Data   string
	Stream string // file that the user asked to be played, or ""
	// Argument is what a helper was started with.
	Argument string
	Stderr   io.Writer
	// Profile is the file that Measure writes a CPU profile to, or "".
	Profile string
}

// N is n at the run's scale, at least 1.
func (r *Run) N(n int) int { return max(1, int(math.Round(float64(n)*r.Scale))) }

// UpTo is n, or less at scales below 1: for what makes a figure no better, or another one, when there is more of it.
func (r *Run) UpTo(n int) int { return min(n, r.N(n)) }

// Progress tells the user what takes time.
func (r *Run) Progress(format string, args ...any) {
	fmt.Fprintf(r.Stderr, "    "+format+"\n", args...)
}

// Command is a helper of the run's case as a process, not started yet. It has the run's directory and data, and
// argument is its Argument. Its outcome comes on standard output, see ReadOutcome. Whoever starts it waits for it.
func (r *Run) Command(ctx context.Context, helper, argument string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	config := PartConfig{Case: r.Case, Side: helper, Scale: r.Scale, Dir: r.Dir, Data: r.Data, Argument: argument}
	c := exec.CommandContext(ctx, exe, config.arguments()...)
	c.Stderr = r.Stderr
	return c, nil
}

// Measure does the work and returns what it cost: CPU of the whole process and time by the clock, with the notes
// "allocs" and "bytes", which are allocations per unit. Everything that the work does not need is collected before.
func (r *Run) Measure(units int, work func() error) (Figure, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	stop, err := startProfile(r.Profile)
	if err != nil {
		return Figure{}, err
	}
	start, cpu := time.Now(), CPUTime()
	err = work()
	f := Figure{Units: units, CPU: CPUTime() - cpu, Wall: time.Since(start)}
	if err = errors.Join(err, stop()); err != nil {
		return Figure{}, err
	}
	runtime.ReadMemStats(&after)
	f.Note("allocs", math.Floor(float64(after.Mallocs-before.Mallocs)/float64(units)*100)/100, "")
	f.Note("bytes", math.Floor(float64(after.TotalAlloc-before.TotalAlloc)/float64(units)), "B")
	return f, nil
}

// startProfile writes a CPU profile to a file until stop is called; to none when the name is empty.
func startProfile(name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(name)
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

// CPUTime is the user and system time that this process has used.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the only errors are wrong arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PartConfig names one part of one round.
type PartConfig struct {
	Case, Side        string
	Scale             float64
	Dir, Data, Stream string
	Argument          string // for helpers
	Profile           string // folder for a CPU profile of what is measured, or ""
}

// profile is the file for the part's profile.
func (c PartConfig) profile() string {
	if c.Profile == "" {
		return ""
	}
	name := strings.NewReplacer(" ", "-", ",", "").Replace(c.Case + "-" + c.Side)
	return filepath.Join(c.Profile, name+".pprof")
}

// outcome is what the process of a part prints, one line of JSON.
type outcome struct {
	Figure  Figure `json:"figure"`
	Skipped string `json:"skipped,omitempty"`
	Error   string `json:"error,omitempty"`
}

// RunPart does one part and prints its outcome to w as JSON: what a Runner's child processes do.
func RunPart(ctx context.Context, cases []Case, config PartConfig, w, stderr io.Writer) error {
	figure, err := runPart(ctx, cases, config, stderr)
	result := outcome{Figure: figure}
	switch {
	case errors.Is(err, ErrSkip):
		result.Skipped = err.Error()
	case err != nil:
		result.Error = err.Error()
	}
	return json.NewEncoder(w).Encode(result)
}

func runPart(ctx context.Context, cases []Case, config PartConfig, stderr io.Writer) (Figure, error) {
	for i := range cases {
		if cases[i].Name != config.Case {
			continue
		}
		part, ok := cases[i].part(config.Side)
		if !ok {
			return Figure{}, fmt.Errorf("case %s has no side %q", config.Case, config.Side)
		}
		return part(ctx, &Run{
			Case: config.Case, Scale: config.Scale, Dir: config.Dir, Data: config.Data, Stream: config.Stream, Stderr: stderr,
			Argument: config.Argument, Profile: config.profile(),
		})
	}
	return Figure{}, fmt.Errorf("there is no case %q", config.Case)
}

// arguments are the command line that asks the program for the part.
func (c PartConfig) arguments() []string {
	return []string{
		"part", c.Case, c.Side, "--scale", fmt.Sprint(c.Scale), "--dir", c.Dir, "--data", c.Data, "--stream", c.Stream,
		"--argument", c.Argument, "--profile", c.Profile,
	}
}

// LiveHeap is what is in use after everything else was collected.
func LiveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// AwaitEnd waits until whoever started this process wants nothing more of it.
func AwaitEnd() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
