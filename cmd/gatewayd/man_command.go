package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"gatewayd/internal/buildinfo"
)

// manCommand is for `make release`: a package has the manual.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Short: "Write the manual, a page for each command", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same program gives the same pages; their date is SOURCE_DATE_EPOCH's
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "gatewayd " + buildinfo.Read().Version, Manual: "gatewayd"}, args[0])
		},
	}
}
