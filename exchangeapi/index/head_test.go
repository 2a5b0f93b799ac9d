package index

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHead(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	var h nodeHead
	require.True(t, h.Due(at(0)))
	require.NoError(t, h.Standstill(at(1000)), "nothing is known")
	h.See(5, at(0), at(1))
	require.False(t, h.Due(at(10)))
	require.True(t, h.Due(at(11)))
	require.NoError(t, h.Standstill(at(60)))
	var standstill *StandstillError
	require.ErrorAs(t, h.Standstill(at(61)), &standstill)
	require.Equal(t, StandstillError{5, at(0)}, *standstill)
	h.See(15, at(300), at(300))
	require.NoError(t, h.Standstill(at(390)), "its blocks are 30 seconds apart")
	require.Error(t, h.Standstill(at(391)))
	h.See(16, at(1300), at(1300))
	require.Error(t, h.Standstill(at(1391)), "an outage makes nobody more patient")
}

// A fresh chain has one block, whose time has no meaning: the chain stalls if no second block
// follows.
func TestHeadOfAFreshChain(t *testing.T) {
	first, start := time.Date(2019, 5, 21, 4, 0, 0, 0, time.UTC), time.Unix(1_700_000_000, 0)
	var h nodeHead
	h.See(1, first, start)
	require.NoError(t, h.Standstill(start.Add(time.Minute)))
	h.See(1, first, start.Add(time.Minute))
	var standstill *StandstillError
	require.ErrorAs(t, h.Standstill(start.Add(time.Minute+time.Second)), &standstill)
	require.Equal(t, start, standstill.Since)
	h.See(2, start.Add(62*time.Second), start.Add(62*time.Second))
	require.NoError(t, h.Standstill(start.Add(62*time.Second)))
	require.Zero(t, h.interval, "the time from the first block to the second is no interval")
}
