package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"gatewayd/chain/ethereum/devnode/external"
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/node"
	"gatewayd/wallet"
)

// Clocks and depths of the drill: money should arrive while somebody watches.
const (
	drillPeriod        = time.Second // the shortest that anvil has
	drillInterval      = time.Second / 2
	drillFinality      = 4
	drillConfirmations = 4
	drillPoll          = 100 * time.Millisecond
	drillAudit         = 10 * time.Second
	drillLooks         = 5 * time.Second // half of what a daemon takes by default, so that all of it fits into ten minutes
	drillNodes         = 3
)

// drillWorld is what a drill damages: anvil behind three gates, as three nodes of different owners, an embedded exchange chain behind another
// one, and the daemon as a process of its own.
type drillWorld struct {
	binary   string
	dir      string // of the configuration and the log
	data     string // of the daemon
	small    bool   // data is a small disk
	database *databaseGate
	anvil    *external.Node
	sources  []*drillGate
	exchange *embedded
	line     *drillGate   // to the exchange chain
	home     core.Address // the gateway's account on the exchange chain
	cfg      Config
	token    string  // that the pages are asked for
	visitor  string  // wallet that they are asked for
	info     devInfo // of the users, who reach the chains without a gate
	daemon   *exec.Cmd
	ended    chan error
	closers  []func() error
}

func newDrillWorld(dir string, o drillOptions) *drillWorld {
	return &drillWorld{binary: o.binary, dir: dir, data: filepath.Join(dir, "data")}
}

// open starts everything. close is wanted in any case.
func (w *drillWorld) open(ctx context.Context, o drillOptions) error {
	keys, err := wallet.FromMnemonic(devMnemonic)
	if err != nil {
		return err
	}
	if w.home, err = exchangeAddress(keys, wallet.GatewayPath(0)); err != nil {
		return err
	}
	if err := w.openChains(ctx, keys); err != nil {
		return err
	}
	if err := w.configure(ctx, o); err != nil {
		return err
	}
	if err := w.fund(ctx, keys); err != nil {
		return err
	}
	w.closers = append(w.closers, w.kill)
	return w.start(ctx)
}

// close ends everything, the newest first.
func (w *drillWorld) close() (err error) {
	for i := len(w.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, w.closers[i]())
	}
	w.closers = nil
	return err
}

func (w *drillWorld) openChains(ctx context.Context, keys *wallet.Keys) (err error) {
	if w.anvil, err = external.Start(ctx, external.Config{Kind: external.Anvil, Period: drillPeriod}); err != nil {
		return err
	}
	w.closers = append(w.closers, w.anvil.Close)
	genesis, err := devGenesis(keys)
	if err != nil {
		return err
	}
	if err := issueToHolder(&genesis, keys); err != nil {
		return err
	}
	w.exchange, err = newEmbedded(node.Config{Dir: filepath.Join(w.dir, "exchange"), Genesis: genesis, SnapshotInterval: drillInterval})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1) // room for the one answer
	go func() { ended <- w.exchange.Run(running) }()
	w.closers = append(w.closers, func() error { stop(); return <-ended })
	for range drillNodes {
		g, err := openGate(w.anvil.URL())
		if err != nil {
			return err
		}
		w.sources = append(w.sources, g)
		w.closers = append(w.closers, func() error { g.close(); return nil })
	}
	w.line, err = openGate(w.exchange.URL())
	if err == nil {
		w.closers = append(w.closers, func() error { w.line.close(); return nil })
	}
	return err
}

// drillShare is the part of a development world's funds that the drill's hot account has, one in so many: little enough for one user to withdraw.
const drillShare = 100

// fund gives the gateway's accounts tokens and coins. Nothing is swept to the hot account, so that it can fall short.
func (w *drillWorld) fund(ctx context.Context, keys *wallet.Keys) error {
	list, err := gifts(w.info, keys)
	if err != nil {
		return err
	}
	for _, g := range list {
		target, value, call := transferOf(g.asset, g.to, g.amount.Div(g.amount, big.NewInt(drillShare)), nil)
		if _, err := w.anvil.SendCall(target, value, call); err != nil {
			return err
		}
	}
	return nil
}

// configure writes the configuration file and the wallet of the daemon.
func (w *drillWorld) configure(ctx context.Context, o drillOptions) error {
	listen, err := freePort()
	if err != nil {
		return err
	}
	store, password, err := w.recoverWallet(ctx)
	if err != nil {
		return err
	}
	w.cfg = devConfig(devOptions{
		dir: w.data, listen: listen, poll: drillPoll, finality: drillFinality, confirmations: drillConfirmations, sweep: never,
	}, w.sources[0].url(), w.anvil.ChainID(), w.line.url())
	w.cfg.Log.Level = "info"
	w.cfg.Database.URL = "sqlite:" + filepath.Join(w.data, "records.db")
	if o.postgres != "" {
		if w.cfg.Database.URL, err = w.openDatabase(ctx, o.postgres); err != nil {
			return err
		}
	}
	w.cfg.Ethereum[0].Nodes = nil
	for _, g := range w.sources {
		w.cfg.Ethereum[0].Nodes = append(w.cfg.Ethereum[0].Nodes, g.url())
	}
	w.cfg.Watcher.BalanceAudit, w.cfg.Status.Every = drillAudit, drillLooks
	w.cfg.Wallet = WalletConfig{Store: store, PasswordFile: password}
	text, err := yaml.Marshal(w.cfg)
	if err != nil {
		return err
	}
	config := filepath.Join(w.dir, "config.yaml")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return err
	}
	w.info = newDevInfo(w.cfg, config, "")
	w.info.Source, w.info.Exchange = w.anvil.URL(), w.exchange.URL()
	return w.openDisk()
}

// openDisk makes the daemon's directory, a small disk where one can be had.
func (w *drillWorld) openDisk() error {
	if err := os.MkdirAll(w.data, 0o700); err != nil {
		return err
	}
	unmount, ok := mountDisk(w.data)
	if w.small = ok; ok {
		w.closers = append(w.closers, unmount)
	}
	return nil
}

// recoverWallet makes the entropy store of the development world, as an operator does.
func (w *drillWorld) recoverWallet(ctx context.Context) (store, password string, err error) {
	password = filepath.Join(w.dir, "password")
	if err := os.WriteFile(password, []byte("correct horse battery staple\n"), 0o600); err != nil {
		return "", "", err
	}
	c := exec.CommandContext(ctx, w.binary, "wallet", "recover", "--dir", filepath.Join(w.dir, "wallet"), "--password-file", password)
	c.Stdin = strings.NewReader(devMnemonic + "\n")
	out, err := c.CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("recovering the wallet: %w: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, path, ok := strings.Cut(strings.TrimSpace(line), "Store: "); ok {
			return path, password, nil
		}
	}
	return "", "", fmt.Errorf("recovering the wallet: no store is named in %q", out)
}

// start runs the daemon and waits until it answers.
func (w *drillWorld) start(ctx context.Context) error {
	log, err := os.OpenFile(w.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	w.daemon = exec.Command(w.binary, "run", "-c", w.info.Config)
	w.daemon.Stderr = log
	if err := w.daemon.Start(); err != nil {
		return fmt.Errorf("starting the daemon: %w", err)
	}
	w.ended = make(chan error, 1) // room for the one answer
	go func(c *exec.Cmd, ended chan<- error) { ended <- c.Wait() }(w.daemon, w.ended)
	return within(ctx, drillPatience, "the daemon", func() (bool, error) { return askHealth(ctx, w.healthURL()) == nil, w.alive() })
}

// alive is an error when the daemon has ended by itself.
func (w *drillWorld) alive() error {
	select {
	case err := <-w.ended:
		w.ended <- err
		return fmt.Errorf("the daemon has ended: %w", errors.Join(err, errors.New(w.told(0))))
	default:
		return nil
	}
}

// kill ends the daemon as a power cut would.
func (w *drillWorld) kill() error {
	if w.daemon == nil {
		return nil
	}
	if err := w.daemon.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := <-w.ended
	w.ended <- err
	return nil
}

func (w *drillWorld) healthURL() string { return rootOf(w.info.Gateway) + "/health" }

func (w *drillWorld) logFile() string { return filepath.Join(w.dir, "daemon.log") }

// told is the daemon's log from a byte on.
func (w *drillWorld) told(from int64) string {
	text, err := os.ReadFile(w.logFile())
	if err != nil || int64(len(text)) < from {
		return ""
	}
	return string(text[from:])
}

// drillHolder is the user who has a thousand minimums of USDT that were never deposited, so that the gateway owes more than it has.
const (
	drillHolder      = devUsers - 1
	drillHolderToken = 1
	drillHolds       = 1000
)

func issueToHolder(g *node.Genesis, keys *wallet.Keys) error {
	holder, err := exchangeAddress(keys, wallet.GatewayPath(devUserBase+drillHolder))
	if err != nil {
		return err
	}
	t := devTokens()[drillHolderToken]
	amount := t.units(t.minimum * drillHolds).Uint256()
	for _, a := range g.Accounts {
		have := a.Balances[t.ID]
		switch {
		case a.Address == holder:
			a.Balances[t.ID] = *amount
		case !have.IsZero(): // the gateway
			a.Balances[t.ID] = *have.Sub(&have, amount)
		}
	}
	return nil
}

// never is a schedule of sweeps that is not due while anybody watches.
const never = "0 0 29 2 *"

func freePort() (string, error) {
	l, err := net.Listen("tcp", anyPort)
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
