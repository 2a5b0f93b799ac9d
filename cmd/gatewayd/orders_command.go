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
		Use: "retry ID", Short: "Retry a held payment, or credit a deposit that was below the minimum",
		Example: "  gatewayd records retry 17\n  gatewayd records retry 17 --why 'the payee accepts payments again'",
	})
	c.Flags().StringVar(&o.Why, "why", "", "reason, stored in the history")
	nothingMovedFlag(c, &o)
	return c
}

// nothingMovedFlag is the operator's word that a transaction which differs from its payment
// (payout_differs) moved nothing.
func nothingMovedFlag(c *cobra.Command, o *transfers.Order) {
	c.Flags().BoolVar(&o.NothingMoved, "nothing-moved", false, "the transaction that differs from the payment (payout_differs) provably moved no funds")
}

func recordsHoldCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "who holds it and why", &cobra.Command{
		Use: "hold ID", Short: "Hold a pending payment until it is retried, refunded or rejected",
		Long:    "Hold a pending payment until it is retried, refunded or rejected. Neither time nor approvals release it. Signed payments cannot be held.",
		Example: "  gatewayd records hold 17 --why 'ticket 4711: the user asks to wait'\n  gatewayd records hold 18 --why 'looks like a stolen key'",
	})
	c.Flags().StringVar(&o.Why, "why", "", "who holds it and why, stored in the history")
	return c
}

func recordsCreditCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "who asked for it and what proves it", &cobra.Command{
		Use: "credit ID", Short: "Credit a held deposit to its owner's wallet",
		Long: "Credit a held deposit to its owner's wallet, which you have identified. The token's current terms, including its minimum, are fixed in\n" +
			"the record. If the records know the owner (wrong_type, time_unproven), --wallet may be omitted.",
		Example: "  gatewayd records credit 17 --wallet vite_… --why 'ticket 4711: signed a message'\n  gatewayd records credit 17 --below-minimum --why 'ticket 4711'",
	})
	f := c.Flags()
	f.StringVar(&o.To, "wallet", "", "exchange-chain address of the owner")
	f.StringVar(&o.Why, "why", "", "who asked and what proves it, stored in the history")
	f.BoolVar(&o.Small, "below-minimum", false, "credit it even if it is below the minimum deposit")
	return c
}

func recordsRefundCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "", &cobra.Command{
		Use: "refund ID", Short: "Refund a transfer to its sender, or to --to, instead of paying it out",
		Long: "Refund a transfer to its sender, or to --to, instead of paying it out. A sender that is a contract, or looks like an exchange, is not\n" +
			"paid unless --to names it: the user may never receive such a refund.\n" +
			"With --to, a held refund goes to another address. A signer with its own nodes requires approvals for it.",
		Example: "  gatewayd records refund 17 --why 'ticket 4711'\n  gatewayd records refund 17 --to 0x… --why 'ticket 4711: sent from an exchange'",
	})
	f := c.Flags()
	f.StringVar(&o.To, "to", "", "address to refund instead of the sender, on the chain that the transfer came by")
	f.StringVar(&o.Why, "why", "", "reason, stored in the history")
	nothingMovedFlag(c, &o)
	return c
}

func recordsReclassifyCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "what has changed in the configuration", &cobra.Command{
		Use: "reclassify ID", Short: "Decide an unattributed held transfer again by the current configuration",
		Long: "Decide an unattributed held transfer (unknown_token, unknown_label, unbound_address) again by the current configuration. Use it after its sender was\n" +
			"added to `funders`, or its token was configured. Records with a payment stay unchanged.",
		Example: "  gatewayd records reclassify 17 --why 'our treasury, added to funders today'\n  gatewayd records reclassify 18 --why 'the token is served now'",
	})
	c.Flags().StringVar(&o.Why, "why", "", "change, stored in the history")
	return c
}

func recordsWriteOffCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "who bears the loss", &cobra.Command{
		Use: "write-off ID", Short: "Write off a decided transfer that has left its chain, with the amount paid for it",
		Long: "Write off a decided transfer whose block has left its chain permanently (an incident). It needs no more attention, and\n" +
			"`gatewayd audit` counts the amount paid for it as lost. If its block returns, the write-off is reverted automatically. If its payment is\n" +
			"only held or queued, the payment is void and nothing is lost. The record is orphaned, and decided again if its block returns.",
		Example: "  gatewayd records write-off 17 --why 'ticket 4711: the user cannot be reached, we bear it'\n  gatewayd records write-off 18 --why 'ticket 4712: agreed with the user'",
	})
	c.Flags().StringVar(&o.Why, "why", "", "who bears the loss, stored in the history")
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
			return operator.Usagef("--why is required: %s; the history stores it", why)
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
		fmt.Fprintf(w.stdout, "Ordered. The daemon acts on it within a second; `gatewayd records show %d` shows its progress.\n", o.Record)
		return nil
	}
	return c
}

func recordID(text string) (uint64, error) {
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, operator.Usagef("ID %q: must be a number shown by `gatewayd records list`", text)
	}
	return id, nil
}
