package main

import (
	"cmp"
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

// summary is a record for people: what fits a terminal.
func summary(c config.Config, r records.Record, now time.Time) []string {
	row := operator.RowOf(r)
	state := row.Status
	if r.Reason != "" {
		state += " (" + string(r.Reason) + ")"
	}
	if r.Loss != nil {
		state += " (written off)"
	} else if r.Incident != "" {
		state += " (incident)"
	}
	return []string{
		strconv.FormatUint(r.ID, 10), r.Network, row.Direction, c.Symbol(r.Network, r.Token), c.AssetAmount(r.Chain, r.Asset, r.Amount), state,
		shortHash(r.Owner), shortHash(r.Tx), age(now, r.SeenAt),
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
				return exportRecords(ctx, d, w.stdout, f, filter)
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
	if err := printRecords(d, w.stdout, f, list, stopped); err != nil || len(list) < filter.Limit {
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
func printRecords(d *operator.Session, w io.Writer, f format, list []records.Record, stopped []records.Account) error {
	now := time.Now()
	rows, values := make([][]string, len(list)), make([]operator.RecordRow, len(list), len(list)+len(stopped))
	for i, r := range list {
		values[i], rows[i] = operator.RowOf(r), summary(d.Config, r, now)
	}
	if f.json {
		for _, a := range stopped {
			values = append(values, operator.RecordRow{Network: a.Network, State: string(a.State), Reason: records.Reason(a.Why), Account: a.Account})
		}
	} else {
		printStopped(w, stopped)
	}
	if len(list) == 0 && !f.json {
		_, err := fmt.Fprintln(w, "No records match.")
		return err
	}
	return f.table(w, []string{"id", "network", "direction", "token", "amount", "state", "wallet", "in", "age"}, rows, values)
}

// exportPage is the number of records per read.
const exportPage = 1000

// exportRecords writes every matching record, page by page, newest first.
func exportRecords(ctx context.Context, d *operator.Session, w io.Writer, f format, filter view.Filter) error {
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
			return f.table(w, operator.RecordHeader, rows, values)
		}
	}
}

func recordsShowCommand(w streams, config *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "show ID|HASH", Short: "Show one record with its complete history", Args: cobra.ExactArgs(1),
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
			return showRecords(ctx, d, w.stdout, f, args[0])
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
	f.BoolVar(&q.NeedsOperator, "needs-operator", false, "only records that need attention: held transfers, held payments, and decided transfers that left their chain")
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

// showRecords prints the records that an id or a hash names.
func showRecords(ctx context.Context, d *operator.Session, w io.Writer, f format, name string) error {
	list, err := d.Details(ctx, name)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(w, list)
	}
	for _, s := range list {
		printRecord(w, d.Config, s)
	}
	return nil
}

func printRecord(w io.Writer, cfg config.Config, s operator.RecordDetail) {
	r := s.Record
	fmt.Fprintf(w, "Record %d: %s on %s, %s", r.ID, r.Direction, r.Network, r.Status)
	if r.Reason != "" {
		fmt.Fprintf(w, " (%s)", r.Reason)
	}
	fmt.Fprintf(w, "\n  amount %s", cfg.AssetAmount(s.Stored.Chain, s.Stored.Asset, s.Stored.Amount))
	if r.Token != "" && s.Stored.Direction != records.Funding {
		fmt.Fprintf(w, " = net %s + fee %s", cfg.TokenAmount(r.Token, s.Stored.Net), cfg.TokenAmount(r.Token, s.Stored.Fee))
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "  in     %s\n  from   %s\n  wallet %s\n  payee  %s %s\n", r.InTx, cmp.Or(r.From, "unknown: only balances show it, and the hash is its block's"), r.Wallet, r.Payee, r.Label)
	fmt.Fprintf(w, "  to     %s\n", r.To)
	if r.Incident != "" {
		fmt.Fprintf(w, "  INCIDENT %s\n", r.Incident)
		if l := s.Stored.Loss; l != nil {
			fmt.Fprintf(w, "  LOST     %s, written off\n", cfg.AssetAmount(l.Chain, l.Asset, l.Amount))
		}
	}
	if note := r.Note(); note != "" {
		fmt.Fprintf(w, "  note   %s\n", note)
	}
	if advice := s.Advice(); advice != "" {
		fmt.Fprintf(w, "  next   %s\n", advice)
	}
	if r.OutTx != "" {
		fmt.Fprintf(w, "  out    %s\n", r.OutTx)
	}
	if r.RefundTx != "" {
		fmt.Fprintf(w, "  refund %s\n", r.RefundTx)
	}
	for i, p := range s.Payments {
		amount := cfg.AssetAmount(s.Paid[i].Chain, s.Paid[i].Asset, s.Paid[i].Amount)
		fmt.Fprintf(w, "Payment %d: %s of %s to %s on %s, %s %s\n", p.ID, p.Purpose, amount, p.Payee, p.Chain, p.State, p.Reason)
		for _, a := range p.Attempts {
			fmt.Fprintf(w, "  %s  number %d attempt %d %s %s\n", a.At, a.Number, a.Seq, a.Kind, a.Hash)
		}
	}
	fmt.Fprintln(w, "History")
	for _, e := range s.History {
		fmt.Fprintf(w, "  %s  %-10s %s %s\n", e.At, e.Actor, e.What, cfg.InWholeUnits(e.Detail))
	}
}
