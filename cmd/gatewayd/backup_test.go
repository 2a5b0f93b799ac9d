package main

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/records"
	"gatewayd/wallet"
)

// restoreEnv is a daemon whose data are lost, on chains that live on.
type restoreEnv struct {
	*daemonProcess
	data string
}

// newRestoreEnv starts a daemon whose wallet is not in its data directory. adjust may change its
// configuration.
func newRestoreEnv(t *testing.T, adjust ...func(*config.Config)) *restoreEnv {
	t.Helper()
	l := prepareRestoreEnv(t, adjust...)
	l.start(t)
	t.Cleanup(func() { l.kill(t) })
	return l
}

// prepareRestoreEnv is newRestoreEnv without a running daemon.
func prepareRestoreEnv(t *testing.T, adjust ...func(*config.Config)) *restoreEnv {
	t.Helper()
	source, err := ethnode.Start(ethnode.Config{Period: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, source.Close()) })
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	exchange := startExchangeChain(t, keys) // which adjust may replace
	stores, store, password := recovered(t)
	o := quickOptions(t.TempDir())
	o.Listen, o.Sweep = freeAddress(t), "* * * * *"
	cfg := dev.Config(o, source.URL(), source.ChainID(), exchange)
	cfg.Data = filepath.Join(o.Dir, "data")
	cfg.Database.URL = "sqlite:" + filepath.Join(cfg.Data, "records.db")
	cfg.Wallet = config.Wallet{Store: filepath.Join(stores, store), PasswordFile: password}
	for _, f := range adjust {
		f(&cfg)
	}
	text, err := yaml.Marshal(cfg)
	require.NoError(t, err)
	path := filepath.Join(o.Dir, "config.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	info := dev.NewInfo(cfg, path, "")
	require.NoError(t, info.Write(filepath.Join(o.Dir, "dev.json")))
	require.NoError(t, dev.FundSource(t.Context(), info, keys, nil))
	return &restoreEnv{daemonProcess: &daemonProcess{dir: o.Dir, args: []string{"run", "-c", path}}, data: cfg.Data}
}

// program runs the built program on the daemon's configuration and returns its output.
func (l *restoreEnv) program(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), cmp.Or(l.daemonProcess.program, "gatewayd"), append(args, "-c", filepath.Join(l.dir, "config.yaml"))...).CombinedOutput()
	t.Logf("$ gatewayd %v\n%s", args, out)
	return string(out), err
}

func (l *restoreEnv) mustProgram(t *testing.T, args ...string) string {
	t.Helper()
	out, err := l.program(t, args...)
	require.NoError(t, err, out)
	return out
}

// resumeAccounts follows docs/operations/recovery.md until every account signs again and done
// is true.
func (l *restoreEnv) resumeAccounts(t *testing.T, done func() bool) {
	t.Helper()
	waitFor(t, "every account goes on", func() bool {
		stopped := l.stoppedAccounts(t)
		for _, a := range stopped {
			out, err := l.runCommand(t, "account", "settle", a.Chain, a.Address)
			t.Logf("settle %s: %s%v", a.Address, out, err)
		}
		for _, a := range stopped {
			_, err := l.runCommand(t, "account", "resume", a.Chain, a.Address) // refused as long as something moves
			t.Logf("resume %s: %v", a.Address, err)
		}
		return len(stopped) == 0 && done()
	})
}

// checkBooks resumes accounts before its last checks: a deposit address that has signed more than a
// backup knows stops only when it is swept next.
func (l *restoreEnv) checkBooks(t *testing.T, clients []*retryingUser) {
	t.Helper()
	checkBooksThen(t, l.daemonProcess, clients, func() { l.resumeAccounts(t, func() bool { return true }) })
}

// TestRestoredUnderLoad backs up a daemon at random moments while users deposit and withdraw. It
// kills it some time later, destroys its data in one of three ways, restores, and follows the
// documented recovery with the program's own commands. In the end every user has the correct
// balance to the unit, and the books agree.
func TestRestoredUnderLoad(t *testing.T) {
	t.Parallel()
	seed := seedOf(t)
	l := newRestoreEnv(t)
	clients, alive, stop := l.startUsers(t, seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round, lose := range []func(*testing.T, string){l.loseEverything, l.loseRecords, l.loseNothing} {
		l.waitSeconds(alive, rng)
		backup := filepath.Join(t.TempDir(), "backup.tar")
		l.mustProgram(t, "backup", backup)
		l.waitSeconds(alive, rng)
		l.kill(t)
		t.Logf("round %d", round)
		lose(t, backup)
		l.start(t)
		waitFor(t, "what was signed since is noticed", func() bool { return len(l.stoppedAccounts(t)) > 0 })
		l.resumeAccounts(t, func() bool { return true })
	}
	stop()
	l.resumeAccounts(t, func() bool { return l.isIdle(t) })
	l.checkBooks(t, clients)
}

// startUsers lets four users bridge until stop is called, which waits for their open transfers. A
// backup contains all of them: users who are first seen after a backup are lost, as
// docs/operations/backup.md states.
func (l *restoreEnv) startUsers(t *testing.T, seed uint64) (clients []*retryingUser, alive context.Context, stop func()) {
	t.Helper()
	return l.startUsersFor(t, seed, 8*time.Minute)
}

// startUsersFor is startUsers with another deadline.
func (l *restoreEnv) startUsersFor(t *testing.T, seed uint64, most time.Duration) (clients []*retryingUser, alive context.Context, stop func()) {
	t.Helper()
	clients = newUsers(t, l.daemonProcess, 4, seed)
	for _, u := range clients {
		var info dev.DepositInfo
		require.NoError(t, u.Gateway.Get(t.Context(), "/deposit-info", map[string]string{"tokenId": u.Token.Token, "walletAddress": u.Vite.Address().String()}, &info))
	}
	deadline, cancel := context.WithTimeout(t.Context(), most)
	t.Cleanup(cancel)
	alive, end := context.WithCancel(deadline)
	g, alive := errgroup.WithContext(alive)
	for _, u := range clients {
		g.Go(func() error { return u.bridgeUntil(alive, deadline) })
	}
	return clients, alive, func() {
		end()
		require.NoError(t, g.Wait())
	}
}

// isIdle is true when nothing is under way.
func (l *restoreEnv) isIdle(t *testing.T) bool {
	t.Helper()
	cfg, err := config.Load(filepath.Join(l.dir, "config.yaml"))
	require.NoError(t, err)
	store, err := records.OpenExisting(t.Context(), cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	return len(underWay(t, store, cfg)) == 0
}

// waitSeconds lets users and daemon work for two to six seconds.
func (l *restoreEnv) waitSeconds(ctx context.Context, rng *rand.Rand) {
	l.waitAbout(ctx, rng, 4*time.Second)
}

// waitAbout lets users and daemon work for half to three halves of a time.
func (l *restoreEnv) waitAbout(ctx context.Context, rng *rand.Rand, about time.Duration) {
	select {
	case <-time.After(about/2 + time.Duration(rng.Int64N(int64(about)))):
	case <-ctx.Done():
	}
}

// loseEverything is a new machine: the sign-guard is the backup's, and every paying account is
// stopped.
func (l *restoreEnv) loseEverything(t *testing.T, backup string) {
	require.NoError(t, os.RemoveAll(l.data))
	config := filepath.Join(l.dir, "config.yaml")
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	require.NoError(t, os.Remove(config))
	out := l.mustProgram(t, "restore", backup)
	require.Contains(t, out, "put back: "+filepath.Join(l.data, "guard.db"))
	require.Contains(t, out, " on eth\n")
	require.Contains(t, out, " on vite\n")
	restored, err := os.ReadFile(config)
	require.NoError(t, err)
	require.Equal(t, string(text), string(restored))
	require.GreaterOrEqual(t, len(l.stoppedAccounts(t)), 3, "hot, gas and gateway")
}

// loseRecords is a database that is gone on a machine whose sign-guard is not.
func (l *restoreEnv) loseRecords(t *testing.T, backup string) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.RemoveAll(filepath.Join(l.data, "records.db"+suffix)))
	}
	out := l.mustProgram(t, "restore", backup)
	require.Contains(t, out, "kept, because it is as new or newer: "+filepath.Join(l.data, "guard.db"))
	require.NotContains(t, out, "stopped:")
}

// loseNothing restores over what is there, which takes an order.
func (l *restoreEnv) loseNothing(t *testing.T, backup string) {
	before, err := os.ReadFile(filepath.Join(l.data, "records.db"))
	require.NoError(t, err)
	out, err := l.program(t, "restore", backup)
	require.Error(t, err)
	require.Contains(t, out, "records.db already exists: --replace renames it")
	after, err := os.ReadFile(filepath.Join(l.data, "records.db"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after), "nothing was changed")
	out = l.mustProgram(t, "restore", backup, "--replace", "--older-guard")
	require.Contains(t, out, "renamed to: "+filepath.Join(l.data, "records.db.replaced-"))
	require.Contains(t, out, "put back: "+filepath.Join(l.data, "guard.db"))
}
