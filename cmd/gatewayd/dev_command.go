package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/operator"
)

func devCommand(w streams) *cobra.Command {
	o := dev.Options{Sweep: dev.EveryMinute, Limits: true}
	market := true
	c := &cobra.Command{
		Use: "dev", Short: "Run everything on embedded chains: nothing to install or configure", Args: cobra.NoArgs,
		Long: "Run everything on embedded chains: nothing to install or configure. All keys are public.\n" +
			"State is discarded on exit unless --dir is given.",
		Example: "  gatewayd dev\n" +
			"  gatewayd dev --bitcoin                          # with Bitcoin too\n" +
			"  gatewayd dev --confirmations 180 --finality 64  # at production depth\n" +
			"  gatewayd dev --confirmations 180 --finality 64 --period 250ms --snapshot-interval 250ms",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(o.CheckDepths(), o.CheckBitcoin()); err != nil {
				return operator.Usagef("%w", err)
			}
			return untilInterrupted(cmd.Context(), runDev(cmd.Context(), o, market, w))
		},
	}
	f := c.Flags()
	f.StringVar(&o.Dir, "dir", "", "directory of chains and records")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:8080", "address of the gateway")
	f.StringVar(&o.ExchangeListen, "exchange-listen", "127.0.0.1:48132", "address of the embedded exchange chain's JSON-RPC")
	f.StringVar(&o.API, "api", "127.0.0.1:8090", "address of the exchange API; empty for none")
	f.StringVar(&o.Operators, "operators", config.OperatorsListen, "address of the operators' listener: console, health, readiness, metrics")
	f.IntVar(&o.Accounts, "accounts", 1, "paying accounts of the gateway on each chain")
	f.StringVar(&o.Source, "source", "", "URL of a running development node (anvil, geth --dev) instead of the embedded source chain")
	f.StringVar(&o.SourceListen, "source-listen", "127.0.0.1:0", "address of the embedded source chain's JSON-RPC; port 0 lets the system choose one")
	f.StringVar(&o.Bitcoin, "bitcoin", "", "also bridge the coin of a node of its own, on regtest: btcd (without a value) or litecoind")
	f.Lookup("bitcoin").NoOptDefVal = string(bitcoinnode.Btcd)
	depthFlags(&o, f)
	f.BoolVar(&o.Legacy, "legacy-fees", false, "an embedded source chain without a base fee, on which transactions have a gas price")
	f.BoolVar(&o.Public, "public", false, "the embedded chains offer only the methods of a public node")
	f.BoolVar(&market, "market", true, "a demo user for the pages, and a market maker, so that the books are not empty")
	f.BoolVar(&o.Verbose, "verbose", false, "log every step")
	return c
}

// runDev runs a development environment and announces its address to the terminal and the demo.
// With a market, a market maker trades in it.
func runDev(ctx context.Context, o dev.Options, market bool, w streams) (err error) {
	_ = os.Remove(dev.InfoPath())                    // of an environment that has gone; there may be none
	defer func() { _ = os.Remove(dev.InfoPath()) }() // there is none when it did not get ready
	fresh := o.Dir == ""
	if fresh {
		if o.Dir, err = os.MkdirTemp("", "gatewayd-dev-"); err != nil {
			return fmt.Errorf("making a directory: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	}
	var users *dev.DemoUsers
	if market {
		log, err := daemon.NewLog(config.Log{Level: "warn"}, w.stderr)
		if err != nil {
			return err
		}
		users = dev.NewDemoUsers(dev.DemoOptions{Market: true}, log)
		o.Demo, o.Past = users.Demo(), o.API != ""
	}
	d, err := dev.Open(ctx, o, w.stderr, w.getenv)
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
		if err := d.OpenConsole(ctx); err != nil {
			return err
		}
		if err := d.Info.Write(dev.InfoPath()); err != nil {
			return err
		}
		d.Info.Print(w.stdout, fresh)
		if users == nil {
			return nil
		}
		return users.Run(ctx, d.Info)
	})
	return g.Wait()
}

// depthFlags adds the flags for the depth of final blocks, and for the block interval of both
// embedded chains.
func depthFlags(o *dev.Options, f *pflag.FlagSet) {
	f.Int64Var(&o.Confirmations, "confirmations", dev.Confirmations, "snapshot blocks, its own included, that make a block of the exchange chain final (180 in production)")
	f.Int64Var(&o.Finality, "finality", dev.Finality, "blocks, its own included, that make a block of the source chain final (64 in production)")
	f.DurationVar(&o.Period, "period", dev.Clock, "time between blocks of the embedded source chain")
	f.DurationVar(&o.Interval, "snapshot-interval", dev.Clock, "time between snapshot blocks of the embedded exchange chain")
}
