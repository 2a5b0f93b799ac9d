package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/operator/doctor"
)

func doctorCommand(w streams) *cobra.Command {
	var f format
	c := &cobra.Command{Use: "doctor", Short: "Check a configuration against the live nodes and say what to fix", Args: cobra.NoArgs}
	path := configFlag(c)
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.Load(*path)
		if err != nil {
			return err
		}
		return printFindings(w, f, doctor.Run(cmd.Context(), cfg, w.getenv, func(c config.Wallet) error {
			_, closeKeys, err := openKeys(c, w)
			if err == nil {
				closeKeys()
			}
			return err
		}))
	}
	return c
}

func printFindings(w streams, f format, findings []doctor.Finding) error {
	if f.json {
		if err := printJSON(w.stdout, findings); err != nil {
			return err
		}
	}
	bad := 0
	for _, x := range findings {
		mark := "ok  "
		switch {
		case !x.OK:
			mark, bad = "FIX ", bad+1
		case x.Warning:
			mark = "WARN"
		}
		if !f.json {
			fmt.Fprintf(w.stdout, "%s %s: %s\n", mark, x.What, x.Found)
			if x.Advice != "" {
				fmt.Fprintf(w.stdout, "     %s\n", x.Advice)
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d checks need fixing", bad, len(findings))
	}
	return nil
}
