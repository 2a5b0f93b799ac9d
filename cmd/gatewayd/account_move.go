package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/operator"
)

func accountMoveCommand(w streams, config *string) *cobra.Command {
	var f format
	var o operator.Order
	c := &cobra.Command{
		Use: "move CHAIN ADDRESS AMOUNT TOKEN", Short: "Move funds from a paying account to the cold address or to another paying account", Args: cobra.ExactArgs(4),
		Long: "Move AMOUNT (in whole units) of TOKEN from a paying account to the token's cold address, or to another paying account on the same\n" +
			"chain. The daemon sends it as a payment with lower priority than payouts. No other destination is possible.",
		Example: "  gatewayd account move eth 0x… 2500 USDT --to cold --why 'the week was quiet'\n  gatewayd account moves",
	}
	c.Flags().StringVar(&o.To, "to", "", "`cold`, or the address of another paying account")
	c.Flags().StringVar(&o.Why, "why", "", "reason, stored in the history")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON, amounts in smallest units")
	c.RunE = onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
		if o.To == "" {
			return operator.Usagef("--to is required: `cold`, or the address of another paying account")
		}
		o.Chain, o.Account, o.Amount, o.Token = args[0], args[1], args[2], args[3]
		m, err := operator.Send(ctx, d, o)
		if err != nil {
			return err
		}
		if f.json {
			return printJSON(w.stdout, m)
		}
		if m.Instead != 0 {
			fmt.Fprintf(w.stdout, "Pending payment %d is void.\n", m.Instead)
		}
		fmt.Fprintf(w.stdout, "Payment %d: %s from %s to %s. The daemon sends it when no payout needs the funds; `gatewayd account moves` shows it.\n",
			m.Payment, d.Config.AssetAmount(m.Chain, m.Asset, m.Amount), m.From, m.To)
		return nil
	})
	return c
}

// moveColumns link the transactions to their explorers.
func moveColumns(cfg config.Config, list []operator.Row) []column {
	links := map[string]string{}
	for _, m := range list {
		links[m.Tx] = cfg.TxURL(m.Chain, m.Tx)
	}
	return []column{
		{name: "payment", cells: numbers}, {name: "ordered"}, {name: "chain"}, {name: "from", cells: hashes}, {name: "to", cells: hashes}, {name: "amount", cells: amounts},
		{name: "state"}, {name: "transaction", cells: hashes, links: links}, {name: "by"}, {name: "why"},
	}
}

func accountMovesCommand(w streams, config *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "moves", Short: "List transfers to cold addresses and between our accounts, newest first", Args: cobra.NoArgs,
		Example: "  gatewayd account moves\n  gatewayd account moves --json",
	}
	c.Flags().BoolVar(&f.json, "json", false, "print JSON, amounts in smallest units")
	c.RunE = onSession(config, func(ctx context.Context, d *operator.Session, _ []string) error {
		list, err := operator.List(ctx, d)
		if err != nil {
			return err
		}
		rows := make([][]string, len(list))
		for i, m := range list {
			rows[i] = []string{
				strconv.FormatUint(m.Payment, 10), stamp(m.At), string(m.Chain), m.From, m.To, d.Config.AssetAmount(m.Chain, m.Asset, m.Amount),
				m.State, cmp.Or(m.Tx, string(m.Reason)), cmp.Or(m.Actor, "daemon"), m.Why,
			}
		}
		return w.list(f, moveColumns(d.Config, list), rows, list)
	})
	return c
}
