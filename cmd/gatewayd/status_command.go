package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/status"
)

// clearScreen moves a terminal's cursor to its upper left corner and clears what is below.
const clearScreen = "\x1b[H\x1b[J"

func statusCommand(w streams) *cobra.Command {
	var f format
	var watch bool
	var every time.Duration
	c := &cobra.Command{
		Use: "status", Short: "Show on one screen the state of the gateway and what needs attention", Args: cobra.NoArgs,
		Long: "Show on one screen the state of the gateway: the chains and their nodes, balances and debts of each channel's accounts, how long they last\n" +
			"at the last day's flow, payments a minute (current and possible), and what needs attention. Exit code 1 if payments of any token are blocked.",
		Example: "  gatewayd status\n  gatewayd status --watch --every 10s",
	}
	path := configFlag(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().BoolVar(&watch, "watch", false, "refresh until interrupted")
	c.Flags().DurationVar(&every, "every", 5*time.Second, "interval of --watch, 1s or more")
	c.RunE = onSession(path, func(ctx context.Context, d *operator.Session, _ []string) error {
		switch {
		case watch && f.json:
			return operator.Usagef("--watch and --json: only one is allowed")
		case every < time.Second:
			return operator.Usagef("--every %s: must be 1s or more", every)
		case watch:
			return watchStatus(ctx, w.stdout, d, every)
		}
		o, err := operator.Read(ctx, d)
		if err != nil {
			return err
		}
		if f.json {
			err = printJSON(w.stdout, o)
		} else {
			err = printStatus(w.stdout, d.Config, o)
		}
		if err == nil && !o.Flows {
			err = errors.New(strings.TrimSuffix(o.Headline, "."))
		}
		return err
	})
	return c
}

// watchStatus ends without an error when it is interrupted.
func watchStatus(ctx context.Context, w io.Writer, d *operator.Session, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var screen bytes.Buffer
		screen.WriteString(clearScreen)
		o, err := operator.Read(ctx, d)
		if err == nil {
			err = printStatus(&screen, d.Config, o)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil: // the database may come back
			fmt.Fprintln(&screen, operator.PlainError(err))
		}
		if _, err := screen.WriteTo(w); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// printStatus fits a terminal of 100 columns.
func printStatus(w io.Writer, cfg config.Config, o operator.Overview) error {
	fmt.Fprintf(w, "%-78s  %s\n\n", o.Headline, stamp(o.At))
	if o.State == status.Degraded {
		printBlocked(w, o.Blocked)
	}
	if err := printChains(w, o); err != nil {
		return err
	}
	if err := printFunds(w, cfg, o); err != nil {
		return err
	}
	if err := printFlow(w, o); err != nil {
		return err
	}
	printNeeds(w, cfg, o)
	return nil
}

// printBlocked lists the blocked tokens, those of one network with the same reasons together.
func printBlocked(w io.Writer, list []status.BlockedToken) {
	symbols := map[string][]string{}
	var order []string
	for _, b := range list {
		directions, reasons := make([]string, len(b.Directions)), make([]string, len(b.Reasons))
		for i, d := range b.Directions {
			directions[i] = string(d) + "s"
		}
		for i, k := range b.Reasons {
			reasons[i] = string(k)
		}
		key := fmt.Sprintf("BLOCKED  %s %s, %s: ", b.Network, strings.Join(directions, " and "), strings.Join(reasons, ", "))
		if symbols[key] == nil {
			order = append(order, key)
		}
		symbols[key] = append(symbols[key], b.Symbol)
	}
	for _, key := range order {
		printWrapped(w, key+strings.Join(symbols[key], ", "))
	}
	fmt.Fprintln(w)
}

const unknownText = "?"

func printChains(w io.Writer, o operator.Overview) error {
	rows := make([][]string, len(o.Chains))
	for i, c := range o.Chains {
		head, old := unknownText, unknownText
		if c.Head > 0 {
			head = strconv.FormatUint(c.Head, 10)
		}
		if c.HeadTime != nil {
			old = lasted(o.At.Sub(*c.HeadTime))
		}
		rows[i] = []string{
			string(c.ID), c.State, strconv.FormatUint(c.Read, 10), strconv.FormatUint(c.Final, 10), head, old, fmt.Sprintf("%d of %d", c.NodesUp, c.Nodes),
		}
	}
	err := printPart(w, []column{
		{name: "chain"}, {name: "state"}, {name: "read to", cells: numbers}, {name: "final", cells: numbers}, {name: "nodes' head", cells: numbers},
		{name: "age", cells: numbers}, {name: "nodes up", cells: numbers},
	}, rows)
	if err != nil || len(o.Leases) < 2 {
		return err
	}
	held := make([]string, len(o.Leases))
	for i, l := range o.Leases {
		held[i] = cmp.Or(string(l.Chain), "leader") + " " + l.Holder
	}
	printWrapped(w, "Processes: "+strings.Join(held, ", "))
	fmt.Fprintln(w)
	return nil
}

func printFunds(w io.Writer, cfg config.Config, o operator.Overview) error {
	rows := make([][]string, len(o.Channels))
	for i, c := range o.Channels {
		short := func(a chain.Amount) string { return shortAmount(cfg.AssetAmount(c.Chain, c.Asset, a)) }
		holds, cold, lasts := unknownText, "", ""
		if c.Holds != nil {
			holds = short(*c.Holds)
		}
		if c.Cold != nil {
			cold = short(*c.Cold)
		}
		if c.Runway != nil {
			lasts = lasted(hours(*c.Runway))
		}
		_, unit := splitAmount(cfg.AssetAmount(c.Chain, c.Asset, c.Pending))
		rows[i] = []string{channelName(c), c.State, holds, cold, short(c.Pending), short(c.DayOut), strings.TrimSpace(unit), lasts}
	}
	return printPart(w, []column{
		{name: "channel"}, {name: "state"}, {name: "holds", cells: numbers}, {name: "cold", cells: numbers}, {name: "pending", cells: numbers},
		{name: "out in a day", cells: numbers}, {name: "unit"}, {name: "lasts", cells: numbers},
	}, rows)
}

func printFlow(w io.Writer, o operator.Overview) error {
	rows := make([][]string, len(o.Channels))
	for i, c := range o.Channels {
		oldest, possible := "", unknownText
		if c.Oldest != nil {
			oldest = lasted(o.At.Sub(*c.Oldest))
		}
		if c.Possible != nil {
			possible = strconv.FormatUint(*c.Possible, 10)
		}
		rows[i] = []string{channelName(c), fmt.Sprint(c.Waiting), oldest, fmt.Sprint(c.DayCount), fmt.Sprintf("%.1f", c.PerMinute), possible}
	}
	return printPart(w, []column{
		{name: "channel"}, {name: "waiting", cells: numbers}, {name: "oldest", cells: numbers}, {name: "paid in a day", cells: numbers},
		{name: "a minute now", cells: numbers}, {name: "possible", cells: numbers},
	}, rows)
}

// printPart prints a table of the screen, and an empty line.
func printPart(w io.Writer, list []column, rows [][]string) error {
	if err := printTable(w, 0, list, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// shortAmount is an amount in about eight digits, without its unit: above 999,999,999 in billions
// (B) or trillions (T), and from a thousand trillions on as a power of ten.
func shortAmount(amount string) string {
	number, _, _ := strings.Cut(amount, " ")
	whole, fraction, _ := strings.Cut(number, ".")
	switch digits := len(whole); {
	case digits > 15:
		return fmt.Sprintf("%s.%se%d", whole[:1], whole[1:4], digits-1)
	case digits > 12:
		return whole[:digits-12] + "." + whole[digits-12:digits-9] + "T"
	case digits > 9:
		return whole[:digits-9] + "." + whole[digits-9:digits-6] + "B"
	}
	kept := strings.TrimRight(fraction[:min(len(fraction), 8-min(len(whole), 8), 6)], "0")
	switch {
	case kept != "":
		return whole + "." + kept
	case whole == "0" && strings.Trim(fraction, "0") != "":
		return "<0.000001"
	}
	return whole
}

func channelName(c operator.Channel) string {
	return c.Network + " " + cmp.Or(c.Symbol, c.Token) + " " + string(c.Direction)
}

func printNeeds(w io.Writer, cfg config.Config, o operator.Overview) {
	switch o.NeedsOperator {
	case 0:
	case 1:
		fmt.Fprintln(w, "1 record needs attention: `gatewayd records list --needs-operator`")
	default:
		fmt.Fprintf(w, "%d records need attention: `gatewayd records list --needs-operator`\n", o.NeedsOperator)
	}
	quiet := o.NeedsOperator == 0 && len(o.Conditions) == 0
	for _, c := range o.Conditions {
		printCondition(w, cfg, c)
	}
	if quiet {
		fmt.Fprintln(w, "Nothing needs attention.")
	}
}

// printCondition prints a fault, its start, and its remedy.
func printCondition(w io.Writer, cfg config.Config, c status.Condition) {
	mark := "note"
	if c.Stops {
		mark = "STOP"
	}
	text := fmt.Sprintf("%s  %s: %s", mark, c.Kind, cfg.InWholeUnits(c.Detail))
	if !c.Since.IsZero() {
		text += ", since " + stamp(c.Since)
	}
	printWrapped(w, text)
	if todo := status.Remedy(c.Kind); todo != "" {
		printWrapped(w, "      -> "+todo)
	}
}

func hours(h float64) time.Duration {
	const longest = 10 * 365 * 24 // a longer time has no use, and overflows a Duration at some point
	return time.Duration(min(h, longest) * float64(time.Hour))
}

func balancesCommand(w streams) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "balances", Short: "Show the balance of each paying account, and its pending payments to users", Args: cobra.NoArgs,
		Example: "  gatewayd balances\n  gatewayd balances --json",
		Long: "Show each paying account's balance at the nodes' latest block, and its payments to users that no block contains yet.\n" +
			"`gatewayd audit` shows the complete balance sheet at the last final block, including users' deposit addresses.",
	}
	path := configFlag(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = onSession(path, func(ctx context.Context, d *operator.Session, _ []string) error {
		list, err := operator.Balances(ctx, d)
		if err != nil {
			return err
		}
		return printBalances(w, f, d.Config, list)
	})
	return c
}

func printBalances(w streams, f format, cfg config.Config, list []operator.Balance) error {
	rows := make([][]string, len(list))
	for i, b := range list {
		has := b.Fault
		if b.Amount != nil {
			has = cfg.AssetAmount(b.Chain, b.Asset, *b.Amount)
		}
		kind := string(b.Kind)
		if b.Retired {
			kind += ", retired"
		}
		rows[i] = []string{b.Network, string(b.Chain), kind, b.Account, has, pendingText(cfg, b)}
	}
	return w.list(f, []column{
		{name: "network"}, {name: "chain"}, {name: "kind"}, {name: "account", cells: hashes}, {name: "has", cells: amounts}, {name: "pending", cells: amounts},
	}, rows, list)
}

// pendingText leaves an account that pays no user empty.
func pendingText(cfg config.Config, b operator.Balance) string {
	if b.Kind == records.KindGas || b.Kind == records.KindCold {
		return ""
	}
	return cfg.AssetAmount(b.Chain, b.Asset, b.Pending)
}
