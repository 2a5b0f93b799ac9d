package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/operator/backup"
)

func backupCommand(w streams) *cobra.Command {
	var f format
	var verify, apart bool
	c := &cobra.Command{
		Use: "backup TARGET", Short: "Back up databases, sign-guard and configuration to one new file", Args: cobra.ExactArgs(1),
		Long: "Write TARGET, a tar that only its owner can read, with the records, the sign-guard, the exchange index, the API keys, the log of an embedded exchange chain and\n" +
			"the configuration. It gets its name only after verification. The daemon may run without delay. Keys, passwords and secrets are never included: keep the wallet's\n" +
			"store, its password and exchange.secret_file separately. Databases on a PostgreSQL server are backed up there. --verify checks an existing file.",
		Example: "  gatewayd backup -c /etc/gatewayd/config.yaml /backup/gatewayd-$(date -u +%FT%H%M).tar\n  gatewayd backup --verify /backup/gatewayd-2026-11-23T0600.tar",
	}
	path := configFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var m backup.Manifest
		var err error
		if verify {
			m, err = backup.Verify(cmd.Context(), args[0])
		} else {
			m, err = writeBackup(cmd, *path, args[0], apart)
		}
		if err != nil {
			return backupError(err)
		}
		if f.json {
			return printJSON(w.stdout, m)
		}
		return printBackup(w.stdout, args[0], m, verify)
	}
	c.Flags().BoolVar(&verify, "verify", false, "check an existing TARGET: every byte, database and block")
	c.Flags().BoolVar(&apart, "postgres-apart", false, "databases on a PostgreSQL server were backed up there before: back up the rest")
	c.Flags().BoolVar(&f.json, "json", false, "print the manifest as JSON")
	return c
}

func writeBackup(cmd *cobra.Command, path, target string, apart bool) (m backup.Manifest, err error) {
	cfg, err := config.Load(path)
	if err != nil {
		return m, err
	}
	return backup.Write(cmd.Context(), cfg, target, backup.Options{Program: programVersion(), Apart: apart})
}

func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "gatewayd"
	}
	return "gatewayd " + info.Main.Version
}

// backupError keeps the words of what a backup refuses, which name the file and the next step, and
// lets others be put in words.
func backupError(err error) error {
	for _, known := range []error{backup.ErrDamaged, backup.ErrNewer, backup.ErrExists, backup.ErrInUse} {
		if errors.Is(err, known) {
			return operator.AsTold(err)
		}
	}
	return err
}

func printBackup(w io.Writer, path string, m backup.Manifest, verified bool) error {
	what := "Written and verified"
	if verified {
		what = "Verified"
	}
	fmt.Fprintf(w, "%s: %s, of %s by %s\n", what, path, stamp(m.Made), m.Program)
	var rows [][]string
	for _, f := range m.Files {
		rows = append(rows, []string{"  " + f.Name, operator.Grouped(uint64(f.Size)) + " bytes", fileNote(f)})
	}
	for _, c := range m.Chains {
		rows = append(rows, []string{"  chain " + c.Chain, fmt.Sprintf("block %d", c.Height), fmt.Sprintf("final %d", c.Final)})
	}
	if err := printTable(w, 0, []column{{}, {cells: amounts}, {}}, rows); err != nil {
		return err
	}
	for _, a := range m.Absent {
		fmt.Fprintf(w, "  not in it: %s: %s\n", a.What, a.Why)
	}
	return nil
}

func fileNote(f backup.File) string {
	switch {
	case f.Schema > 0:
		return fmt.Sprintf("schema %d", f.Schema)
	case f.Blocks > 0:
		return fmt.Sprintf("%s snapshot blocks", operator.Grouped(f.Blocks))
	}
	return ""
}

func restoreCommand(w streams) *cobra.Command {
	var f format
	var o backup.RestoreOptions
	c := &cobra.Command{
		Use: "restore BACKUP [NAME...]", Short: "Restore a backup to the configured places while no daemon runs", Args: cobra.MinimumNArgs(1),
		Long: "Verify BACKUP and restore its files, or only those of a NAME, to the configured places, including a missing configuration. Existing files are never overwritten: they are\n" +
			"an error, or renamed with --replace. A newer sign-guard and a newer log of an exchange chain stay. If the sign-guard is lost, the backup's is\n" +
			"restored and every paying account is stopped, because later signatures are unknown. docs/operations/recovery.md has the next steps.",
		Example: "  gatewayd restore -c /etc/gatewayd/config.yaml /backup/gatewayd-2026-11-23T0600.tar\n" +
			"  gatewayd restore -c /etc/gatewayd/config.yaml /backup/gatewayd-2026-11-23T0600.tar records.db",
	}
	path := configFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.Only = args[1:]
		r, err := backup.Restore(cmd.Context(), args[0], *path, o)
		if err != nil {
			return backupError(err)
		}
		if f.json {
			return printJSON(w.stdout, r)
		}
		printRestored(w.stdout, r)
		return nil
	}
	c.Flags().BoolVar(&o.Replace, "replace", false, "rename existing databases and restore the backup's")
	c.Flags().BoolVar(&o.OlderGuard, "older-guard", false, "also rename the existing sign-guard: signatures since the backup are forgotten, and every paying account is stopped")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func printRestored(w io.Writer, r backup.Restored) {
	fmt.Fprintf(w, "Restored the backup of %s by %s.\n", stamp(r.Manifest.Made), r.Manifest.Program)
	for _, list := range []struct {
		what  string
		paths []string
	}{{"put back", r.Put}, {"kept, because it is as new or newer", r.Unchanged}, {"renamed to", r.Aside}} {
		for _, path := range list.paths {
			fmt.Fprintf(w, "  %s: %s\n", list.what, path)
		}
	}
	for _, s := range r.Stopped {
		fmt.Fprintf(w, "  stopped: %s on %s\n", s.Account, s.Chain)
	}
	fmt.Fprintln(w, "Next:")
	for i, step := range nextSteps(r) {
		fmt.Fprintf(w, "  %d. %s\n", i+1, step)
	}
}

// nextSteps lists an operator's steps after a restore, in order.
func nextSteps(r backup.Restored) (steps []string) {
	cfg := r.Config
	missing := func(path, what string) {
		if _, err := os.Stat(path); path != "" && errors.Is(err, fs.ErrNotExist) {
			steps = append(steps, fmt.Sprintf("%s is missing: restore your own copy of %s, which no backup contains", path, what))
		}
	}
	missing(cfg.Wallet.Store, "the wallet's store")
	missing(cfg.Wallet.PasswordFile, "its password")
	for _, s := range cfg.Wallet.Successors {
		missing(s.Store, "the store of a successor")
		missing(s.PasswordFile, "its password")
	}
	if cfg.Exchange != nil && cfg.Exchange.SecretEnv == "" {
		missing(cfg.Exchange.SecretFile, "the secret of API keys")
	}
	if cfg.Signs() {
		return append(steps, "start the signer: gatewayd signer -c "+cfg.Path, "start the daemon again: it stops every paying account if this sign-guard knows less than the records, "+
			`and docs/operations/recovery.md has the next steps`)
	}
	steps = append(steps, "start the daemon: gatewayd run -c "+cfg.Path)
	if len(cfg.Networks) > 0 {
		steps = append(steps,
			"gatewayd account list: the daemon stops each account that has signed more than the backup knows, as soon as it has read the chains",
			`resume stopped accounts as in docs/operations/recovery.md: account show, account settle, account resume`,
			"gatewayd audit: must report 0 differences")
	}
	if cfg.Exchange != nil {
		steps = append(steps, "gatewayd apikey list: keys that were revoked after "+stamp(r.Manifest.Made)+" work again; revoke them")
	}
	return steps
}
