package vite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestBlockInterval(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	require.NoError(t, l.Rollback(1))
	_, err := c.BlockInterval(t.Context())
	require.ErrorIs(t, err, chain.ErrNotFound, "the genesis is of any time")
	every := func(seconds, blocks int) {
		for range blocks {
			for range seconds - 1 {
				l.clock.tick()
			}
			l.mine(t, 1)
		}
	}
	every(4, 10)
	got, err := c.BlockInterval(t.Context())
	require.NoError(t, err)
	require.Equal(t, 4*time.Second, got)
	every(1, 100)
	got, err = c.BlockInterval(t.Context())
	require.NoError(t, err)
	require.Equal(t, time.Second, got, "the newest count")
}
