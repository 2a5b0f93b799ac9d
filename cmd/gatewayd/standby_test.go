package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records/signguard"
)

// Texts of a signer's log about the sign-guard.
const (
	signerAnswers = "the signer answers"
	signerWaits   = "standing by: the sign-guard is not free"
	signerLost    = "signing has stopped"
)

// shareGuard moves a signer's sign-guard to a server and returns a second signer on it. The daemon
// asks both. They may have different URLs of the server.
func (s *signerProcess) shareGuard(t *testing.T, guard, others string, daemon *config.Config) *signerProcess {
	t.Helper()
	text, err := os.ReadFile(s.config)
	require.NoError(t, err)
	var c config.Config
	require.NoError(t, yaml.Unmarshal(text, &c))
	dir := filepath.Dir(s.config)
	other := &signerProcess{config: filepath.Join(dir, "other.yaml"), socket: filepath.Join(dir, "other.sock"), data: filepath.Join(dir, "other")}
	for i, of := range []*signerProcess{s, other} {
		c.Data, c.Signer.Guard, c.Signer.Place.Listen = of.data, []string{guard, others}[i], "unix:"+of.socket
		text, err := yaml.Marshal(c)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(of.config, text, 0o600))
	}
	daemon.Wallet.Signer = "unix:" + s.socket + ", unix:" + other.socket
	return other
}

// addMetrics gives a signer a listener for metrics, and returns its URL. The signer logs all.
func (s *signerProcess) addMetrics(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.config)
	require.NoError(t, err)
	var c config.Config
	require.NoError(t, yaml.Unmarshal(text, &c))
	c.Signer.Metrics, c.Log.Level = freeAddress(t), "debug"
	text, err = yaml.Marshal(c)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.config, text, 0o600))
	return "http://" + c.Signer.Metrics
}

func (s *signerProcess) waitForLog(t *testing.T, what string, times int) {
	t.Helper()
	waitFor(t, what, func() bool { return strings.Count(s.log.String(), what) >= times })
}

// TestStandbySigner repeatedly kills the serving one of two signers on one sign-guard, and then
// lets it freeze, while users deposit and withdraw. The other takes over each time, and a signer
// that resumes without the sign-guard signs nothing more. In the end every user has the correct
// balance to the unit.
func TestStandbySigner(t *testing.T) {
	t.Parallel()
	kills := 6
	if testing.Short() {
		kills = 2
	}
	guard := recordstest.Postgres(t).Empty(t)
	v := &daemonProcess{}
	var pair [2]*signerProcess
	w := prepareFaultyEnv(t, startRichExchange, func(_ *faultyEnv, c *config.Config) {
		pair[0] = splitSigner(t, c)
		pair[1] = pair[0].shareGuard(t, guard, guard, c)
	})
	require.NoError(t, dev.FundSource(t.Context(), w.info, w.keys, nil))
	v.dir, v.args = w.cfg.Data, []string{"run", "-c", w.info.Config}
	var served, waited [2]int
	start := func(n int, what string, count *[2]int) {
		pair[n].start(t)
		count[n]++
		pair[n].waitForLog(t, what, count[n])
	}
	start(0, signerAnswers, &served)
	start(1, signerWaits, &waited)
	v.start(t)
	t.Cleanup(func() { v.kill(t) })

	clients := newUsers(t, v, 3, seedOf(t))
	deadline, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	alive, stop := context.WithCancel(deadline)
	defer stop()
	g, alive := errgroup.WithContext(alive)
	for _, u := range clients {
		g.Go(func() error { return u.bridgeUntil(alive, deadline) })
	}
	watched, err := signguard.OpenServer(t.Context(), guard)
	require.NoError(t, err)
	defer watched.Close()
	told := func() uint64 {
		id, err := watched.Identity(t.Context())
		require.NoError(t, err)
		return id.Commits
	}
	busy := func() {
		before := told()
		waitFor(t, "payments", func() bool { return told() > before+3 })
	}
	at, longest := 0, time.Duration(0)
	for range kills {
		busy()
		pair[at].kill(t)
		died := time.Now()
		served[1-at]++
		pair[1-at].waitForLog(t, signerAnswers, served[1-at])
		longest = max(longest, time.Since(died))
		start(at, signerWaits, &waited)
		at = 1 - at
	}
	t.Logf("taken over within %s", longest.Round(time.Millisecond))
	busy()
	freeze(t, pair[at].cmd.Process.Pid)
	served[1-at]++
	pair[1-at].waitForLog(t, signerAnswers, served[1-at])
	busy()
	require.NoError(t, pair[at].cmd.Process.Signal(syscall.SIGCONT))
	pair[at].waitForLog(t, signerLost, 1)
	waitFor(t, "the resumed signer to stand by, or to serve if the other has lost the sign-guard", func() bool {
		log := pair[at].log.String()
		return strings.Count(log, signerWaits) > waited[at] || strings.Count(log, signerAnswers) > served[at]
	})
	busy()
	stop()
	require.NoError(t, g.Wait())
	checkBooks(t, v, clients)
	require.NoFileExists(t, filepath.Join(pair[0].data, "guard.db"))
}

// TestSignerOutlivesItsGuard: the server of the sign-guard is away when the signer starts. Later it
// dies while users deposit, and its synchronous standby is promoted. The signer waits each time,
// and payments continue without a restart.
func TestSignerOutlivesItsGuard(t *testing.T) {
	t.Parallel()
	server := recordstest.OwnPostgres(t, "")
	guard := server.Empty(t)
	t.Cleanup(func() { server.StartWithoutStandby(t) }) // the database is dropped at the end
	standby := server.Standby(t)
	guard = server.Either(t, standby, guard)
	var s *signerProcess
	var metrics string
	w := prepareFaultyEnv(t, startRichExchange, func(_ *faultyEnv, c *config.Config) {
		s = splitSigner(t, c)
		s.shareGuard(t, guard, guard, c)
		metrics = s.addMetrics(t)
	})
	require.NoError(t, dev.FundSource(t.Context(), w.info, w.keys, nil))
	server.Stop(syscall.SIGQUIT)
	s.start(t)
	s.waitForLog(t, "the server of `signer.guard` does not work now", 1)
	require.Contains(t, textAt(metrics+"/ready"), "the sign-guard does not answer")
	require.NoError(t, server.Start())
	s.waitForLog(t, signerAnswers, 1)
	require.Contains(t, textAt(metrics+"/health"), `"ready":true,"role":"signer"`)
	w.startDaemon(t)
	w.addUser(t)
	w.waitUntilWell(t)
	w.user.mustDeposit(t, units(w.user.Token, 10_000))

	server.Stop(syscall.SIGQUIT)
	s.waitForLog(t, signerLost, 1)
	hash, err := w.user.Deposit(t.Context(), units(w.user.Token, 10_000))
	require.NoError(t, err)
	standby.Promote(t)
	s.waitForLog(t, signerAnswers, 2)
	waitFor(t, "the deposit of the outage", func() bool {
		rows := w.listRecords(t, "--hash", hash)
		return len(rows) == 1 && rows[0].Status == "done"
	})
	require.Nil(t, s.cmd.ProcessState, "it was never restarted")
	page := textAt(metrics + "/metrics")
	for _, series := range []string{"gatewayd_signer_serves 1\n", `gatewayd_database_connections_max{database="guard",pool="write"}`} {
		require.Contains(t, page, series)
	}
	require.Regexp(t, `gatewayd_signer_call_duration_seconds_count\{call="(sign|giveAddress)",signer="separate"\} [1-9]`, page)
	request := regexp.MustCompile(`the signer has answered a request.*request=([0-9a-f]{16})`).FindStringSubmatch(s.log.String())
	require.NotNil(t, request, "the signer logs the daemon's requests")
}
