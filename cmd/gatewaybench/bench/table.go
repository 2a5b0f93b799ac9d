package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"
)

// Table prints results for people: a line for each goal, then what else the parts measured.
func Table(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "CASE\tSIZE\tPER\tOURS\tYARDSTICK\tMEDIAN [LEAST..MOST]\tBUDGET (LIMIT)\tVERDICT\tROUNDS")
	for i := range results {
		results[i].lines(t)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	for i := range results {
		results[i].notes(w)
	}
	return summary(w, results)
}

func (r *Result) lines(w io.Writer) {
	switch {
	case r.Error != "":
		fmt.Fprintf(w, "%s\t%s\tfailed: %s\n", r.Name, times(r.Scale), r.Error)
		return
	case r.Skipped != "":
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, times(r.Scale), r.Skipped)
		return
	}
	for _, v := range r.Verdict {
		unit := r.unit(v.Of)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, times(r.Scale), r.per(v.Of), show(v.Ours, unit),
			v.yardstick(unit), v.spread(unit), v.budget(unit), v.word(), r.counted())
	}
}

// per is what a figure is for: CPU per order, wall per order, or the note's name.
func (r *Result) per(of string) string {
	if of == CPU || of == Wall {
		return of + "/" + r.Unit
	}
	return of
}

func (r *Result) unit(of string) string {
	if of == CPU || of == Wall {
		return "ns"
	}
	n, _ := r.Rounds[0].Sides[0].Figure.note(of)
	return n.Unit
}

func (r *Result) counted() string {
	s := fmt.Sprintf("%d of %d", len(r.Rounds), r.Done)
	if r.Noisy > 0 {
		s += fmt.Sprintf(", %d noisy", r.Noisy)
	}
	return s
}

func (v *Verdict) yardstick(unit string) string {
	if v.Absolute {
		return "-"
	}
	return show(v.Yardstick, unit) + " " + v.Against
}

func (v *Verdict) spread(unit string) string {
	return fmt.Sprintf("%s [%s..%s]", v.show(v.Median, unit), v.show(v.Least, unit), v.show(v.Most, unit))
}

func (v *Verdict) budget(unit string) string {
	sign := "<="
	if v.AtLeast {
		sign = ">="
	}
	return fmt.Sprintf("%s %s (%s)", sign, v.show(v.Budget, unit), v.show(v.Limit, unit))
}

// show prints a ratio, or a cost when the goal is absolute.
func (v *Verdict) show(x float64, unit string) string {
	if v.Absolute {
		return show(x, unit)
	}
	return digits(x) + "x"
}

func (v *Verdict) word() string {
	switch {
	case v.AtLimit:
		return "met, close to the limit"
	case v.Met:
		return "met"
	case v.Miss == 0:
		return "missed"
	}
	return fmt.Sprintf("missed by %.0f %%", v.Miss*100)
}

// notes prints the medians of what else each side measured, and of the texts the last.
func (r *Result) notes(w io.Writer) {
	if len(r.Rounds) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s %s\n", r.Name, times(r.Scale))
	for i := range r.Rounds[0].Sides {
		name := r.Rounds[0].Sides[i].Name
		parts := []string{
			"cpu " + show(r.median(i, CPU), "ns") + "/" + r.Unit,
			"wall " + show(r.median(i, Wall), "ns") + "/" + r.Unit,
		}
		for _, n := range r.Rounds[0].Sides[i].Figure.Notes {
			if n.Text == "" {
				n.Value = r.median(i, n.Name)
			}
			parts = append(parts, n.Name+" "+n.show())
		}
		fmt.Fprintf(w, "  %s: %s\n", name, strings.Join(parts, ", "))
	}
}

func (r *Result) median(side int, of string) float64 {
	var list []float64
	for _, round := range r.Rounds {
		if c, ok := round.Sides[side].Figure.cost(of); ok {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return 0
	}
	return median(list)
}

// line is a round in the progress: the cost of each side by the case's first goal.
func (r *Round) line(c *Case) string {
	var parts []string
	for i := range r.Sides {
		s := &r.Sides[i]
		of, unit := c.Goals[0].Of, "ns"
		if n, ok := s.Figure.note(of); ok {
			unit = n.Unit
		}
		cost, _ := s.Figure.cost(of)
		parts = append(parts, s.Name+" "+show(cost, unit))
	}
	return fmt.Sprintf("%s (others used %.2f cores)", strings.Join(parts, ", "), r.Noise)
}

func (n Note) show() string {
	if n.Text != "" {
		return n.Text
	}
	return show(n.Value, n.Unit)
}

// show prints a figure in a unit that people read: nanoseconds and bytes in what fits them.
func show(v float64, unit string) string {
	switch unit {
	case "ns":
		return duration(v)
	case "B":
		return size(v)
	case "":
		return digits(v)
	}
	return digits(v) + " " + unit
}

func duration(ns float64) string {
	switch {
	case ns < float64(time.Microsecond):
		return digits(ns) + " ns"
	case ns < float64(time.Millisecond):
		return digits(ns/float64(time.Microsecond)) + " µs"
	case ns < float64(time.Second):
		return digits(ns/float64(time.Millisecond)) + " ms"
	}
	return digits(ns/float64(time.Second)) + " s"
}

func size(b float64) string {
	switch {
	case math.Abs(b) < 1<<10:
		return digits(b) + " B"
	case math.Abs(b) < 1<<20:
		return digits(b/(1<<10)) + " KB"
	}
	return digits(b/(1<<20)) + " MB"
}

// digits prints three digits that matter, and large figures whole.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == math.Trunc(a):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func summary(w io.Writer, results []Result) error {
	var met, missed, skipped, failed int
	for i := range results {
		switch r := &results[i]; {
		case r.Error != "":
			failed++
		case r.Skipped != "":
			skipped++
		}
		for _, v := range results[i].Verdict {
			if v.Met {
				met++
			} else {
				missed++
			}
		}
	}
	_, err := fmt.Fprintf(w, "\n%d met, %d missed, %d skipped, %d failed\n", met, missed, skipped, failed)
	return err
}

// JSON prints results for programs, with every round that counts.
func JSON(w io.Writer, results []Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(results); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	return nil
}

// List prints the names of the chosen cases and what they are about.
func List(w io.Writer, config Config) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range config.chosen() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", c.Group, c.Name, c.About)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("listing the cases: %w", err)
	}
	return nil
}
