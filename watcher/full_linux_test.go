package watcher

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

// inside tells the child that it is one.
const inside = "GATEWAYD_FULL_DISK"

// TestFullDisk runs a daemon on a disk of its own that gets full again and again: a file system in
// memory, in a child process whose mounts nobody else sees. That takes no rights, only a kernel
// that lets users have name spaces of their own.
func TestFullDisk(t *testing.T) {
	if os.Getenv(inside) == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		child.Env = append(os.Environ(), inside+"=1")
		child.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		out, err := child.CombinedOutput()
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
			t.Skipf("this kernel lets nobody have a name space of their own: %v", err)
		}
		t.Logf("%s", out)
		require.NoError(t, err)
		if strings.Contains(string(out), "--- SKIP") {
			t.Skip("this kernel lets nobody mount, not even in a name space of their own")
		}
		return
	}
	if err := syscall.Mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=160m"); err != nil {
		t.Skipf("mounting: %v", err)
	}
	first := seed(t)
	for s := first; s < first+5; s++ {
		t.Run(strconv.FormatUint(s, 10), func(t *testing.T) { fillDiskSixTimes(t, s) })
	}
}

// fillDiskSixTimes runs one model whose disk gets full six times.
func fillDiskSixTimes(t *testing.T, s uint64) {
	m := newModel(t, s, map[string]int{})
	require.True(t, strings.HasPrefix(m.path, "/dev/shm/"))
	for range 3 {
		m.bind()
	}
	m.closed = true
	for range 6 {
		m.runWithFullDisk(t)
	}
	require.NoError(t, m.settle(), "GATEWAYD_SEED=%d", s)
}

// runWithFullDisk runs for a while with free space, for a while with little or none, and with free
// space again.
func (m *model) runWithFullDisk(t *testing.T) {
	t.Helper()
	for range 8 {
		m.randomEvents()
		m.step()
	}
	ballast := filepath.Join(filepath.Dir(m.path), "ballast")
	m.fill(t, ballast, m.rng.Int64N(200)<<10)
	m.runOnFullDisk(t)
	require.NoError(t, os.Remove(ballast))
	require.NoError(t, m.inner.View(t.Context(), func(tx *records.Tx) error { return tx.VerifyHistory() }))
}

// fill leaves so many bytes of the disk free.
func (m *model) fill(t *testing.T, ballast string, free int64) {
	t.Helper()
	f, err := os.Create(ballast)
	require.NoError(t, err)
	defer f.Close()
	written, err := io.Copy(f, zeros{})
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Truncate(max(0, written-free)))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// runOnFullDisk runs until the disk has shown that it is full, and some rounds more. Whatever fails
// then says why, nothing is sent that is not stored, and nobody gets more than is due.
func (m *model) runOnFullDisk(t *testing.T) {
	t.Helper()
	full := 0
	for range 400 {
		m.withdraw(minimum + fee + m.rng.Uint64N(500))
		m.randomEvents()
		m.eth.Lie(chaintest.Honest)
		m.vite.Lie(chaintest.Honest)
		m.eth.Mine(1)
		m.vite.Mine(1)
		if err := m.w.Step(t.Context()); err != nil && strings.Contains(err.Error(), "disk") {
			require.ErrorContains(t, err, "database or disk is full")
			full++
		}
		require.NoError(t, m.check())
		if full == 5 {
			m.restart(neverCrashes, "")
			m.requireOpenSaysWhy(t)
		}
		if full == 10 {
			return
		}
	}
	require.Fail(t, "the disk was never full")
}

// requireOpenSaysWhy starts a daemon on the full disk, with the files that are there and with new
// ones.
func (m *model) requireOpenSaysWhy(t *testing.T) {
	t.Helper()
	s, err := records.Open(t.Context(), records.Config{URL: "sqlite:" + m.path})
	if err == nil {
		require.NoError(t, s.Close())
	} else {
		require.ErrorContains(t, err, "full")
	}
	other := filepath.Join(filepath.Dir(m.path), "other")
	_, err = records.Open(t.Context(), records.Config{URL: "sqlite:" + other + ".db"})
	require.ErrorContains(t, err, "full")
	_, err = signguard.Open(other + ".guard")
	require.ErrorContains(t, err, "full")
	for _, end := range []string{".db", ".db-wal", ".db-shm", ".guard", ".guard-wal", ".guard-shm"} {
		_ = os.Remove(other + end)
	}
}
