package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"gatewayd/internal/buildinfo"
)

func versionCommand(w streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version, its commit and what built it", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info := buildinfo.Read()
			if asJSON {
				return printJSON(w.stdout, info)
			}
			fmt.Fprintf(w.stdout, "gatewayd %s\ncommit   %s\nbuilt by %s for %s\n", info.Version, cmp.Or(info.Commit, "unknown"), info.Go, info.Platform)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "answer JSON")
	return c
}
