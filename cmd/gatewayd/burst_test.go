package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/wallet"
)

// numberFrom is an environment variable, or what suits every run of all tests.
func numberFrom(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// TestBurst has many users deposit and withdraw at once at production depth. Everything completes
// without an operator, in the promised number of blocks, and the chains agree to the unit.
// GATEWAYD_BURST is the number; default 100.
func TestBurst(t *testing.T) {
	w := newBurstEnv(t)
	before := w.holdings(t, nil)
	b, watch := w.prepareAndSend(t, numberFrom(t, "GATEWAYD_BURST", 100))
	w.follow(t, watch, func() {})
	require.NoError(t, b.Count(t.Context()))
	require.NoError(t, b.Published(t.Context()))
	require.NoError(t, watch.Result().Met())
	w.checkBooks(t, b, before)
}

// TestBurstKilled kills the daemon repeatedly from the moment when payments of both directions can
// leave. GATEWAYD_BURST is the number of payments of each, GATEWAYD_KILLS the number of kills;
// defaults 100 and 5.
func TestBurstKilled(t *testing.T) {
	t.Parallel()
	w := newBurstEnv(t)
	killBurst(t, w, w.holdings(t, nil), numberFrom(t, "GATEWAYD_BURST", 100), numberFrom(t, "GATEWAYD_KILLS", 5))
}

// TestBurstKilledOnPostgres is the same with the records in PostgreSQL, which lives on. A daemon
// that comes back has to wait for the lease of the one that was killed.
func TestBurstKilledOnPostgres(t *testing.T) {
	t.Parallel()
	w := newBurstEnvOn(t, recordstest.Postgres(t).Database(t))
	killBurst(t, w, w.holdings(t, nil), numberFrom(t, "GATEWAYD_BURST", 20), numberFrom(t, "GATEWAYD_KILLS", 2))
}

// killBurst compares the holdings in the end with those before the gateway paid any fee.
func killBurst(t *testing.T, w *burstEnv, before dev.Holdings, size, kills int) *demo.Watch {
	t.Helper()
	b, watch := w.prepareAndSend(t, size)
	seed := seedOf(t)
	var killing errgroup.Group
	begin := sync.OnceFunc(func() {
		killing.Go(func() error { return w.killRepeatedly(t.Context(), kills, seed) })
	})
	t.Cleanup(func() { _ = killing.Wait() }) // reported below, unless the test has failed before
	w.follow(t, watch, func() {
		if watch.Withdrawals.Working() {
			begin()
		}
	})
	require.NoError(t, killing.Wait())
	require.NoError(t, w.waitUntilServing(t.Context()))
	require.NoError(t, b.Count(t.Context()))
	require.NoError(t, b.Published(t.Context()))
	w.checkBooks(t, b, before)
	return watch
}

// killRepeatedly kills at once, and then up to two seconds after the daemon answers.
func (w *burstEnv) killRepeatedly(ctx context.Context, kills int, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range kills {
		if err := errors.Join(w.kill(), w.start(), w.waitUntilServing(ctx)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(rng.Int64N(int64(2 * time.Second)))):
		}
	}
	return nil
}

// TestBurstAmongJunk lets strangers send empty transfers to the gateway's account, at almost no
// cost. Users' payments are not affected. GATEWAYD_JUNK is the number; default 2,000.
func TestBurstAmongJunk(t *testing.T) {
	w := newBurstEnv(t)
	before := w.holdings(t, nil)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	home, err := keys.Address(wallet.GatewayPath(0))
	require.NoError(t, err)
	b, err := demo.NewBurst(t.Context(), w.info, 1, demo.NewLog(t.Output(), false))
	require.NoError(t, err)
	defer b.Close()
	waitFor(t, "quota", func() bool { // it is there in full after 75 snapshot blocks
		height, err := b.Node.SnapshotHeight(t.Context())
		require.NoError(t, err)
		return height > 80
	})
	w.exchange.send(t, "junk %d %s", numberFrom(t, "GATEWAYD_JUNK", 2000), home)
	require.NoError(t, errors.Join(w.kill(), w.start(), w.waitUntilServing(t.Context()))) // a daemon that starts sees all of it as well

	b, watch := w.prepareAndSend(t, 40)
	w.follow(t, watch, func() {})
	require.NoError(t, b.Count(t.Context()))
	require.NoError(t, b.Published(t.Context()))
	require.NoError(t, watch.Result().Met())
	w.checkBooks(t, b, before)
}
