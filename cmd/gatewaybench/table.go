package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
)

// Table prints results for people: a line for each goal, then what else the parts measured.
func Table(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "CASE\tPER\tOURS\tYARDSTICK\tMEDIAN [LEAST..MOST]\tBUDGET (LIMIT)\tVERDICT\tROUNDS")
	for i := range results {
		results[i].lines(t)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	for i := range results {
		results[i].notes(w)
	}
	return nil
}

func (r *Result) lines(w io.Writer) {
	if r.Error != "" || r.Skipped != "" {
		fmt.Fprintf(w, "%s\t%s\n", r.Name, r.Error+r.Skipped)
		return
	}
	noisy := 0
	for _, round := range r.Rounds {
		if round.Others > quiet {
			noisy++
		}
	}
	for _, v := range r.Verdict {
		per, yardstick := v.Of, "-"
		if v.Of == CPU || v.Of == Wall {
			per += "/" + r.Unit
		}
		if !v.Absolute {
			yardstick = show(v.Yardstick, v.Unit) + " " + v.Against
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s [%s..%s]\t<= %s (%s)\t%s\t%d, %d noisy\n", r.Name, per, show(v.Ours, v.Unit), yardstick,
			v.show(v.Median), v.show(v.Least), v.show(v.Most), v.show(v.Budget), v.show(v.Limit), v.word(), len(r.Rounds), noisy)
	}
}

// show prints a ratio, or a cost when the goal is about one.
func (v *Verdict) show(x float64) string {
	if v.Absolute || v.Added {
		return show(x, v.Unit)
	}
	return digits(x) + "x"
}

func (v *Verdict) word() string {
	switch {
	case v.AtLimit:
		return "met, close to the limit"
	case v.Met:
		return "met"
	}
	return fmt.Sprintf("missed by %.0f %%", (v.Median/v.Budget-1)*100)
}

// notes prints the medians of all that each side measured.
func (r *Result) notes(w io.Writer) {
	if len(r.Rounds) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s, per %s\n", r.Name, r.Unit)
	for i, s := range r.Rounds[0].Sides {
		fmt.Fprintf(w, "  %s:", s.Name)
		for _, of := range append([]string{CPU, Wall}, slices.Sorted(maps.Keys(s.Notes))...) {
			var list []float64
			unit := ""
			for _, round := range r.Rounds {
				n, _ := round.Sides[i].cost(of)
				list, unit = append(list, n.Value), n.Unit
			}
			fmt.Fprintf(w, " %s %s;", of, show(median(list), unit))
		}
		fmt.Fprintln(w)
	}
}

func (n Note) show() string { return show(n.Value, n.Unit) }

// show prints a figure in a unit that people read: nanoseconds and bytes in what fits them.
func show(v float64, unit string) string {
	names, step := []string{unit}, 1000.0
	switch unit {
	case "":
		return digits(v)
	case "ns":
		names = []string{"ns", "µs", "ms", "s"}
	case "B":
		names, step = []string{"B", "KB", "MB"}, 1024
	}
	i := 0
	for ; math.Abs(v) >= step && i < len(names)-1; i++ {
		v /= step
	}
	return digits(v) + " " + names[i]
}

// digits prints three significant digits, and large figures in full.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == math.Trunc(a):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// JSON prints results for programs, with every round.
func JSON(w io.Writer, results []Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(results)
}

// List prints the names of the cases and what they are about.
func List(w io.Writer, cases []Case) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range cases {
		fmt.Fprintf(t, "%s\t%s\n", c.Name, c.About)
	}
	return t.Flush()
}
