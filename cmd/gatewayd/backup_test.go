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

	"gatewayd/chain/ethereum/devnode"
	"gatewayd/config"
	"gatewayd/devnet"
	"gatewayd/records"
	"gatewayd/wallet"
)

// lossy is a daemon on chains that live on, whose data get lost.
type lossy struct {
	*victim
	data string
}

// newLossy starts a daemon whose wallet is not in its data directory. adjust may change its configuration.
func newLossy(t *testing.T, adjust ...func(*config.Config)) *lossy {
	t.Helper()
	l := layLossy(t, adjust...)
	l.start(t)
	t.Cleanup(func() { l.kill(t) })
	return l
}

// layLossy is newLossy without the daemon.
func layLossy(t *testing.T, adjust ...func(*config.Config)) *lossy {
	t.Helper()
	source, err := devnode.Start(devnode.Config{Period: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, source.Close()) })
	keys, err := wallet.FromMnemonic(devnet.Mnemonic)
	require.NoError(t, err)
	exchange := startExchangeChain(t, keys) // that adjust may take another one for
	stores, store, password := recovered(t)
	o := quick(t.TempDir())
	o.Listen, o.Sweep = freeAddress(t), "* * * * *"
	cfg := devnet.Config(o, source.URL(), source.ChainID(), exchange)
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
	info := devnet.NewInfo(cfg, path, "")
	require.NoError(t, info.Write(filepath.Join(o.Dir, "dev.json")))
	require.NoError(t, devnet.FundSource(t.Context(), info, keys, nil))
	return &lossy{victim: &victim{dir: o.Dir, args: []string{"run", "-c", path}}, data: cfg.Data}
}

// program runs the built program on the daemon's configuration and answers what it says.
func (l *lossy) program(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), cmp.Or(l.victim.program, "gatewayd"), append(args, "-c", filepath.Join(l.dir, "config.yaml"))...).CombinedOutput()
	t.Logf("$ gatewayd %v\n%s", args, out)
	return string(out), err
}

func (l *lossy) mustProgram(t *testing.T, args ...string) string {
	t.Helper()
	out, err := l.program(t, args...)
	require.NoError(t, err, out)
	return out
}

// goOn follows "Recovery" in docs/operations.md until every account signs again and a last thing is so.
func (l *lossy) goOn(t *testing.T, last func() bool) {
	t.Helper()
	waitFor(t, "every account goes on", func() bool {
		stopped := l.accounts(t)
		for _, a := range stopped {
			out, err := l.operator(t, "account", "settle", a.Chain, a.Address)
			t.Logf("settle %s: %s%v", a.Address, out, err)
		}
		for _, a := range stopped {
			_, err := l.operator(t, "account", "resume", a.Chain, a.Address) // refused as long as something moves
			t.Logf("resume %s: %v", a.Address, err)
		}
		return len(stopped) == 0 && last()
	})
}

// reckon holds the books. A deposit address that has signed more than a backup knows stops when it is swept next, which may be after everything else.
func (l *lossy) reckon(t *testing.T, crowd []*patient) {
	t.Helper()
	reckonAfter(t, l.victim, crowd, func() { l.goOn(t, func() bool { return true }) })
}

// TestRestoredUnderLoad backs up a daemon at random moments while users deposit and withdraw, kills it some time later, takes its data away in one of three ways,
// restores, and follows the documented recovery with the program's own commands. In the end everybody has what is theirs to the unit, and the books agree.
func TestRestoredUnderLoad(t *testing.T) {
	seed := seedOf(t)
	l := newLossy(t)
	crowd, alive, stop := l.known(t, seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round, lose := range []func(*testing.T, string){l.loseEverything, l.loseRecords, l.loseNothing} {
		l.work(alive, rng)
		backup := filepath.Join(t.TempDir(), "backup.tar")
		l.mustProgram(t, "backup", backup)
		l.work(alive, rng)
		l.kill(t)
		t.Logf("round %d", round)
		lose(t, backup)
		l.start(t)
		waitFor(t, "what was signed since is noticed", func() bool { return len(l.accounts(t)) > 0 })
		l.goOn(t, func() bool { return true })
	}
	stop()
	l.goOn(t, func() bool { return l.idle(t) })
	l.reckon(t, crowd)
}

// known has four users bridge until stop is called, which waits for what they have begun. A backup knows them all: users who are first seen after one are
// forgotten by it, as docs/operations.md says.
func (l *lossy) known(t *testing.T, seed uint64) (crowd []*patient, alive context.Context, stop func()) {
	t.Helper()
	return l.knownFor(t, seed, 8*time.Minute)
}

// knownFor is known for so long at most.
func (l *lossy) knownFor(t *testing.T, seed uint64, most time.Duration) (crowd []*patient, alive context.Context, stop func()) {
	t.Helper()
	crowd = gather(t, l.victim, 4, seed)
	for _, u := range crowd {
		var info devnet.DepositInfo
		require.NoError(t, u.Gateway.Get(t.Context(), "/deposit-info", map[string]string{"tokenId": u.Token.Token, "walletAddress": u.Vite.Address().String()}, &info))
	}
	patience, cancel := context.WithTimeout(t.Context(), most)
	t.Cleanup(cancel)
	alive, end := context.WithCancel(patience)
	g, alive := errgroup.WithContext(alive)
	for _, u := range crowd {
		g.Go(func() error { return u.live(alive, patience) })
	}
	return crowd, alive, func() {
		end()
		require.NoError(t, g.Wait())
	}
}

// idle tells whether nothing is under way.
func (l *lossy) idle(t *testing.T) bool {
	t.Helper()
	cfg, err := config.Load(filepath.Join(l.dir, "config.yaml"))
	require.NoError(t, err)
	store, err := records.OpenExisting(t.Context(), cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	return len(underWay(t, store, cfg)) == 0
}

// work lets users and daemon be for two to six seconds.
func (l *lossy) work(ctx context.Context, rng *rand.Rand) { l.workFor(ctx, rng, 4*time.Second) }

// workFor lets users and daemon be for half to three halves of a time.
func (l *lossy) workFor(ctx context.Context, rng *rand.Rand, about time.Duration) {
	select {
	case <-time.After(about/2 + time.Duration(rng.Int64N(int64(about)))):
	case <-ctx.Done():
	}
}

// loseEverything is a new machine: the sign-guard is the backup's, and every paying account is stopped.
func (l *lossy) loseEverything(t *testing.T, backup string) {
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
	require.GreaterOrEqual(t, len(l.accounts(t)), 3, "hot, gas and gateway")
}

// loseRecords is a database that is gone on a machine whose sign-guard is not.
func (l *lossy) loseRecords(t *testing.T, backup string) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.RemoveAll(filepath.Join(l.data, "records.db"+suffix)))
	}
	out := l.mustProgram(t, "restore", backup)
	require.Contains(t, out, "kept, because it is as new or newer: "+filepath.Join(l.data, "guard.db"))
	require.NotContains(t, out, "stopped:")
}

// loseNothing restores over what is there, which takes an order.
func (l *lossy) loseNothing(t *testing.T, backup string) {
	before, err := os.ReadFile(filepath.Join(l.data, "records.db"))
	require.NoError(t, err)
	out, err := l.program(t, "restore", backup)
	require.Error(t, err)
	require.Contains(t, out, "records.db is there already: with --replace it is renamed")
	after, err := os.ReadFile(filepath.Join(l.data, "records.db"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after), "nothing was changed")
	out = l.mustProgram(t, "restore", backup, "--replace", "--older-guard")
	require.Contains(t, out, "renamed to: "+filepath.Join(l.data, "records.db.replaced-"))
	require.Contains(t, out, "put back: "+filepath.Join(l.data, "guard.db"))
}
