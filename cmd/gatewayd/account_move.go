package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/operator"
)

func accountMoveCommand(w streams, config *string) *cobra.Command {
	var f format
	var o operator.Order
	c := &cobra.Command{
		Use: "move CHAIN ADDRESS AMOUNT TOKEN", Short: "Move money from an account that pays to the cold address, or to another account of ours that pays", Args: cobra.ExactArgs(4),
		Long: "Move AMOUNT (in whole units) of TOKEN from an account that pays to the token's cold address, or to another account of ours that pays on the same\n" +
			"chain. The daemon makes it, as a payment like any other: it waits for payouts. Money goes to no other address.",
		Example: "  gatewayd account move eth 0x… 2500 USDT --to cold --why 'the week was quiet'\n  gatewayd account moves",
	}
	c.Flags().StringVar(&o.To, "to", "", "`cold`, or the address of another account of ours that pays")
	c.Flags().StringVar(&o.Why, "why", "", "reason, kept in the history")
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON, amounts in smallest units")
	c.RunE = onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
		if o.To == "" {
			return operator.Usagef("--to is wanted: `cold`, or the address of another account of ours that pays")
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
			fmt.Fprintf(w.stdout, "Payment %d, which waited, is void.\n", m.Instead)
		}
		fmt.Fprintf(w.stdout, "Payment %d: %s from %s to %s. The daemon makes it when no payout waits for the money; `gatewayd account moves` shows it.\n",
			m.Payment, d.Config.AssetAmount(m.Chain, m.Asset, m.Amount), m.From, m.To)
		return nil
	})
	return c
}

func accountMovesCommand(w streams, config *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "moves", Short: "List what went to cold addresses, and what operators have moved between our accounts; the newest first", Args: cobra.NoArgs,
	}
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON, amounts in smallest units")
	c.RunE = onSession(config, func(ctx context.Context, d *operator.Session, _ []string) error {
		list, err := operator.List(ctx, d)
		if err != nil {
			return err
		}
		rows := make([][]string, len(list))
		for i, m := range list {
			rows[i] = []string{
				strconv.FormatUint(m.Payment, 10), m.At.UTC().Format(time.DateTime), string(m.Chain), shortHash(m.From), shortHash(m.To), d.Config.AssetAmount(m.Chain, m.Asset, m.Amount),
				m.State, shortHash(cmp.Or(m.Tx, m.Reason)), cmp.Or(m.Actor, "daemon"), m.Why,
			}
		}
		return f.table(w.stdout, []string{"payment", "ordered", "chain", "from", "to", "amount", "state", "transaction", "by", "why"}, rows, list)
	})
	return c
}
