// Package dev is the embedded environment of `gatewayd dev`: both chains in this process, the
// exchange's operator, users with wallets on both chains, and the same daemon as `gatewayd run`,
// with a configuration written for it. All its keys are public.
package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev/ethnode"
	"gatewayd/exchangeapi"
	"gatewayd/gateway"
	"gatewayd/httpserver"
	"gatewayd/records"
	"gatewayd/signer/limits"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet"
	"gatewayd/watcher"
)

// Mnemonic is public: for development chains only. It differs from that of anvil and hardhat, whose
// funded accounts would be the gateway's own.
const Mnemonic = "climb weasel symbol pluck police congress industry crunch lawsuit auto arch gallery"

// EveryMinute is often enough for a person who tries things out.
const EveryMinute = "* * * * *"

// Options are the flags of `gatewayd dev`.
type Options struct {
	Dir, Listen, ExchangeListen, Source string
	Bitcoin                             string        // program of a second source chain: btcd or litecoind; empty for none
	SourceListen                        string        // address of the embedded source chain's JSON-RPC; empty: the system chooses a port
	API                                 string        // address of the exchange API; empty for none
	Operators                           string        // address of the operators' listener; empty: the system chooses a port
	Confirmations, Finality             int64         // depth of final blocks of the exchange chain and of the source chain
	Period                              time.Duration // between blocks of the source chain
	Interval                            time.Duration // between snapshot blocks of the exchange chain
	Poll                                time.Duration // of the watcher; 0 is as fast as the chains
	Sweep                               string        // schedule of sweeping deposit addresses
	Accounts                            int           // that pay on each chain; 0 is 1
	// VITE staked for each paying account on the exchange chain; 0: the maximum that counts
	stake   uint64
	Legacy  bool   // no base fee on the embedded source chain
	London  uint64 // the first block with one all the same; 0 for none
	Public  bool   // both chains have a public node's methods only
	Verbose bool
	Demo    http.Handler // what the pages can do besides; nil for nothing
	Limits  bool         // the signer has limits, far above what the pages need
	Past    bool         // a day of trading before the start, on a new exchange chain

	BalanceAudit time.Duration   // how often the coin of all accounts is compared with the books; 0: a minute
	CoinPrice    decimal.Decimal // of the source chain's coin in the other tokens; zero: not known
}

// Env is the surroundings of `gatewayd run`, and the same daemon in it, with a configuration
// written for it.
type Env struct {
	Source   *ethnode.Node // nil when the caller has a node
	coin     *coinChain    // nil for none
	Exchange *daemon.Embedded
	Operator *Operator
	openAPI  func(context.Context) (*daemon.Exchange, error) // nil for none
	api      chan *daemon.Exchange                           // the opened one, once
	Daemon   *daemon.Daemon
	told     *daemon.Operators
	Info     Info
	closers  []func()
}

// Open makes both chains in o.dir, funds the gateway once and wires the daemon. Only the source
// chain makes blocks before Run.
func Open(ctx context.Context, o Options, stderr io.Writer, getenv func(string) string) (*Env, error) {
	o = o.withDefaults()
	d := &Env{api: make(chan *daemon.Exchange, 1)}
	if err := d.open(ctx, o, stderr, getenv); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Env) open(ctx context.Context, o Options, stderr io.Writer, getenv func(string) string) error {
	keys, err := wallet.FromMnemonic(Mnemonic)
	if err != nil {
		return err
	}
	sourceURL, chainID, err := d.openSource(ctx, o)
	if err != nil {
		return err
	}
	genesis, err := Genesis(keys)
	if err == nil {
		err = stakePool(&genesis, keys, o)
	}
	if err == nil && o.Bitcoin != "" {
		err = d.openCoin(ctx, o, &genesis, keys)
	}
	if err != nil {
		return err
	}
	var clock pastClock
	d.Exchange, err = daemon.StartEmbedded(node.Config{Dir: filepath.Join(o.Dir, "exchange"), Genesis: genesis, SnapshotInterval: o.Interval, Now: clock.now},
		config.Embedded{Listen: o.ExchangeListen, Public: o.Public})
	switch {
	case errors.Is(err, node.ErrOtherGenesis):
		return fmt.Errorf("embedded exchange chain: %w: another version or other options made --dir %s; use a new directory", err, o.Dir)
	case err != nil:
		return fmt.Errorf("embedded exchange chain: %w (is another `gatewayd dev` running? choose --exchange-listen)", err)
	}
	d.closers = append(d.closers, d.Exchange.Close)
	written := d.writePast(ctx, o, &clock)
	if d.Operator, err = NewOperator(ctx, d.Exchange.URL()); err != nil {
		return err
	}
	cfg := Config(o, sourceURL, chainID, d.Exchange.URL())
	if d.coin != nil {
		d.coin.addTo(&cfg, o)
		cfg.Fill()
	}
	if err = d.describe(ctx, cfg, keys, o.Demo != nil); err != nil {
		return err
	}
	log, err := daemon.NewLog(cfg.Log, stderr)
	if err != nil {
		return err
	}
	cfg.Path = d.Info.Config
	cfg = d.Exchange.Inside(cfg)
	w := daemon.Dependencies{Keys: keys, Getenv: getenv, Log: log, Demo: o.Demo}
	if w.Operators, err = daemon.NewOperators(cfg, true, log); err != nil {
		return err
	}
	d.told = w.Operators
	if d.Daemon, err = daemon.New(ctx, cfg, w); err != nil {
		return err
	}
	d.closers = append(d.closers, d.Daemon.Close)
	if cfg.Exchange != nil {
		d.openAPI = func(ctx context.Context) (*daemon.Exchange, error) {
			return daemon.OpenExchange(ctx, *cfg.Exchange, w)
		}
	}
	return <-written
}

// writePast writes the past of the markets while the rest is opened, if it is wanted.
func (d *Env) writePast(ctx context.Context, o Options, clock *pastClock) <-chan error {
	written := make(chan error, 1) // room for the one answer
	if !o.Past {
		written <- nil
		return written
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		written <- writePast(ctx, d.Exchange.Node, clock, time.Now())
	}()
	d.closers = append(d.closers, func() { <-ended })
	return written
}

// Run works until ctx ends or a part fails.
func (d *Env) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	if d.Source != nil {
		g.Go(func() error { return d.Source.Run(ctx) })
	}
	if d.coin != nil {
		g.Go(func() error { return d.coin.run(ctx, d.Daemon) })
	}
	g.Go(func() error { return d.Exchange.Run(ctx) })
	g.Go(func() error { return d.Operator.Run(ctx) })
	if d.openAPI != nil {
		g.Go(func() error { return d.serveAPI(ctx) })
	}
	g.Go(func() error {
		if err := d.told.Serve(ctx); err != nil {
			return fmt.Errorf("%w (is another `gatewayd dev` running? choose --operators)", err)
		}
		return nil
	})
	g.Go(func() error { return d.Daemon.Run(ctx) })
	return g.Wait()
}

// serveAPI opens the exchange API, which follows the chain over what answers only while the chain
// runs, and serves it until ctx ends.
func (d *Env) serveAPI(ctx context.Context) error {
	api, err := d.openAPI(ctx)
	if err != nil {
		return err
	}
	defer api.Close()
	d.api <- api
	return api.Run(ctx)
}

// Ready waits once until the running environment answers, and describes it in its directory.
func (d *Env) Ready(ctx context.Context) error {
	if err := d.Daemon.Gateway.Ready(ctx); err != nil {
		return err
	}
	d.Info.Gateway = "http://" + d.Daemon.Gateway.Addr() + d.Daemon.Config.Networks[0].Path
	if d.Info.Coin != nil {
		d.Info.Coin.Gateway = "http://" + d.Daemon.Gateway.Addr() + d.Daemon.Config.Networks[1].Path
	}
	if err := d.told.Ready(ctx); err != nil {
		return err
	}
	d.Info.Operators = d.told.URL()
	if err := d.readyAPI(ctx); err != nil {
		return err
	}
	if d.Info.Coin != nil {
		if err := d.Info.Coin.ready(ctx, d.Operator.Address()); err != nil {
			return err
		}
	}
	return d.Info.Write(filepath.Join(filepath.Dir(d.Info.Config), "dev.json"))
}

func (d *Env) readyAPI(ctx context.Context) error {
	if d.openAPI == nil {
		return nil
	}
	var api *daemon.Exchange
	select {
	case api = <-d.api:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := api.Ready(ctx); err != nil {
		return err
	}
	d.Info.API = "http://" + api.Server.Addr() + "/api/v2"
	return nil
}

// Close gives back what openDevelopment took, in reverse order.
func (d *Env) Close() {
	for i := len(d.closers) - 1; i >= 0; i-- {
		d.closers[i]()
	}
	d.closers = nil
}

// openSource starts the embedded source chain, or takes the node that the caller has.
func (d *Env) openSource(ctx context.Context, o Options) (url string, chainID uint64, err error) {
	if o.Source != "" {
		u, err := NewEthUser(ctx, o.Source, ethnode.FaucetKey())
		if err != nil {
			return "", 0, err
		}
		defer u.Client.Close()
		return o.Source, u.Chain.Uint64(), prepareOutside(ctx, u)
	}
	d.Source, err = ethnode.Start(ethnode.Config{
		Dir: filepath.Join(o.Dir, "source"), Listen: o.SourceListen, Period: o.Period, FinalityDepth: uint64(o.Finality), Legacy: o.Legacy, London: o.London, Public: o.Public,
	})
	if err != nil {
		return "", 0, fmt.Errorf("embedded source chain: %w", err)
	}
	d.closers = append(d.closers, func() { _ = d.Source.Close() }) // Run returns the failure
	return d.Source.URL(), d.Source.ChainID(), nil
}

// openCoin starts the chain of --bitcoin, and adds its token to the exchange chain.
func (d *Env) openCoin(ctx context.Context, o Options, genesis *ledger.Genesis, keys *wallet.Keys) (err error) {
	if d.coin, err = openCoin(ctx, o, keys); err != nil {
		return err
	}
	d.closers = append(d.closers, func() { _ = d.coin.node.Close() }) // nothing is left to do about a failure
	return d.coin.addToken(genesis, keys)
}

// Config is the configuration of the development environment.
func Config(o Options, sourceURL string, chainID uint64, exchangeURL string) config.Config {
	o = o.withDefaults()
	oldBlocks := o.Source != "" || o.Legacy // see devnode.Config.Legacy
	c := config.Config{
		Data: o.Dir, Log: config.Log{Level: "warn"},
		Ethereum:  []ethereum.Config{{ID: "eth", ChainID: chainID, Nodes: []string{sourceURL}, Finality: strconv.FormatInt(o.Finality, 10), Accounts: o.Accounts, OnDemand: oldBlocks}},
		Vite:      []vite.Config{{ID: "vite", Nodes: []string{exchangeURL}, Confirmations: uint64(o.Confirmations), Accounts: o.Accounts}},
		Gateway:   gateway.Config{Config: httpserver.Config{Listen: o.Listen}, Reserves: true, Operator: gateway.Operator{Contact: "mailto:support@example.com", Name: "gatewayd development environment"}},
		Operators: config.Operators{Config: httpserver.Config{Listen: cmp.Or(o.Operators, daemon.AnyPort)}},
		Watcher:   watcher.Config{Poll: o.Poll, Sweep: o.Sweep, BalanceAudit: cmp.Or(o.BalanceAudit, time.Minute), Solvency: time.Minute},
		Networks: []config.Network{{
			Name: "eth", Path: "/gateway/eth", Source: "eth", Exchange: "vite", Account: 0,
			SourceExplorer: o.explorer("eth"), ExchangeExplorer: o.explorer("vite"),
		}},
	}
	if o.API != "" {
		c.Exchange = &config.Exchange{Config: exchangeapi.Config{Config: httpserver.Config{Listen: o.API}, Rates: Rates(o.Dir)}}
	}
	if o.Verbose {
		c.Log.Level = "debug"
	}
	deposits, withdrawals := records.Depth{Count: uint64(o.Finality)}, records.Depth{Count: uint64(o.Confirmations)}
	for _, t := range Tokens() {
		c.Networks[0].Tokens = append(c.Networks[0].Tokens, config.Token{
			Token: t.ID.String(), Symbol: t.Symbol + "-000", Decimals: t.Decimals, Asset: t.asset, AssetDecimals: t.Decimals, Type: t.binding,
			LabelName: t.labelName, MinDeposit: t.Units(t.minimum), MinWithdraw: t.Units(t.minimum), MaxWithdraw: t.Units(t.maximum),
			Deposits: deposits, Withdrawals: withdrawals, Fee: records.Fee{Kind: "flat", Amount: t.Units(t.minimum), Rate: o.CoinPrice},
		})
	}
	if o.Limits {
		for _, t := range Tokens() {
			c.Signer.Limits.Tokens = append(c.Signer.Limits.Tokens, limits.Token{Network: "eth", Token: t.ID.String(), PerDay: t.Units(1000 * t.maximum)})
		}
	}
	c.Networks[0].Funders = []string{FaucetAddress()}
	c.Fill()
	return c
}

// describe writes the price list, the configuration for the operators' commands, and funds the
// gateway's accounts once, and those of the demo users if there are any.
func (d *Env) describe(ctx context.Context, cfg config.Config, keys *wallet.Keys, demo bool) error {
	if cfg.Exchange != nil {
		if err := WritePrices(cfg.Exchange.Rates.File); err != nil {
			return err
		}
	}
	text, err := yaml.Marshal(cfg)
	if err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	path := filepath.Join(cfg.Data, "config.yaml")
	if err := replaceFile(path, text); err != nil {
		return err
	}
	d.Info = NewInfo(cfg, path, d.Exchange.WSURL())
	var mine func() error
	if d.Source != nil {
		mine = func() error {
			_, err := d.Source.Mine(1)
			return err
		}
	}
	var others []gift
	if demo {
		others = demoGifts(d.Info.Tokens)
	}
	if err := FundSource(ctx, d.Info, keys, mine, others...); err != nil {
		return fmt.Errorf("funding accounts on the source chain: %w", err)
	}
	return nil
}

// Default depths and clocks of a development environment. In production an exchange chain is
// followed to 180 confirmations and a source chain to 64 blocks or its own "finalized", which takes
// minutes. Here money should arrive while a person watches.
const (
	Confirmations = 2
	Finality      = 3
	Clock         = time.Second
	devPoll       = 200 * time.Millisecond

	// maxDevDepth is the limit of the chains' own configurations.
	maxDevDepth = 100_000
	// minDevClock is about what two chains, the daemon and its users manage on one small machine.
	minDevClock = 10 * time.Millisecond
)

// withDefaults fills in what the flags do for those who start one without them.
func (o Options) withDefaults() Options {
	o.Confirmations = cmp.Or(o.Confirmations, Confirmations)
	o.Finality = cmp.Or(o.Finality, Finality)
	o.Period, o.Interval = cmp.Or(o.Period, Clock), cmp.Or(o.Interval, Clock)
	o.Poll = cmp.Or(o.Poll, min(devPoll, o.Period, o.Interval))
	return o
}

// CheckDepths names the first flag that cannot be, with its rule.
func (o Options) CheckDepths() error {
	for _, depth := range []struct {
		flag  string
		value int64
	}{{"--confirmations", o.Confirmations}, {"--finality", o.Finality}} {
		if depth.value < 1 || depth.value > maxDevDepth {
			return fmt.Errorf("%s %d: must be from 1 (the latest block is final) to %d blocks", depth.flag, depth.value, maxDevDepth)
		}
	}
	for _, clock := range []struct {
		flag  string
		value time.Duration
	}{{"--period", o.Period}, {"--snapshot-interval", o.Interval}} {
		if clock.value < minDevClock {
			return fmt.Errorf("%s %s: must be at least %s between blocks", clock.flag, clock.value, minDevClock)
		}
	}
	return nil
}
