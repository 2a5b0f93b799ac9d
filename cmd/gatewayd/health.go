package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/daemon"
)

// healthCommand lets a container's health check use the binary itself.
func healthCommand(w streams) *cobra.Command {
	var url, file string
	c := &cobra.Command{
		Use: "health", Short: "Ask a running daemon whether it is well; exit code 1 when it is not", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != "" {
				cfg, err := config.Load(file)
				if err != nil {
					return err
				}
				url = daemon.HealthURL(cfg)
			}
			if err := daemon.AskHealth(cmd.Context(), url); err != nil {
				return err
			}
			fmt.Fprintln(w.stdout, "well")
			return nil
		},
	}
	c.Flags().StringVar(&url, "url", "http://127.0.0.1:8080/health", "health address of the daemon")
	c.Flags().StringVarP(&file, "config", "c", "", "configuration file of the daemon: its listener is asked")
	c.MarkFlagsMutuallyExclusive("url", "config")
	return c
}
