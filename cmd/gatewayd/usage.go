package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// exitUsage is the exit code of a command that was written wrongly: nothing was done. Everything else that fails ends with 1.
const exitUsage = 2

// usageError is a command that was written wrongly.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode is what the process ends with.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	return 1
}

// strict makes wrong flags, arguments and commands of a whole tree usage errors. Without it cobra answers an unknown
// command of a group with its help and says that all is well.
func strict(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usagef("%w; see %s --help", err, c.CommandPath()) })
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usagef("%w; usage: %s", err, c.UseLine())
			}
			return nil
		}
	}
	if c.HasSubCommands() && !c.Runnable() {
		c.Args = cobra.ArbitraryArgs
		c.RunE = group
	}
	for _, sub := range c.Commands() {
		strict(sub)
	}
}

// group is what a command does that has only others below it.
func group(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef("unknown command %q for %q: %s", args[0], c.CommandPath(), strings.Join(names, ", "))
}

// oneOf is a usage error unless a value of a flag, if there is one, is among those that exist.
func oneOf(flag, value string, exist []string) error {
	if value == "" || slices.Contains(exist, value) {
		return nil
	}
	return usagef("--%s %q: one of %s is wanted", flag, value, strings.Join(exist, ", "))
}

// grouped writes a number with commas.
func grouped(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
