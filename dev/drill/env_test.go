package drill

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/holiman/uint256"

	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/internal/testing/faults"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// Clocks and depths of the drill: money should arrive while a person watches.
const (
	drillPeriod        = time.Second // the shortest that anvil has
	drillInterval      = time.Second / 2
	drillFinality      = 3
	drillConfirmations = 3
	drillPoll          = 100 * time.Millisecond
	drillAudit         = 10 * time.Second
	drillLooks         = 3 * time.Second // of the monitor and of the books' comparison; daemons take longer by default
	drillTimeout       = 3 * time.Second // of source nodes
	drillNodes         = 3
)

// options are the settings of a group of drills.
type options struct {
	binary   string // the program that is drilled
	postgres string // URL of a PostgreSQL server where a database may be made and dropped; empty: SQLite
	mount    bool   // this process may mount the small disk
}

// drillEnv is the target of the drills: anvil behind three nodes that can fail, as those of
// different owners, an embedded exchange chain behind another one, users, and the daemon as a
// separate process.
type drillEnv struct {
	log      *demo.Log
	options  options
	dir      string // of the configuration and the log
	data     string // of the daemon
	small    bool   // it is a small disk
	database *drillDatabase
	keys     *wallet.Keys
	anvil    *ethtest.Node
	sources  []*faults.Node
	exchange *daemon.Embedded
	line     *faults.Node // to the exchange chain
	home     core.Address // the gateway's account on the exchange chain
	hot      string       // its paying account on the source chain
	cfg      config.Config
	info     dev.Info // of the users, who reach the chains directly
	daemon   *exec.Cmd
	ended    chan error
	closers  []func() error

	users []*drillUser // one for each token
	rich  []*drillUser // of the first two tokens: they have some that were never deposited
	mu    sync.Mutex   // of due
	due   dev.Holdings
	ours  map[string]bool // deposit addresses of users

	logFrom   int      // where the daemon's log was when the drill began
	token     string   // that the pages are asked for
	unknownTx string   // hash of a transaction that is not ours
	waiting   string   // hash of a withdrawal that waits
	strays    []string // hashes of deposits without an owner
}

func newDrillEnv(dir string, o options) *drillEnv {
	return &drillEnv{options: o, dir: dir, data: filepath.Join(dir, "data"), ours: map[string]bool{}}
}

// open starts everything and has users bridge. close is wanted in any case.
func (w *drillEnv) open(ctx context.Context) (err error) {
	if w.keys, err = wallet.FromMnemonic(dev.Mnemonic); err != nil {
		return err
	}
	if w.home, err = daemon.ExchangeAddress(w.keys, wallet.GatewayPath(0)); err != nil {
		return err
	}
	if w.hot, err = w.keys.Address(wallet.SourcePaths(ethereum.CoinType).Hot(0)); err != nil {
		return err
	}
	for _, act := range []step{
		(*drillEnv).openChains, (*drillEnv).configure, (*drillEnv).openDisk, (*drillEnv).fund, (*drillEnv).start, (*drillEnv).openBooks, (*drillEnv).openUsers,
	} {
		if err := act(w, ctx); err != nil {
			return err
		}
	}
	return nil
}

// onClose adds a function that close calls, the newest first.
func (w *drillEnv) onClose(closer func() error) { w.closers = append(w.closers, closer) }

func (w *drillEnv) close() (err error) {
	for i := len(w.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, w.closers[i]())
	}
	w.closers = nil
	return err
}

func (w *drillEnv) openChains(ctx context.Context) (err error) {
	if w.anvil, err = ethtest.Start(ctx, ethtest.Config{Kind: ethtest.Anvil, Period: drillPeriod}); err != nil {
		return err
	}
	w.onClose(w.anvil.Close)
	genesis, err := w.genesis()
	if err != nil {
		return err
	}
	w.exchange, err = daemon.NewEmbedded(node.Config{Dir: filepath.Join(w.dir, "exchange"), Genesis: genesis, SnapshotInterval: drillInterval})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1) // room for the one answer
	go func() { ended <- w.exchange.Run(running) }()
	w.onClose(func() error { stop(); return <-ended })
	for range drillNodes {
		n, err := faults.Open(w.anvil.URL())
		if err != nil {
			return err
		}
		w.sources = append(w.sources, n)
		w.onClose(n.Close)
	}
	if w.line, err = faults.Open(w.exchange.URL()); err == nil {
		w.onClose(w.line.Close)
	}
	return err
}

// drillShare is the part of a development environment's funds that the drill's hot account has, one
// in so many: little enough for one user to withdraw.
const drillShare = 100

// drillRich is the number of the first user who has tokens that were never deposited: more than the
// hot account has.
const drillRich = dev.Users - 2

func (w *drillEnv) genesis() (ledger.Genesis, error) {
	g, err := dev.Genesis(w.keys)
	if err != nil {
		return g, err
	}
	for i, t := range dev.Tokens()[:dev.Users-drillRich] {
		rich, err := daemon.ExchangeAddress(w.keys, wallet.GatewayPath(dev.UserBase+drillRich+uint32(i)))
		if err != nil {
			return g, err
		}
		for _, a := range g.Accounts {
			if have := a.Balances[t.ID]; a.Address == rich {
				a.Balances[t.ID] = *richIn(t)
			} else if !have.IsZero() { // the gateway
				a.Balances[t.ID] = *have.Sub(&have, richIn(t))
			}
		}
	}
	return g, nil
}

// richIn is the rich user's balance of a token, in smallest units: four times that of the hot
// account.
func richIn(t dev.Asset) *uint256.Int { return t.Units(4 * 10_000_000 / drillShare).Uint256() }

// fund gives the gateway's accounts tokens and coins. Nothing is swept to the hot account, so that
// it can fall short.
func (w *drillEnv) fund(context.Context) error {
	list, err := dev.Gifts(w.info, w.keys)
	if err != nil {
		return err
	}
	for _, g := range list {
		if err := w.sendFromFunder(g.Asset, g.To.Hex(), g.Amount.Div(g.Amount, big.NewInt(drillShare))); err != nil {
			return err
		}
	}
	return nil
}

// configure writes the configuration file and the wallet of the daemon.
func (w *drillEnv) configure(ctx context.Context) error {
	listen, err := freePort()
	if err != nil {
		return err
	}
	store, password, err := w.recoverWallet(ctx)
	if err != nil {
		return err
	}
	w.cfg = dev.Config(dev.Options{
		Dir: w.data, Listen: listen, Poll: drillPoll, Finality: drillFinality, Confirmations: drillConfirmations, Sweep: never, BalanceAudit: drillAudit,
	}, w.sources[0].URL, w.anvil.ChainID(), w.line.URL)
	w.cfg.Log = config.Log{Level: "info", Format: "json"}
	w.cfg.Database.URL = "sqlite:" + filepath.Join(w.data, "records.db")
	if w.options.postgres != "" {
		if w.cfg.Database.URL, err = w.openDatabase(ctx, w.options.postgres); err != nil {
			return err
		}
	}
	source := &w.cfg.Ethereum[0]
	source.Nodes, source.Timeout = nil, drillTimeout
	for _, n := range w.sources {
		source.Nodes = append(source.Nodes, n.URL)
	}
	w.cfg.Watcher.Reconcile, w.cfg.Status.Every = drillLooks, drillLooks
	w.cfg.Watcher.Solvency = 24 * time.Hour // the rich user's tokens are no liability; `audit` checks at the end
	w.cfg.Wallet = config.Wallet{Store: store, PasswordFile: password}
	text, err := yaml.Marshal(w.cfg)
	if err != nil {
		return err
	}
	config := filepath.Join(w.dir, "config.yaml")
	w.info = dev.NewInfo(w.cfg, config, "")
	w.info.Source, w.info.Exchange = w.anvil.URL(), w.exchange.URL()
	return os.WriteFile(config, text, 0o600)
}

// openDisk makes the daemon's directory, a small disk where one can be had.
func (w *drillEnv) openDisk(context.Context) error {
	if err := os.MkdirAll(w.data, 0o700); err != nil || !w.options.mount {
		return err
	}
	unmount, err := faults.Mount(w.data, "160m")
	if w.small = err == nil; w.small {
		w.onClose(unmount)
	}
	return nil // a drill reports that it is skipped
}

// recoverWallet makes the entropy store of the development environment.
func (w *drillEnv) recoverWallet(ctx context.Context) (store, password string, err error) {
	const secret = "correct horse battery staple"
	password = filepath.Join(w.dir, "password")
	if err := os.WriteFile(password, []byte(secret+"\n"), 0o600); err != nil {
		return "", "", err
	}
	m, err := wallet.NewManager(wallet.Config{Dir: filepath.Join(w.dir, "wallet")})
	if err != nil {
		return "", "", err
	}
	made, err := m.Recover(ctx, dev.Mnemonic, secret)
	return made.Path, password, err
}

// start runs the daemon and waits until it answers. It is killed with the environment.
func (w *drillEnv) start(ctx context.Context) error {
	log, err := os.OpenFile(w.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	w.daemon, w.ended = exec.Command(w.options.binary, "run", "-c", w.info.Config), make(chan error, 1) // room for the one answer
	w.daemon.Stderr = log
	if err := w.daemon.Start(); err != nil {
		return fmt.Errorf("starting the daemon: %w", err)
	}
	go func() { w.ended <- w.daemon.Wait() }()
	w.onClose(func() error {
		_ = w.daemon.Process.Kill() // it may have ended
		err := <-w.ended
		w.ended <- err
		return nil
	})
	return dev.Within(ctx, drillPatience, "the daemon", func() (bool, error) { return daemon.AskWell(ctx, w.healthURL()) == nil, w.alive() })
}

// alive returns an error when the daemon has ended.
func (w *drillEnv) alive() error {
	select {
	case err := <-w.ended:
		w.ended <- err
		return fmt.Errorf("the daemon has ended: %w", errors.Join(err, errors.New(w.readLog(0))))
	default:
		return nil
	}
}

func (w *drillEnv) healthURL() string { return dev.RootOf(w.info.Gateway) + "/health" }

func (w *drillEnv) logFile() string { return filepath.Join(w.dir, "daemon.log") }

// readLog is the daemon's log from a byte on.
func (w *drillEnv) readLog(from int) string {
	text, err := os.ReadFile(w.logFile())
	if err != nil || len(text) < from {
		return ""
	}
	return string(text[from:])
}

// never is a schedule of sweeps that is not due while anybody watches.
const never = "0 0 29 2 *"
