package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"gatewayd/operator"
	"gatewayd/records"
)

func channelCommand(w streams) *cobra.Command {
	c := &cobra.Command{Use: "channel", Short: "Show and set the channels: deposits and withdrawals of each token"}
	config := configFlag(c)
	c.AddCommand(channelListCommand(w, config), channelSetCommand(w, config))
	return c
}

func channelListCommand(w streams, config *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "list", Short: "List every channel with its operator state, its automatic state and its capacity", Args: cobra.NoArgs,
		Example: "  gatewayd channel list\n  gatewayd channel list --json",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, _ []string) error {
			var list []operator.ChannelRow
			err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
				list, err = operator.ChannelRows(tx, d.Config)
				return err
			})
			if err != nil {
				return err
			}
			allowed, err := d.Capacities(ctx)
			if err != nil {
				return err
			}
			rows := make([][]string, len(list))
			for i, r := range list {
				if c, ok := allowed[operator.ChannelID{Network: r.Network, Token: r.Token, Direction: records.Direction(r.Direction)}]; ok {
					r.Allows, list[i].Allows = &c, &c
				}
				rows[i] = []string{r.Network, r.Symbol, r.Token, r.Direction, r.State, r.Operator, r.Automatic, r.AllowsText(), d.Config.InWholeUnits(r.Why)}
			}
			return w.list(f, []column{{name: "network"}, {name: "symbol"}, {name: "token", cells: hashes}, {name: "direction"}, {name: "state"}, {name: "operator"}, {name: "automatic"}, {name: "allows"}, {name: "why"}}, rows, list)
		}),
	}
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func channelSetCommand(w streams, config *string) *cobra.Command {
	var why string
	var clear bool
	c := &cobra.Command{
		Use:     "set NETWORK TOKEN deposit|withdrawal OPEN|MAINTAIN|CLOSED",
		Short:   "Set the operator's state of a channel",
		Long:    "Set the operator's state of a channel. TOKEN is a token id or a symbol. The automatic state stays unless --clear is given;\nclear it only when the cause is resolved: `gatewayd channel list` names it.",
		Example: "  gatewayd channel set eth USDT-000 withdrawal MAINTAIN --why 'hot wallet is being refilled'\n  gatewayd channel set eth USDT-000 withdrawal OPEN --clear",
		Args:    cobra.ExactArgs(4),
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
			token, err := operator.FindToken(d.Config, args[0], args[1])
			if err != nil {
				return err
			}
			change := operator.ChannelChange{Network: args[0], Token: token, Direction: records.Direction(args[2]), State: args[3], Why: why, Clear: clear}
			if err := change.Check(); err != nil {
				return err
			}
			var after records.Channel
			err = d.Change(ctx, func(tx *records.Tx) error {
				after, err = change.Apply(tx)
				return err
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(w.stdout, "%s of %s on %s: %s\n", change.Direction, args[1], args[0], after.State())
			if after.Automatic != "OPEN" {
				fmt.Fprintf(w.stdout, "The automatic state is %s: %s\n", after.Automatic, d.Config.InWholeUnits(after.Why))
			}
			return nil
		}),
	}
	c.Flags().StringVar(&why, "why", "", "reason, stored in the history")
	c.Flags().BoolVar(&clear, "clear", false, "also clear the automatic state")
	return c
}
