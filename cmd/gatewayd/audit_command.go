package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/records/books"
)

func auditCommand(w streams) *cobra.Command {
	var f format
	var from uint64
	var accept, why string
	c := &cobra.Command{
		Use: "audit", Short: "Check the books for consistency and against the chains; changes nothing", Args: cobra.NoArgs,
		Long: "Check the books for consistency and against the chains; changes nothing. Every block that a record names is read again from\n" +
			"the nodes: it must contain each transfer with its amount and each payment with its outcome. The coin of each of our accounts must match\n" +
			"the books at the last final block. A surplus is coin that no block showed, which the running daemon credits after checking\n" +
			"twice. Coin that is missing in two comparisons of the daemon closes the coin's channels. Exit code 1 if there are differences.\n\n" +
			"A shortage is no difference: books and chains agree, and accounts hold less than they have to pay. The line below it has the next step.\n\n" +
			"With --accept the books are reduced by coin or tokens that the daemon has confirmed as missing. Use it once you know where the coin is.",
		Example: "  gatewayd audit\n  gatewayd audit --accept 0x52908400098527886E0F7030069857D2E4169EE7 --why 'moved to cold storage'",
	}
	path := configFlag(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().Uint64Var(&from, "from", 0, "first block height to read again, on every chain")
	c.Flags().StringVar(&accept, "accept", "", "account or token whose confirmed shortage is accepted into the books")
	c.Flags().StringVar(&why, "why", "", "reason for --accept, stored in the history")
	c.RunE = onSession(path, func(ctx context.Context, d *operator.Session, _ []string) error {
		if accept != "" {
			return operator.AcceptShortage(ctx, d, accept, why, w.stdout)
		}
		report, err := operator.Run(ctx, d, from)
		if err != nil {
			return err
		}
		return printAudit(w, f, d.Config, report)
	})
	return c
}

func printAudit(w streams, f format, cfg config.Config, r operator.Report) error {
	if f.json {
		if err := printJSON(w.stdout, r); err != nil {
			return err
		}
	} else {
		for _, name := range slices.Sorted(maps.Keys(r.Totals)) {
			printTotals(cfg, w.stdout, name, r.Totals[name])
		}
		for _, s := range r.Sheets {
			if err := printSheet(w.stdout, s); err != nil {
				return err
			}
		}
		for _, fault := range r.Faults {
			fmt.Fprintln(w.stdout, "DIFFERS", cfg.InWholeUnits(fault))
		}
		for _, s := range r.Shortages {
			fmt.Fprintf(w.stdout, "SHORT %s\n      -> %s\n", cfg.InWholeUnits(s.Detail), s.Next)
		}
		for _, b := range r.Blocked {
			fmt.Fprintln(w.stdout, "BLOCKED", cfg.InWholeUnits(b))
		}
		for _, m := range r.Missed {
			fmt.Fprintln(w.stdout, "NOT CHECKED", cfg.InWholeUnits(m))
		}
		fmt.Fprintf(w.stdout, "%d checks, %d differences, %d shortages\n", r.Checks, len(r.Faults), len(r.Shortages))
	}
	if len(r.Faults) > 0 {
		return fmt.Errorf("books and chains differ in %d places", len(r.Faults))
	}
	return nil
}

// printTotals shows one token's books.
func printTotals(c config.Config, w io.Writer, name string, t books.Totals) {
	n, token := tokenNamed(c, name)
	fmt.Fprintln(w, name)
	for _, s := range t.Transfers {
		amount := c.TokenAmount(token.Token, s.Amount)
		if s.Direction == records.Deposit {
			amount = c.AssetAmount(n.Source, token.Asset, s.Amount)
		}
		fmt.Fprintf(w, "  %-10s %-8s %6d  amount %s  net %s  fee %s\n", s.Direction, s.State, s.Count, amount, c.TokenAmount(token.Token, s.Net), c.TokenAmount(token.Token, s.Fee))
	}
	for _, p := range t.Payments {
		fmt.Fprintf(w, "  %-10s %-8s %6d  amount %s on %s\n", p.Purpose, p.State, p.Count, c.AssetAmount(p.Chain, p.Asset, p.Amount), p.Chain)
	}
	for _, id := range slices.Sorted(maps.Keys(t.NetworkFees)) {
		if burnt := t.NetworkFees[id]; !burnt.IsZero() {
			fmt.Fprintf(w, "  fees burnt on %s: %s\n", id, c.AssetAmount(id, chain.Native, burnt))
		}
	}
}

// tokenNamed is the token that the audit calls by its network and its symbol.
func tokenNamed(c config.Config, name string) (config.Network, config.Token) {
	for _, n := range c.Networks {
		for _, t := range n.Tokens {
			if n.Name+" "+t.Symbol == name {
				return n, t
			}
		}
	}
	return config.Network{}, config.Token{}
}

// printSheet is the sheet for people, in the token's unit.
func printSheet(w io.Writer, r operator.SheetRow) error {
	fmt.Fprintf(w, "%s on %s at block %d\n", r.Symbol, r.Network, r.Height)
	var rows [][]string
	line := func(name string, amount chain.Amount) {
		rows = append(rows, []string{"  " + name, amount.Whole(r.Decimals) + " " + r.Symbol})
	}
	line("accounts that pay", r.Hot)
	line("gas account", r.Gas)
	line("shared address", r.Shared)
	line("users' addresses", r.Deposits)
	line("credited, not final", r.Above)
	if !r.Cold.IsZero() {
		line("cold address", r.Cold)
	}
	line("HELD", r.Held)
	line("users have", r.Circulating)
	if r.Supply != nil {
		line("in circulation", *r.Supply)
	}
	line("pending", r.Unpaid)
	line("OWED", r.Owed)
	if !r.WrittenOff.IsZero() {
		line("written off", r.WrittenOff)
	}
	if r.Expected != nil {
		line("by the books", *r.Expected)
	}
	if !r.Missing.IsZero() {
		line("MISSING", r.Missing)
	}
	if !r.Uncovered.IsZero() {
		line("NOT COVERED", r.Uncovered)
	}
	if !r.Unexplained.IsZero() {
		line("SENT BY STRANGERS", r.Unexplained)
	}
	return printTable(w, 0, []column{{}, {cells: amounts}}, rows)
}

func historyCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "history", Short: "Show operator actions with their reasons, and verify that the history is unchanged",
		Long: "Show all operator actions with their reasons. Each line's digest covers the line and its predecessor, so changed or removed lines are detected.",
	}
	config := configFlag(c)
	c.AddCommand(historyListCommand(w, config), historyVerifyCommand(w, config))
	return c
}

func historyListCommand(w streams, config *string) *cobra.Command {
	var f format
	var before uint64
	var all bool
	limit := operator.DefaultLimit
	c := &cobra.Command{
		Use: "list", Short: "List operator actions, newest first", Args: cobra.NoArgs,
		Example: "  gatewayd history list\n  gatewayd history list --all --limit 500",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, _ []string) error {
			list, err := d.HistoryPage(ctx, before, 0, !all, limit)
			if err != nil {
				return err
			}
			rows := make([][]string, len(list))
			for i, l := range list {
				rows[i] = []string{fmt.Sprint(l.Seq), shownStamp(l.At), l.Actor, l.Subject + " " + l.ID, l.Event, d.Config.InWholeUnits(l.Detail)}
			}
			return w.list(f, []column{{name: "line", cells: numbers}, {name: "at"}, {name: "who"}, {name: "of"}, {name: "what"}, {name: "why"}}, rows, list)
		}),
	}
	fs := c.Flags()
	fs.BoolVar(&all, "all", false, "include the daemon's own actions")
	fs.IntVar(&limit, "limit", limit, "at most this many, up to 1000")
	fs.Uint64Var(&before, "before", 0, "only lines before this one")
	fs.BoolVar(&f.json, "json", false, "print JSON, with the lines' digests")
	return c
}

func historyVerifyCommand(w streams, config *string) *cobra.Command {
	var f format
	var kept string
	c := &cobra.Command{
		Use: "verify", Short: "Recompute all digests of the history", Args: cobra.NoArgs,
		Long: "Recompute all digests of the history, and print the number and the digest of its newest line. Store these elsewhere: with --kept they show later\n" +
			"whether lines up to that one were removed or rewritten, which the digests alone cannot.",
		Example: "  gatewayd history verify\n  gatewayd history verify --kept 48213:5f1c…",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, _ []string) error {
			seq, digest, err := parseHistoryLine(kept)
			if err != nil {
				return err
			}
			s, err := d.VerifyHistory(ctx, seq, digest)
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(w.stdout, s)
			}
			fmt.Fprintf(w.stdout, "%s lines, none changed, none missing. The newest is of %s:\n%d:%s\n", operator.Grouped(s.Lines), s.At, s.Lines, s.Digest)
			return nil
		}),
	}
	c.Flags().StringVar(&kept, "kept", "", "NUMBER:DIGEST of a line, printed by an earlier verification")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func parseHistoryLine(text string) (seq uint64, digest string, err error) {
	if text == "" {
		return 0, "", nil
	}
	number, digest, _ := strings.Cut(text, ":")
	if seq, err = strconv.ParseUint(number, 10, 63); err != nil || seq == 0 || digest == "" {
		return 0, "", operator.Usagef("--kept %q: must be NUMBER:DIGEST as printed by `gatewayd history verify`", text)
	}
	return seq, digest, nil
}
