package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/operator"
	"gatewayd/records/signguard"
)

func signerCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "signer", Short: "Run the signer: the only process with keys and sign-guard", Args: cobra.NoArgs,
		Long: "Run the signer as another user or on another host, so that a stolen daemon has no key. The configuration has the same form as the\n" +
			"daemon's: its sections wallet, ethereum, bitcoin, vite, networks and signer are read. A daemon uses it if its wallet.signer is the signer's address.\n" +
			"SIGHUP reloads tokens, accounts, successors, approvers, limits and fee ceilings. docs/signer-checks.md lists the checks before a signature.",
		Example: "  gatewayd signer -c signer.yaml\n  gatewayd signer -c /etc/gatewayd/signer.yaml",
	}
	path := c.PersistentFlags().StringP("config", "c", "signer.yaml", "configuration file of the signer")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.Load(*path)
		if err == nil {
			err = runSigner(cmd.Context(), cfg, w)
		}
		return inLog(cfg.Log, w, err)
	}
	c.AddCommand(signerBackupCommand(w, path), signerImportCommand(w, path))
	return c
}

func runSigner(ctx context.Context, cfg config.Config, w streams) error {
	log, err := daemon.NewLog(cfg.Log, w.stderr)
	if err != nil {
		return err
	}
	warnOfRemovedKeys(log, cfg)
	log.WithField("store", cfg.Wallet.Store).Info("unlocking the wallet")
	keys, closeKeys, err := openKeys(cfg.Wallet, w)
	if err != nil {
		return err
	}
	defer closeKeys()
	hangups := make(chan os.Signal, 1) // one more reading makes up for all that were asked for meanwhile
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	return untilInterrupted(ctx, daemon.ServeSigner(ctx, cfg, daemon.Dependencies{Keys: keys, Getenv: w.getenv, Hangups: hangups, Log: log}))
}

func signerBackupCommand(w streams, path *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "backup TARGET", Short: "Back up the sign-guard and the signer's configuration to one new file", Args: cobra.ExactArgs(1),
		Example: "  gatewayd signer backup /backup/signer-2026-11-23T0600.tar\n  gatewayd signer backup -c /etc/gatewayd/signer.yaml /backup/signer.tar",
		Long: "Write TARGET as `gatewayd backup` does, with the sign-guard, which the daemon's backup does not have. Create it after the daemon's backup, so that it knows every signature\n" +
			"that the records know. `gatewayd restore -c signer.yaml TARGET` restores it; keys and passwords are never included.",
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
	c.Flags().BoolVar(&f.json, "json", false, "print the manifest as JSON")
	return c
}

func accountBindingsCommand(w streams, config *string) *cobra.Command {
	return &cobra.Command{
		Use: "bindings", Short: "Print each user's deposit address or label, for `gatewayd signer import-bindings`", Args: cobra.NoArgs,
		Long: "Print each user's deposit address or label, one JSON object a line. A signer with its own nodes credits deposits only to addresses and labels that it issued\n" +
			"or that its owner imported. Use this once to transfer those from before the signer existed.",
		Example: "  gatewayd account bindings -c config.yaml > bindings.json\n  gatewayd signer import-bindings bindings.json -c signer.yaml",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, _ []string) error {
			out := json.NewEncoder(w.stdout)
			return d.EachBinding(ctx, func(b signguard.Binding) error { return out.Encode(b) })
		}),
	}
}

func signerImportCommand(w streams, path *string) *cobra.Command {
	return &cobra.Command{
		Use: "import-bindings FILE", Short: "Import deposit addresses and labels that this sign-guard has not stored", Args: cobra.ExactArgs(1),
		Long: "Import deposit addresses and labels that were issued before this sign-guard stored them, from the output of `gatewayd account bindings`. Each address must be one\n" +
			"of the signer's own keys. Entries that the sign-guard already has must be equal. Run it on the signer's host, with a file from a daemon that you trust: the users\n" +
			"in it are credited.",
		Example: "  gatewayd signer import-bindings bindings.json -c signer.yaml\n  gatewayd signer import-bindings bindings.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := config.Load(*path)
			if err != nil {
				return err
			}
			keys, closeKeys, err := openKeys(cfg.Wallet, w)
			if err != nil {
				return err
			}
			defer closeKeys()
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
				return err
			}
			guard, err := daemon.OpenGuard(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer func() { _ = guard.Close() }() // its imports are durable
			added, seen, err := importBindings(cmd.Context(), guard, file, ownAddress(cfg, keys))
			if err != nil {
				return err
			}
			fmt.Fprintf(w.stdout, "%d new bindings, %d known.\n", added, seen-added)
			return nil
		},
	}
}

// ownAddress refuses an address that is not the one of its index.
func ownAddress(cfg config.Config, keys daemon.Keys) func(signguard.Binding) error {
	return func(b signguard.Binding) error {
		if b.Address == "" {
			return nil
		}
		own, err := daemon.OwnDeposit(keys, cfg, b.Chain, b.Index, b.Address)
		if err != nil {
			return fmt.Errorf("chain %q: %w", b.Chain, err)
		}
		if !own {
			return fmt.Errorf("address %s: the signer's keys have another one at index %d of %s", b.Address, b.Index, b.Chain)
		}
		return nil
	}
}

// importedAtOnce is the number of bindings per durable commit.
const importedAtOnce = 1000

// importBindings imports the lines of a file, in groups, each of them completely or not at all.
// Running it again continues.
func importBindings(ctx context.Context, guard *signguard.Guard, file io.Reader, check func(signguard.Binding) error) (added, seen int, err error) {
	lines := json.NewDecoder(file)
	lines.DisallowUnknownFields()
	for group := []signguard.Binding{}; ; {
		var b signguard.Binding
		err := lines.Decode(&b)
		ended := errors.Is(err, io.EOF)
		if err == nil {
			err = check(b)
		}
		if err != nil && !ended {
			return added, seen, fmt.Errorf("binding %d: %w", seen+len(group)+1, err)
		}
		if !ended {
			group = append(group, b)
		}
		if ended || len(group) == importedAtOnce {
			n, err := guard.Import(ctx, group)
			if err != nil {
				return added, seen, err
			}
			added, seen, group = added+n, seen+len(group), group[:0]
		}
		if ended {
			return added, seen, nil
		}
	}
}
