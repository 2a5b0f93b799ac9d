package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRounds(t *testing.T) {
	costs, order := []time.Duration{30, 10, 20, 90, 40}, ""
	own, other, ratio := rounds(5, Cost.PerCPU, func() Cost {
		order += "o"
		c := Cost{Units: 10, CPU: 10 * costs[0]}
		costs = costs[1:]
		return c
	}, func() Cost {
		order += "y"
		return Cost{Units: 2, CPU: 2 * 60}
	})
	require.Equal(t, "oyyooyyooy", order)
	require.Equal(t, []float64{30, 60, 0.5}, []float64{own, other, ratio})
	require.InDelta(t, 2.5, median([]float64{4, 1, 3, 2}), 1e-9)
}

func TestMeasure(t *testing.T) {
	c := Measure(4, func() {})
	c.Add(Cost{Units: 6, CPU: time.Second, Wall: 2 * time.Second})
	require.Equal(t, 10, c.Units)
	require.GreaterOrEqual(t, c.PerCPU(), 1e8)
	require.GreaterOrEqual(t, c.PerWall(), 2e8)
}
