package main

import (
	"errors"
	"fmt"
	"slices"
)

// Result is the outcome of the rounds of one case.
type Result struct {
	Case *Case `json:"-"`

	Name    string    `json:"case"`
	Unit    string    `json:"unit"`
	Rounds  []Round   `json:"rounds,omitempty"`
	Verdict []Verdict `json:"verdicts,omitempty"`
	Skipped string    `json:"skipped,omitempty"`
	Error   string    `json:"error,omitempty"`
}

// Round is every side once.
type Round struct {
	Sides  []Measured `json:"sides"`
	Others float64    `json:"others"` // cores that others used, during the worst part
}

// Measured is one side of a round.
type Measured struct {
	Name string `json:"name"`
	Figure
}

// Verdict compares the rounds with a goal. Least, Median and Most are ratios, or costs for an
// absolute goal, or added costs.
type Verdict struct {
	Goal
	Unit      string  `json:"unit"`
	Ours      float64 `json:"ours"`      // median cost
	Yardstick float64 `json:"yardstick"` // median cost of what it is compared with, 0 for an absolute goal
	Against   string  `json:"against"`
	Least     float64 `json:"least"`
	Median    float64 `json:"median"`
	Most      float64 `json:"most"`
	Met       bool    `json:"met"`
	AtLimit   bool    `json:"at_limit"`
}

func (r *Result) fail(err error) {
	if errors.Is(err, ErrSkip) {
		r.Skipped = err.Error()
	} else {
		r.Error = err.Error()
	}
}

// judge holds the rounds against the case's goals.
func (r *Result) judge() error {
	for _, g := range r.Case.Goals {
		v := Verdict{Goal: g}
		var costs, yards, ratios []float64
		for i := range r.Rounds {
			cost, yard, err := r.Rounds[i].compare(&v)
			if err != nil {
				return err
			}
			costs, yards, ratios = append(costs, cost), append(yards, yard), append(ratios, g.ratio(cost, yard))
		}
		v.Ours, v.Yardstick, v.Median = median(costs), median(yards), median(ratios)
		v.Least, v.Most = slices.Min(ratios), slices.Max(ratios)
		v.Met, v.AtLimit = v.Median <= g.Budget, v.Median <= g.Limit
		r.Verdict = append(r.Verdict, v)
	}
	return nil
}

// ratio returns the budgeted ratio, or the cost itself for an absolute goal. A cost too small to
// measure counts as the least possible, so that JSON can represent it.
func (g Goal) ratio(cost, yard float64) float64 {
	const least = 1e-9
	switch {
	case g.Absolute:
		return cost
	case g.Added:
		return cost - yard
	}
	return max(cost, least) / max(yard, least)
}

// compare returns the two costs that a goal is about; v takes the unit and whose the second is.
func (r *Round) compare(v *Verdict) (cost, yard float64, err error) {
	for i := range r.Sides {
		s := &r.Sides[i]
		n, ok := s.cost(v.Of)
		switch {
		case v.Absolute && i > 0:
			return cost, 0, nil
		case !ok:
			return 0, 0, fmt.Errorf("%s reports no %s", s.Name, v.Of)
		case i == 0:
			cost, v.Unit = n.Value, n.Unit
		case i == 1 || n.Value < yard:
			yard, v.Against = n.Value, s.Name
		}
	}
	return cost, yard, nil
}

// same fails when sides disagree about a note that must be the same.
func (r *Round) same(notes []string) error {
	for _, name := range notes {
		want, ok := r.Sides[0].Notes[name]
		for i := range r.Sides {
			if got := r.Sides[i].Notes[name]; !ok || got != want {
				return fmt.Errorf("%s: ours has %s, %s has %s", name, want.show(), r.Sides[i].Name, got.show())
			}
		}
	}
	return nil
}

// median is the middle, of an even number the mean of the two in the middle.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
