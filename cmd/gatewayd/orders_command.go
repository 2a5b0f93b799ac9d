package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/transfers"
)

func recordsRetryCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "", &cobra.Command{
		Use: "retry ID", Short: "Send a held payment on its way again, or credit a deposit that was below the minimum",
	})
	c.Flags().StringVar(&o.Why, "why", "", "reason, kept in the history")
	nothingMovedFlag(c, &o)
	return c
}

// nothingMovedFlag is the operator's word that a transaction which differs from its payment
// (payout_differs) moved nothing.
func nothingMovedFlag(c *cobra.Command, o *transfers.Order) {
	c.Flags().BoolVar(&o.NothingMoved, "nothing-moved", false, "the transaction on the chain that differs from the payment (payout_differs) provably moved nothing")
}

func recordsHoldCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "who holds it and why", &cobra.Command{
		Use: "hold ID", Short: "Keep a payment that waits from being paid, until it is retried, refunded or rejected",
		Long:    "Keep a payment that waits from being paid, until it is retried, refunded or rejected. Neither time nor people's approvals let it go. What is signed already is not held.",
		Example: "  gatewayd records hold 17 --why 'ticket 4711: the user asks to wait'",
	})
	c.Flags().StringVar(&o.Why, "why", "", "who holds it and why, kept in the history")
	return c
}

func recordsCreditCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "who asked for it and what proves it", &cobra.Command{
		Use: "credit ID", Short: "Credit a held deposit to the wallet that you have found to be its owner's",
		Long: "Credit a held deposit to the wallet that you have found to be its owner's. What holds for the token now, its minimum too, is frozen into\n" +
			"the record. Where the records know the owner (wrong_type, time_unproven) --wallet may be left out.",
		Example: "  gatewayd records credit 17 --wallet vite_… --why 'ticket 4711: signed a message with the sending address'",
	})
	f := c.Flags()
	f.StringVar(&o.To, "wallet", "", "exchange-chain address of the owner")
	f.StringVar(&o.Why, "why", "", "who asked and what proves it, kept in the history")
	f.BoolVar(&o.Small, "below-minimum", false, "credit it even if it is below the minimum deposit")
	return c
}

func recordsRefundCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "", &cobra.Command{
		Use: "refund ID", Short: "Send a transfer back to its sender, or to --to, instead of paying it out",
		Long: "Send a transfer back to its sender, or to --to, instead of paying it out. A sender that is a contract, or looks like an exchange, is not\n" +
			"paid unless --to names it: what comes back there may reach nobody.\n" +
			"With --to, a refund that is held goes to another address. A signer with nodes of its own asks for approvals of it.",
		Example: "  gatewayd records refund 17 --why 'ticket 4711'\n  gatewayd records refund 17 --to 0x… --why 'ticket 4711: sent from an exchange'",
	})
	f := c.Flags()
	f.StringVar(&o.To, "to", "", "address to refund instead of the sender, on the chain that the transfer came by")
	f.StringVar(&o.Why, "why", "", "reason, kept in the history")
	nothingMovedFlag(c, &o)
	return c
}

func recordsReclassifyCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "what has changed in the configuration", &cobra.Command{
		Use: "reclassify ID", Short: "Decide a transfer that is held as a stranger's again, by the configuration of now",
		Long: "Decide a transfer that is held as a stranger's (unknown_token, unknown_label, unbound_address) again, by the configuration of now: when its sender has been\n" +
			"added to `funders` since, or its token is served now, or again. What has a payment is not touched.",
		Example: "  gatewayd records reclassify 17 --why 'our treasury, added to funders today'",
	})
	c.Flags().StringVar(&o.Why, "why", "", "what has changed, kept in the history")
	return c
}

func recordsWriteOffCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "who bears the loss", &cobra.Command{
		Use: "write-off ID", Short: "Give up a transfer that was decided and has left its chain, with what was paid for it",
		Long: "Give up a transfer that was decided and whose block has left its chain for good (an incident): nobody is asked about it any more, and\n" +
			"`gatewayd audit` counts what was paid for it as lost. If its block comes back, the write-off is taken back by itself. When its payment is\n" +
			"only held or queued, that is void and nothing is lost: the record is orphaned, and decided anew if its block comes back.",
		Example: "  gatewayd records write-off 17 --why 'ticket 4711: the user cannot be reached, we bear it'",
	})
	c.Flags().StringVar(&o.Why, "why", "", "who bears the loss, kept in the history")
	return c
}

// orderCommand executes the order of the command's name. why describes the content of --why; ""
// where it may be left out.
func orderCommand(w streams, config *string, o *transfers.Order, why string, c *cobra.Command) *cobra.Command {
	c.Args = cobra.ExactArgs(1)
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if o.Record, err = recordID(args[0]); err != nil {
			return err
		}
		if why != "" && o.Why == "" {
			return operator.Usagef("--why is wanted: %s, kept in the history", why)
		}
		d, err := operator.Open(cmd.Context(), *config)
		if err != nil {
			return err
		}
		defer d.Store.Close()
		b, err := d.Bridge(cmd.Context())
		if err == nil {
			err = d.OrderRecord(operator.AsOperator(cmd.Context()), b, c.Name(), *o)
		}
		if errors.Is(err, records.ErrNotFound) {
			return fmt.Errorf("there is no record %d", o.Record)
		}
		if err != nil {
			return err
		}
		if c.Name() == "write-off" {
			fmt.Fprintf(w.stdout, "Record %d is written off; `gatewayd audit` shows the loss, if anything was paid for it.\n", o.Record)
			return nil
		}
		fmt.Fprintf(w.stdout, "Ordered. The daemon acts on it within a second; `gatewayd records show %d` tells how far it is.\n", o.Record)
		return nil
	}
	return c
}

func recordID(text string) (uint64, error) {
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, operator.Usagef("ID %q: the number that `gatewayd records list` shows is wanted", text)
	}
	return id, nil
}
