package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/operator"
)

func runCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "run", Short: "Run the daemon on the nodes that a configuration file names", Args: cobra.NoArgs,
		Example: "  gatewayd run -c config.yaml\n  gatewayd run -c config.yaml --roles api,exchange\n  gatewayd run -c config.yaml --roles follow,pay --chains eth",
	}
	path := configFlag(c)
	names := c.Flags().StringSlice("roles", []string{"follow", "pay", "api", "exchange"}, "parts that this process runs; follow and pay only together")
	only := c.Flags().StringSlice("chains", nil, "chains that this process may follow and pay on; default all")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		roles, err := daemon.ParseRoles(*names)
		if err != nil {
			return operator.Usagef("--roles: %s", err)
		}
		chains := make([]chain.ID, len(*only))
		for i, id := range *only {
			chains[i] = chain.ID(id)
		}
		cfg, err := config.Load(*path)
		if err == nil {
			err = runDaemon(cmd.Context(), cfg, roles, chains, w)
		}
		return inLog(cfg.Log, w, err)
	}
	return c
}

func runDaemon(ctx context.Context, cfg config.Config, roles daemon.Roles, only []chain.ID, w streams) error {
	log, err := daemon.NewLog(cfg.Log, w.stderr)
	if err != nil {
		return err
	}
	warnOfRemovedKeys(log, cfg)
	out := daemon.Dependencies{Getenv: w.getenv, Log: log, Roles: roles, OnlyChains: only}
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
	return untilInterrupted(ctx, daemon.Serve(ctx, cfg, out))
}

// warnOfRemovedKeys logs the keys of a file that no longer have an effect.
func warnOfRemovedKeys(log logrus.FieldLogger, cfg config.Config) {
	for _, key := range cfg.Removed {
		log.WithField("key", key).Warning("this version does not have the key: remove it from the configuration")
	}
}

func reloadCommand(w streams) *cobra.Command {
	var f format
	var why string
	c := &cobra.Command{
		Use: "reload", Short: "Check the configuration and apply its changes to the running daemon", Args: cobra.NoArgs,
		Long: "Check the complete configuration and let the running daemon read it again. Funders, tokens with their limits and fees, explorers, limits of clients\n" +
			"and log.level are applied immediately; the output lists them, and the keys that need a restart. An invalid file changes nothing. A SIGHUP to the\n" +
			"daemon does the same.",
		Example: "  gatewayd reload -c /etc/gatewayd/config.yaml\n  gatewayd reload --why 'new minimum of USDT'",
	}
	path := configFlag(c)
	c.RunE = onSession(path, func(ctx context.Context, d *operator.Session, _ []string) error {
		done, err := d.Reload(operator.AsOperator(ctx), why, operator.ReloadPatience)
		if err != nil {
			return err
		}
		report, err := d.Reloaded(done, *path)
		if err != nil {
			return err
		}
		if f.json {
			return printJSON(w.stdout, report)
		}
		return printReload(w.stdout, report)
	})
	c.Flags().StringVar(&why, "why", "", "reason, stored in the history")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func printReload(w io.Writer, r config.Reload) error {
	if len(r.Taken)+len(r.Restart) == 0 {
		_, err := fmt.Fprintf(w, "The daemon already uses %s: nothing has changed.\n", r.File)
		return err
	}
	if len(r.Taken) > 0 {
		fmt.Fprintf(w, "The daemon has applied from %s:\n", r.File)
	}
	rows := make([][]string, len(r.Taken))
	for i, c := range r.Taken {
		rows[i] = []string{"  " + c.Key, c.String()}
	}
	if err := printTable(w, 0, make([]column, 2), rows); err != nil {
		return err
	}
	if len(r.Restart) > 0 {
		fmt.Fprintln(w, "Needs a restart:")
	}
	for _, key := range r.Restart {
		fmt.Fprintf(w, "  %s\n", key)
	}
	if r.More > 0 {
		fmt.Fprintf(w, "and %d more.\n", r.More)
	}
	return nil
}

// healthCommand lets a container's health check use the binary itself.
func healthCommand(w streams) *cobra.Command {
	var url, file string
	c := &cobra.Command{
		Use: "health", Short: "Check the health of a running daemon or signer; exit code 1 if it is unhealthy", Args: cobra.NoArgs,
		Example: "  gatewayd health\n  gatewayd health -c /etc/gatewayd/config.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != "" && cmd.Flags().Changed("url") {
				return operator.Usagef("--url and --config: exactly one is required")
			}
			asks := func() (string, error) { return daemon.AskHealth(cmd.Context(), url) }
			if file != "" {
				cfg, err := config.Load(file)
				if err != nil {
					return err
				}
				asks = func() (string, error) { return daemon.AskConfigured(cmd.Context(), cfg) }
			}
			state, err := asks()
			if err != nil {
				return err
			}
			fmt.Fprintln(w.stdout, state)
			return nil
		},
	}
	c.Flags().StringVar(&url, "url", "http://127.0.0.1:8080/health", "health address of the daemon")
	c.Flags().StringVarP(&file, "config", "c", "", "configuration file of the daemon or the signer, for its address")
	return c
}
