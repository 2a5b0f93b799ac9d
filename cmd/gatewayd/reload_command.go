package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/operator"
)

func reloadCommand(w streams) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "reload", Short: "Check the configuration and let the running daemon take over what has changed", Args: cobra.NoArgs,
		Long: "Check the configuration as a whole and let the running daemon read it again. Funders, tokens with their limits and fees, explorers, limits of clients\n" +
			"and log.level are taken at once; the answer names them, and the keys that wait for a restart. A file that is wrong changes nothing, and neither does a\n" +
			"SIGHUP to the daemon then, which otherwise does the same.",
		Example: "  gatewayd reload -c /etc/gatewayd/config.yaml",
	}
	path := configFlag(c)
	c.RunE = onSession(path, func(ctx context.Context, d *operator.Session, _ []string) error {
		done, err := d.Reload(ctx)
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
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	return c
}

func printReload(w io.Writer, r config.Reload) error {
	if len(r.Taken)+len(r.Restart) == 0 {
		_, err := fmt.Fprintf(w, "The daemon works by %s already: nothing has changed.\n", r.File)
		return err
	}
	if len(r.Taken) > 0 {
		fmt.Fprintf(w, "The daemon has taken from %s:\n", r.File)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range r.Taken {
		fmt.Fprintf(t, "  %s\t%s\n", c.Key, c.String())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Restart) > 0 {
		fmt.Fprintln(w, "Takes a restart:")
	}
	for _, key := range r.Restart {
		fmt.Fprintf(w, "  %s\n", key)
	}
	if r.More > 0 {
		fmt.Fprintf(w, "and %d more.\n", r.More)
	}
	return nil
}
