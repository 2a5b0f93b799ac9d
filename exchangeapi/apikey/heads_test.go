package apikey

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/core"
)

// TestHeads: one process at a time extends a chain, and reads what another was about to send.
func TestHeads(t *testing.T) {
	url := recordstest.Postgres(t).Database(t)
	one, two := openKeys(t, url, time.Now), openKeys(t, url, time.Now)
	agent := keyOf("agent").Address()
	lock := func(s *Store) *HeadLock {
		l, err := s.LockHead(t.Context(), "main", agent)
		require.NoError(t, err)
		return l
	}
	isLost := func(l *HeadLock) bool {
		lost, err := l.IsLost(t.Context())
		require.NoError(t, err)
		return lost
	}
	l := lock(one)
	require.Zero(t, l.Head)
	require.NoError(t, l.Advance(t.Context(), 7, core.Hash{7}))
	require.False(t, isLost(l))
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := two.LockHead(short, "main", agent)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	other, err := two.LockHead(t.Context(), "test", agent)
	require.NoError(t, err, "of another network")
	other.Unlock()
	l.Unlock()

	l = lock(two)
	require.Equal(t, core.Hash{7}, l.Hash)
	require.True(t, l.Follows(core.Hash{7}))
	require.False(t, l.Follows(core.Hash{6}))
	require.NoError(t, l.Advance(t.Context(), 8, core.Hash{8}))
	require.NoError(t, l.Undo(t.Context()))
	l.Unlock()
	recordstest.Do(t, url, `UPDATE api_heads SET stored = stored - 30000`)
	l = lock(one)
	require.Equal(t, uint64(7), l.Height, "a refused block leaves the one before")
	require.True(t, isLost(l), "it was sent long ago")
	require.NoError(t, l.Advance(t.Context(), 7, core.Hash{7}))
	l.Unlock()

	// What a node has accepted is lost only when the chain has dropped it.
	recordstest.Do(t, url, `UPDATE api_heads SET stored = stored - 30000`)
	late := lock(two)
	recordstest.Do(t, url, `UPDATE api_heads SET taken = 1`) // reported meanwhile
	require.False(t, isLost(late))
	late.Unlock()
	recordstest.Do(t, url, `UPDATE api_heads SET taken = 0`)
	l = lock(one)
	l.Taken()
	l.Unlock()
	l = lock(two)
	require.False(t, isLost(l), "its process has reported it")
	l.Unlock()
	recordstest.Do(t, url, `UPDATE api_heads SET stored = stored - 600000`)
	l = lock(one)
	require.True(t, isLost(l))

	// The server ends the session of a process that holds the lock and is frozen.
	recordstest.Do(t, url, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1`)
	next := lock(two)
	require.Error(t, l.Advance(t.Context(), 8, core.Hash{9}), "what is not stored is not sent")
	require.Equal(t, uint64(7), next.Height)
	next.Unlock()
	l.Unlock()
}
