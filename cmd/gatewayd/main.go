// Command gatewayd bridges tokens between a source chain and the exchange chain.
//
//	gatewayd dev                 everything on embedded chains, for trying and developing
//	gatewayd run -c config.yaml  the daemon on real nodes
//
// This package only wires the others together; nothing imports it.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/operator"
	"gatewayd/records"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	w := streams{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, interrupted: ctx.Done(), width: terminalWidth(os.Stdout)}
	err := run(ctx, os.Args[1:], w)
	if err != nil && ctx.Err() != nil && !errors.Is(err, records.ErrUnknownOutcome) {
		err = errInterrupted // the rest of the command's own text adds nothing
	}
	if err != nil {
		w.printError(err)
		os.Exit(exitCode(err))
	}
}

// printError prints the error that ends the program, as a line of the log if that is JSON.
func (w streams) printError(err error) {
	if logged := new(loggedError); errors.As(err, &logged) {
		logged.log.WithError(err).Log(logrus.FatalLevel, "gatewayd ends")
		return
	}
	fmt.Fprintln(w.stderr, "gatewayd:", err)
}

// loggedError is the error of a command whose log is JSON.
type loggedError struct {
	error
	log *logrus.Logger
}

func (e *loggedError) Unwrap() error { return e.error }

// inLog makes an error that ends a command one for its log, if that is JSON.
func inLog(c config.Log, w streams, err error) error {
	if err == nil || c.Format != "json" {
		return err
	}
	log, bad := daemon.NewLog(c, w.stderr)
	if bad != nil {
		return err
	}
	return &loggedError{err, log}
}

// streams is the program's connection to the outside, so that tests can replace it.
type streams struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	interrupted    <-chan struct{}  // closed by the signal that ends the program; nil: there is none
	width          int              // of the terminal that stdout is; 0: it is none
	now            func() time.Time // nil: time.Now
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, w streams) error {
	root := rootCommand(w)
	root.SetArgs(args)
	root.SetIn(w.stdin)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	return operator.PlainError(root.ExecuteContext(ctx))
}

func rootCommand(w streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "gatewayd",
		Short:         "A gateway daemon: deposits and withdrawals between a source chain and the exchange chain",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       daemon.Read().Version,
	}
	root.SetVersionTemplate("gatewayd {{.Version}}\n")
	addGroups(root, []group{
		{"Start", []*cobra.Command{devCommand(w), configCommand(w), doctorCommand(w), runCommand(w), reloadCommand(w)}},
		{"Operate", []*cobra.Command{
			statusCommand(w), recordsCommand(w), channelCommand(w), balancesCommand(w), limitsCommand(w), alertsCommand(w), consoleCommand(w), healthCommand(w),
		}},
		{"Repair", []*cobra.Command{accountCommand(w), chainCommand(w), rescanCommand(w)}},
		{"Keys and approvals", []*cobra.Command{walletCommand(w), signerCommand(w), approverCommand(w), approveCommand(w), apikeyCommand(w)}},
		{"Data", []*cobra.Command{auditCommand(w), historyCommand(w), backupCommand(w), restoreCommand(w)}},
		{"Tools", []*cobra.Command{genesisCommand(w), manCommand(), versionCommand(w)}},
	})
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID("Tools")
	root.SetCompletionCommandGroupID("Tools")
	root.SetHelpFunc(printHelp)
	root.InitDefaultCompletionCmd()
	strictUsage(root)
	addCompletions(root)
	return root
}

func versionCommand(w streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version, its commit and what built it", Args: cobra.NoArgs,
		Example: "  gatewayd version\n  gatewayd version --json",
		RunE: func(*cobra.Command, []string) error {
			info := daemon.Read()
			if asJSON {
				return printJSON(w.stdout, info)
			}
			fmt.Fprintf(w.stdout, "gatewayd %s\ncommit   %s\nbuilt by %s for %s\n", info.Version, cmp.Or(info.Commit, "unknown"), info.Go, info.Platform)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
