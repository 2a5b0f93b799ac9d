package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/daemon"
)

func runCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "run", Short: "Run the daemon on the nodes that a configuration file names", Args: cobra.NoArgs,
		Example: "  gatewayd run -c config.yaml",
	}
	path := configFlag(c)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.Load(*path)
		if err != nil {
			return err
		}
		log, err := daemon.NewLog(cfg.Log, w.stderr)
		if err != nil {
			return err
		}
		out := daemon.Outside{Getenv: w.getenv, Log: log}
		if cfg.Wallet.Remote() {
			log.WithField("signer", cfg.Wallet.Signer).Info("another process signs")
		} else {
			log.WithField("store", cfg.Wallet.Store).Info("unlocking the wallet")
			keys, closeKeys, err := openKeys(cfg.Wallet, w)
			if err != nil {
				return err
			}
			defer closeKeys()
			out.Keys = keys
		}
		hangups := make(chan os.Signal, 1) // one more reading makes up for all that were asked for meanwhile
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
		out.Hangups = hangups
		return daemon.Serve(cmd.Context(), cfg, out)
	}
	return c
}
