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
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

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
	fmt.Fprintf(w, "%-75s%s UTC\n\n", o.Headline, o.At.UTC().Format(time.DateTime))
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
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "CHAIN\tSTATE\tREAD TO\tFINAL\tNODES' HEAD\tAGE\tNODES UP")
	for _, c := range o.Chains {
		head, old := unknownText, unknownText
		if c.Head > 0 {
			head = strconv.FormatUint(c.Head, 10)
		}
		if c.HeadTime != nil {
			old = roundedDuration(o.At.Sub(*c.HeadTime))
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%d of %d\n", c.ID, c.State, c.Read, c.Final, head, old, c.NodesUp, c.Nodes)
	}
	if err := flushTable(t, w); err != nil || len(o.Leases) < 2 {
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
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "CHANNEL\tSTATE\tHOLDS\tCOLD\tPENDING\tOUT IN A DAY\tLASTS")
	for _, c := range o.Channels {
		holds, cold, lasts := unknownText, "-", "-"
		if c.Holds != nil {
			holds = shortAmount(cfg.AssetAmount(c.Chain, c.Asset, *c.Holds))
		}
		if c.Cold != nil {
			cold = shortAmount(cfg.AssetAmount(c.Chain, c.Asset, *c.Cold))
		}
		if c.Runway != nil {
			lasts = roundedDuration(hours(*c.Runway))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", channelName(c), c.State, holds, cold,
			shortAmount(cfg.AssetAmount(c.Chain, c.Asset, c.Pending)), shortAmount(cfg.AssetAmount(c.Chain, c.Asset, c.DayOut)), lasts)
	}
	return flushTable(t, w)
}

func printFlow(w io.Writer, o operator.Overview) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "CHANNEL\tWAITING\tOLDEST\tPAID IN A DAY\tA MINUTE NOW\tPOSSIBLE")
	for _, c := range o.Channels {
		oldest, possible := "-", unknownText
		if c.Oldest != nil {
			oldest = roundedDuration(o.At.Sub(*c.Oldest))
		}
		if c.Possible != nil {
			possible = strconv.FormatUint(*c.Possible, 10)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%.1f\t%s\n", channelName(c), c.Waiting, oldest, c.DayCount, c.PerMinute, possible)
	}
	return flushTable(t, w)
}

// shortAmount is an amount in about eight digits, without its unit, which is in the channel's name.
func shortAmount(amount string) string {
	number, _, _ := strings.Cut(amount, " ")
	whole, fraction, _ := strings.Cut(number, ".")
	for _, large := range []struct {
		zeros int
		name  string
	}{{24, "Y"}, {12, "T"}, {6, "M"}} {
		if len(whole) > large.zeros+3 {
			return whole[:len(whole)-large.zeros] + large.name
		}
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

// flushTable ends a table with an empty line.
func flushTable(t *tabwriter.Writer, w io.Writer) error {
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
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
		text += ", since " + c.Since.UTC().Format(time.DateTime)
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

// roundedDuration is a time in its two largest units.
func roundedDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= 1000*day:
		return "over 1000d"
	}
	return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
}

func balancesCommand(w streams) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "balances", Short: "Show the balance of each paying account, and its pending payments to users", Args: cobra.NoArgs,
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
		rows := make([][]string, len(list))
		for i, b := range list {
			has := b.Fault
			if b.Amount != nil {
				has = d.Config.AssetAmount(b.Chain, b.Asset, *b.Amount)
			}
			kind := string(b.Kind)
			if b.Retired {
				kind += ", retired"
			}
			rows[i] = []string{b.Network, string(b.Chain), kind, shortHash(b.Account), has, pendingText(d.Config, b)}
		}
		return f.table(w.stdout, []string{"network", "chain", "kind", "account", "has", "pending"}, rows, list)
	})
	return c
}

// pendingText leaves an account that pays no user empty.
func pendingText(cfg config.Config, b operator.Balance) string {
	if b.Kind == records.KindGas || b.Kind == records.KindCold {
		return "-"
	}
	return cfg.AssetAmount(b.Chain, b.Asset, b.Pending)
}
