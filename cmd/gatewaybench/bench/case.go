package bench

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Groups of cases.
const (
	Exchange = "exchange"
	Bridge   = "bridge"
)

// Case is one comparison: a part of gatewayd against yardsticks that do the same work in the plainest way, or against a
// figure that stands for itself.
type Case struct {
	Name  string // one word, such as "matching-stream"
	Group string // Exchange or Bridge
	About string // one line for --list
	Unit  string // what the work is counted in, such as "order"

	Ours       Part
	Yardsticks []Yardstick
	Goals      []Goal

	// Same names notes that must read the same on every side of every round, or the case fails: a fast answer that is
	// wrong is no answer.
	Same []string
	// Prepare fills Run.Data, once for each scale, before the rounds. It may be nil.
	Prepare func(context.Context, *Run) error
	// Helpers are further parts that a side starts itself, as a process beside it (see Run.Command). It may be nil.
	Helpers map[string]Part
	// Scales are the sizes that are shown when nobody asks for others, 1 and 10 when it is nil.
	Scales []float64
}

// Yardstick is what a case is compared with.
type Yardstick struct {
	Name string
	Part Part
}

// Part is one side of a case. It runs in a process of its own and may leave files only in the run's directory.
// An error that is ErrSkip says why it cannot be done here at this scale.
type Part func(context.Context, *Run) (Figure, error)

// ErrSkip is a part that this machine cannot do, for a reason that the wrapping error tells.
var ErrSkip = errors.New("skipped")

// What a goal may be about, besides the name of a note.
const (
	CPU  = "cpu"  // user and system time per unit
	Wall = "wall" // time per unit by the clock
)

// Goal is a budget. A ratio is ours through the cheapest yardstick; what is measured is a cost, so less is better.
type Goal struct {
	Of     string // CPU, Wall, or the name of a note that every side has
	Budget float64
	Limit  float64 // what is close to the possible; 0 with a Budget of 0 only

	AtLeast  bool // the ratio is the yardstick's cost through ours: how many times cheaper we are
	Absolute bool // no ratio: Budget is in the unit of the measure itself (nanoseconds for CPU and Wall)
	Sum      bool // the yardsticks are parts of the whole, and their sum counts
	Spread   bool // the dearest side through the cheapest, whichever is ours: all sides are to cost the same
}

// Figure is what a part measured.
type Figure struct {
	Units int           `json:"units"`
	CPU   time.Duration `json:"cpu_ns"`
	Wall  time.Duration `json:"wall_ns"`
	Notes []Note        `json:"notes,omitempty"`
}

// Note is something else worth knowing about a part: a figure with its unit ("ns", "B", "" for a count), or a text.
type Note struct {
	Name  string  `json:"name"`
	Value float64 `json:"value,omitempty"`
	Unit  string  `json:"unit,omitempty"`
	Text  string  `json:"text,omitempty"`
}

// Note adds a figure.
func (f *Figure) Note(name string, value float64, unit string) {
	f.Notes = append(f.Notes, Note{Name: name, Value: value, Unit: unit})
}

// Text adds a text.
func (f *Figure) Text(name, text string) { f.Notes = append(f.Notes, Note{Name: name, Text: text}) }

func (f *Figure) note(name string) (Note, bool) {
	i := slices.IndexFunc(f.Notes, func(n Note) bool { return n.Name == name })
	if i < 0 {
		return Note{}, false
	}
	return f.Notes[i], true
}

// cost is the measure that a goal is about, and whether the figure has it. CPU and Wall are nanoseconds per unit.
func (f *Figure) cost(of string) (float64, bool) {
	switch of {
	case CPU:
		return float64(f.CPU) / float64(f.Units), f.Units > 0
	case Wall:
		return float64(f.Wall) / float64(f.Units), f.Units > 0
	}
	n, ok := f.note(of)
	return n.Value, ok && n.Text == ""
}

// part is the side of that name: "ours", "prepare", or the name of a yardstick or helper.
func (c *Case) part(side string) (Part, bool) {
	switch side {
	case sideOurs:
		return c.Ours, true
	case sidePrepare:
		return func(ctx context.Context, r *Run) (Figure, error) { return Figure{}, c.Prepare(ctx, r) }, c.Prepare != nil
	}
	for _, y := range c.Yardsticks {
		if y.Name == side {
			return y.Part, true
		}
	}
	helper, ok := c.Helpers[side]
	return helper, ok
}

const (
	sideOurs    = "ours"
	sidePrepare = "prepare"
)
