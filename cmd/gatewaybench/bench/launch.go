package bench

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

// measured is a part's figure and how much others used the machine meanwhile, in cores.
type measured struct {
	Figure Figure  `json:"figure"`
	Noise  float64 `json:"noise"`
}

// launch runs one part somewhere and reports what it measured.
type launch func(context.Context, PartConfig) (measured, error)

// maxOutcome bounds what a part may print.
const maxOutcome = 1 << 20

// process runs the part in a process of its own, the program at exe.
func process(exe string, stderr io.Writer) launch {
	return func(ctx context.Context, config PartConfig) (measured, error) {
		c := exec.CommandContext(ctx, exe, config.arguments()...)
		c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
		c.WaitDelay = 10 * time.Second
		c.Stderr = stderr
		var out limitedBuffer
		c.Stdout = &out
		before, own := machine(), CPUTime()
		err := c.Run()
		if ctx.Err() != nil {
			return measured{}, context.Cause(ctx)
		}
		if err != nil {
			return measured{}, fmt.Errorf("running the part: %w", err)
		}
		used := c.ProcessState.UserTime() + c.ProcessState.SystemTime() + CPUTime() - own
		figure, err := ReadOutcome(out.Bytes())
		return measured{Figure: figure, Noise: before.others(machine(), used)}, err
	}
}

// ReadOutcome is the figure that a part's process has printed, or the error that it has told.
func ReadOutcome(raw []byte) (Figure, error) {
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

// limitedBuffer takes maxOutcome bytes and refuses more.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutcome {
		return 0, fmt.Errorf("a part prints more than %d bytes", maxOutcome)
	}
	return b.Buffer.Write(p)
}

// ticks is what the whole machine has been busy with so far, as the kernel counts.
type ticks struct {
	busy time.Duration // all processes, interrupts, and what a host took for others
	at   time.Time
	ok   bool
}

// machine reads /proc/stat. Where there is none, nothing is known of neighbours.
func machine() ticks {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}
	}
	return parseStat(raw, time.Now())
}

// userHZ is the unit of /proc/stat on every Linux that Go runs on.
const userHZ = 100

// parseStat reads the first line: cpu user nice system idle iowait irq softirq steal ...
func parseStat(raw []byte, now time.Time) ticks {
	var user, nice, system, idle, wait, irq, soft, steal int64
	n, _ := fmt.Sscanf(string(raw), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal)
	if n != 8 {
		return ticks{}
	}
	return ticks{busy: time.Duration(user+nice+system+irq+soft+steal) * time.Second / userHZ, at: now, ok: true}
}

// others is how many cores were busy with something else than us between t and now, when we used that much.
func (t ticks) others(now ticks, used time.Duration) float64 {
	elapsed := now.at.Sub(t.at)
	if !t.ok || !now.ok || elapsed <= 0 {
		return 0
	}
	return max(0, float64(now.busy-t.busy-used)/float64(elapsed))
}
