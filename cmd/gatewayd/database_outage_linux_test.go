package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/daemon"
	"gatewayd/internal/testing/recordstest"
)

// TestDatabaseAway takes PostgreSQL away from a single daemon for longer than its lease, while
// users bridge: once all of its processes are suspended, and once it crashes and is started again
// later. The process survives, takes the lease again, logs the cause, and everything is paid
// exactly once.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	server := recordstest.OwnPostgres(t, "")
	p := newPairOn(t, server.Database(t))
	d := p.start(t, 0)
	p.waitForLeader(t, 0)
	v, clients, stop := p.startUsers(t, 3)

	p.waitForPayments(t)
	thaw := freezeAll(t, server.Pid())
	longerThanTheLease(t)
	thaw()
	d.waitForLog(t, again, 1)
	require.Contains(t, d.readLog(t), "the database did not answer a renewal for")

	for _, act := range acts {
		d.waitForLog(t, act, 1)
	}
	p.waitForPayments(t)
	server.Stop(syscall.SIGQUIT) // as in a crash
	longerThanTheLease(t)
	require.NoError(t, server.Start())
	d.waitForLog(t, again, 2)
	require.Contains(t, d.readLog(t), "and no process has taken it")
	require.NotRegexp(t, "standing by|[0-9a-f] has taken it", d.readLog(t), "there is no other daemon")

	d.waitForLog(t, payout, 1)
	stop()
	checkBooks(t, v, clients)
	require.NoError(t, d.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, d.cmd.Wait(), "it has lived all the time")
}

// insideFullServer marks the child of TestDatabaseOnAFullDisk.
const insideFullServer = "GATEWAYD_FULL_SERVER"

// TestDatabaseOnAFullDisk fills the disk of the PostgreSQL server until nothing is stored for
// longer than the lease lasts: the server refuses, then ends, and starts when there is room. The
// daemon lives on. The disk is a file system in memory that only a child process of this test sees
// mounted; its user is not root there, whom PostgreSQL refuses.
func TestDatabaseOnAFullDisk(t *testing.T) {
	if os.Getenv(insideFullServer) != "" {
		databaseOnAFullDisk(t)
		return
	}
	t.Parallel()
	inOwnMounts(t, 1000, insideFullServer, capSysAdmin)
}

// capSysAdmin is the right to mount, in the kernel's numbers.
const capSysAdmin = 21

func databaseOnAFullDisk(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "disk")
	smallDisk(t, disk, "160m")
	server := recordstest.OwnPostgres(t, disk)
	p := newPairOn(t, server.Database(t))
	d := p.start(t, 0)
	p.waitForLeader(t, 0)
	v, clients, stop := p.startUsers(t, 3)
	p.waitForPayments(t)
	full := &smallDiskDaemon{disk: disk}
	full.fill(t)
	waitFor(t, "the daemon to complain", func() bool { return strings.Contains(d.readLog(t), "No space left on device") })
	server.Stop(syscall.SIGQUIT) // as it ends when it cannot write its log
	longerThanTheLease(t)
	full.free(t)
	require.NoError(t, server.Start())
	d.waitForLog(t, again, 1)
	d.waitForLog(t, payout, 1)
	stop()
	checkBooks(t, v, clients)
	require.NoError(t, d.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, d.cmd.Wait(), "it has lived all the time")
}

// longerThanTheLease waits for as long as a lease lasts, and a little.
func longerThanTheLease(t *testing.T) {
	t.Helper()
	ends := time.Now().Add(daemon.LeaseTTL + 2*time.Second)
	waitFor(t, "the lease to run out", func() bool { return time.Now().After(ends) })
}

// freezeAll stops a process and its children until thaw, or until the test ends.
func freezeAll(t *testing.T, pid int) (thaw func()) {
	t.Helper()
	freeze(t, pid)
	all := append(children(t, pid), pid)
	thaw = func() {
		for _, p := range all {
			_ = syscall.Kill(p, syscall.SIGCONT) // some may have ended
		}
	}
	t.Cleanup(thaw)
	for _, p := range all[:len(all)-1] {
		freeze(t, p)
	}
	return thaw
}

func children(t *testing.T, pid int) (list []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
		if err != nil {
			continue // it has ended
		}
		// The name, in brackets, may hold anything; state and parent follow it.
		if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); fields[1] == strconv.Itoa(pid) {
			list = append(list, n)
		}
	}
	return list
}
