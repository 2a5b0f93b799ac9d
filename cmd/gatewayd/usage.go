package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"gatewayd/operator"
)

// exitUsage is the exit code of a command that was written wrongly: nothing was done.
// exitInterrupted is that of one that a signal ended before it was done, as shells have it.
// Everything else that fails ends with 1.
const (
	exitUsage       = 2
	exitInterrupted = 130
)

var errInterrupted = errors.New("interrupted")

// exitCode returns the process's exit code.
func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, new(operator.UsageError)):
		return exitUsage
	}
	return 1
}

// untilInterrupted is the error of a command that runs until a signal ends it: then it has done
// what it was to do.
func untilInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// strictUsage makes wrong flags, arguments and commands of a complete tree usage errors. Without it
// cobra answers an unknown command of a group with its help and success.
func strictUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(flagError)
	c.SuggestionsMinimumDistance = spellings
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return operator.Usagef("%w; usage: %s", err, c.UseLine())
			}
			return nil
		}
	}
	if c.HasSubCommands() && !c.Runnable() {
		c.Args, c.RunE, c.Annotations = cobra.ArbitraryArgs, runGroup, map[string]string{onlyGroups: "true"}
	}
	for _, sub := range c.Commands() {
		strictUsage(sub)
	}
}

// onlyGroups annotates a command that only groups others.
const onlyGroups = "only groups"

// runGroup is the run function of a command that only groups others.
func runGroup(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	return unknownCommand(c, args[0])
}

// configFlag adds -c with the default of a working directory.
func configFlag(c *cobra.Command) *string {
	return c.PersistentFlags().StringP("config", "c", "config.yaml", "configuration file of the daemon")
}

// onSession is a command that works next to a running daemon.
func onSession(config *string, do func(ctx context.Context, d *operator.Session, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		d, err := operator.Open(cmd.Context(), *config)
		if err != nil {
			return err
		}
		defer d.Store.Close()
		return do(cmd.Context(), d, args)
	}
}
