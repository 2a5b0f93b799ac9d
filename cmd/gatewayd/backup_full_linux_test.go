package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

// TestBackupOnAFullDisk writes a backup to disks on which it does not fit, at whichever step that
// shows: it fails in words, and leaves nothing behind.
func TestBackupOnAFullDisk(t *testing.T) {
	if os.Getenv(insideFull) == "" {
		inOwnMounts(t, 0, insideFull)
		return
	}
	dir := t.TempDir()
	cfg := dev.Config(quickOptions(dir), "http://127.0.0.1:1", 1337, "http://127.0.0.1:1")
	store, err := records.Open(t.Context(), cfg.Database)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	guard, err := signguard.Open(filepath.Join(cfg.Data, "guard.db"))
	require.NoError(t, err)
	require.NoError(t, guard.Close())
	path := writeConfig(t, dir, cfg)
	fitted := false
	for kilobytes := 64; !fitted; kilobytes *= 2 {
		disk := filepath.Join(t.TempDir(), "disk")
		smallDisk(t, disk, fmt.Sprintf("%dk", kilobytes))
		target := filepath.Join(disk, "backup.tar")
		err := run(t.Context(), []string{"backup", "-c", path, target}, testStreams(t))
		left, readErr := os.ReadDir(disk)
		require.NoError(t, readErr)
		if fitted = err == nil; fitted {
			require.Len(t, left, 1)
			require.NoError(t, run(t.Context(), []string{"backup", "--verify", target}, testStreams(t)))
			require.Greater(t, kilobytes, 512, "there were disks on which it did not fit")
			continue
		}
		require.Regexp(t, "no space left on device|disk is full", err.Error())
		require.Empty(t, left, "on %d kilobytes", kilobytes)
	}
}
