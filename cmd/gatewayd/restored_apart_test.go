package main

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/operator"
)

// timesOf returns a number of repetitions: a few, or the number in the environment.
func timesOf(t *testing.T, variable string, few int) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), strconv.Itoa(few)))
	require.NoError(t, err, variable)
	return n
}

// accountRows are the rows of all accounts, by address.
func (l *restoreEnv) accountRows(t *testing.T) map[string]operator.AccountRow {
	t.Helper()
	out, err := l.runCommand(t, "account", "list", "--json")
	require.NoError(t, err)
	var rows []operator.AccountRow
	require.NoError(t, json.Unmarshal([]byte(out), &rows), out)
	list := map[string]operator.AccountRow{}
	for _, a := range rows {
		list[a.Address] = a
	}
	return list
}

// sentSince is true when a ledger shows a transaction of ours that the sign-guard had not signed at
// the time of known. The records have stored it before.
func (l *restoreEnv) sentSince(t *testing.T, known map[string]operator.AccountRow) bool {
	t.Helper()
	for address, a := range l.accountRows(t) {
		var signed uint64
		if _, number, ok := strings.Cut(known[address].Signed, "/"); ok {
			var err error
			signed, err = strconv.ParseUint(number, 10, 64)
			require.NoError(t, err)
		}
		if a.Ledger > max(signed, known[address].Ledger) {
			return true
		}
	}
	return false
}

// restoreGuard restores an old sign-guard with newer records. The records may have seen no more
// commits of the sign-guard than it contains, but have signatures that it lacks.
func (l *restoreEnv) restoreGuard(t *testing.T, backup string, work func()) {
	t.Helper()
	mustRun(t, "signer", "backup", "-c", l.signer.config, backup)
	known := l.accountRows(t)
	work()
	waitFor(t, "something is signed and sent since", func() bool { return l.sentSince(t, known) })
	l.kill(t)
	l.signer.kill(t)
	require.Contains(t, mustRun(t, "restore", "-c", l.signer.config, backup, "--replace", "--older-guard"), "put back: "+filepath.Join(l.signer.data, "guard.db"))
	l.signer.start(t)
	l.start(t)
}

// restoreRecords restores an old database with the newer sign-guard, which the signer continues to
// use.
func (l *restoreEnv) restoreRecords(t *testing.T, backup string, work func()) {
	t.Helper()
	l.mustProgram(t, "backup", backup)
	known := l.accountRows(t)
	work()
	waitFor(t, "something is signed and sent since", func() bool { return l.sentSince(t, known) })
	l.kill(t)
	require.Contains(t, l.mustProgram(t, "restore", backup, "--replace"), "put back: "+filepath.Join(l.data, "records.db"))
	l.start(t)
}

// hasClosedChannels is true while channels are closed because the holdings are below the books.
// Payments since a backup are missing in the restored books until they are settled; then the
// channels open automatically.
func (l *restoreEnv) hasClosedChannels(t *testing.T) bool {
	t.Helper()
	out, err := l.runCommand(t, "channel", "list")
	require.NoError(t, err)
	return strings.Contains(out, "less than the books show")
}

// TestRestoredBesideASigner backs up a daemon's database or its signer's sign-guard at random
// moments while users deposit and withdraw. It restores it some time later with the newer half, and
// follows the documented recovery. In the end every user has the correct balance to the unit, on
// both chains, and no channel is closed. GATEWAYD_RESTORES and GATEWAYD_GUARD_RESTORES set the
// repetitions.
func TestRestoredBesideASigner(t *testing.T) {
	t.Parallel()
	seed := seedOf(t)
	var s *signerProcess
	l := prepareRestoreEnv(t, func(c *config.Config) { s = splitSigner(t, c) })
	l.signer = s
	s.start(t)
	l.start(t)
	t.Cleanup(func() { l.kill(t) })
	records, guards := timesOf(t, "GATEWAYD_RESTORES", 2), timesOf(t, "GATEWAYD_GUARD_RESTORES", 1)
	clients, alive, stop := l.startUsersFor(t, seed, time.Duration(8+records+guards)*time.Minute)
	rng := rand.New(rand.NewPCG(seed, 0))
	work := func() { l.waitAbout(alive, rng, time.Second) }
	for round := 0; records+guards > 0; round++ {
		backup := filepath.Join(t.TempDir(), strconv.Itoa(round)+".tar")
		older := rng.IntN(records+guards) < guards
		t.Logf("round %d, sign-guard: %v", round, older)
		work()
		if older {
			guards--
			l.restoreGuard(t, backup, work)
		} else {
			records--
			l.restoreRecords(t, backup, work)
		}
		waitFor(t, "it is noticed", func() bool { return len(l.stoppedAccounts(t)) > 0 })
		l.resumeAccounts(t, func() bool { return true })
	}
	stop()
	l.resumeAccounts(t, func() bool { return l.isIdle(t) && !l.hasClosedChannels(t) })
	l.checkBooks(t, clients)
}
