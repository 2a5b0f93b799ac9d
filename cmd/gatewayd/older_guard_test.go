package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/records"
	"gatewayd/records/control"
)

// guardSeen is the sign-guard as the records of a victim have last seen it.
func (v *victim) guardSeen(t *testing.T) (g control.Guard) {
	t.Helper()
	cfg, err := config.Load(filepath.Join(v.dir, "config.yaml"))
	require.NoError(t, err)
	store, err := records.OpenExisting(t.Context(), cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) (err error) {
		g, _, err = control.GuardOf(tx)
		return err
	}))
	return g
}

// TestOlderGuardStopsWhatPays: an old copy of the sign-guard beside newer records pays nothing: every account that pays is stopped, and goes on when an operator
// has looked at it.
func TestOlderGuardStopsWhatPays(t *testing.T) {
	t.Parallel()
	v := newVictim(t, "--period", "200ms")
	v.serve(t)
	v.kill(t)
	backup := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(v.dir, "guard.db*"))
	require.NoError(t, err)
	for _, path := range paths {
		backup[path], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	v.start(t)
	awaited(t, v.dir) // what it has signed before is noted at its start
	before := v.guardSeen(t)
	v.serve(t)
	waitFor(t, "the sign-guard is seen to go on", func() bool { return v.guardSeen(t).Commits > before.Commits })
	v.kill(t)
	paths, err = filepath.Glob(filepath.Join(v.dir, "guard.db*"))
	require.NoError(t, err)
	for _, path := range paths {
		require.NoError(t, os.Remove(path))
	}
	for path, text := range backup {
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	v.start(t)
	waitFor(t, "every account that pays is stopped", func() bool { return len(v.accounts(t)) >= 3 })
	for _, a := range v.accounts(t) {
		require.Contains(t, a.Why, "the sign-guard is older than these records", a.Address)
	}
	waitFor(t, "each goes on by order", func() bool {
		for _, a := range v.accounts(t) {
			if _, err := v.operator(t, "account", "resume", a.Chain, a.Address); err != nil {
				t.Logf("%s: %s", a.Address, strings.TrimSpace(err.Error())) // something of it moves
			}
		}
		return len(v.accounts(t)) == 0
	})
	v.serve(t)
	require.Empty(t, v.accounts(t))
}
