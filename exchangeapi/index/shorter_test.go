package index

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestShorter(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(1_700_000_000+int64(seconds), 0) }
	var s shorterChains
	require.False(t, s.TookBack(true, at(0)))
	require.False(t, s.TookBack(true, at(29)))
	require.False(t, s.TookBack(false, at(29)), "another node answered")
	require.False(t, s.TookBack(true, at(30)))
	require.True(t, s.TookBack(true, at(60)), "it lasts")
	require.False(t, s.TookBack(false, at(61)))
	s.Removed(at(62))
	require.False(t, s.TookBack(false, at(62)), "an answer from before")
	require.True(t, s.TookBack(true, at(63)), "the node said so")
	require.False(t, s.TookBack(false, at(64)))
	require.False(t, s.TookBack(true, at(100)))
}
