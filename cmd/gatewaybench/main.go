// Command gatewaybench measures the budgets, each figure with a yardstick of the same run.
//
//	Measure ── round 1 ─▶ process: ours      ─▶ Figure{units, CPU, wall, notes}
//	       │            └▶ process: yardstick ─▶ Figure
//	       ├── round 2 ...                       the other way round
//	       └─▶ Result: median [least..most] of the rounds' ratios against each Goal
//
// Machines differ and are shared, so a budget is a ratio of the costs of two parts of one round.
// Each part is a separate process (the program itself, called for one part). It measures only the
// relevant section, and reports CPU time per unit with wall time. The result contains the number of
// rounds in which others used the machine.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "gatewaybench:", err)
		os.Exit(1)
	}
}

// cases are all there are, in the order in which they are shown.
func cases() []Case { return slices.Concat(exchangeCases(), bridgeCases()) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := command(stdout, stderr)
	c.SetArgs(args)
	c.SetOut(stdout)
	c.SetErr(stderr)
	return c.ExecuteContext(ctx)
}

func command(stdout, stderr io.Writer) *cobra.Command {
	config := Config{Stderr: stderr}
	var asJSON, list bool
	c := &cobra.Command{
		Use:   "gatewaybench",
		Short: "Measure what the budgets promise, each figure beside a yardstick of the same run",
		Long: "Measure what the budgets promise, each figure beside a yardstick of the same run.\n\n" +
			"Each side of a round is a process of its own; what counts is CPU time per unit, and of the rounds the median.\n" +
			"Nothing is needed but this binary and time; the cases dev and signer start the gatewayd beside it.",
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return List(stdout, cases())
			}
			return measure(cmd.Context(), config, stdout, asJSON)
		},
	}
	f := c.Flags()
	f.IntVar(&config.Rounds, "rounds", 5, "rounds of each case")
	f.StringSliceVar(&config.Only, "only", nil, "only cases whose names begin so")
	f.Float64Var(&config.Scale, "scale", 1, "how much of the usual work")
	f.StringVar(&config.Dir, "dir", "", "work in this directory (default: the system's temporary directory)")
	f.StringVar(&config.Profile, "profile", "", "write a CPU profile of each side of the last round to this directory")
	f.BoolVar(&asJSON, "json", false, "print every round as JSON")
	f.BoolVar(&list, "list", false, "list the cases")
	c.AddCommand(partCommand(stdout, stderr))
	return c
}

func measure(ctx context.Context, config Config, stdout io.Writer, asJSON bool) error {
	results, err := Measure(ctx, cases(), config)
	show := Table
	if asJSON {
		show = JSON
	}
	if showErr := show(stdout, results); err == nil {
		err = showErr
	}
	for _, r := range results {
		if err == nil && r.Error != "" {
			err = fmt.Errorf("case %s: %s", r.Name, r.Error)
		}
	}
	return err
}

// partCommand starts each side of a round: this program again.
func partCommand(stdout, stderr io.Writer) *cobra.Command {
	r := Run{Stderr: stderr}
	c := &cobra.Command{
		Use: "part CASE SIDE", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Case, r.Side = args[0], args[1]
			return RunPart(cmd.Context(), cases(), &r, stdout)
		},
	}
	f := c.Flags()
	f.Float64Var(&r.Scale, "scale", 1, "how much of the usual work")
	for name, value := range map[string]*string{"dir": &r.Dir, "argument": &r.Argument, "profile": &r.Profile} {
		f.StringVar(value, name, "", "of the part, see package bench")
	}
	return c
}
