package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/operator/doctor"
)

func doctorCommand(w streams) *cobra.Command {
	var f format
	c := &cobra.Command{Use: "doctor", Short: "Check a configuration against the live nodes and list what to fix", Args: cobra.NoArgs, Example: "  gatewayd doctor\n  gatewayd doctor -c /etc/gatewayd/config.yaml --json"}
	path := configFlag(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.Load(*path)
		if err != nil {
			return err
		}
		return printDoctor(w, f, doctor.Run(cmd.Context(), cfg, w.getenv, func(c config.Wallet) error {
			_, closeKeys, err := openKeys(c, w)
			if err == nil {
				closeKeys()
			}
			return err
		}))
	}
	return c
}

func printDoctor(w streams, f format, r doctor.Report) (err error) {
	if f.json {
		err = printJSON(w.stdout, r)
	} else {
		printFine(w.stdout, r.Findings)
		printCures(w.stdout, r)
	}
	bad := 0
	for _, x := range r.Findings {
		if !x.OK {
			bad++
		}
	}
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d of %d checks need fixing", bad, len(r.Findings))
	}
	return err
}

// printFine prints what needs no fixing.
func printFine(w io.Writer, findings []doctor.Finding) {
	for _, x := range findings {
		switch {
		case x.OK && x.Warning:
			fmt.Fprintf(w, "WARN %s: %s\n     %s\n", x.What, x.Found, x.Advice)
		case x.OK:
			fmt.Fprintf(w, "ok   %s: %s\n", x.What, x.Found)
		}
	}
}

// printCures prints what to do, in order, each with the findings that it resolves.
func printCures(w io.Writer, r doctor.Report) {
	if len(r.Cures) > 0 {
		fmt.Fprintln(w, "\nFIX, in this order:")
	}
	for _, c := range r.Cures {
		fmt.Fprintf(w, "%d. %s\n", c.Number, c.Do)
		for _, f := range r.Findings {
			if f.Cure == c.Number {
				fmt.Fprintf(w, "   cures %s: %s\n", f.What, f.Found)
			}
		}
	}
}
