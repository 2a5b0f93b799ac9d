// Package bench measures what the budgets promise, each figure beside a yardstick of the same run.
//
//	Measure ── round 1 ─▶ process: ours      ─▶ Figure{units, CPU, wall, notes}
//	       │            └▶ process: yardstick ─▶ Figure
//	       ├── round 2 ...                       the other way round
//	       └─▶ Result: median [least..most] of the rounds' ratios against each Goal
//
// Machines differ and are shared, so a budget is a ratio of what two parts of one round cost. Each part is a process of its own (the program itself,
// asked for one part), measures only the section that matters, and reports CPU time per unit with wall time beside it. The result says during how
// many rounds others used the machine.
//
// The package does not know the cases; nothing but the cases and the program imports it.
package bench

import (
	"context"
	"errors"
	"time"
)

// Case is one comparison: a part of gatewayd against yardsticks that do the same work in the plainest way, or against a figure that stands for itself.
type Case struct {
	Name  string // one word, such as "ws-paced-1000"
	About string // one line for --list
	Unit  string // what the work is counted in, such as "order"

	Ours       Part
	Yardsticks []Side
	Goals      []Goal
	// Same names notes that must read the same on every side of a round, or the case fails: a fast answer that is wrong is no answer.
	Same []string
	// Helpers are processes that a side starts beside itself, see Run.Start. It may be nil.
	Helpers map[string]Helper
}

// Side is a part and its name.
type Side struct {
	Name string
	Part Part
}

// Part is one side of a case. It runs in a process of its own and may leave files only in the run's directory. An error that is ErrSkip says why it
// cannot be done here.
type Part func(context.Context, *Run) (Figure, error)

// Helper runs until its part ends it (AwaitEnd) or its work is done. The part reads the lines that it says.
type Helper func(ctx context.Context, r *Run, say func(string)) error

// ErrSkip is a part that this machine cannot do, for a reason that the wrapping error tells.
var ErrSkip = errors.New("skipped")

// What a goal may be about, besides the name of a note.
const (
	CPU  = "cpu"  // user and system time per unit
	Wall = "wall" // time per unit by the clock
)

// Goal is a budget. A ratio is ours through the cheapest yardstick; what is measured is a cost, so less is better.
type Goal struct {
	Of     string  // CPU, Wall, or the name of a note that every side has
	Budget float64 // what is promised
	Limit  float64 // what is close to the possible

	Absolute bool // no ratio: Budget is in the unit of the measure itself (nanoseconds for CPU and Wall)
	Added    bool // no ratio either: what ours costs more than the yardstick, in the unit of the measure
}

// Figure is what a part measured.
type Figure struct {
	Units int             `json:"units"`
	CPU   time.Duration   `json:"cpu_ns"`
	Wall  time.Duration   `json:"wall_ns"`
	Notes map[string]Note `json:"notes,omitempty"`
}

// Note is something else worth knowing about a part: a figure with its unit ("ns", "B", "" for a count).
type Note struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// Note adds a figure.
func (f *Figure) Note(name string, value float64, unit string) {
	if f.Notes == nil {
		f.Notes = map[string]Note{}
	}
	f.Notes[name] = Note{value, unit}
}

// cost is the measure that a goal is about, and whether the figure has it.
func (f *Figure) cost(of string) (n Note, ok bool) {
	switch units := float64(f.Units); of {
	case CPU:
		return Note{float64(f.CPU) / units, "ns"}, units > 0
	case Wall:
		return Note{float64(f.Wall) / units, "ns"}, units > 0
	}
	n, ok = f.Notes[of]
	return n, ok
}

// sides are what a round measures, ours first.
func (c *Case) sides() []Side { return append([]Side{{ours, c.Ours}}, c.Yardsticks...) }

// ours is the name of the side that is measured.
const ours = "ours"
