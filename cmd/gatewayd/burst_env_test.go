package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/dev/ethnode"
	"gatewayd/wallet"
)

// Depths of production, and the test's clocks: both chains need about the same time. The daemon
// works meanwhile on clocks like that of the real exchange chain, and twice as fast as that of any
// relevant source chain.
const (
	burstConfirmations = 180
	burstFinality      = 64

	exchangeFast = 40 * time.Millisecond
	sourceFast   = exchangeFast * burstConfirmations / burstFinality
	exchangeSlow = time.Second
	sourceSlow   = time.Second / 2
)

// burstEnv runs both chains and the daemon as processes of their own, as in production. The
// exchange chain has the limits of a real node's public port.
type burstEnv struct {
	source, exchange *chainProcess
	dir              string
	cfg              config.Config
	info             dev.Info
	daemon           *exec.Cmd
	log              *os.File
	blockTimes       [2]time.Duration // of the source chain and of the exchange chain
	asset            string           // the only one of a burst's users; empty: all
}

func newBurstEnv(t *testing.T) *burstEnv {
	t.Helper()
	return newBurstEnvOn(t, "")
}

// newBurstEnvOn keeps the records in the database at url, or in a file when it is empty.
// GATEWAYD_SOURCE names another program as the source chain, anvil or geth.
func newBurstEnvOn(t *testing.T, url string) *burstEnv {
	t.Helper()
	w := &burstEnv{dir: t.TempDir()}
	if program := os.Getenv("GATEWAYD_SOURCE"); program != "" {
		w.source = startChain(t, "program", program)
	} else {
		w.source = startChain(t, "source", strconv.Itoa(burstFinality))
	}
	w.exchange = startChain(t, "exchange", t.TempDir())
	w.setBlockTimes(t, sourceFast, exchangeFast)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	o := quickOptions(w.dir)
	o.Listen, o.Poll, o.Confirmations, o.Finality = freeAddress(t), 100*time.Millisecond, burstConfirmations, burstFinality
	faucet, err := dev.NewEthUser(t.Context(), w.source.urls[0], ethnode.FaucetKey())
	require.NoError(t, err)
	defer faucet.Client.Close()
	w.cfg = dev.Config(o, w.source.urls[0], faucet.Chain.Uint64(), w.exchange.urls[1])
	if url != "" {
		w.cfg.Database.URL = url
	}
	stores, store, password := recovered(t)
	w.cfg.Log.Level, w.cfg.Wallet = "info", config.Wallet{Store: filepath.Join(stores, store), PasswordFile: password}
	text, err := yaml.Marshal(w.cfg)
	require.NoError(t, err)
	config := filepath.Join(w.dir, "config.yaml")
	require.NoError(t, os.WriteFile(config, text, 0o600))
	w.info = dev.NewInfo(w.cfg, config, "")
	require.NoError(t, dev.FundSource(t.Context(), w.info, keys, nil))
	w.log, err = os.Create(filepath.Join(w.dir, "daemon.log"))
	require.NoError(t, err)
	t.Cleanup(func() { w.logEnd(t) })
	require.NoError(t, w.start())
	t.Cleanup(func() { require.NoError(t, w.kill()) })
	require.NoError(t, w.waitUntilServing(t.Context()))
	return w
}

func (w *burstEnv) start() error {
	w.daemon = exec.Command("gatewayd", "run", "-c", w.info.Config)
	w.daemon.Stderr = w.log
	return w.daemon.Start()
}

// waitUntilServing waits until /health of the daemon answers.
func (w *burstEnv) waitUntilServing(ctx context.Context) error {
	return dev.Within(ctx, dev.Soon, "the daemon", func() (bool, error) {
		return daemon.AskWell(ctx, dev.RootOf(w.info.Gateway)+"/health") == nil, nil
	})
}

// kill ends the daemon as a power cut would.
func (w *burstEnv) kill() error {
	if err := w.daemon.Process.Kill(); err != nil {
		return err
	}
	if w.daemon.Wait() == nil {
		return errors.New("the daemon had ended by itself")
	}
	return nil
}

// logEnd logs the end of the daemon's log if the test has failed.
func (w *burstEnv) logEnd(t *testing.T) {
	t.Helper()
	const end = 20_000
	text, err := os.ReadFile(w.log.Name())
	if t.Failed() && err == nil {
		t.Logf("the daemon's log ends:\n%s", text[max(0, len(text)-end):])
	}
	w.log.Close()
}

// setBlockTimes sets the time between blocks of both chains.
func (w *burstEnv) setBlockTimes(t *testing.T, source, exchange time.Duration) {
	t.Helper()
	want := [2]time.Duration{source, exchange}
	for i, chain := range []*chainProcess{w.source, w.exchange} {
		if w.blockTimes[i] != want[i] {
			chain.send(t, "pace %s", want[i])
		}
	}
	w.blockTimes = want
}

// adjustBlockTimes makes blocks fast on each chain while nothing can be paid on it.
func (w *burstEnv) adjustBlockTimes(t *testing.T, b *demo.Watch) {
	t.Helper()
	source, exchange := sourceFast, exchangeFast
	if isBusy(&b.Withdrawals, b.ExchangeHead) {
		source = sourceSlow
	}
	if isBusy(&b.Deposits, b.SourceHead) {
		exchange = exchangeSlow
	}
	w.setBlockTimes(t, source, exchange)
}

// isBusy is true while payments could be sent and are not, or can be within two blocks.
func isBusy(l *demo.Leg, here uint64) bool {
	height, all := demo.Final(l.In, l.Depth)
	return all && here+2 >= height && l.Paid() < len(l.Out)
}

// prepareAndSend prepares users and has all of them send while both chains make no blocks, so that
// everything becomes final at once. Where coin shares transactions, its payees are known accounts.
func (w *burstEnv) prepareAndSend(t *testing.T, count int) (*demo.Burst, *demo.Watch) {
	t.Helper()
	info := w.info
	if w.asset != "" {
		info.Tokens = slices.DeleteFunc(slices.Clone(info.Tokens), func(k dev.Token) bool { return k.Symbol != w.asset })
	}
	b, err := demo.NewBurst(t.Context(), info, count, demo.NewLog(t.Output(), false))
	require.NoError(t, err)
	t.Cleanup(b.Close)
	require.NoError(t, b.Prepare(t.Context()))
	if w.cfg.Ethereum[0].Batch.Coin {
		require.NoError(t, b.MakeKnown(t.Context()))
	}
	w.setBlockTimes(t, 0, 0)
	watch, err := b.Send(t.Context())
	require.NoError(t, err)
	return b, watch
}

// follow lets both chains make blocks until everything is final. looked is called after each
// reading of them.
func (w *burstEnv) follow(t *testing.T, watch *demo.Watch, looked func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), burstTimeout(t))
	defer cancel()
	require.NoError(t, watch.Run(ctx, func() {
		watch.Tell()
		w.adjustBlockTimes(t, watch)
		looked()
	}))
	t.Log(watch.Result().Text())
}

func burstTimeout(t *testing.T) time.Duration {
	t.Helper()
	if end, ok := t.Deadline(); ok {
		return min(30*time.Minute, time.Until(end)-10*time.Second)
	}
	return 30 * time.Minute
}
