package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/daemon"
)

func signerCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "signer", Short: "Sign for daemons in other processes: the only part that has keys and sign-guard", Args: cobra.NoArgs,
		Long: "Sign for daemons in other processes, as another user or on another host, so that a daemon that is stolen has no key. The configuration is of the same form as the\n" +
			"daemon's: its sections wallet, ethereum, vite, networks and signer are read. A daemon asks it when its wallet.signer names the signer's address.\n" +
			"SIGHUP reads tokens and ceilings of fees again. docs/custody.md says what is checked before a signature.",
		Example: "  gatewayd signer -c signer.yaml",
	}
	path := c.PersistentFlags().StringP("config", "c", "signer.yaml", "configuration file of the signer")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.Load(*path)
		if err != nil {
			return err
		}
		log, err := daemon.NewLog(cfg.Log, w.stderr)
		if err != nil {
			return err
		}
		log.WithField("store", cfg.Wallet.Store).Info("unlocking the wallet")
		keys, closeKeys, err := openKeys(cfg.Wallet, w)
		if err != nil {
			return err
		}
		defer closeKeys()
		hangups := make(chan os.Signal, 1) // one more reading makes up for all that were asked for meanwhile
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
		return daemon.ServeSigner(cmd.Context(), cfg, daemon.Outside{Keys: keys, Getenv: w.getenv, Hangups: hangups, Log: log})
	}
	c.AddCommand(signerBackupCommand(w, path), signerImportCommand(w, path))
	return c
}

func signerBackupCommand(w streams, path *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "backup TARGET", Short: "Back up the sign-guard and the signer's configuration into one new file, beside the running signer", Args: cobra.ExactArgs(1),
		Long: "Write TARGET as `gatewayd backup` does, with what the daemon's backup does not have: the sign-guard. Make it after the daemon's, so that it knows every signature\n" +
			"that the records know. `gatewayd restore -c signer.yaml TARGET` puts it back; keys and passwords are never in it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := writeBackup(cmd, *path, args[0], false)
			if err != nil {
				return backupError(err)
			}
			if f.json {
				return printJSON(w.stdout, m)
			}
			return printBackup(w.stdout, args[0], m, false)
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "answer the manifest as JSON")
	return c
}
