package main

import (
	"context"
	"errors"
	"time"
)

// Case is one comparison: a part of gatewayd against yardsticks that do the same work in the
// plainest way, or against an absolute figure.
type Case struct {
	Name  string // one word, such as "ws-paced-1000"
	About string // one line for --list
	Unit  string // what the work is counted in, such as "order"

	Ours       Part
	Yardsticks []Side
	Goals      []Goal
	// Same names notes that must read the same on every side of a round, or the case fails: a fast
	// answer that is wrong is no answer.
	Same []string
	// Helpers are additional processes of a side, see Run.Start. It may be nil.
	Helpers map[string]Helper
}

// Side is a part and its name.
type Side struct {
	Name string
	Part Part
}

// Part is one side of a case. It runs in a separate process and may leave files only in the run's
// directory. An error that is ErrSkip contains the reason why it is impossible here.
type Part func(context.Context, *Run) (Figure, error)

// Helper runs until its part ends it (AwaitEnd) or its work is done. The part reads its output
// lines.
type Helper func(ctx context.Context, r *Run, say func(string)) error

// ErrSkip marks a part that this machine cannot run; the wrapping error contains the reason.
var ErrSkip = errors.New("skipped")

// What a goal may be about, besides the name of a note.
const (
	CPU  = "cpu"  // user and system time per unit
	Wall = "wall" // time per unit by the clock
)

// Goal is a budget. A ratio is ours through the cheapest yardstick; what is measured is a cost, so
// less is better.
type Goal struct {
	Of     string  // CPU, Wall, or the name of a note that every side has
	Budget float64 // what is promised
	Limit  float64 // what is close to the possible

	Absolute bool // no ratio: Budget is in the unit of the measure itself (nanoseconds for CPU and Wall)
	Added    bool // no ratio either: what ours costs more than the yardstick, in the unit of the measure
}

// Figure is the measurement of a part.
type Figure struct {
	Units int             `json:"units"`
	CPU   time.Duration   `json:"cpu_ns"`
	Wall  time.Duration   `json:"wall_ns"`
	Notes map[string]Note `json:"notes,omitempty"`
}

// Note is something else worth knowing about a part: a figure with its unit ("ns", "B", "" for a
// count).
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

// sides lists the parts of a round, ours first.
func (c *Case) sides() []Side { return append([]Side{{ours, c.Ours}}, c.Yardsticks...) }

// ours is the name of the side that is measured.
const ours = "ours"
