package main

import (
	"path/filepath"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/wallet"
)

// A daemon that cannot start reports the reason and releases its resources: the next one opens the
// same files.
func TestDaemonThatCannotStartSaysWhy(t *testing.T) {
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	dir := t.TempDir()
	cfg := dev.Config(quickOptions(dir), "http://127.0.0.1:1", 1337, "http://127.0.0.1:1")
	good := cfg.Watcher.Sweep
	for _, c := range []struct {
		spoil func()
		says  string
	}{
		{func() { cfg.Watcher.Sweep = "now and then" }, "schedule"},
		{func() { cfg.Watcher.Sweep, cfg.Database.URL = good, "sqlite:"+filepath.Join(dir, "nowhere", "x.db") }, "opening the database"},
	} {
		c.spoil()
		_, err := daemon.New(t.Context(), cfg, daemon.Dependencies{Keys: keys, Log: logrus.New()})
		require.ErrorContains(t, err, c.says)
	}
	cfg.Database.URL = "sqlite:" + filepath.Join(dir, "gatewayd.db")
	d, err := daemon.New(t.Context(), cfg, daemon.Dependencies{Keys: keys, Log: logrus.New()})
	require.NoError(t, err)
	d.Close()
}

// All that a daemon writes is fenced: when its lease is gone, nothing more is stored.
func TestDaemonWritesUnderItsLease(t *testing.T) {
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	cfg := dev.Config(quickOptions(t.TempDir()), "http://127.0.0.1:1", 1337, "http://127.0.0.1:1")
	d, err := daemon.New(t.Context(), cfg, daemon.Dependencies{Keys: keys, Log: logrus.New()})
	require.NoError(t, err)
	defer d.Close()
	write := func(tx *records.Tx) error { return records.Beat(tx, status.Role) }
	require.NoError(t, d.Store.Update(t.Context(), write))
	d.Tenure.End()
	require.ErrorIs(t, d.Store.Update(t.Context(), write), records.ErrFenced)
}
