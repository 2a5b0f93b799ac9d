package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"gatewayd/bench"
)

// benchCommand measures gatewayd against its budgets. Every part of a round is this program again, as bench part.
func benchCommand(w world) *cobra.Command {
	config := bench.Config{Cases: bench.Cases(), Stderr: w.stderr}
	var asJSON, list bool
	c := &cobra.Command{
		Use:   "bench [exchange|bridge]",
		Short: "Measure what the budgets promise, each figure beside a yardstick of the same run",
		Long: "Measure what the budgets promise, each figure beside a yardstick of the same run.\n\n" +
			"Each side of a round is a process of its own; what counts is CPU time per unit, and of the rounds the median.\n" +
			"Rounds during which others used the machine are done again. Nothing is needed but this binary and time.",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{bench.Exchange, bench.Bridge},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				config.Group = args[0]
			}
			if list {
				return bench.List(w.stdout, config)
			}
			if config.Stream != "" {
				if _, err := bench.ReadStream(config.Stream); err != nil {
					return err
				}
				if len(config.Only) == 0 {
					config.Only = []string{"matching-recorded"}
				}
			}
			return runBench(cmd.Context(), w, config, asJSON)
		},
	}
	f := c.Flags()
	f.IntVar(&config.Rounds, "rounds", 5, "rounds that count; a third as many at a scale above 1")
	f.StringSliceVar(&config.Only, "only", nil, "only cases whose names begin so")
	f.Float64SliceVar(&config.Scales, "scale", nil, "how much of the usual work (default 1,10 where a case can)")
	f.StringVar(&config.Stream, "stream", "", "order stream file to play instead of the built-in one (24-byte records)")
	f.StringVar(&config.Dir, "dir", "", "work in this directory, and keep what cases prepare for the next run (default: the system's temporary directory)")
	f.StringVar(&config.Profile, "profile", "", "write a CPU profile of each side of the last round to this directory")
	f.BoolVar(&asJSON, "json", false, "print every round as JSON")
	f.BoolVar(&list, "list", false, "list the cases")
	c.AddCommand(benchPartCommand(w))
	return c
}

func runBench(ctx context.Context, w world, config bench.Config, asJSON bool) error {
	runner, err := bench.New(config)
	if err != nil {
		return err
	}
	results, err := runner.Run(ctx)
	show := bench.Table
	if asJSON {
		show = bench.JSON
	}
	if err := errors.Join(err, show(w.stdout, results)); err != nil {
		return err
	}
	for _, r := range results {
		if r.Error != "" {
			return fmt.Errorf("case %s: %s", r.Name, r.Error)
		}
	}
	return nil
}

// benchPartCommand is what a runner starts for each side of a round.
func benchPartCommand(w world) *cobra.Command {
	var config bench.PartConfig
	c := &cobra.Command{
		Use: "part CASE SIDE", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			config.Case, config.Side = args[0], args[1]
			return bench.RunPart(cmd.Context(), bench.Cases(), config, w.stdout, w.stderr)
		},
	}
	f := c.Flags()
	f.Float64Var(&config.Scale, "scale", 1, "how much of the usual work")
	f.StringVar(&config.Dir, "dir", "", "directory of this part")
	f.StringVar(&config.Data, "data", "", "directory of what the case has prepared")
	f.StringVar(&config.Stream, "stream", "", "stream file")
	f.StringVar(&config.Profile, "profile", "", "directory for a CPU profile")
	f.StringVar(&config.Argument, "argument", "", "what a helper is told")
	return c
}
