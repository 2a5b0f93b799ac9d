// Command gatewaydemo acts as users of a gateway on development chains and prints each step.
//
//	gatewaydemo            a deposit and a withdrawal of each kind of token
//	gatewaydemo exchange   two users trade
//	gatewaydemo burst      many users deposit and withdraw at once
//	gatewaydemo custody    a thief owns the daemon, and the signer refuses
//
// Package demo contains the steps. This package has only flags, exit codes and texts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"gatewayd/operator"
)

// Exit codes, the same as those of gatewayd. Other errors end with 1.
const (
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], streams{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "gatewaydemo: interrupted")
		os.Exit(exitInterrupted)
	case errors.As(err, new(operator.UsageError)):
		fmt.Fprintln(os.Stderr, "gatewaydemo:", err)
		os.Exit(exitUsage)
	default:
		fmt.Fprintln(os.Stderr, "gatewaydemo:", err)
		os.Exit(1)
	}
}

// streams is the program's connection to the outside, so that tests can replace it.
type streams struct {
	stdout, stderr io.Writer
	getenv         func(string) string
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, w streams) error {
	root := rootCommand(w)
	root.SetArgs(args)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	return operator.PlainError(root.ExecuteContext(ctx))
}

// flagError makes a wrong flag a usage error.
func flagError(c *cobra.Command, err error) error {
	return operator.Usagef("%w; see %s --help", err, c.CommandPath())
}

// noArgs makes an argument or an unknown command a usage error.
func noArgs(c *cobra.Command, args []string) error {
	if err := cobra.NoArgs(c, args); err != nil {
		return operator.Usagef("%w; usage: %s", err, c.UseLine())
	}
	return nil
}
