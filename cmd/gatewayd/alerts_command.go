package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/notify"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/records/books"
)

func alertsCommand(w streams) *cobra.Command {
	c := &cobra.Command{Use: "alerts", Short: "Receivers of notifications by webhook and e-mail, and their state"}
	path := configFlag(c)
	c.AddCommand(alertsListCommand(w, path), alertsTestCommand(w, path), alertsSecretCommand(w))
	return c
}

const noReceiver = "the configuration names no receiver: config.example.yaml has the section alerts"

// receiverRow is one line of `alerts list --json`.
type receiverRow struct {
	Receiver string `json:"receiver"`
	Behind   uint64 `json:"behind"` // lines of the history that it has not been asked about
	Attempts int    `json:"attempts"`
	Again    string `json:"again,omitempty"`
	Fault    string `json:"fault,omitempty"`
}

func alertsListCommand(w streams, path *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "list", Short: "List the receivers and the last event that each accepted", Args: cobra.NoArgs,
		Example: "  gatewayd alerts list\n  gatewayd alerts list --json",
		RunE: onSession(path, func(ctx context.Context, d *operator.Session, _ []string) error {
			list, err := receiverRows(ctx, d)
			if err != nil {
				return err
			}
			if len(list) == 0 && !f.json {
				_, err := fmt.Fprintln(w.stdout, noReceiver)
				return err
			}
			rows := make([][]string, len(list))
			for i, r := range list {
				rows[i] = []string{r.Receiver, strconv.FormatUint(r.Behind, 10), strconv.Itoa(r.Attempts), r.Again, r.Fault}
			}
			return w.list(f, []column{{name: "receiver"}, {name: "behind", cells: numbers}, {name: "attempts", cells: numbers}, {name: "again"}, {name: "fault"}}, rows, list)
		}),
	}
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// receiverRows leaves out whom the configuration does not name any more.
func receiverRows(ctx context.Context, d *operator.Session) (list []receiverRow, err error) {
	names := notify.Names(d.Config.Alerts)
	list = make([]receiverRow, len(names))
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		known, err := records.Subscribers(tx)
		if err != nil {
			return err
		}
		end, err := books.HistoryEnd(tx)
		for i, name := range names {
			list[i] = receiverRow{Receiver: name, Fault: "the daemon has not run with it yet"}
			if at := slices.IndexFunc(known, func(s records.Subscriber) bool { return s.Name == name }); at >= 0 {
				s := known[at]
				list[i] = receiverRow{Receiver: name, Behind: end - s.Seq, Attempts: s.Attempts, Fault: s.Fault}
				if !s.NextAt.IsZero() {
					list[i].Again = s.NextAt.UTC().Format(time.RFC3339)
				}
			}
		}
		return err
	})
	return list, err
}

func alertsTestCommand(w streams, path *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "test", Short: "Send a test event to every receiver; exit code 1 if one does not accept it", Args: cobra.NoArgs,
		Example: "  gatewayd alerts test\n  gatewayd alerts test -c /etc/gatewayd/config.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(*path)
			if err != nil {
				return err
			}
			list := notify.Test(cmd.Context(), cfg.Alerts)
			if len(list) == 0 {
				return errors.New(noReceiver)
			}
			rows, failed := make([][]string, len(list)), 0
			for i, r := range list {
				state := "ok"
				if r.Fault != "" {
					state, failed = "FAILED", failed+1
				}
				rows[i] = []string{state, r.Receiver, r.Took, r.Fault}
			}
			if err := w.list(f, []column{{name: "state"}, {name: "receiver"}, {name: "took", cells: numbers}, {name: "fault"}}, rows, list); err != nil || failed == 0 {
				return err
			}
			return fmt.Errorf("%d of %d receivers did not accept the test", failed, len(list))
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func alertsSecretCommand(w streams) *cobra.Command {
	return &cobra.Command{
		Use: "secret", Short: "Print a new key for a webhook's secret_file and its receiver", Args: cobra.NoArgs,
		Example: "  gatewayd alerts secret\n  gatewayd alerts secret > /etc/gatewayd/webhook-secret",
		RunE: func(*cobra.Command, []string) error {
			secret, err := notify.NewSecret()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(w.stdout, secret)
			return err
		},
	}
}
