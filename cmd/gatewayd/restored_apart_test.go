package main

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/signer/remote"
)

// timesOf is how often something is done: a few times, or as often as the environment says.
func timesOf(t *testing.T, variable string, few int) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), strconv.Itoa(few)))
	require.NoError(t, err, variable)
	return n
}

// commits is how much the sign-guard of a signer that runs has done.
func (s *signerProcess) commits(t *testing.T) uint64 {
	t.Helper()
	client, err := remote.Dial(remote.Target{URL: "unix:" + s.socket})
	require.NoError(t, err)
	defer client.Close()
	id, err := client.Identity(t.Context())
	require.NoError(t, err)
	return id.Commits
}

// numbers are those that the records give next, of each account.
func (l *lossy) numbers(t *testing.T) (list []uint64) {
	t.Helper()
	out, err := l.operator(t, "account", "list", "--json")
	require.NoError(t, err)
	var rows []operator.AccountRow
	require.NoError(t, json.Unmarshal([]byte(out), &rows), out)
	for _, a := range rows {
		list = append(list, a.Next)
	}
	return list
}

// restoreGuard has an old sign-guard beside newer records: the daemon has seen more of it than it knows.
func (l *lossy) restoreGuard(t *testing.T, backup string, work func()) {
	t.Helper()
	mustRun(t, "signer", "backup", "-c", l.signer.config, backup)
	known := l.signer.commits(t)
	work()
	waitFor(t, "the records have seen the sign-guard go on", func() bool { return l.guardSeen(t).Commits > known+10 })
	l.kill(t)
	l.signer.kill(t)
	require.Contains(t, mustRun(t, "restore", "-c", l.signer.config, backup, "--replace", "--older-guard"), "put back: "+filepath.Join(l.signer.data, "guard.db"))
	l.signer.start(t)
	l.start(t)
}

// restoreRecords has an old database beside the newer sign-guard, which the signer goes on with.
func (l *lossy) restoreRecords(t *testing.T, backup string, work func()) {
	t.Helper()
	l.mustProgram(t, "backup", backup)
	known := l.numbers(t)
	work()
	waitFor(t, "something is signed since", func() bool { return !slices.Equal(l.numbers(t), known) })
	l.kill(t)
	require.Contains(t, l.mustProgram(t, "restore", backup, "--replace"), "put back: "+filepath.Join(l.data, "records.db"))
	l.start(t)
}

// unsettled are the channels that are closed because less is held than the books say. What was paid since a backup is missing in the restored books until
// it is settled; then the channels open by themselves.
func (l *lossy) unsettled(t *testing.T) bool {
	t.Helper()
	out, err := l.operator(t, "channel", "list")
	require.NoError(t, err)
	return strings.Contains(out, "less than the books say")
}

// TestRestoredBesideASigner backs up a daemon's database or its signer's sign-guard at random moments while users deposit and withdraw, puts it back some time
// later beside the newer half, and follows the documented recovery. In the end everybody has what is theirs to the unit, on both chains, and no channel is closed.
// GATEWAYD_RESTORES and GATEWAYD_GUARD_RESTORES say how often.
func TestRestoredBesideASigner(t *testing.T) {
	t.Parallel()
	seed := seedOf(t)
	var s *signerProcess
	l := layLossy(t, func(c *config.Config) { s = apart(t, c) })
	l.signer = s
	s.start(t)
	l.start(t)
	t.Cleanup(func() { l.kill(t) })
	crowd, alive, stop := l.known(t, seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	work := func() { l.work(alive, rng) }
	records, guards := timesOf(t, "GATEWAYD_RESTORES", 2), timesOf(t, "GATEWAYD_GUARD_RESTORES", 1)
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
		waitFor(t, "it is noticed", func() bool { return len(l.accounts(t)) > 0 })
		l.goOn(t, func() bool { return true })
	}
	stop()
	l.goOn(t, func() bool { return l.idle(t) && !l.unsettled(t) })
	reckon(t, l.victim, crowd)
}
