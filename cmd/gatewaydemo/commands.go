package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/operator"
)

func rootCommand(w streams) *cobra.Command {
	var source, info string
	var patience time.Duration
	c := &cobra.Command{
		Use: "gatewaydemo", Short: "Make deposits and withdrawals as a user of a running `gatewayd dev`", Args: noArgs, SilenceUsage: true, SilenceErrors: true,
		Long: "Make a deposit and a withdrawal of each kind of token as a user and print their states.\n" +
			"With --source anvil, geth, btcd or litecoin it starts that node and a daemon on it first.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), patience)
			defer cancel()
			if source == "embedded" {
				return demo.Run(ctx, info, w.stdout)
			}
			return demo.RunOn(ctx, source, w.stdout, w.stderr, w.getenv)
		},
	}
	c.Flags().StringVar(&source, "source", "embedded", "source chain: embedded (a running `gatewayd dev`), anvil, geth, btcd or litecoin")
	c.Flags().StringVar(&info, "info", dev.InfoPath(), "description of the development environment")
	c.Flags().DurationVar(&patience, "timeout", 5*time.Minute, "give up after this long")
	c.SetFlagErrorFunc(flagError)
	c.AddCommand(exchangeCommand(w), burstCommand(w), custodyCommand(w))
	return c
}

func custodyCommand(w streams) *cobra.Command {
	var o demo.CustodyOptions
	var patience time.Duration
	c := &cobra.Command{
		Use: "custody", Short: "Show how the signer protects against a stolen daemon: approvals, limits, a block list and rotation", Args: noArgs,
		Long: "Start both chains, the signer and the daemon as separate processes, and show: an honest withdrawal, an attack with a stolen daemon\n" +
			"(which gets nothing), an approved payment, a daily limit, a listed payee, a new hot account. Exit code 1 if a check fails. docs/signer-checks.md has the rules.",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.Program == "" {
				if o.Program, err = demo.Gatewayd(); err != nil {
					return err
				}
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), patience)
			defer cancel()
			return demo.RunCustody(ctx, o, w.stdout)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Program, "gatewayd", "", "path of gatewayd; empty: next to this program")
	f.StringVar(&o.Source, "source", "embedded", "source chain: embedded, anvil or geth")
	f.DurationVar(&o.Period, "period", dev.Clock, "time between blocks of both chains")
	f.DurationVar(&patience, "timeout", 10*time.Minute, "give up after this long")
	return c
}

func exchangeCommand(w streams) *cobra.Command {
	var o demo.ExchangeOptions
	c := &cobra.Command{
		Use: "exchange", Short: "Trade on the exchange as two users, against a running `gatewayd dev`", Args: noArgs,
		Long: "Trade on the exchange as two users: tokens over the gateway, a market of their own, API keys, signed orders and their pushes in\n" +
			"all forms, exact balances, and withdrawals over the gateway. Exit code 1 if a check fails.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), o.Patience)
			defer cancel()
			return demo.RunExchange(ctx, o, w.stdout)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Info, "info", dev.InfoPath(), "description of the development environment")
	f.StringVar(&o.URLs.Gateway, "gateway", "", "URL of the gateway's network; empty: as described")
	f.StringVar(&o.URLs.API, "api", "", "URL of the exchange API; empty: as described")
	f.StringVar(&o.URLs.Exchange, "node", "", "URL of the exchange chain's JSON-RPC; empty: as described")
	f.BoolVar(&o.Keep, "keep", false, "leave the market, the keys and their permissions in place and print them, to trade by hand")
	f.BoolVar(&o.JSON, "json", false, "print one JSON object per event")
	f.DurationVar(&o.Patience, "timeout", 5*time.Minute, "give up after this long")
	return c
}

func burstCommand(w streams) *cobra.Command {
	var o demo.BurstOptions
	c := &cobra.Command{
		Use: "burst", Short: "Let many users of a running `gatewayd dev` deposit and withdraw at once", Args: noArgs,
		Long: "Let many users deposit and withdraw at once. It prints, in blocks of each chain, when the last transfer was final, sent and paid, and ends with\n" +
			"exit code 0 only if all balances are exact and all payouts met the promised time, counted from the block in which the last was final:\n\n" + demo.Promise,
		Example: "  gatewayd dev --confirmations 180 --finality 64     in another terminal\n" +
			"  gatewaydemo burst --count 500",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Count < 1 || o.Count > demo.MaxBurst {
				return operator.Usagef("--count %d: must be from 1 to %d", o.Count, demo.MaxBurst)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), o.Patience)
			defer cancel()
			return demo.RunBurst(ctx, o, w.stdout)
		},
	}
	f := c.Flags()
	f.IntVar(&o.Count, "count", 500, "number of users who deposit, and of users who withdraw")
	f.StringVar(&o.Info, "info", dev.InfoPath(), "description of the development environment")
	f.StringVar(&o.URLs.Gateway, "gateway", "", "URL of the gateway's network; empty: as described")
	f.StringVar(&o.URLs.Source, "source", "", "URL of the source chain's JSON-RPC; empty: as described")
	f.StringVar(&o.URLs.Exchange, "node", "", "URL of the exchange chain's JSON-RPC; empty: as described")
	f.BoolVar(&o.JSON, "json", false, "print one JSON object per event; the last one is the result")
	f.DurationVar(&o.Patience, "timeout", 30*time.Minute, "give up after this long")
	return c
}
