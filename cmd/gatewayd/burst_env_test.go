package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/devnet"
	"gatewayd/devnet/burst"
	"gatewayd/devnet/demo"
	"gatewayd/wallet"
)

// Depths of production, and the clocks on which a test waits for them: both chains need about the same time. What the daemon does meanwhile
// is counted on clocks like that of the real exchange chain, and twice as fast as that of any source chain worth a bridge.
const (
	burstConfirmations = 180
	burstFinality      = 64

	exchangePace = 40 * time.Millisecond
	sourcePace   = exchangePace * burstConfirmations / burstFinality
	exchangeWork = time.Second
	sourceWork   = time.Second / 2
)

// burstWorld is both chains and the daemon, each a process of its own, as in production. The exchange chain has the limits of a real node's
// public port.
type burstWorld struct {
	source, exchange *chainProcess
	dir              string
	cfg              config.Config
	info             devnet.Info
	daemon           *exec.Cmd
	log              *os.File
	pace             [2]time.Duration // of the source chain and of the exchange chain
}

func newBurstWorld(t *testing.T) *burstWorld {
	t.Helper()
	return newBurstWorldOn(t, "")
}

// newBurstWorldOn keeps the records in the database at url, or in a file when it is empty.
func newBurstWorldOn(t *testing.T, url string) *burstWorld {
	t.Helper()
	w := &burstWorld{dir: t.TempDir()}
	w.source = startChain(t, "source", strconv.Itoa(burstFinality))
	w.exchange = startChain(t, "exchange", t.TempDir())
	w.clocks(t, sourcePace, exchangePace)
	keys, err := wallet.FromMnemonic(devnet.Mnemonic)
	require.NoError(t, err)
	o := quick(w.dir)
	o.Listen, o.Poll, o.Confirmations, o.Finality = freeAddress(t), 100*time.Millisecond, burstConfirmations, burstFinality
	w.cfg = devnet.Config(o, w.source.urls[0], 1337, w.exchange.urls[1])
	if url != "" {
		w.cfg.Database.URL = url
	}
	stores, store, password := recovered(t)
	w.cfg.Log.Level, w.cfg.Wallet = "info", config.Wallet{Store: filepath.Join(stores, store), PasswordFile: password}
	text, err := yaml.Marshal(w.cfg)
	require.NoError(t, err)
	config := filepath.Join(w.dir, "config.yaml")
	require.NoError(t, os.WriteFile(config, text, 0o600))
	w.info = devnet.NewInfo(w.cfg, config, "")
	require.NoError(t, devnet.FundSource(t.Context(), w.info, keys, nil))
	w.log, err = os.Create(filepath.Join(w.dir, "daemon.log"))
	require.NoError(t, err)
	t.Cleanup(func() { w.tellEnd(t) })
	require.NoError(t, w.start())
	t.Cleanup(func() { require.NoError(t, w.kill()) })
	require.NoError(t, w.answers(t.Context()))
	return w
}

func (w *burstWorld) start() error {
	w.daemon = exec.Command("gatewayd", "run", "-c", w.info.Config)
	w.daemon.Stderr = w.log
	return w.daemon.Start()
}

// answers waits until the daemon serves.
func (w *burstWorld) answers(ctx context.Context) error {
	return devnet.Within(ctx, devnet.Soon, "the daemon", func() (bool, error) {
		return daemon.AskHealth(ctx, devnet.RootOf(w.info.Gateway)+"/health") == nil, nil
	})
}

// kill ends the daemon as a power cut would.
func (w *burstWorld) kill() error {
	if err := w.daemon.Process.Kill(); err != nil {
		return err
	}
	if w.daemon.Wait() == nil {
		return errors.New("the daemon had ended by itself")
	}
	return nil
}

// tellEnd shows the end of the daemon's log if the test has failed.
func (w *burstWorld) tellEnd(t *testing.T) {
	t.Helper()
	const end = 20_000
	text, err := os.ReadFile(w.log.Name())
	if t.Failed() && err == nil {
		t.Logf("the daemon's log ends:\n%s", text[max(0, len(text)-end):])
	}
	w.log.Close()
}

// clocks sets the pace of both chains.
func (w *burstWorld) clocks(t *testing.T, source, exchange time.Duration) {
	t.Helper()
	want := [2]time.Duration{source, exchange}
	for i, chain := range []*chainProcess{w.source, w.exchange} {
		if w.pace[i] != want[i] {
			chain.order(t, "pace %s", want[i])
		}
	}
	w.pace = want
}

// keepTime has each chain go fast while nothing can be paid on it.
func (w *burstWorld) keepTime(t *testing.T, b *burst.Watch) {
	t.Helper()
	source, exchange := sourcePace, exchangePace
	if busyLeg(&b.Withdrawals, b.ExchangeHead) {
		source = sourceWork
	}
	if busyLeg(&b.Deposits, b.SourceHead) {
		exchange = exchangeWork
	}
	w.clocks(t, source, exchange)
}

// busy tells whether payments could leave and have not, or can within two blocks.
func busyLeg(l *burst.Leg, here uint64) bool {
	height, all := burst.Final(l.In, l.Depth)
	return all && here+2 >= height && l.Paid() < len(l.Out)
}

// burst gets users ready and has all of them send while both chains stand still, so that all of it becomes final at once.
func (w *burstWorld) burst(t *testing.T, count int) (*burst.Burst, *burst.Watch) {
	t.Helper()
	b, err := burst.New(t.Context(), w.info, count, demo.NewLog(t.Output(), false))
	require.NoError(t, err)
	t.Cleanup(b.Close)
	require.NoError(t, b.Prepare(t.Context()))
	w.clocks(t, 0, 0)
	watch, err := b.Send(t.Context())
	require.NoError(t, err)
	return b, watch
}

// follow lets both chains go on until everything is final. looked is called after each look at them.
func (w *burstWorld) follow(t *testing.T, watch *burst.Watch, looked func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), burstPatience(t))
	defer cancel()
	require.NoError(t, watch.Run(ctx, func() {
		watch.Tell()
		w.keepTime(t, watch)
		looked()
	}))
	t.Log(watch.Result().Text())
}

func burstPatience(t *testing.T) time.Duration {
	t.Helper()
	if end, ok := t.Deadline(); ok {
		return min(30*time.Minute, time.Until(end)-10*time.Second)
	}
	return 30 * time.Minute
}
