package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"gatewayd/operator"
)

func limitsCommand(w streams) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "limits", Short: "Show the use of the signer's limits and payments that they do not cover", Args: cobra.NoArgs,
		Example: "  gatewayd limits\n  gatewayd limits --json",
	}
	path := configFlag(c)
	c.RunE = onSession(path, func(ctx context.Context, d *operator.Session, _ []string) error {
		report, at, err := d.Limits(ctx)
		if err != nil {
			return err
		}
		if f.json {
			return printJSON(w.stdout, report)
		}
		if len(report.Lines) == 0 {
			fmt.Fprintln(w.stdout, "No limits are configured: signer.limits is empty.")
		} else {
			rows := make([][]string, len(report.Lines))
			for i, l := range report.Lines {
				rows[i] = []string{l.Window, l.Network, d.Config.Symbol(l.Network, l.Token), string(l.Chain), l.Limit, l.Used, fmt.Sprintf("%.0f%%", 100*l.Ratio)}
			}
			if err := w.list(f, []column{{name: "window"}, {name: "network"}, {name: "token"}, {name: "chain"}, {name: "limit", cells: amounts}, {name: "used", cells: amounts}, {name: "of it", cells: numbers}}, rows, nil); err != nil {
				return err
			}
		}
		for _, token := range report.Unpriced {
			printWrapped(w.stdout, "NOT COUNTED by the gateway limit: "+token+" has no fresh price")
		}
		for _, fault := range []string{report.Fault, report.Lists} {
			if fault != "" {
				printWrapped(w.stdout, "FIX  "+fault)
			}
		}
		fmt.Fprintf(w.stdout, "As of %s ago.\n", lasted(w.today().Sub(at)))
		return nil
	})
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}
