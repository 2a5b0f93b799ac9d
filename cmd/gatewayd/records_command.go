package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/view"
)

func recordsCommand(w streams) *cobra.Command {
	c := &cobra.Command{Use: "records", Short: "Show deposits and withdrawals, and correct them while the daemon runs"}
	config := configFlag(c)
	c.AddCommand(
		recordsListCommand(w, config, "list", "List records, newest first", false),
		recordsListCommand(w, config, "export", "Write all matching records as CSV, or JSON with --json", true),
		recordsShowCommand(w, config),
		recordsRetryCommand(w, config),
		recordsHoldCommand(w, config),
		recordsCreditCommand(w, config),
		recordsRefundCommand(w, config),
		recordsApproveCommand(w, config),
		recordsRejectCommand(w, config),
		recordsReclassifyCommand(w, config),
		recordsWriteOffCommand(w, config),
		recordsSettleCommand(w, config),
	)
	return c
}

// summary is a record in a table for people.
func summary(c config.Config, r records.Record, now time.Time) []string {
	row := operator.RowOf(r)
	state := withReason(row.Status, reasonOf(r))
	if r.Loss != nil {
		state += " (written off)"
	} else if r.Incident != "" {
		state += " (incident)"
	}
	return []string{
		strconv.FormatUint(r.ID, 10), r.Network, row.Direction, c.Symbol(r.Network, r.Token), c.AssetAmount(r.Chain, r.Asset, r.Amount), state,
		r.Owner, r.Tx, lasted(now.Sub(r.SeenAt)),
	}
}

// recordsListCommand is list and export: the same filters, one page for people or everything for
// programs.
func recordsListCommand(w streams, config *string, use, about string, all bool) *cobra.Command {
	var f format
	var q operator.Query
	c := &cobra.Command{
		Use: use, Short: about, Args: cobra.NoArgs,
		Example: "  gatewayd records " + use + " --direction withdrawal --state refused\n  gatewayd records " + use + " --needs-operator\n  gatewayd records " + use + " --older 10m --state seen",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, _ []string) error {
			filter, err := d.Filter(ctx, q)
			if err != nil {
				return err
			}
			if all {
				f.csv = !f.json
				return exportRecords(ctx, d, w, f, filter)
			}
			return listRecords(ctx, d, w, f, filter)
		}),
	}
	queryFlags(&q, c.Flags(), all)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON, amounts in smallest units")
	return c
}

// listRecords prints a page, and reports further ones.
func listRecords(ctx context.Context, d *operator.Session, w streams, f format, filter view.Filter) error {
	list, err := d.Page(ctx, filter)
	if err != nil {
		return err
	}
	var stopped []records.Account
	if filter.NeedsOperator {
		if stopped, err = d.StoppedAccounts(ctx); err != nil {
			return err
		}
	}
	if err := printRecords(d, w, f, list, stopped); err != nil || len(list) < filter.Limit {
		return err
	}
	var total uint64
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		total, err = view.CountRecords(tx, filter)
		return err
	})
	if err == nil && total > uint64(len(list)) {
		fmt.Fprintf(w.stderr, "%s of %s shown; --limit shows more, --before %d continues, `gatewayd records export` writes all.\n",
			operator.Grouped(uint64(len(list))), operator.Grouped(total), list[len(list)-1].ID)
	}
	return err
}

// printRecords shows records, and the stopped accounts that wait for an operator as well: in JSON
// as rows without an id.
func printRecords(d *operator.Session, w streams, f format, list []records.Record, stopped []records.Account) error {
	now, links := w.today(), map[string]string{}
	rows, values := make([][]string, len(list)), make([]operator.RecordRow, len(list), len(list)+len(stopped))
	for i, r := range list {
		values[i], rows[i] = operator.RowOf(r), summary(d.Config, r, now)
		links[r.Tx] = inTxURL(d.Config, r.Transfer)
	}
	if f.json {
		for _, a := range stopped {
			values = append(values, operator.RecordRow{Network: a.Network, State: string(a.State), Reason: records.Reason(a.Why), Account: a.Account})
		}
	} else {
		printStopped(w.stdout, stopped)
	}
	if len(list) == 0 && !f.json {
		_, err := fmt.Fprintln(w.stdout, "No records match.")
		return err
	}
	return w.list(f, []column{
		{name: "id", cells: numbers}, {name: "network"}, {name: "direction"}, {name: "token"}, {name: "amount", cells: amounts}, {name: "state"},
		{name: "wallet", cells: hashes}, {name: "in", cells: hashes, links: links}, {name: "age", cells: numbers},
	}, rows, values)
}

// exportPage is the number of records per read.
const exportPage = 1000

// exportRecords writes every matching record, page by page, newest first.
func exportRecords(ctx context.Context, d *operator.Session, w streams, f format, filter view.Filter) error {
	filter.Limit = exportPage
	rows, values := [][]string{}, []operator.RecordRow{}
	for {
		list, err := d.Page(ctx, filter)
		if err != nil {
			return err
		}
		for _, r := range list {
			row := operator.RowOf(r)
			values = append(values, row)
			rows = append(rows, row.Cells())
			filter.BeforeID = r.ID
		}
		if len(list) < exportPage {
			header := make([]column, len(operator.RecordHeader))
			for i, name := range operator.RecordHeader {
				header[i].name = name
			}
			return w.list(f, header, rows, values)
		}
	}
}

func recordsShowCommand(w streams, config *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "show ID|HASH", Short: "Show one record with its complete history", Args: cobra.ExactArgs(1),
		Example: "  gatewayd records show 17\n  gatewayd records show 0x187d94",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
			return showRecords(ctx, d, w, f, args[0])
		}),
	}
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func queryFlags(q *operator.Query, f *pflag.FlagSet, all bool) {
	f.StringVar(&q.Network, "network", "", "only this network")
	f.StringVar(&q.Token, "token", "", "only this token (id or symbol)")
	f.StringVar(&q.Direction, "direction", "", "only deposit, withdrawal or funding")
	f.StringVar(&q.State, "state", "", "only transfers in this state: "+strings.Join(operator.States(), ", "))
	f.StringVar(&q.Reason, "reason", "", "only this reason: "+strings.Join(operator.Reasons(), ", "))
	f.StringVar(&q.Wallet, "wallet", "", "only this exchange-chain address")
	f.StringVar(&q.Hash, "hash", "", "only records with this hash, in or out; its beginning will do")
	f.StringVar(&q.Address, "address", "", "only records with this address: the user's, the sender's, the payee's, or a deposit address")
	f.StringVar(&q.Amount, "amount", "", "only records with exactly this incoming amount, in whole units, such as 1.5")
	f.StringVar(&q.From, "from", "", "only records first seen from this day or moment on (UTC), such as 2026-11-23 or 2026-11-23T10:00:00Z")
	f.StringVar(&q.Until, "until", "", "only records first seen before this day or moment (UTC)")
	f.BoolVar(&q.Unattributed, "unattributed", false, "only unattributed held transfers")
	f.DurationVar(&q.Older, "older", 0, "only records seen longer ago than this")
	f.BoolVar(&q.UnknownTokens, "unknown-tokens", false, "only transfers of tokens that no network has ever served; they need no attention")
	f.BoolVar(&q.NeedsOperator, "needs-operator", false, "only records on which an operator can act: held transfers and payments, decided transfers that left their chain, and for 30 days deposits below the minimum")
	q.Limit = operator.MaxLimit
	if !all {
		f.IntVar(&q.Limit, "limit", operator.DefaultLimit, "at most this many, up to 1000")
		f.Uint64Var(&q.Before, "before", 0, "only records before the one with this ID")
		f.Uint64Var(&q.After, "after", 0, "only records after the one with this ID, those that are nearest to it")
	}
}

// printStopped prints the stopped accounts of all chains as a separate list.
func printStopped(w io.Writer, stopped []records.Account) {
	for _, a := range stopped {
		fmt.Fprintf(w, "ACCOUNT %s %s on %s is %s: %s\n        gatewayd account show %s %s\n", a.Kind, a.Account, a.Chain, a.State, a.Why, a.Chain, a.Account)
	}
}
