package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"gatewayd/operator"
)

func accountAdoptGuardCommand(w streams, config *string) *cobra.Command {
	var why string
	c := recoveryCommand(config, &cobra.Command{
		Use: "adopt-guard", Short: "Go on with another sign-guard, because the one before is lost: stops every account that pays", Args: cobra.NoArgs,
		Long: "Let the records go with the sign-guard that is there now. Only where the one before is lost for good and no copy of it is left: the new one does not know\n" +
			"what was signed, so every account that pays is stopped until you have looked at what it signed. docs/operations.md has the steps (\"Recovery\").\n" +
			"Several daemons on one database want the same wallet.signer instead.",
	}, func(ctx context.Context, r *operator.Recovery, _ []string) error {
		halted, err := r.AdoptGuard(ctx, why)
		if err != nil {
			return err
		}
		for _, a := range halted {
			fmt.Fprintf(w.stdout, "stopped: %s on %s\n", a.Account, a.Chain)
		}
		fmt.Fprintln(w.stdout, "The sign-guard is adopted. Start the daemon, then `gatewayd account show` and `account resume` for each account.")
		return nil
	})
	c.Flags().StringVar(&why, "why", "", "the reason, for the history")

	return c
}
