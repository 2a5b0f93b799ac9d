package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/gateway"
	"gatewayd/operator/status"
	"gatewayd/records"
	"gatewayd/wallet"
	"gatewayd/watcher"
)

// daemon is the wired program. Every open in newDaemon has its close in Close.
type daemon struct {
	cfg      Config
	log      *logrus.Logger
	store    *records.Store
	tenure   *tenure
	guard    *records.Guard
	chains   map[chain.ID]chain.Chain
	networks []records.Network
	watcher  *watcher.Watcher
	monitor  *status.Monitor
	gateway  *gateway.Server
	hangups  <-chan os.Signal // each asks for the configuration to be read again; nil for none
	closers  []func()
}

// newDaemon opens the database, takes its lease and wires chains, watcher and gateway. It starts nothing.
func newDaemon(ctx context.Context, cfg Config, keys *wallet.Keys, log *logrus.Logger) (*daemon, error) {
	d := &daemon{cfg: cfg, log: log, chains: map[chain.ID]chain.Chain{}}
	if err := d.open(ctx, keys); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// open fills the daemon; what it has taken when it fails is Close's to give back.
func (d *daemon) open(ctx context.Context, keys *wallet.Keys) (err error) {
	cfg, log := d.cfg, d.log
	if err = os.MkdirAll(cfg.Data, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	if err := d.openStore(ctx); err != nil {
		return err
	}
	if d.guard, err = records.OpenGuard(filepath.Join(cfg.Data, "guard.db")); err != nil {
		return fmt.Errorf("opening the sign-guard: %w", err)
	}
	d.closers = append(d.closers, d.closing("the sign-guard", d.guard.Close))
	if err := d.refresh(ctx); err != nil {
		return err
	}
	cfg = d.cfg
	watch := records.NewWatch(d.store)
	for _, c := range cfg.Ethereum {
		c.Log = log.WithField("chain", c.ID)
		adapter, err := ethereum.New(cfg.withTokens(c), keys, watch)
		if err != nil {
			return fmt.Errorf("chain %s: %w", c.ID, err)
		}
		d.chains[c.ID] = adapter
		d.closers = append(d.closers, adapter.Close)
	}
	for _, c := range cfg.Vite {
		c.Log = log.WithField("chain", c.ID)
		adapter, err := vite.New(c, keys, watch)
		if err != nil {
			return fmt.Errorf("chain %s: %w", c.ID, err)
		}
		d.chains[c.ID] = adapter
		d.closers = append(d.closers, adapter.Close)
	}
	if err := d.ownAccounts(ctx, keys); err != nil {
		return err
	}
	d.watcher, err = watcher.New(cfg.Watcher, watcher.Parts{Store: d.store, Chains: d.chains, Networks: d.networks, Guard: d.guard, Log: log})
	if err != nil {
		return err
	}
	d.monitor = status.NewMonitor(status.Parts{
		Config: cfg.Status, Store: d.store, Chains: d.chains, OnDemand: cfg.onDemand(), Networks: d.networks, Log: log,
	})
	return d.newGateway(keys)
}

// openStore opens the database and waits for its lease.
func (d *daemon) openStore(ctx context.Context) error {
	cfg := d.cfg.Database
	cfg.Migrating = func(from, to int64) {
		what := "bringing the database up to date, which may take minutes"
		if from == 0 {
			what = "making the database"
		}
		d.log.WithFields(logrus.Fields{"from": from, "to": to}).Info(what)
	}
	store, err := records.Open(ctx, cfg)
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	d.closers = append(d.closers, d.closing("the database", store.Close))
	if d.tenure, err = takeTenure(ctx, store, d.log); err != nil {
		return fmt.Errorf("taking the lease: %w", err)
	}
	d.closers = append(d.closers, d.tenure.end)
	d.store = store.Fenced(d.tenure.lease)
	return nil
}

// ownAccounts derives the accounts of every network and puts them into the database, with the daemon's first sign of life.
func (d *daemon) ownAccounts(ctx context.Context, keys *wallet.Keys) error {
	return d.store.Update(ctx, func(tx *records.Tx) error {
		for _, cfg := range d.cfg.Networks {
			n := cfg.network()
			for _, a := range d.cfg.ownAccounts(cfg) {
				var err error
				if a.Account, err = keys.Address(a.KeyPath); err != nil {
					return fmt.Errorf("deriving %s: %w", a.KeyPath, err)
				}
				if err := tx.EnsureAccount(a); err != nil {
					return fmt.Errorf("account %s: %w (was the database made with another wallet?)", a.Account, err)
				}
				n = withAccount(n, a)
			}
			d.networks = append(d.networks, n)
		}
		return tx.Beat(status.Role)
	})
}

func (d *daemon) newGateway(keys *wallet.Keys) error {
	routes := make([]gateway.Route, len(d.networks))
	for i, n := range d.networks {
		routes[i] = gateway.Route{
			BasePath: d.cfg.Networks[i].Path, Network: n, Source: d.chains[n.Source], Exchange: d.chains[n.Exchange],
			Derive: func(index uint32) (address, path string, err error) {
				if err := d.guard.GiveIndex(context.Background(), n.Source, index); err != nil {
					return "", "", err
				}
				path = wallet.DepositPath(index)
				address, err = keys.Address(path)
				return address, path, err
			},
		}
	}
	server, err := gateway.New(d.cfg.Gateway, gateway.Parts{Store: d.store, Routes: routes, Log: d.log})
	d.gateway = server
	return err
}

// Run works until ctx ends, a part fails or the lease is lost, which is records.ErrFenced with what happened.
func (d *daemon) Run(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.tenure.keep(gctx) })
	g.Go(func() error { return d.watcher.Run(gctx) })
	g.Go(func() error { return d.monitor.Run(gctx) })
	g.Go(func() error { return d.serveGateway(gctx) })
	g.Go(func() error { return d.followConfig(gctx) })
	g.Go(func() error { return tellWaiting(gctx, d.log, d.awaits()) })
	return d.tenure.explain(g.Wait())
}

// firstLook is how long the pages wait for the daemon's first look at what it can pay with. Nodes that are slower or away are a condition of their own.
const firstLook = 10 * time.Second

// serveGateway opens the pages when it is known whether there is anything to pay with: a new gateway invites nobody before.
func (d *daemon) serveGateway(ctx context.Context) error {
	select {
	case <-d.watcher.Looked():
	case <-ctx.Done():
	case <-time.After(firstLook):
	}
	return d.gateway.Run(ctx)
}

// awaits are the nodes that the daemon needs.
func (d *daemon) awaits() (list []dependency) {
	for _, id := range slices.Sorted(maps.Keys(d.chains)) {
		list = append(list, dependency{"the nodes of chain " + string(id), func(ctx context.Context) error {
			_, err := d.chains[id].Head(ctx)
			return err
		}})
	}
	return list
}

// closing is a close whose failure can only be told.
func (d *daemon) closing(what string, c func() error) func() {
	return func() {
		if err := c(); err != nil {
			d.log.WithError(err).Warn("closing " + what)
		}
	}
}

// Close gives back what newDaemon took, in reverse order.
func (d *daemon) Close() {
	for i := len(d.closers) - 1; i >= 0; i-- {
		d.closers[i]()
	}
	d.closers = nil
}

// network is the configured network without our accounts.
func (n NetworkConfig) network() records.Network {
	out := records.Network{
		Name: n.Name, Source: n.Source, Exchange: n.Exchange, Funders: n.Funders,
		SourceExplorer: n.SourceExplorer, ExchangeExplorer: n.ExchangeExplorer,
	}
	for _, t := range n.Tokens {
		out.Tokens = append(out.Tokens, t.token())
	}
	return out
}

// newLog is the program's logger as configured.
func newLog(cfg LogConfig, w world) (*logrus.Logger, error) {
	log := logrus.New()
	log.SetOutput(w.stderr)
	level, err := logrus.ParseLevel(cfg.level())
	if err != nil {
		return nil, err
	}
	log.SetLevel(level)
	if cfg.Format == "json" {
		log.SetFormatter(&logrus.JSONFormatter{})
	} else {
		log.SetFormatter(&logrus.TextFormatter{FullTimestamp: true, TimestampFormat: "15:04:05.000"})
	}
	return log, nil
}
