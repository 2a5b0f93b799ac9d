package follow

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRangesShrinkAndGrow is about the size of what is asked for at once.
func TestRangesShrinkAndGrow(t *testing.T) {
	a := newReadAhead()
	require.EqualValues(t, maxBlocks, a.size)
	for range 10 {
		a.resize(true, 0)
	}
	require.EqualValues(t, 1, a.size)
	for range 3 {
		a.resize(false, 0)
	}
	require.EqualValues(t, 8, a.size)
	a.resize(false, slowRange+1)
	require.EqualValues(t, 4, a.size, "a slow range is cut, so that progress is stored")
	a.resize(false, quickRange)
	require.EqualValues(t, 4, a.size)
}
