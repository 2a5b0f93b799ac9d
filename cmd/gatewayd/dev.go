package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/devnode"
	"gatewayd/chain/vite"
	"gatewayd/chain/vite/node"
	"gatewayd/exchangeapi"
	"gatewayd/gateway"
	"gatewayd/records"
	"gatewayd/serve"
	"gatewayd/wallet"
	"gatewayd/watcher"
)

// devMnemonic is everybody's: development chains only.
const devMnemonic = "test test test test test test test test test test test junk"

// everyMinute is soon enough to be seen by somebody who tries things out.
const everyMinute = "* * * * *"

// devOptions are the flags of `gatewayd dev`.
type devOptions struct {
	dir, listen, exchangeListen, source string
	api                                 string        // address of the exchange API; empty for none
	confirmations, finality             int64         // depth of final blocks of the exchange chain and of the source chain
	period                              time.Duration // between blocks of the source chain
	interval                            time.Duration // between snapshot blocks of the exchange chain
	poll                                time.Duration // of the watcher; 0 is as fast as the chains
	sweep                               string        // schedule of sweeping deposit addresses
	accounts                            int           // that pay on each chain; 0 is 1
	stake                               uint64        // whole VITE staked for each paying account on the exchange chain; 0: all that counts
	legacy                              bool          // no base fee on the embedded source chain
	london                              uint64        // the first block with one all the same; 0 for none
	public                              bool          // both chains have a public node's methods only
	verbose                             bool

	balanceAudit time.Duration   // how often the coin of all accounts is compared with the books; 0: a minute
	coinPrice    decimal.Decimal // of the source chain's coin in the other tokens; zero: not known
}

func devCommand(w world) *cobra.Command {
	o := devOptions{sweep: everyMinute}
	c := &cobra.Command{
		Use: "dev", Short: "Run everything on embedded chains: nothing to install or configure", Args: cobra.NoArgs,
		Long: "Run everything on embedded chains: nothing to install or configure. All keys are known to everybody.\n" +
			"The state starts afresh each time unless --dir keeps it.",
		Example: "  gatewayd dev\n" +
			"  gatewayd dev --confirmations 180 --finality 64                            at production depth, on the usual clock\n" +
			"  gatewayd dev --confirmations 180 --finality 64 --period 250ms --snapshot-interval 250ms",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.checkDepths(); err != nil {
				return err
			}
			return runDev(cmd.Context(), o, w)
		},
	}
	f := c.Flags()
	f.StringVar(&o.dir, "dir", "", "keep chains and records in this directory")
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "address of the gateway")
	f.StringVar(&o.exchangeListen, "exchange-listen", "127.0.0.1:48132", "address of the embedded exchange chain's JSON-RPC")
	f.StringVar(&o.api, "api", "127.0.0.1:8090", "address of the exchange API; empty for none")
	f.IntVar(&o.accounts, "accounts", 1, "accounts of the gateway that pay, on each chain")
	f.StringVar(&o.source, "source", "", "URL of a running development node (anvil, geth --dev) instead of the embedded source chain")
	o.depths(f)
	f.BoolVar(&o.legacy, "legacy-fees", false, "an embedded source chain without a base fee, on which transactions have a gas price")
	f.BoolVar(&o.public, "public", false, "the embedded chains answer only what a public node answers")
	f.BoolVar(&o.verbose, "verbose", false, "log every step")
	return c
}

// runDev runs a development world and tells the terminal and the demo where it is.
func runDev(ctx context.Context, o devOptions, w world) (err error) {
	_ = os.Remove(devInfoPath())                    // of a world that has gone; there may be none
	defer func() { _ = os.Remove(devInfoPath()) }() // there is none when the world did not get ready
	fresh := o.dir == ""
	if fresh {
		if o.dir, err = os.MkdirTemp("", "gatewayd-dev-"); err != nil {
			return fmt.Errorf("making a directory: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	}
	d, err := openDevelopment(ctx, o, w)
	if err != nil {
		return err
	}
	defer d.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.Run(ctx) })
	g.Go(func() error {
		if err := d.Ready(ctx); err != nil {
			return err
		}
		if err := d.info.write(devInfoPath()); err != nil {
			return err
		}
		d.info.print(w, fresh)
		return nil
	})
	return g.Wait()
}

// development is the world that `gatewayd run` finds outside, and the very same daemon in it, on a configuration written for it.
type development struct {
	source   *devnode.Node // nil when the caller has a node
	exchange *embedded
	operator *exchangeOperator
	openAPI  func(context.Context) (*exchange, error) // nil for none
	api      chan *exchange                           // the opened one, once
	daemon   *daemon
	info     devInfo
	closers  []func()
}

// openDevelopment makes both chains in o.dir, funds the gateway once and wires the daemon. Only the source chain makes blocks before Run.
func openDevelopment(ctx context.Context, o devOptions, w world) (*development, error) {
	o = o.withDefaults()
	d := &development{api: make(chan *exchange, 1)}
	if err := d.open(ctx, o, w); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *development) open(ctx context.Context, o devOptions, w world) error {
	keys, err := wallet.FromMnemonic(devMnemonic)
	if err != nil {
		return err
	}
	sourceURL, chainID, err := d.openSource(ctx, o)
	if err != nil {
		return err
	}
	genesis, err := devGenesis(keys)
	if err == nil {
		err = stakePool(&genesis, keys, o)
	}
	if err != nil {
		return err
	}
	d.exchange, err = startEmbedded(node.Config{Dir: filepath.Join(o.dir, "exchange"), Genesis: genesis, SnapshotInterval: o.interval},
		EmbeddedConfig{Listen: o.exchangeListen, Public: o.public})
	if err != nil {
		return fmt.Errorf("embedded exchange chain: %w (is another `gatewayd dev` running? choose --exchange-listen)", err)
	}
	d.closers = append(d.closers, d.exchange.Close)
	if d.operator, err = newExchangeOperator(ctx, d.exchange.URL()); err != nil {
		return err
	}
	cfg := devConfig(o, sourceURL, chainID, d.exchange.URL())
	if err = d.describe(ctx, cfg, keys); err != nil {
		return err
	}
	log, err := newLog(cfg.Log, w)
	if err != nil {
		return err
	}
	cfg.path = d.info.Config
	cfg = d.exchange.inside(cfg)
	if d.daemon, err = newDaemon(ctx, cfg, keys, log); err != nil {
		return err
	}
	d.closers = append(d.closers, d.daemon.Close)
	if cfg.Exchange != nil {
		d.openAPI = func(ctx context.Context) (*exchange, error) { return openExchange(ctx, *cfg.Exchange, keys, w, log) }
	}
	return nil
}

// Run works until ctx ends or a part fails.
func (d *development) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	if d.source != nil {
		g.Go(func() error { return d.source.Run(ctx) })
	}
	g.Go(func() error { return d.exchange.Run(ctx) })
	g.Go(func() error { return d.operator.Run(ctx) })
	if d.openAPI != nil {
		g.Go(func() error { return d.serveAPI(ctx) })
	}
	g.Go(func() error { return d.daemon.Run(ctx) })
	return g.Wait()
}

// serveAPI opens the exchange API, which follows the chain over what answers only while the chain runs, and serves it until ctx ends.
func (d *development) serveAPI(ctx context.Context) error {
	api, err := d.openAPI(ctx)
	if err != nil {
		return err
	}
	defer api.Close()
	d.api <- api
	return api.Run(ctx)
}

// Ready waits once until the running world answers, and describes it in its directory.
func (d *development) Ready(ctx context.Context) error {
	if err := d.daemon.gateway.Ready(ctx); err != nil {
		return err
	}
	d.info.Gateway = "http://" + d.daemon.gateway.Addr() + d.daemon.cfg.Networks[0].Path
	if err := d.readyAPI(ctx); err != nil {
		return err
	}
	return d.info.write(filepath.Join(filepath.Dir(d.info.Config), "dev.json"))
}

func (d *development) readyAPI(ctx context.Context) error {
	if d.openAPI == nil {
		return nil
	}
	var api *exchange
	select {
	case api = <-d.api:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := api.Ready(ctx); err != nil {
		return err
	}
	d.info.API = "http://" + api.server.Addr() + "/api/v2"
	return nil
}

// Close gives back what openDevelopment took, in reverse order.
func (d *development) Close() {
	for i := len(d.closers) - 1; i >= 0; i-- {
		d.closers[i]()
	}
	d.closers = nil
}

// openSource starts the embedded source chain, or takes the node that the caller has.
func (d *development) openSource(ctx context.Context, o devOptions) (url string, chainID uint64, err error) {
	if o.source != "" {
		u, err := newEthUser(ctx, o.source, devnode.FaucetKey())
		if err != nil {
			return "", 0, err
		}
		defer u.client.Close()
		return o.source, u.chain.Uint64(), nil
	}
	d.source, err = devnode.Start(devnode.Config{
		Dir: filepath.Join(o.dir, "source"), Period: o.period, FinalityDepth: uint64(o.finality), Legacy: o.legacy, London: o.london, Public: o.public,
	})
	if err != nil {
		return "", 0, fmt.Errorf("embedded source chain: %w", err)
	}
	d.closers = append(d.closers, func() { _ = d.source.Close() }) // Run tells what fails
	return d.source.URL(), d.source.ChainID(), nil
}

// devConfig is the configuration of the development world.
func devConfig(o devOptions, sourceURL string, chainID uint64, exchangeURL string) Config {
	o = o.withDefaults()
	c := Config{
		Data: o.dir, Log: LogConfig{Level: "warn"},
		Ethereum: []ethereum.Config{{ID: "eth", ChainID: chainID, Nodes: []string{sourceURL}, Finality: strconv.FormatInt(o.finality, 10), Accounts: o.accounts, OnDemand: o.source != ""}},
		Vite:     []vite.Config{{ID: "vite", Nodes: []string{exchangeURL}, Confirmations: uint64(o.confirmations), Accounts: o.accounts}},
		Gateway:  gateway.Config{Config: serve.Config{Listen: o.listen}},
		Watcher:  watcher.Config{Poll: o.poll, Sweep: o.sweep, BalanceAudit: cmp.Or(o.balanceAudit, time.Minute), Solvency: time.Minute},
		Networks: []NetworkConfig{{
			Name: "eth", Path: "/gateway/eth", Source: "eth", Exchange: "vite", Account: 0,
			SourceExplorer: "https://etherscan.io/tx/{$tx}", ExchangeExplorer: "https://vitescan.io/tx/{$tx}",
		}},
	}
	if o.api != "" {
		c.Exchange = &ExchangeConfig{Config: exchangeapi.Config{Config: serve.Config{Listen: o.api}, Rates: devRates(o.dir)}}
	}
	if o.verbose {
		c.Log.Level = "debug"
	}
	deposits, withdrawals := records.Depth{Count: uint64(o.finality)}, records.Depth{Count: uint64(o.confirmations)}
	for _, t := range devTokens() {
		c.Networks[0].Tokens = append(c.Networks[0].Tokens, TokenConfig{
			Token: t.ID.String(), Symbol: t.Symbol + "-000", Decimals: t.Decimals, Asset: t.asset, AssetDecimals: t.Decimals, Type: t.binding,
			LabelName: t.labelName, MinDeposit: t.units(t.minimum), MinWithdraw: t.units(t.minimum), MaxWithdraw: t.units(t.maximum),
			Deposits: deposits, Withdrawals: withdrawals, Fee: records.Fee{Kind: "flat", Amount: t.units(t.minimum), Rate: o.coinPrice},
		})
	}
	c.Networks[0].Funders = []string{devnodeFaucet()}
	c.fill()
	return c
}

// describe writes the price list, the configuration for the operators' commands, and funds the gateway's accounts once.
func (d *development) describe(ctx context.Context, cfg Config, keys *wallet.Keys) error {
	if cfg.Exchange != nil {
		if err := writeDevPrices(cfg.Exchange.Rates.File); err != nil {
			return err
		}
	}
	text, err := yaml.Marshal(cfg)
	if err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	path := filepath.Join(cfg.Data, "config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	d.info = newDevInfo(cfg, path, d.exchange.WSURL())
	var mine func() error
	if d.source != nil {
		mine = func() error {
			_, err := d.source.Mine(1)
			return err
		}
	}
	if err := fundSource(ctx, d.info, keys, mine); err != nil {
		return fmt.Errorf("funding the gateway on the source chain: %w", err)
	}
	return nil
}
