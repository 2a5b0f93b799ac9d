// Package daemon is the running gateway: it wires a configuration to chains, records, watcher,
// gateway, exchange API and wallet, holds the lease, and reloads the configuration on request.
// `gatewayd run` and the development environment of `gatewayd dev` are the same daemon.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/gateway"
	"gatewayd/metrics"
	"gatewayd/notify"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/checks"
	"gatewayd/status"
	"gatewayd/watcher"
)

// Daemon is the wired program. Close closes whatever New has opened.
type Daemon struct {
	Config    config.Config
	log       *logrus.Logger
	store     *records.Store // without the lease: for what any process may do
	Store     *records.Store // under the lease of the process that leads, once it is taken
	Tenure    *tenure        // nil before
	claim     *claim
	units     []unit
	notBefore time.Time            // no lease is asked for before: the work on a chain could not begin
	free      map[string]time.Time // since when the leases of chains are free, by role; of a process that does not lead
	mu        sync.Mutex           // of parts, and of Config and Networks while they are replaced
	parts     []*part
	again     bool           // not the first of this process
	alerts    *status.Alerts // of this process; nil before the first tenure
	decided   chan struct{}  // closed when this process leads, or another one has the lease
	standby   bool           // another one has it; set before decided
	leading   string         // fingerprint of the leader's configuration, which this standby has taken over
	refused   string         // the last logged reason why it does not serve, or did not take it over
	signer    signer.Service
	differs   string      // names of the policy's parts that differ from the signer's, as logged last
	checks    *checks.Set // of the signer in this process; nil for a separate one
	Chains    map[chain.ID]chain.Chain
	Networks  []records.Network
	Watcher   *watcher.Watcher // of the process that leads
	monitor   *status.Monitor  // the same
	notifier  *notify.Notifier
	Gateway   *gateway.Server
	deps      Dependencies
	limits    *exchangeLimits // of the exchange API in this process; nil for none
	closers   []func()
}

// Open opens all that needs no lease: database, chains, signer and gateway. It starts nothing.
func Open(ctx context.Context, cfg config.Config, w Dependencies) (*Daemon, error) {
	d := &Daemon{
		Config: cfg, log: w.Log, deps: w.withDefaults(), Chains: map[chain.ID]chain.Chain{}, decided: make(chan struct{}), free: map[string]time.Time{},
	}
	if err := d.open(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// New is Open, and waits until this process leads. It starts nothing.
func New(ctx context.Context, cfg config.Config, w Dependencies) (*Daemon, error) {
	d, err := Open(ctx, cfg, w)
	if err != nil {
		return nil, err
	}
	for d.Tenure == nil {
		if err = d.takeFree(ctx, func(*part) {}); err == nil && d.Tenure == nil {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(leasePoll):
			}
		}
		if err != nil {
			d.Close()
			return nil, err
		}
	}
	return d, nil
}

// open opens the daemon's parts. When it fails, Close closes those already open.
func (d *Daemon) open(ctx context.Context) (err error) {
	cfg, log := d.Config, d.log
	if err = os.MkdirAll(cfg.Data, 0o700); err != nil {
		return fmt.Errorf("creating the data directory: %w", err)
	}
	guard, err := d.openGuard()
	if err != nil {
		return err
	}
	if err := d.openStore(ctx, guard); err != nil {
		return err
	}
	watch := records.NewWatch(d.store)
	rules := map[chain.ID]chain.Rules{}
	for _, c := range cfg.Chains() {
		c, err := d.withAccount(ctx, c)
		if err != nil {
			return err
		}
		adapter, err := c.Timed(d.deps.Operators.Metrics.NodeCalls(string(c.ID))).Open(watch, log)
		if err != nil {
			return fmt.Errorf("chain %s: %w", c.ID, err)
		}
		d.Chains[c.ID], rules[c.ID] = adapter, adapter.Rules()
		d.closers = append(d.closers, adapter.Close)
	}
	d.units = d.unitsOf(cfg)
	if err := d.openSigner(ctx, guard, rules); err != nil {
		return err
	}
	if d.Networks, _, err = d.withAccounts(ctx, cfg); err != nil {
		return err
	}
	return d.newGateway(ctx)
}

// lead opens the parts that work under a lease. The process that leads takes over the configuration
// as it is then; others follow it (standBy).
func (d *Daemon) lead(ctx context.Context, u unit, t *tenure) (p *part, err error) {
	closers := d.closers
	d.closers = append(d.closers, t.End)
	defer func() {
		if err != nil {
			t.End() // others need not wait for it
			d.closers = closers
		}
	}()
	p = &part{unit: u, tenure: t, store: d.store.Fenced(t.lease)}
	if u.leads() {
		d.Tenure, d.Store = t, p.store
		if err := d.refresh(ctx); err != nil {
			return nil, err
		}
	}
	if err := d.recordGuard(ctx, p); err != nil {
		return nil, err
	}
	if u.leads() {
		if err := d.leadConfig(ctx); err != nil {
			return nil, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.openPart(p); err != nil {
		return nil, err
	}
	d.parts = append(d.parts, p)
	if u.leads() {
		d.Watcher, d.monitor = p.watcher, p.monitor
		d.notifier = notify.New(notify.Parts{
			Config: d.Config.Alerts, Store: d.Store, Log: d.log, Row: func(r records.Record) any { return operator.RowOf(r) },
		})
		if d.alerts != nil {
			d.monitor.Alerts = d.alerts // sent alerts are not sent again
		}
		d.alerts = d.monitor.Alerts
		d.decide(false)
	}
	return p, nil
}

// leadConfig puts the configuration into effect under the lease. Chains that no process works on
// count as down from now on, not since an earlier process has ended.
func (d *Daemon) leadConfig(ctx context.Context) error {
	networks, err := d.storeNetworks(ctx, d.Config)
	if err != nil {
		return err
	}
	if d.checks != nil { // what others signed since this process began counts too
		if err := d.checks.Reconfigure(ctx, d.Config.Signer.Config, d.Config.CheckedAssets()); err != nil {
			return err
		}
	}
	d.apply(d.Config, networks)
	return d.Store.Update(ctx, func(tx *records.Tx) error {
		return errors.Join(records.Beat(tx, status.Role), status.BeatChains(tx, d.Config.ChainIDs()))
	})
}

// openPart makes the watcher and the monitor of a part. It starts nothing.
func (d *Daemon) openPart(p *part) (err error) {
	p.watcher, err = watcher.New(d.Config.Watcher, watcher.Parts{
		Store: p.store, Chains: d.Chains, Networks: d.Networks, Signer: d.signer, Owns: p.owns, Log: d.log,
	})
	if err != nil {
		return err
	}
	var onDemand []chain.ID
	owned := map[chain.ID]chain.Chain{}
	for _, id := range d.chainsOf(p) {
		owned[id] = d.Chains[id]
	}
	for _, c := range d.Config.Chains() {
		if c.OnDemand {
			onDemand = append(onDemand, c.ID)
		}
	}
	p.monitor = status.NewMonitor(status.Parts{
		Config: d.Config.Status, Store: p.store, Chains: owned, ChainsOnly: !p.leads(), OnDemand: onDemand, Networks: d.Networks, Guard: d.guardState, Log: d.log,
	})
	return nil
}

// decide makes known whether this process had to wait for the lease.
func (d *Daemon) decide(standby bool) {
	select {
	case <-d.decided:
	default:
		d.standby = standby
		close(d.decided)
	}
}

// openStore opens the database, waits for a separate signer, and checks that its sign-guard belongs
// to the records.
func (d *Daemon) openStore(ctx context.Context, guard *signguard.Guard) error {
	cfg := d.Config.Database
	cfg.Migrating = func(from, to int64) {
		what := "upgrading the database, which may take minutes"
		if from == 0 {
			what = "creating the database"
		}
		d.log.WithFields(logrus.Fields{"from": from, "to": to}).Info(what)
	}
	operators := d.deps.Operators
	operators.setStage("the database is being opened")
	store, err := records.Open(ctx, cfg)
	if err != nil {
		operators.setStage("the database cannot be opened: " + err.Error())
		return fmt.Errorf("opening the database: %w", err)
	}
	d.closers = append(d.closers, d.closing("the database", store.Close))
	operators.Metrics.Pools("records", store)
	operators.setStandby(store)
	d.closers = append(d.closers, operators.setClosed)
	d.store, d.claim = store, &claim{store: store, holder: holderName(store, byChain(d.Config)), log: d.log}
	return d.checkGuardEarly(ctx, store, guard)
}

// withAccounts returns the networks of a configuration with their accounts, and the accounts of
// each. It asks the signer for their addresses.
func (d *Daemon) withAccounts(ctx context.Context, cfg config.Config) ([]records.Network, [][]config.OwnAccount, error) {
	lists, networks := make([][]config.OwnAccount, len(cfg.Networks)), make([]records.Network, len(cfg.Networks))
	for i, n := range cfg.Networks {
		lists[i], networks[i] = cfg.OwnAccounts(n), cfg.NetworkRecord(n)
		for j, a := range lists[i] {
			of, err := d.signer.Accounts(ctx, a.Chain, a.KeyPath)
			if err != nil {
				return nil, nil, fmt.Errorf("asking the signer for %s: %w", a.KeyPath, err)
			}
			lists[i][j].Account.Account = of[0]
			networks[i] = config.WithAccount(networks[i], lists[i][j])
		}
	}
	return networks, lists, nil
}

// storeNetworks is withAccounts for the leader. It puts what is new into the database: from then on
// it is watched, for ever.
func (d *Daemon) storeNetworks(ctx context.Context, cfg config.Config) ([]records.Network, error) {
	networks, lists, err := d.withAccounts(ctx, cfg)
	if err != nil {
		return nil, err
	}
	keys := map[chain.ID]signer.DepositKey{}
	for _, c := range cfg.Chains() {
		if c.Coins == "" {
			continue
		}
		if keys[c.ID], err = d.signer.DepositKey(ctx, c.ID); err != nil {
			return nil, fmt.Errorf("asking the signer for the account of %s: %w", c.ID, err)
		}
	}
	err = d.Store.Update(ctx, func(tx *records.Tx) error {
		if len(keys) > 0 {
			if err := records.NoteReport(tx, operator.AccountKeys, keys); err != nil {
				return err
			}
		}
		for i, n := range networks {
			if err := checkPool(tx, cfg, n.Source); err != nil {
				return err
			}
			for _, a := range lists[i] {
				if err := tx.Accounts().Ensure(a.Account); err != nil {
					return fmt.Errorf("account %s: %w (was the database created with another wallet?)", a.Account.Account, err)
				}
			}
			if err := tx.Transfers().ServeTokens(n); err != nil {
				return err
			}
		}
		return nil
	})
	return networks, err
}

// checkPool refuses another account on a ledger of coins than the one whose coins the records have:
// the signer could not spend these.
func checkPool(tx *records.Tx, cfg config.Config, id chain.ID) error {
	c, _ := cfg.Chain(id)
	if c.Coins == "" {
		return nil
	}
	known, err := tx.Accounts().List(id, records.KindHot)
	for _, a := range known {
		if a.KeyPath != c.Coins.Pool() {
			return fmt.Errorf("chain %s: network and addresses must not change: the coins in the records belong to the account of %s, not to %s", id, a.KeyPath, c.Coins)
		}
	}
	return err
}

// newGateway makes the server for wallets. It needs no lease: what it writes, the databases of
// records and sign-guard give to one user only, whichever process asks.
func (d *Daemon) newGateway(ctx context.Context) error {
	routes := make([]gateway.Route, len(d.Networks))
	for i, n := range d.Networks {
		derive, err := d.deriver(ctx, n)
		if err != nil {
			return err
		}
		routes[i] = gateway.Route{
			BasePath: d.Config.Networks[i].Path, Network: n, Source: d.Chains[n.Source], Exchange: d.Chains[n.Exchange], Derive: derive,
			GiveLabel: func(ctx context.Context, owner, label string) error {
				return d.signer.GiveLabel(ctx, signguard.Binding{Network: n.Name, Chain: n.Source, Label: label, User: owner})
			},
		}
	}
	server, err := gateway.New(d.Config.Gateway, gateway.Parts{
		Store: d.store, Routes: routes, Log: d.log, Tell: d.deps.Operators.Metrics.Requests("gateway"), Readiness: d.deps.Operators.ready,
		Pages: gatewayPages(d.Config, d.deps.Demo != nil), ReconcileEvery: d.Config.Watcher.ReconcileEvery(), Demo: d.deps.Demo,
	})
	d.Gateway = server
	if err == nil && d.deps.Roles.API {
		d.deps.Operators.setGateway(server)
	}
	return err
}

// Run works until ctx ends, a part fails or the lease is lost, which is records.ErrFenced with what
// happened.
func (d *Daemon) Run(ctx context.Context) error { return d.serve(ctx, ctx) }

// serve is Run of a process that serves wallets longer than it works: the work ends with ctx.
func (d *Daemon) serve(ctx, serving context.Context) error {
	g, serving := errgroup.WithContext(serving)
	work, stop := context.WithCancel(serving)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	if d.deps.Roles.API {
		g.Go(func() error { return d.serveGateway(serving) })
	}
	if d.deps.Roles.Bridge {
		g.Go(func() error { return d.work(work) })
	} else {
		g.Go(func() error { return d.serveOnly(work) })
	}
	return g.Wait()
}

// serveOnly is the work of a process that never leads, until ctx ends.
func (d *Daemon) serveOnly(ctx context.Context) error {
	d.log.Info("this process serves requests; another one follows the chains and pays")
	for {
		d.standBy(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// work takes leases, works under them until ctx ends or one is lost, and gives all back.
func (d *Daemon) work(ctx context.Context) error {
	defer d.endTenures()
	g, gctx := errgroup.WithContext(ctx)
	start := func(p *part) { g.Go(func() error { return d.run(gctx, p) }) }
	for _, p := range d.parts { // of New
		start(p)
	}
	g.Go(func() error { return d.takeUnits(gctx, start) })
	return g.Wait()
}

// figures returns the sources of the metrics.
func (d *Daemon) figures() metrics.Bridge {
	b := metrics.Bridge{Store: d.Store, Chains: d.Chains, CoinDecimals: map[chain.ID]uint8{}, Networks: d.monitor.Networks, Every: d.Config.Status.Every}
	for _, c := range d.Config.Chains() {
		b.CoinDecimals[c.ID] = c.Decimals
	}
	return b
}

// firstLook bounds the pages' wait for the daemon's first read of its balances. Slow or absent
// nodes are a condition of their own.
const firstLook = 10 * time.Second

// serveGateway opens the pages when the balances are known: a new gateway without funds must not
// invite users. Those of a standby open at once, because the leader knows them.
func (d *Daemon) serveGateway(ctx context.Context) error {
	select {
	case <-d.decided:
	case <-ctx.Done():
		return nil
	}
	if !d.standby {
		select {
		case <-d.Watcher.FundsChecked():
		case <-ctx.Done():
		case <-time.After(firstLook):
		}
	}
	return serveWhenFree(ctx, d.log, "gateway.listen", d.standby, d.Gateway.Run)
}

// awaits lists the nodes that the daemon needs.
func (d *Daemon) awaits() (list []awaitedService) {
	for _, id := range slices.Sorted(maps.Keys(d.Chains)) {
		list = append(list, awaitedService{"the nodes of chain " + string(id), func(ctx context.Context) error {
			_, err := d.Chains[id].Head(ctx)
			return err
		}})
	}
	return list
}

// closing is a close whose failure is only logged.
func (d *Daemon) closing(what string, c func() error) func() {
	return func() {
		if err := c(); err != nil {
			d.log.WithError(err).Warn("closing " + what)
		}
	}
}

// Close closes what New has opened, in reverse order.
func (d *Daemon) Close() {
	for i := len(d.closers) - 1; i >= 0; i-- {
		d.closers[i]()
	}
	d.closers = nil
}
