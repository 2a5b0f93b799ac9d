package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/operator"
	"gatewayd/records/signguard"
)

func accountBindingsCommand(w streams, config *string) *cobra.Command {
	return &cobra.Command{
		Use: "bindings", Short: "Print which user has which deposit address or label, one JSON object a line, for `gatewayd signer import-bindings`", Args: cobra.NoArgs,
		Long: "Print which user has which deposit address or label, one JSON object a line. A signer with nodes of its own credits deposits to those only that it has given out\n" +
			"itself or that its owner has imported: those from before it was there are handed over this way, once.",
		Example: "  gatewayd account bindings -c config.yaml > bindings.json",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, _ []string) error {
			out := json.NewEncoder(w.stdout)
			return d.EachBinding(ctx, func(b signguard.Binding) error { return out.Encode(b) })
		}),
	}
}

func signerImportCommand(w streams, path *string) *cobra.Command {
	return &cobra.Command{
		Use: "import-bindings FILE", Short: "Take over deposit addresses and labels that were given out before this sign-guard kept them", Args: cobra.ExactArgs(1),
		Long: "Take over deposit addresses and labels that were given out before this sign-guard kept them, from what `gatewayd account bindings` has printed. Each address must be that\n" +
			"of the signer's own keys. What the sign-guard knows already stays, and must be the same. Run it on the signer's host, with a file from a daemon that you trust: whoever\n" +
			"is named here is credited.",
		Example: "  gatewayd signer import-bindings bindings.json -c signer.yaml",
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
			guard, err := signguard.Open(daemon.GuardPath(cfg))
			if err != nil {
				return err
			}
			defer func() { _ = guard.Close() }() // what it has imported is durable
			added, seen, err := importBindings(cmd.Context(), guard, file, ownAddress(cfg, keys))
			if err != nil {
				return err
			}
			fmt.Fprintf(w.stdout, "%d bindings are new, %d were known.\n", added, seen-added)
			return nil
		},
	}
}

// ownAddress refuses an address that is not the one of its index.
func ownAddress(cfg config.Config, keys daemon.Keys) func(signguard.Binding) error {
	derived := daemon.SigningKeys(keys, cfg)
	return func(b signguard.Binding) error {
		if b.Address == "" {
			return nil
		}
		at, err := derived.Deposit(b.Chain, b.Index)
		if err != nil {
			return fmt.Errorf("chain %q: %w", b.Chain, err)
		}
		if own, err := derived.Account(b.Chain, at); err != nil || own != b.Address {
			return errors.Join(fmt.Errorf("address %s: the signer's keys have another one at index %d of %s", b.Address, b.Index, b.Chain), err)
		}
		return nil
	}
}

// importedAtOnce is how many bindings are imported in one durable commit.
const importedAtOnce = 1000

// importBindings takes the lines of a file over, in groups, each of them whole or not at all. Running it again goes on.
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
