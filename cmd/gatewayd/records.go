package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"gatewayd/records"
)

func recordsCommand(w world) *cobra.Command {
	c := &cobra.Command{Use: "records", Short: "Look at deposits and withdrawals and mend them, beside a running daemon"}
	config := configFlag(c)
	c.AddCommand(
		recordsListCommand(w, config, "list", "List records, newest first", false),
		recordsListCommand(w, config, "export", "Write all matching records as CSV, or JSON with --json", true),
		recordsShowCommand(w, config),
		recordsRetryCommand(w, config),
		recordsCreditCommand(w, config),
		recordsRefundCommand(w, config),
		recordsReclassifyCommand(w, config),
		recordsSettleCommand(w, config),
	)
	return c
}

// recordRow is one record as lists, CSV and JSON show it. Amounts are in smallest units.
type recordRow struct {
	ID        uint64 `json:"id"`
	Network   string `json:"network"`
	Direction string `json:"direction"`
	Token     string `json:"token"`
	Wallet    string `json:"wallet"`
	State     string `json:"state"`
	Public    string `json:"publicState"`
	Reason    string `json:"reason"`
	Asset     string `json:"asset"`
	Amount    string `json:"amount"`
	Net       string `json:"net"`
	Fee       string `json:"fee"`
	From      string `json:"from"`
	Payee     string `json:"payee"`
	Label     string `json:"label"`
	InTx      string `json:"inTx"`
	OutTx     string `json:"outTx"`
	RefundTx  string `json:"refundTx"`
	Seen      string `json:"seen"`
	To        string `json:"to"`                // the account of ours that it came to
	Memo      string `json:"memo"`              // what the sender wrote beside it, in hexadecimal
	MemoText  string `json:"memoText"`          // the same as text, where it is text
	Fault     string `json:"fault"`             // why that is no label, or no comment
	Incident  string `json:"incident"`          // what happened after it was decided: its block has left the chain
	Account   string `json:"account,omitempty"` // a stopped account of ours; no record then
}

var recordHeader = []string{
	"id", "network", "direction", "token", "wallet", "state", "publicState", "reason", "asset", "amount", "net", "fee",
	"from", "payee", "label", "inTx", "outTx", "refundTx", "seen", "to", "memo", "memoText", "fault", "incident",
}

func rowOf(r records.Record) recordRow {
	label, public := r.PayeeLabel, records.PublicState(&r)
	if r.Direction == records.Funding {
		public = "" // wallets never see it
	}
	if r.Direction == records.Deposit {
		label = r.Memo.Label
	}
	return recordRow{
		ID: r.ID, Network: r.Network, Direction: string(r.Direction), Token: r.Token, Wallet: r.Owner,
		State: string(r.State), Public: public, Reason: r.Reason,
		Asset: string(r.Asset), Amount: r.Amount.String(), Net: r.Net.String(), Fee: r.Fee.String(),
		From: r.From, Payee: r.Payee, Label: label, InTx: r.Tx, OutTx: r.CreditTx, RefundTx: r.RefundTx, Seen: r.SeenAt.UTC().Format(time.RFC3339),
		To: r.To, Memo: hex.EncodeToString(r.Memo.Raw), MemoText: plainText(r.Memo.Raw), Fault: r.Memo.Fault, Incident: r.Incident,
	}
}

// plainText is what bytes say, where they are text that a terminal may show.
func plainText(raw []byte) string {
	text := string(raw)
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return ""
	}
	return text
}

func (r recordRow) cells() []string {
	return []string{
		strconv.FormatUint(r.ID, 10), r.Network, r.Direction, r.Token, r.Wallet, r.State, r.Public, r.Reason, r.Asset, r.Amount, r.Net, r.Fee,
		r.From, r.Payee, r.Label, r.InTx, r.OutTx, r.RefundTx, r.Seen, r.To, r.Memo, r.MemoText, r.Fault, r.Incident,
	}
}

// summary is a record for people: what fits a terminal.
func (c Config) summary(r records.Record, now time.Time) []string {
	row := rowOf(r)
	state := cmp.Or(row.Public, row.State)
	if r.Reason != "" {
		state += " (" + r.Reason + ")"
	}
	if r.Incident != "" {
		state += " (incident)"
	}
	return []string{
		strconv.FormatUint(r.ID, 10), r.Network, row.Direction, c.symbol(r.Network, r.Token), c.assetAmount(r.Chain, r.Asset, r.Amount), state,
		short(r.Owner), short(r.Tx), age(now, r.SeenAt),
	}
}

// symbol is the token's name for people.
func (c Config) symbol(network, token string) string {
	for _, n := range c.Networks {
		for _, t := range n.Tokens {
			if n.Name == network && t.Token == token {
				return t.Symbol
			}
		}
	}
	return token
}

// recordsListCommand is list and export: the same filters, one page for people or everything for programs.
func recordsListCommand(w world, config *string, use, about string, all bool) *cobra.Command {
	var f format
	var q query
	c := &cobra.Command{
		Use: use, Short: about, Args: cobra.NoArgs,
		Example: "  gatewayd records " + use + " --direction withdrawal --state refused\n  gatewayd records " + use + " --needs-operator\n  gatewayd records " + use + " --older 10m --state seen",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := openDesk(cmd.Context(), *config)
			if err != nil {
				return err
			}
			defer d.store.Close()
			filter, err := d.filter(cmd.Context(), q)
			if err != nil {
				return err
			}
			if all {
				f.csv = !f.json
				return d.export(cmd.Context(), w.stdout, f, filter)
			}
			return d.list(cmd.Context(), w, f, filter)
		},
	}
	q.flags(c.Flags(), all)
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON, amounts in smallest units")
	return c
}

func (d *desk) page(ctx context.Context, f records.Filter) (list []records.Record, err error) {
	err = d.store.View(ctx, func(tx *records.Tx) error {
		list, err = tx.Records(f)
		return err
	})
	return list, err
}

// list prints a page, and says when there is more than that.
func (d *desk) list(ctx context.Context, w world, f format, filter records.Filter) error {
	list, err := d.page(ctx, filter)
	if err != nil {
		return err
	}
	var stopped []records.Account
	if filter.NeedsOperator {
		if stopped, err = d.stoppedAccounts(ctx); err != nil {
			return err
		}
	}
	if err := d.print(w.stdout, f, list, stopped); err != nil || len(list) < filter.Limit {
		return err
	}
	var total uint64
	err = d.store.View(ctx, func(tx *records.Tx) error {
		total, err = tx.CountRecords(filter)
		return err
	})
	if err == nil && total > uint64(len(list)) {
		fmt.Fprintf(w.stderr, "%s of %s shown; --limit shows more at once, --before %d goes on, `gatewayd records export` has all.\n",
			grouped(uint64(len(list))), grouped(total), list[len(list)-1].ID)
	}
	return err
}

// print shows records, and the stopped accounts that wait for an operator as well: in JSON as rows without an id.
func (d *desk) print(w io.Writer, f format, list []records.Record, stopped []records.Account) error {
	now := time.Now()
	rows, values := make([][]string, len(list)), make([]recordRow, len(list), len(list)+len(stopped))
	for i, r := range list {
		values[i], rows[i] = rowOf(r), d.cfg.summary(r, now)
	}
	if f.json {
		for _, a := range stopped {
			values = append(values, recordRow{Network: a.Network, State: string(a.State), Reason: a.Why, Account: a.Account})
		}
	} else {
		d.printStopped(w, stopped)
	}
	if len(list) == 0 && !f.json {
		_, err := fmt.Fprintln(w, "No records match.")
		return err
	}
	return f.table(w, []string{"id", "network", "direction", "token", "amount", "state", "wallet", "in", "age"}, rows, values)
}

// exportPage is how many records are read at a time.
const exportPage = 1000

// export writes every matching record, page by page, newest first.
func (d *desk) export(ctx context.Context, w io.Writer, f format, filter records.Filter) error {
	filter.Limit = exportPage
	rows, values := [][]string{}, []recordRow{}
	for {
		list, err := d.page(ctx, filter)
		if err != nil {
			return err
		}
		for _, r := range list {
			row := rowOf(r)
			values = append(values, row)
			rows = append(rows, row.cells())
			filter.BeforeID = r.ID
		}
		if len(list) < exportPage {
			return f.table(w, recordHeader, rows, values)
		}
	}
}

func recordsShowCommand(w world, config *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "show ID|HASH", Short: "Show one record's whole story", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDesk(cmd.Context(), *config)
			if err != nil {
				return err
			}
			defer d.store.Close()
			return d.show(cmd.Context(), w.stdout, f, args[0])
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	return c
}
