package bench

import (
	"errors"
	"fmt"
	"slices"
)

// Result is what the rounds of one case at one scale say.
type Result struct {
	Case *Case `json:"-"`

	Name    string    `json:"case"`
	Group   string    `json:"group"`
	Unit    string    `json:"unit"`
	Scale   float64   `json:"scale"`
	Rounds  []Round   `json:"rounds,omitempty"` // those that count
	Done    int       `json:"rounds_done"`      // with those that were dropped
	Noisy   int       `json:"rounds_noisy"`     // of those that count, how many had a neighbour
	Verdict []Verdict `json:"verdicts,omitempty"`
	Skipped string    `json:"skipped,omitempty"`
	Error   string    `json:"error,omitempty"`
}

// Round is every side once.
type Round struct {
	Sides []Side  `json:"sides"`
	Noise float64 `json:"noise"` // cores that others used, during the worst part
}

// Side is one part of a round.
type Side struct {
	Name string `json:"name"`
	measured
}

// Verdict is a goal and how the rounds stand to it. Least, Median and Most are ratios, or costs for an absolute goal.
type Verdict struct {
	Goal
	Ours      float64 `json:"ours"`      // median cost
	Yardstick float64 `json:"yardstick"` // median cost of what it is compared with, 0 for an absolute goal
	Against   string  `json:"against"`
	Least     float64 `json:"least"`
	Median    float64 `json:"median"`
	Most      float64 `json:"most"`
	Met       bool    `json:"met"`
	AtLimit   bool    `json:"at_limit"`
	// Miss is how far the median is beyond the budget, as a share of it; 0 when it is met and for a budget of 0.
	Miss float64 `json:"miss"`
}

func (r *Result) fail(err error) {
	if errors.Is(err, ErrSkip) {
		r.Skipped = err.Error()
		return
	}
	r.Error = err.Error()
}

// judge holds the rounds against the case's goals.
func (r *Result) judge() error {
	for _, g := range r.Case.Goals {
		v, err := r.verdict(g)
		if err != nil {
			return err
		}
		r.Verdict = append(r.Verdict, v)
	}
	return nil
}

func (r *Result) verdict(g Goal) (Verdict, error) {
	var ours, yards, ratios []float64
	v := Verdict{Goal: g}
	for _, round := range r.Rounds {
		cost, ok := round.ours(g)
		if !ok {
			return Verdict{}, fmt.Errorf("ours reports no %s", g.Of)
		}
		yard, against, err := round.against(g)
		if err != nil {
			return Verdict{}, err
		}
		v.Against = against
		ours, yards, ratios = append(ours, cost), append(yards, yard), append(ratios, g.ratio(cost, yard))
	}
	v.Ours, v.Yardstick, v.Median = median(ours), median(yards), median(ratios)
	v.Least, v.Most = slices.Min(ratios), slices.Max(ratios)
	v.Met, v.AtLimit = g.within(v.Median, g.Budget), g.within(v.Median, g.Limit)
	if !v.Met && g.Budget > 0 && v.Median > 0 {
		v.Miss = max(v.Median/g.Budget, g.Budget/v.Median) - 1
	}
	return v, nil
}

// ratio is what the budget is about. A cost too small to be measured counts as the least there is, so that JSON can say it.
func (g Goal) ratio(ours, yard float64) float64 {
	const least = 1e-9
	switch {
	case g.Absolute:
		return ours
	case g.AtLeast:
		return max(yard, least) / max(ours, least)
	}
	return max(ours, least) / max(yard, least)
}

func (g Goal) within(v, bound float64) bool {
	if g.AtLeast {
		return v >= bound
	}
	return v <= bound
}

// ours is the cost that the goal is about.
func (r *Round) ours(g Goal) (cost float64, ok bool) {
	cost, ok = r.Sides[0].Figure.cost(g.Of)
	for i := range r.Sides {
		if c, found := r.Sides[i].Figure.cost(g.Of); g.Spread && found {
			cost = max(cost, c)
		}
	}
	return cost, ok
}

// against is the cost that ours is compared with in this round, and whose it is.
func (r *Round) against(g Goal) (cost float64, name string, err error) {
	if g.Absolute {
		return 0, "", nil
	}
	first := 1
	if g.Spread {
		first = 0
	}
	for i := range r.Sides[first:] {
		s := &r.Sides[first+i]
		c, ok := s.Figure.cost(g.Of)
		switch {
		case !ok || c <= 0:
			return 0, "", fmt.Errorf("%s reports no %s", s.Name, g.Of)
		case g.Sum:
			cost, name = cost+c, "sum of parts"
		case name == "" || c < cost:
			cost, name = c, s.Name
		}
	}
	if name == "" {
		return 0, "", fmt.Errorf("nothing to compare %s with", g.Of)
	}
	return cost, name, nil
}

// same fails when sides disagree about a note that must be the same.
func (r *Round) same(notes []string) error {
	for _, name := range notes {
		want, ok := r.Sides[0].Figure.note(name)
		if !ok {
			return fmt.Errorf("ours reports no %s", name)
		}
		for i := range r.Sides[1:] {
			s := &r.Sides[1+i]
			if got, _ := s.Figure.note(name); got != want {
				return fmt.Errorf("%s: ours has %s, %s has %s", name, want.show(), s.Name, got.show())
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
