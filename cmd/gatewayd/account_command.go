package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/operator"
)

// recoveryCommand is a command with an operator.Recovery and the operator's name in its context.
func recoveryCommand(config *string, c *cobra.Command, do func(context.Context, *operator.Recovery, []string) error) *cobra.Command {
	c.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := operator.OpenRecovery(cmd.Context(), *config)
		if err != nil {
			return err
		}
		defer r.Close()
		return operator.InAmounts(r.Config, do(operator.AsOperator(cmd.Context()), r, args))
	}
	return c
}

func accountCommand(w streams) *cobra.Command {
	c := &cobra.Command{Use: "account", Short: "Show our accounts, and let stopped ones go on", Long: "Show our accounts, and let stopped ones go on. docs/operations.md has the steps."}
	config := configFlag(c)
	c.AddCommand(
		accountListCommand(w, config), accountShowCommand(w, config), accountSettleCommand(w, config),
		accountResumeCommand(w, config), accountStopCommand(w, config), accountAdoptGuardCommand(w, config), accountBindingsCommand(w, config),
	)
	return c
}

func accountListCommand(w streams, config *string) *cobra.Command {
	var f format
	c := recoveryCommand(config, &cobra.Command{
		Use: "list", Short: "List the paying accounts, and any other that has stopped", Args: cobra.NoArgs,
	}, func(ctx context.Context, r *operator.Recovery, _ []string) error {
		list, err := r.Accounts(ctx)
		if err != nil {
			return err
		}
		rows, values := make([][]string, len(list)), make([]operator.AccountRow, len(list))
		for i, a := range list {
			v := r.Row(ctx, a)
			ledger := strconv.FormatUint(v.Ledger, 10)
			if v.Fault != "" {
				ledger = "?"
			} else if !v.Settled {
				ledger += " moving"
			}
			values[i] = v
			rows[i] = []string{v.Chain, v.Kind, v.Address, v.State, strconv.FormatUint(v.Next, 10), ledger, v.Signed, r.Config.InWholeUnits(v.Why + v.Fault)}
		}
		return f.table(w.stdout, []string{"chain", "kind", "address", "state", "next", "ledger", "signed", "why"}, rows, values)
	})
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	return c
}

func accountShowCommand(w streams, config *string) *cobra.Command {
	var f format
	c := recoveryCommand(config, &cobra.Command{
		Use: "show CHAIN ADDRESS", Short: "Show what an account has signed and what the ledger shows that our records do not know", Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, r *operator.Recovery, args []string) error {
		id, err := r.OwnAccount(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		s, err := r.Detail(ctx, id, args[1])
		if err != nil {
			return err
		}
		if f.json {
			return printJSON(w.stdout, s)
		}
		printAccount(w.stdout, r.Config, s)
		return nil
	})
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	return c
}

func printAccount(w io.Writer, cfg config.Config, s operator.AccountDetail) {
	a := s.Account
	fmt.Fprintf(w, "%s account %s on %s is %s\n", a.Kind, a.Address, a.Chain, a.State)
	if a.Why != "" {
		fmt.Fprintf(w, "  because  %s\n", cfg.InWholeUnits(a.Why))
	}
	fmt.Fprintf(w, "  records  next number %d\n  ledger   next number %d, settled %t\n  signed   %s\n", a.Next, a.Ledger, a.Settled, a.Signed)
	for _, o := range s.Open {
		fmt.Fprintf(w, "Open number %d: payment %d, %s of %s to %s, mined %t\n", o.Number, o.Payment, o.Purpose, cfg.InWholeUnits(o.Amount+" "+o.Asset), o.Payee, o.Mined)
		for _, h := range o.Hashes {
			fmt.Fprintf(w, "  %s\n", h)
		}
	}
	for _, f := range s.UnknownTxs {
		printUnknownTxs(w, cfg, f)
	}
	switch {
	case s.Unread != "":
		fmt.Fprintf(w, "Not all of it is known: %s\n", s.Unread)
	case len(s.UnknownTxs) == 0:
		fmt.Fprintln(w, "Every final transaction of it is explained.")
	}
}

func printUnknownTxs(w io.Writer, cfg config.Config, f operator.UnknownTxRow) {
	fmt.Fprintf(w, "Unknown number %d in block %d: %s\n", f.Number, f.Height, f.Hash)
	switch {
	case f.Source != "":
		fmt.Fprintf(w, "  took in %s\n", f.Source)
	default:
		fmt.Fprintf(w, "  moved %s to %s %s\n", cfg.InWholeUnits(f.Amount+" "+f.Asset), f.To, f.Label)
	}
	switch {
	case len(f.Pays) > 0:
		fmt.Fprintf(w, "  is what record %d asks for: gatewayd records settle %d %s\n", f.Pays[0], f.Pays[0], f.Hash)
	case len(f.Refunds) > 0:
		fmt.Fprintf(w, "  is what a refund of record %d would send: gatewayd records settle %d %s\n", f.Refunds[0], f.Refunds[0], f.Hash)
	case len(f.Others) > 0:
		fmt.Fprintf(w, "  is what a refund of record %s to this address would send: if it was ordered so, gatewayd records settle %d %s; if not, find out who made it\n",
			oneOfIDs(f.Others), f.Others[0], f.Hash)
	case f.Harmless != "":
		fmt.Fprintf(w, "  paid no user: %s; resume accepts it\n", f.Harmless)
	default:
		fmt.Fprintln(w, "  fits no record: find out who made it, then resume with --accept")
	}
}

// oneOfIDs names records of which one is meant.
func oneOfIDs(ids []uint64) string {
	names := make([]string, min(len(ids), 10))
	for i := range names {
		names[i] = strconv.FormatUint(ids[i], 10)
	}
	return strings.Join(names, " or ")
}
