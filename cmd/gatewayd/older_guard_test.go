package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

// seenGuard is the sign-guard as the records have last seen it.
func (v *daemonProcess) seenGuard(t *testing.T) (g records.Guard) {
	t.Helper()
	cfg, err := config.Load(filepath.Join(v.dir, "config.yaml"))
	require.NoError(t, err)
	store, err := records.OpenExisting(t.Context(), cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) (err error) {
		g, _, err = records.GuardOf(tx)
		return err
	}))
	return g
}

// TestOlderGuardStopsWhatPays: an old copy of the sign-guard with newer records pays nothing: every
// paying account is stopped, and resumes after an operator's check.
func TestOlderGuardStopsWhatPays(t *testing.T) {
	t.Parallel()
	v := newDaemonProcess(t, "--period", "200ms")
	v.bridgeEveryToken(t)
	v.kill(t)
	backup := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(v.dir, "guard.db*"))
	require.NoError(t, err)
	for _, path := range paths {
		backup[path], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	v.start(t)
	waitForInfo(t, v.dir) // its earlier signatures are noted at its start
	before := v.seenGuard(t)
	v.bridgeEveryToken(t)
	waitFor(t, "the sign-guard is seen to go on", func() bool { return v.seenGuard(t).Commits > before.Commits })
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
	waitFor(t, "every paying account is stopped", func() bool { return len(v.stoppedAccounts(t)) >= 3 })
	for _, a := range v.stoppedAccounts(t) {
		require.Regexp(t, `the sign-guard is older than these records: it knows \d+ commits of \d+`, a.Why, a.Address)
	}
	waitFor(t, "each goes on by order", func() bool {
		for _, a := range v.stoppedAccounts(t) {
			if _, err := v.runCommand(t, "account", "resume", a.Chain, a.Address); err != nil {
				t.Logf("%s: %s", a.Address, strings.TrimSpace(err.Error())) // something of it moves
			}
		}
		return len(v.stoppedAccounts(t)) == 0
	})
	v.bridgeEveryToken(t)
	require.Empty(t, v.stoppedAccounts(t))
}

// guardFiles are the files of the sign-guard.
func (v *daemonProcess) guardFiles(t *testing.T) (files map[string][]byte) {
	t.Helper()
	files = map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(v.dir, "guard.db*"))
	require.NoError(t, err)
	for _, path := range paths {
		files[path], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	return files
}

// TestOlderGuardOfACommit: a sign-guard that lacks only signatures newer than the records' last
// note is detected by these signatures. It stops their accounts and no other, and each resumes
// after an operator's check.
func TestOlderGuardOfACommit(t *testing.T) {
	t.Parallel()
	v := newDaemonProcess(t, "--period", "200ms")
	v.bridgeEveryToken(t)
	v.kill(t)
	backup := v.guardFiles(t)
	v.start(t)
	waitForInfo(t, v.dir)
	ends := v.signedEnds(t)
	v.bridgeEveryToken(t)
	lacks := map[string]bool{}
	for account, now := range v.signedEnds(t) {
		if now != ends[account] {
			lacks[account] = true
		}
	}
	require.NotEmpty(t, lacks)
	v.kill(t)
	for path := range v.guardFiles(t) {
		require.NoError(t, os.Remove(path))
	}
	for path, text := range backup {
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	v.raiseGuardCommits(t)

	v.start(t)
	waitFor(t, "it is noticed", func() bool { return len(v.stoppedAccounts(t)) > 0 }) // of all at once
	stopped := map[string]bool{}
	for _, a := range v.stoppedAccounts(t) {
		stopped[a.Address] = true
		require.Contains(t, a.Why, "the sign-guard is older than these records: of the signatures up to", a.Address)
	}
	require.Equal(t, lacks, stopped)
	waitFor(t, "each goes on by order", func() bool {
		for _, a := range v.stoppedAccounts(t) {
			if _, err := v.runCommand(t, "account", "resume", a.Chain, a.Address); err != nil {
				t.Logf("%s: %s", a.Address, strings.TrimSpace(err.Error())) // something of it moves
			}
		}
		return len(v.stoppedAccounts(t)) == 0
	})
	v.bridgeEveryToken(t)
	v.kill(t)
	v.start(t)
	waitForInfo(t, v.dir)
	require.Empty(t, v.stoppedAccounts(t), "it is told once")
}

// signedEnds returns the accounts' last signatures in the sign-guard.
func (v *daemonProcess) signedEnds(t *testing.T) (ends map[string]string) {
	t.Helper()
	out, err := v.runCommand(t, "account", "list", "--json")
	require.NoError(t, err)
	var list []operator.AccountRow
	require.NoError(t, json.Unmarshal([]byte(out), &list), out)
	ends = map[string]string{}
	for _, a := range list {
		ends[a.Address] = a.Signed
	}
	return ends
}

// raiseGuardCommits sets the sign-guard's count of commits to what the records have seen, so that
// they do not notice that it is older.
func (v *daemonProcess) raiseGuardCommits(t *testing.T) {
	t.Helper()
	guard, err := signguard.Open(filepath.Join(v.dir, "guard.db"))
	require.NoError(t, err)
	for seen := v.seenGuard(t).Commits; ; {
		now, err := guard.Identity(t.Context())
		require.NoError(t, err)
		if now.Commits >= seen {
			break
		}
		require.NoError(t, guard.NoteFees(t.Context(), "eth", time.Now(), nil))
	}
	require.NoError(t, guard.Close())
}
