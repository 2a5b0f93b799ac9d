package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

func runCommand(w world) *cobra.Command {
	c := &cobra.Command{
		Use: "run", Short: "Run the daemon on the nodes that a configuration file names", Args: cobra.NoArgs,
		Example: "  gatewayd run -c config.yaml",
	}
	path := configFlag(c)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := LoadConfig(*path)
		if err != nil {
			return err
		}
		w.hangups = make(chan os.Signal, 1) // one more reading makes up for all that were asked for meanwhile
		signal.Notify(w.hangups, syscall.SIGHUP)
		defer signal.Stop(w.hangups)
		return runDaemon(cmd.Context(), cfg, w)
	}
	return c
}

// runDaemon unlocks the wallet, starts the embedded exchange chain if there is one, and serves what the configuration has until ctx ends: the bridge
// of its networks, the exchange API, the wallet's RPC.
func runDaemon(ctx context.Context, cfg Config, w world) error {
	log, err := newLog(cfg.Log, w)
	if err != nil {
		return err
	}
	log.WithField("store", cfg.Wallet.Store).Info("unlocking the wallet")
	keys, err := unlock(cfg.Wallet, w)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, gctx := errgroup.WithContext(ctx)
	if cfg.Embedded != nil {
		log.WithField("dir", cfg.Embedded.Dir).Info("opening the embedded exchange chain: what came after its last stored state is replayed")
		e, err := openEmbedded(*cfg.Embedded)
		if err != nil {
			return fmt.Errorf("embedded exchange chain: %w", err)
		}
		defer e.Close()
		log.WithFields(logrus.Fields{"http": e.URL(), "ws": e.WSURL()}).Info("embedded exchange chain listening")
		cfg = e.inside(cfg)
		g.Go(func() error { return e.Run(gctx) })
	}
	if len(cfg.Networks) > 0 {
		d, err := newDaemon(gctx, cfg, keys, log)
		if err != nil {
			stop()
			return errors.Join(err, g.Wait())
		}
		d.hangups = w.hangups
		g.Go(func() error { return runTenures(gctx, d, keys) })
	} else {
		g.Go(func() error { return ignoreHangups(gctx, w.hangups, log) })
	}
	g.Go(func() error { return serveExchange(gctx, cfg.Exchange, keys, w, log) })
	g.Go(func() error { return serveWalletRPC(gctx, cfg.Wallet.RPC, cfg.Wallet.Store, cfg.walletLedger(), log) })
	log.Info("gatewayd runs")
	return g.Wait()
}

// ignoreHangups says of each SIGHUP that the exchange API by itself takes nothing over without a restart.
func ignoreHangups(ctx context.Context, hangups <-chan os.Signal, log *logrus.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hangups:
			log.Warn("SIGHUP: without networks all of the configuration takes a restart")
		}
	}
}
