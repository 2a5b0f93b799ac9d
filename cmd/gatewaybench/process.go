package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// launch runs one part somewhere and reports what it measured, and how many cores others used
// meanwhile.
type launch func(context.Context, *Run) (f Figure, others float64, err error)

// process runs the part in a separate process, the program at exe.
func process(exe string, stderr io.Writer) launch {
	return func(ctx context.Context, r *Run) (Figure, float64, error) {
		c := exec.CommandContext(ctx, exe, r.arguments()...)
		c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
		c.WaitDelay = 10 * time.Second
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, stderr
		before := machine()
		err := c.Run()
		if ctx.Err() != nil {
			return Figure{}, 0, context.Cause(ctx)
		}
		if err != nil {
			return Figure{}, 0, fmt.Errorf("running the part: %w", err)
		}
		f, err := readOutcome(out.Bytes())
		return f, before.others(machine(), c.ProcessState.UserTime()+c.ProcessState.SystemTime()), err
	}
}

func readOutcome(raw []byte) (Figure, error) {
	var o outcome
	if err := json.Unmarshal(raw, &o); err != nil {
		return Figure{}, fmt.Errorf("reading the part's outcome: %w", err)
	}
	switch {
	case o.Skipped != "":
		return Figure{}, skipped(o.Skipped)
	case o.Error != "":
		return Figure{}, errors.New(o.Error)
	}
	return o.Figure, nil
}

// skipped is an ErrSkip whose text came from another process.
type skipped string

func (s skipped) Error() string        { return string(s) }
func (s skipped) Is(target error) bool { return target == ErrSkip }

// ticks is the total busy time of the machine, from the kernel's counters.
type ticks struct {
	busy time.Duration // all processes, interrupts, and what a host took for others
	at   time.Time     // zero where nothing is known
}

func machine() ticks {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}
	}
	return parseStat(string(raw), time.Now())
}

// userHZ is the unit of /proc/stat on every Linux that Go runs on.
const userHZ = 100

// parseStat reads the first line: cpu user nice system idle iowait irq softirq steal ...
func parseStat(raw string, now time.Time) ticks {
	var user, nice, system, idle, wait, irq, soft, steal int64
	n, _ := fmt.Sscanf(raw, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal)
	if n != 8 {
		return ticks{}
	}
	return ticks{time.Duration(user+nice+system+irq+soft+steal) * time.Second / userHZ, now}
}

// others returns the number of cores that other work used between t and now, when we used that
// much.
func (t ticks) others(now ticks, used time.Duration) float64 {
	elapsed := now.at.Sub(t.at)
	if t.at.IsZero() || now.at.IsZero() || elapsed <= 0 {
		return 0
	}
	return max(0, float64(now.busy-t.busy-used)/float64(elapsed))
}
