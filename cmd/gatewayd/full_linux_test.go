package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/faults"
	"gatewayd/wallet"
)

// insideFull marks the child of TestDaemonOnAFullDisk.
const insideFull = "GATEWAYD_FULL_DISK"

// TestDaemonOnAFullDisk: users bridge while the disk of all files of the daemon fills up and
// empties again. The daemon reports the cause, survives, and in the end everything is paid exactly
// once. The disk is a file system in memory, mounted only for a child process of this test, which
// needs no rights where users may have name spaces of their own.
func TestDaemonOnAFullDisk(t *testing.T) {
	t.Parallel()
	if os.Getenv(insideFull) != "" {
		daemonOnAFullDisk(t)
		return
	}
	inOwnMounts(t, 0, insideFull)
}

// inOwnMounts runs this test again, as a process that finds a word in its environment and may
// mount, with a number for its user.
func inOwnMounts(t *testing.T, user int, inside string, caps ...uintptr) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), inside+"=1")
	child.SysProcAttr = faults.OwnMounts(user)
	child.SysProcAttr.AmbientCaps = caps
	out, err := child.CombinedOutput()
	if faults.MountsRefused(err) {
		t.Skipf("this kernel lets nobody have a name space of their own: %v", err)
	}
	t.Logf("%s", out)
	require.NoError(t, err)
	if strings.Contains(string(out), "--- SKIP") {
		t.Skip("the child was skipped: this kernel lets nobody mount, not even in a name space of their own")
	}
}

// smallDisk mounts a disk of a size until the test ends.
func smallDisk(t *testing.T, dir, size string) {
	t.Helper()
	require.NoError(t, os.Mkdir(dir, 0o700))
	unmount, err := faults.Mount(dir, size)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, unmount()) })
}

// smallDiskDaemon is a daemon whose data directory is on a small disk.
type smallDiskDaemon struct {
	cmd  *exec.Cmd
	disk string
	log  string
}

func startSmallDiskDaemon(t *testing.T, config, disk string) *smallDiskDaemon {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	defer file.Close()
	c := &smallDiskDaemon{log: file.Name(), disk: disk, cmd: exec.Command("gatewayd", "run", "-c", config)}
	c.cmd.Stderr = file
	require.NoError(t, c.cmd.Start())
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		require.ErrorContains(t, c.cmd.Wait(), "killed", "the daemon ended by itself:\n%s", c.readLog(t))
		if t.Failed() {
			t.Logf("the daemon said:\n%s", c.readLog(t))
		}
	})
	return c
}

func (c *smallDiskDaemon) readLog(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(c.log)
	require.NoError(t, err)
	return string(text)
}

// fill fills the disk.
func (c *smallDiskDaemon) fill(t *testing.T) {
	t.Helper()
	require.NoError(t, faults.Fill(filepath.Join(c.disk, "ballast")))
}

func (c *smallDiskDaemon) free(t *testing.T) {
	t.Helper()
	require.NoError(t, os.Remove(filepath.Join(c.disk, "ballast")))
}

// countInLog counts a text in the daemon's log.
func (c *smallDiskDaemon) countInLog(t *testing.T, what string) int {
	t.Helper()
	return strings.Count(c.readLog(t), what)
}

func daemonOnAFullDisk(t *testing.T) {
	source, err := ethnode.Start(ethnode.Config{Period: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, source.Close()) })
	c, dir := newSmallDiskDaemon(t, source)
	v := &daemonProcess{dir: dir}
	clients := newUsers(t, v, 3, seedOf(t))
	deadline, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	alive, stop := context.WithCancel(deadline)
	defer stop()
	g, alive := errgroup.WithContext(alive)
	for _, u := range clients {
		g.Go(func() error { return u.bridgeUntil(alive, deadline) })
	}
	for range 4 {
		before := heightOf(t, source)
		waitFor(t, "some blocks", func() bool { return heightOf(t, source) > before+5 })
		said := c.countInLog(t, "database or disk is full")
		c.fill(t)
		waitFor(t, "the daemon to complain", func() bool { return c.countInLog(t, "database or disk is full") >= said+3 })
		c.free(t)
	}
	said := c.countInLog(t, "renewing the lease")
	c.fill(t)
	waitFor(t, "longer than the lease lasts", func() bool { return c.countInLog(t, "renewing the lease") >= said+4 })
	c.free(t)
	stop()
	require.NoError(t, g.Wait())
	checkBooks(t, v, clients)
}

// newSmallDiskDaemon starts a daemon whose data directory is a disk of 160 megabytes, more than the
// log of SQLite takes. Its chains are elsewhere.
func newSmallDiskDaemon(t *testing.T, source *ethnode.Node) (c *smallDiskDaemon, dir string) {
	t.Helper()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	exchange := startExchangeChain(t, keys)
	stores, store, password := recovered(t)
	o := quickOptions(t.TempDir())
	o.Listen, o.Sweep = freeAddress(t), "* * * * *"
	cfg := dev.Config(o, source.URL(), source.ChainID(), exchange)
	cfg.Data = filepath.Join(o.Dir, "disk")
	cfg.Database.URL = "sqlite:" + filepath.Join(cfg.Data, "records.db")
	cfg.Wallet = config.Wallet{Store: filepath.Join(stores, store), PasswordFile: password}
	smallDisk(t, cfg.Data, "160m")
	text, err := yaml.Marshal(cfg)
	require.NoError(t, err)
	path := filepath.Join(o.Dir, "config.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	info := dev.NewInfo(cfg, path, "")
	require.NoError(t, info.Write(filepath.Join(o.Dir, "dev.json")))
	require.NoError(t, dev.FundSource(t.Context(), info, keys, nil))
	return startSmallDiskDaemon(t, path, cfg.Data), o.Dir
}

func heightOf(t *testing.T, source *ethnode.Node) uint64 {
	t.Helper()
	height, err := source.Client().BlockNumber(t.Context())
	require.NoError(t, err)
	return height
}
