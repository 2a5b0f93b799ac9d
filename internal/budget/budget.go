// Package budget compares Go benchmarks with the program's budgets: the cost of a unit of work,
// relative to a yardstick of the same run.
//
//	go test -run '^$' -bench Budget -benchtime 5x ./vite/dex
//
// does five rounds. Machines differ and are shared, so budgets are ratios of CPU time
// (docs/performance.md).
package budget

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// Cost is this process's cost for some units of work.
type Cost struct {
	Units     int
	CPU, Wall time.Duration
}

// Measure does the work, which is so many units.
func Measure(units int, work func()) Cost {
	start, cpu := time.Now(), CPUTime()
	work()
	return Cost{units, CPUTime() - cpu, time.Since(start)}
}

// Add adds what more units took.
func (c *Cost) Add(o Cost) {
	c.Units, c.CPU, c.Wall = c.Units+o.Units, c.CPU+o.CPU, c.Wall+o.Wall
}

// PerCPU is the CPU time of a unit in nanoseconds.
func (c Cost) PerCPU() float64 { return float64(c.CPU) / float64(c.Units) }

// PerWall is the time of a unit by the clock in nanoseconds.
func (c Cost) PerWall() float64 { return float64(c.Wall) / float64(c.Units) }

// CPUTime is the user and system time that this process has used.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the only errors are wrong arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Compare measures ours and a yardstick by turns, a round for each of the benchmark's. It reports
// the medians: a unit's cost on either side and the rounds' ratios, with the budget.
func Compare(b *testing.B, budget float64, per func(Cost) float64, ours, yardstick func() Cost) {
	own, other, ratio := rounds(b.N, per, ours, yardstick)
	b.ReportMetric(0, "ns/op") // meaningless for a round
	b.ReportMetric(own, "ns/ours")
	b.ReportMetric(other, "ns/yardstick")
	b.ReportMetric(ratio, "ratio")
	b.ReportMetric(budget, "budget")
}

// rounds goes forth and back: A B, B A. It answers the medians of both sides and of the rounds'
// ratios.
func rounds(n int, per func(Cost) float64, ours, yardstick func() Cost) (own, other, ratio float64) {
	var all [3][]float64
	for i := range n {
		var a, b float64
		if i%2 == 0 {
			a = per(ours())
			b = per(yardstick())
		} else {
			b = per(yardstick())
			a = per(ours())
		}
		all[0], all[1], all[2] = append(all[0], a), append(all[1], b), append(all[2], a/b)
	}
	return median(all[0]), median(all[1]), median(all[2])
}

func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}
