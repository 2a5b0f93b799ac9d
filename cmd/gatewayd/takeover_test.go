package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// pair is two daemons, or more, on one PostgreSQL database and the same chains, each with its own
// directory, sign-guard and gateway.
type pair struct {
	dir     string // of the users: dev.json contains the leader's address
	source  *ethnode.Node
	configs []config.Config
	pids    []int // of the processes
}

// replica is one of the daemons as a process. Its log is a file, so that it can be read while the
// process is frozen.
type replica struct {
	n   int
	cmd *exec.Cmd
	log string
}

func newPair(t *testing.T) *pair {
	t.Helper()
	return newPairOn(t, recordstest.Postgres(t).Database(t))
}

// newPairOn is newPair on a database. Both daemons ask one signer.
func newPairOn(t *testing.T, database string) *pair {
	t.Helper()
	p := newPairApart(t, database)
	p.startSigner(t)
	return p
}

// startSigner starts a signer for both daemons.
func (p *pair) startSigner(t *testing.T) {
	t.Helper()
	signer := splitSigner(t, &p.configs[0])
	p.configs[1].Wallet = p.configs[0].Wallet
	for _, c := range p.configs {
		writeReplica(t, c)
	}
	signer.start(t)
}

func writeReplica(t *testing.T, c config.Config) {
	t.Helper()
	text, err := yaml.Marshal(c)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(c.Data, "config.yaml"), text, 0o600))
}

// newPairApart is a pair of which each signs itself.
func newPairApart(t *testing.T, database string) *pair {
	t.Helper()
	source, err := ethnode.Start(ethnode.Config{Period: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, source.Close()) })
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	p := newReplicas(t, 2, database, source.URL(), startExchangeChain(t, keys))
	p.source = source
	return p
}

// newReplicas is a number of daemons on chains that run already. It pays the hot account.
func newReplicas(t *testing.T, count int, database, source, exchange string) *pair {
	t.Helper()
	p := &pair{dir: t.TempDir(), pids: make([]int, count)}
	stores, store, password := recovered(t)
	for range count {
		o := quickOptions(t.TempDir())
		o.Listen, o.Sweep = freeAddress(t), "* * * * *"
		c := dev.Config(o, source, ethnode.DefaultChainID, exchange)
		c.Log.Level, c.Database.URL = "info", database
		c.Wallet = config.Wallet{Store: filepath.Join(stores, store), PasswordFile: password}
		writeReplica(t, c)
		p.configs = append(p.configs, c)
	}
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	require.NoError(t, dev.FundSource(t.Context(), p.info(0), keys, nil))
	return p
}

// startExchangeChain runs an exchange chain in this process until the test ends, and answers its
// URL.
func startExchangeChain(t *testing.T, keys *wallet.Keys) string {
	t.Helper()
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	e, err := daemon.NewEmbedded(node.Config{Dir: t.TempDir(), Genesis: genesis, SnapshotInterval: 200 * time.Millisecond})
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

func (p *pair) info(n int) dev.Info {
	c := p.configs[n]
	return dev.NewInfo(c, filepath.Join(c.Data, "config.yaml"), "")
}

// start starts a daemon, as the leader or as a standby.
func (p *pair) start(t *testing.T, n int, flags ...string) *replica {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	defer file.Close()
	r := &replica{n: n, cmd: exec.Command("gatewayd", append([]string{"run", "-c", p.info(n).Config}, flags...)...), log: file.Name()}
	r.cmd.Stderr = file
	require.NoError(t, r.cmd.Start())
	p.pids[n] = r.cmd.Process.Pid
	t.Cleanup(func() {
		if r.cmd.ProcessState == nil {
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("daemon %d:\n%s", n, r.readLog(t))
		}
	})
	return r
}

// waitForLeader waits until a daemon leads, and writes its addresses for the users.
func (p *pair) waitForLeader(t *testing.T, n int) {
	t.Helper()
	db, err := sql.Open("pgx", p.configs[n].Database.URL)
	require.NoError(t, err)
	defer db.Close()
	waitFor(t, fmt.Sprintf("daemon %d to have the lease", n), func() bool {
		var led bool
		err := db.QueryRow("SELECT EXISTS (SELECT 1 FROM leases WHERE role = 'daemon' AND expires_at > EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AND holder LIKE '%/' || $1 || '/%')",
			strconv.Itoa(p.pids[n])).Scan(&led)
		return err == nil && led
	})
	p.showUsers(t, n)
}

// showUsers waits until a daemon serves users, and writes its addresses for them.
func (p *pair) showUsers(t *testing.T, n int) {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "dev.json")
	require.NoError(t, p.info(n).Write(ready))
	waitFor(t, fmt.Sprintf("daemon %d to serve", n), func() bool { _, err := dev.AwaitDaemon(t.Context(), ready, dev.Info{}); return err == nil })
	text, err := os.ReadFile(p.info(n).Config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "config.yaml"), text, 0o600))
	require.NoError(t, p.info(n).Write(filepath.Join(p.dir, "dev.json")))
}

// waitForPayments waits until the source node's pool has payments of the leader.
func (p *pair) waitForPayments(t *testing.T) {
	t.Helper()
	waitFor(t, "payments under way", func() bool { return len(p.source.Pending()) > 0 })
}

func (r *replica) readLog(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(r.log)
	require.NoError(t, err)
	return string(text)
}

// freeze stops the process as a suspended machine does, and returns its log so far.
func (r *replica) freeze(t *testing.T) string {
	t.Helper()
	freeze(t, r.cmd.Process.Pid)
	return r.readLog(t)
}

// freeze stops a process and waits until it is suspended.
func freeze(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	waitFor(t, "the process to stand still", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		require.NoError(t, err)
		return strings.Contains(string(stat), ") T ") || strings.Contains(string(stat), ") Z ") // or it has ended
	})
}

// waitForLog waits until the log has a text so many times.
func (r *replica) waitForLog(t *testing.T, what string, times int) {
	t.Helper()
	waitFor(t, fmt.Sprintf("%q, %d times", what, times), func() bool { return strings.Count(r.readLog(t), what) >= times })
}

// Texts of a daemon's log about its work and its lease.
var (
	acts    = [...]string{"payment bound", "payment signed", "payment paid"}
	standBy = "waiting for the lease to end"
	again   = "the lease is taken again"
	payout  = `"payment bound" account=0x` // for a withdrawal
)

// startUsers has users of a pair bridge until stop is called, which waits for what they have begun.
func (p *pair) startUsers(t *testing.T, users int) (v *daemonProcess, clients []*retryingUser, stop func()) {
	t.Helper()
	return p.startUsersFor(t, users, 8*time.Minute)
}

// startUsersFor is startUsers with another deadline.
func (p *pair) startUsersFor(t *testing.T, users int, most time.Duration) (v *daemonProcess, clients []*retryingUser, stop func()) {
	t.Helper()
	v = &daemonProcess{dir: p.dir}
	clients = newUsers(t, v, users, seedOf(t))
	deadline, cancel := context.WithTimeout(t.Context(), most)
	t.Cleanup(cancel)
	alive, end := context.WithCancel(deadline)
	g, alive := errgroup.WithContext(alive)
	for _, u := range clients {
		g.Go(func() error { return u.bridgeUntil(alive, deadline) })
	}
	return v, clients, func() {
		end()
		require.NoError(t, g.Wait())
	}
}

// TestTakeover: users bridge while the leader of two daemons on one PostgreSQL database is killed,
// and the next one frozen until it has lost its lease. The other one takes over each time. A daemon
// that resumes without the lease signs nothing more, becomes a standby, and takes over when the
// other one ends. Everything is paid exactly once.
func TestTakeover(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	first := p.start(t, 0)
	p.waitForLeader(t, 0)
	second := p.start(t, 1)
	second.waitForLog(t, standBy, 1)
	v, clients, stop := p.startUsers(t, 3)

	p.waitForPayments(t)
	require.NoError(t, first.cmd.Process.Kill())
	require.Error(t, first.cmd.Wait())
	p.waitForLeader(t, 1)
	first = p.start(t, 0)
	first.waitForLog(t, standBy, 1)

	second.waitForLog(t, payout, 1)
	for _, act := range acts {
		second.waitForLog(t, act, 1)
	}
	p.waitForPayments(t)
	before := second.freeze(t)
	p.waitForLeader(t, 0)
	p.waitForPayments(t)
	require.NoError(t, second.cmd.Process.Signal(syscall.SIGCONT))
	second.waitForLog(t, standBy, 2)
	first.waitForLog(t, acts[1], 1)
	after := strings.TrimPrefix(second.readLog(t), before)
	require.Regexp(t, `lease is lost: \S+/`+strconv.Itoa(first.cmd.Process.Pid)+`/\S+ has taken it`, after)
	for _, act := range acts {
		require.NotContains(t, after, act)
	}

	p.waitForPayments(t)
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, first.cmd.Wait())
	second.waitForLog(t, again, 1)
	p.waitForLeader(t, 1)
	stop()
	checkBooks(t, v, clients)
	require.NoError(t, second.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, second.cmd.Wait())
}
