package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJournal(t *testing.T) {
	var j journal
	m, n := map[string]int{"a": 1}, 1
	start := j.mark()
	put(&j, m, "a", 2)
	put(&j, m, "b", 3)
	middle := j.mark()
	set(&j, &n, 5)
	j.dropBefore(start)
	j.revert(middle)
	require.Equal(t, 1, n)
	require.Equal(t, map[string]int{"a": 2, "b": 3}, m)
	j.revert(start)
	require.Equal(t, map[string]int{"a": 1}, m)
	put(&j, m, "a", 9)
	j.dropBefore(j.mark())
	require.False(t, j.reaches(start))
	require.Panics(t, func() { j.revert(start) })
}
