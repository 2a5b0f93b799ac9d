package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev/ethnode"
	"gatewayd/records"
)

// daemonProcess is `gatewayd dev --dir` or another command as a process that is killed and started
// again.
type daemonProcess struct {
	dir     string
	program string // empty: this one
	args    []string
	cmd     *exec.Cmd

	signer *signerProcess // nil: it signs itself
}

func newDaemonProcess(t *testing.T, args ...string) *daemonProcess {
	t.Helper()
	dir := t.TempDir()
	v := &daemonProcess{dir: dir, args: devArgs(dir, args...)}
	v.start(t)
	t.Cleanup(func() { v.kill(t) })
	return v
}

// devArgs run `gatewayd dev` in a directory, at addresses of the system's choice.
func devArgs(dir string, more ...string) []string {
	return append([]string{"dev", "--dir", dir, "--listen", "127.0.0.1:0", "--exchange-listen", "127.0.0.1:0", "--api", "127.0.0.1:0", "--operators", "127.0.0.1:0", "--market=false"}, more...)
}

func (v *daemonProcess) start(t *testing.T) {
	t.Helper()
	v.cmd = exec.Command(cmp.Or(v.program, "gatewayd"), v.args...)
	v.cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(v.dir)) // its dev.json must not hide that of a developer's own environment
	v.cmd.Stderr = t.Output()
	require.NoError(t, v.cmd.Start())
}

// kill ends the process as a power cut would.
func (v *daemonProcess) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, v.cmd.Process.Kill())
	require.Error(t, v.cmd.Wait(), "it ended by itself")
}

// killAndRestart kills the process, or its signer, or both, and starts them again.
func (v *daemonProcess) killAndRestart(t *testing.T, rng *rand.Rand) {
	t.Helper()
	whom := 0
	if v.signer != nil {
		whom = rng.IntN(3)
	}
	if whom != 1 {
		v.kill(t)
	}
	if whom != 0 {
		v.signer.kill(t)
		v.signer.start(t)
	}
	if whom != 1 {
		v.start(t)
	}
}

// seedOf is GATEWAYD_SEED, or a new one; the test's log has it.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("GATEWAYD_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("GATEWAYD_SEED=%d", seed)
	return seed
}

// TestKilled kills the daemon fifty times at random moments while six users deposit and withdraw on
// a source node that survives. In the end every user has the correct balance to the unit, on both
// chains, and the books agree.
func TestKilled(t *testing.T) {
	t.Parallel()
	n, err := ethnode.Start(ethnode.Config{Period: 200 * time.Millisecond}) // outside the daemon's process; anvil hangs for ever now and then under this load
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	kills := 50
	if testing.Short() {
		kills = 5
	}
	killRandomly(t, kills, 6, "--source", n.URL())
}

// TestKilledWithItsChains is the same with the embedded source chain, which dies with the daemon
// and comes back from its block log.
func TestKilledWithItsChains(t *testing.T) {
	killRandomly(t, 5, 3, "--period", "200ms")
}

// killRandomly kills the daemon at random moments between 0.3 and 2 seconds of its life.
func killRandomly(t *testing.T, kills, users int, args ...string) {
	t.Helper()
	killRunning(t, newDaemonProcess(t, args...), seedOf(t), kills, users)
}

// killRunning does the same to a process that runs already.
func killRunning(t *testing.T, v *daemonProcess, seed uint64, kills, users int) {
	t.Helper()
	clients := newUsers(t, v, users, seed)
	deadline, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	alive, stop := context.WithCancel(deadline)
	defer stop()
	g, alive := errgroup.WithContext(alive)
	for _, u := range clients {
		g.Go(func() error { return u.bridgeUntil(alive, deadline) })
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for range kills {
		select {
		case <-time.After(300*time.Millisecond + time.Duration(rng.Int64N(int64(1700*time.Millisecond)))):
		case <-alive.Done():
		}
		v.killAndRestart(t, rng)
	}
	stop()
	require.NoError(t, g.Wait())
	checkBooks(t, v, clients)
}

// newUsers makes users, of each token in turn.
func newUsers(t *testing.T, v *daemonProcess, users int, seed uint64) (clients []*retryingUser) {
	t.Helper()
	info := waitForInfo(t, v.dir)
	for i := range users {
		u, err := newTestUser(t.Context(), info, info.Tokens[i%len(info.Tokens)], uint32(i), t.Output())
		require.NoError(t, err)
		_, err = u.Faucet.Pay(t.Context(), u.Token.Asset, u.Eth.Address(), u.Times(5000).Uint256().ToBig(), nil)
		require.NoError(t, err)
		p := newRetryingUser(u, v.dir, seed)
		t.Cleanup(func() { p.Close() }) // by then with other connections
		clients = append(clients, p)
	}
	return clients
}

// checkBooks waits until nothing is under way and compares each user's balances with both chains.
func checkBooks(t *testing.T, v *daemonProcess, clients []*retryingUser) {
	t.Helper()
	checkBooksThen(t, v, clients, func() {})
}

// checkBooksThen does the same, and calls resume before it requires that no account is stopped.
func checkBooksThen(t *testing.T, v *daemonProcess, clients []*retryingUser, resume func()) {
	t.Helper()
	waitForInfo(t, v.dir)
	path := filepath.Join(v.dir, "config.yaml")
	cfg, err := config.Load(path)
	require.NoError(t, err)
	store, err := records.Open(t.Context(), cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	deposits, withdrawals := 0, 0
	for _, u := range clients {
		deposits, withdrawals = deposits+len(u.deposits), withdrawals+len(u.withdrawals)
	}
	t.Logf("%d deposits, %d withdrawals", deposits, withdrawals)
	require.NotZero(t, deposits)
	require.NotZero(t, withdrawals)
	waitFor(t, "every transfer seen", func() bool { return transfersIn(t, store) == deposits+withdrawals })
	waitFor(t, "nothing under way", func() bool { return len(underWay(t, store, cfg)) == 0 })
	for _, u := range clients {
		u.checkBalances(t)
	}
	require.Equal(t, deposits+withdrawals, transfersIn(t, store))
	resume()
	require.Empty(t, stoppedAccounts(t, store, cfg))
	w := testStreams(t)
	w.stdout = t.Output()
	require.NoError(t, run(t.Context(), []string{"audit", "-c", path}, w))
}

func transfersIn(t *testing.T, store *records.Store) (n int) {
	t.Helper()
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
		for _, id := range []string{"eth", "vite"} {
			list, err := tx.Transfers().From(chain.ID(id), 0, 0, 100_000)
			if err != nil {
				return err
			}
			for _, x := range list {
				if x.Direction != records.Funding {
					n++
				}
			}
		}
		return nil
	}))
	return n
}

// checkBalances requires that a user has what they deposited less what they withdrew, and each
// payee what was withdrawn to them.
func (u *retryingUser) checkBalances(t *testing.T) {
	t.Helper()
	require.NoError(t, u.receiveAll(t.Context()))
	have, err := u.balance(t.Context())
	require.NoError(t, err)
	must, err := u.expectedBalance()
	require.NoError(t, err)
	require.Equal(t, must.String(), have.String(), "%s of %s", u.Token.Symbol, u.Vite.Address())
	for to, amount := range u.paid {
		u.requirePaid(t, to, amount)
	}
	u.requirePaid(t, common.HexToAddress(badPayee).Hex(), u.Times(0))
	wallet := u.Vite.Address().String()
	for hash := range u.deposits {
		r, ok, err := u.Gateway.Record(t.Context(), "/deposit-records", u.Token.Token, wallet, hash)
		require.NoError(t, err)
		require.True(t, ok, fmt.Sprintf("deposit %s", hash))
		require.Equal(t, "TOT_CONFIRMED", r.State)
	}
	for hash, state := range u.withdrawals {
		r, ok, err := u.Gateway.Record(t.Context(), "/withdraw-records", u.Token.Token, wallet, hash)
		require.NoError(t, err)
		require.True(t, ok, fmt.Sprintf("withdrawal %s", hash))
		require.Equal(t, state, r.State)
		require.Equal(t, state == "OPPOSITE_CONFIRMED", r.RefundState != "REFUNDED")
	}
}
