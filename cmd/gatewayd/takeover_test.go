package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain/ethereum/devnode"
	"gatewayd/chain/vite/node"
	"gatewayd/records/recordstest"
	"gatewayd/wallet"
)

// pair is two daemons on one PostgreSQL database and the same chains, each with a directory, a sign-guard and a gateway of its own.
type pair struct {
	dir     string // of the users: dev.json says where the leader answers
	source  *devnode.Node
	configs [2]Config
}

// replica is one of the daemons as a process. Its log is a file, so that it can be read while the process is frozen.
type replica struct {
	n   int
	cmd *exec.Cmd
	log string
}

func newPair(t *testing.T) *pair {
	t.Helper()
	database := recordstest.Postgres(t).Database(t)
	p := &pair{dir: t.TempDir()}
	var err error
	p.source, err = devnode.Start(devnode.Config{Period: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.source.Close()) })
	keys, err := wallet.FromMnemonic(devMnemonic)
	require.NoError(t, err)
	exchange := startExchangeChain(t, keys)
	stores, store, password := recovered(t)
	for i := range p.configs {
		o := quick(t.TempDir())
		o.listen, o.sweep = freeAddress(t), "* * * * *"
		c := devConfig(o, p.source.URL(), p.source.ChainID(), exchange)
		c.Log.Level, c.Database.URL = "info", database
		c.Wallet = WalletConfig{Store: filepath.Join(stores, store), PasswordFile: password}
		text, err := yaml.Marshal(c)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(c.Data, "config.yaml"), text, 0o600))
		p.configs[i] = c
	}
	require.NoError(t, fundSource(t.Context(), p.info(0), keys, nil))
	return p
}

// startExchangeChain runs an exchange chain in this process until the test ends, and answers its URL.
func startExchangeChain(t *testing.T, keys *wallet.Keys) string {
	t.Helper()
	genesis, err := devGenesis(keys)
	require.NoError(t, err)
	e, err := newEmbedded(node.Config{Dir: t.TempDir(), Genesis: genesis, SnapshotInterval: 200 * time.Millisecond}, anyPort)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1) // room for the one answer
	go func() { ended <- e.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return e.URL()
}

func (p *pair) info(n int) devInfo {
	c := p.configs[n]
	return newDevInfo(c, filepath.Join(c.Data, "config.yaml"), "")
}

// start makes a daemon run, as the leader or beside it.
func (p *pair) start(t *testing.T, n int) *replica {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	defer file.Close()
	r := &replica{n: n, cmd: exec.Command("gatewayd", "run", "-c", p.info(n).Config), log: file.Name()}
	r.cmd.Stderr = file
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() {
		if r.cmd.ProcessState == nil {
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("daemon %d:\n%s", n, r.told(t))
		}
	})
	return r
}

// leads waits until a daemon leads, and tells the users where it is.
func (p *pair) leads(t *testing.T, n int) {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "dev.json")
	require.NoError(t, p.info(n).write(ready))
	var err error
	waitFor(t, fmt.Sprintf("daemon %d to lead", n), func() bool { _, err = awaitDaemon(t.Context(), ready); return err == nil })
	text, err := os.ReadFile(p.info(n).Config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "config.yaml"), text, 0o600))
	require.NoError(t, p.info(n).write(filepath.Join(p.dir, "dev.json")))
}

// busy waits until the leader has payments in the source node's pool.
func (p *pair) busy(t *testing.T) {
	t.Helper()
	waitFor(t, "payments under way", func() bool { return len(p.source.Pending()) > 0 })
}

func (r *replica) told(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(r.log)
	require.NoError(t, err)
	return string(text)
}

// freeze stops the process as a machine that is suspended does, and answers what it has told so far.
func (r *replica) freeze(t *testing.T) string {
	t.Helper()
	require.NoError(t, r.cmd.Process.Signal(syscall.SIGSTOP))
	waitFor(t, "the process to stand still", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.cmd.Process.Pid))
		require.NoError(t, err)
		return strings.Contains(string(stat), ") T ")
	})
	return r.told(t)
}

// TestTakeover has users bridge while the leader of two daemons on one PostgreSQL database is killed, and the next one frozen until it has lost
// its lease. The other one takes over each time; who wakes without the lease signs nothing more and ends. Everything is paid exactly once.
func TestTakeover(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	seed := seedOf(t)
	first := p.start(t, 0)
	p.leads(t, 0)
	second := p.start(t, 1)
	waitFor(t, "the second to stand by", func() bool { return strings.Contains(second.told(t), "waiting for its lease") })
	v := &victim{dir: p.dir}
	crowd := gather(t, v, 3, seed)
	patience, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	alive, stop := context.WithCancel(patience)
	defer stop()
	g, alive := errgroup.WithContext(alive)
	for _, u := range crowd {
		g.Go(func() error { return u.live(alive, patience) })
	}

	p.busy(t)
	require.NoError(t, first.cmd.Process.Kill())
	require.Error(t, first.cmd.Wait())
	p.leads(t, 1)
	first = p.start(t, 0)
	waitFor(t, "the first to stand by", func() bool { return strings.Contains(first.told(t), "waiting for its lease") })

	p.busy(t)
	before := second.freeze(t)
	p.leads(t, 0)
	p.busy(t)
	require.NoError(t, second.cmd.Process.Signal(syscall.SIGCONT))
	var failure *exec.ExitError
	require.ErrorAs(t, second.cmd.Wait(), &failure, "without the lease it ends")
	after := strings.TrimPrefix(second.told(t), before)
	require.Contains(t, after, "lease", "it says why")
	for _, act := range []string{"payment bound", "payment signed", "payment paid"} {
		require.NotContains(t, after, act)
		require.Contains(t, before, act)
	}
	stop()
	require.NoError(t, g.Wait())
	reckon(t, v, crowd)
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, first.cmd.Wait())
}
