package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/watcher"
)

// busySender is how many transactions an address has sent before it looks like an exchange's: what comes back there reaches no user by itself.
const busySender = 10_000

// orderFunc is what the watcher does on an order.
type orderFunc func(*watcher.Watcher, *records.Tx, watcher.Order) error

func recordsRetryCommand(w world, config *string) *cobra.Command {
	var o watcher.Order
	c := orderCommand(w, config, &o, (*watcher.Watcher).Retry, nil, &cobra.Command{
		Use: "retry ID", Short: "Send a held payment on its way again, or credit a deposit that was below the minimum",
	})
	c.Flags().StringVar(&o.Why, "why", "", "reason, kept in the history")
	return c
}

func recordsCreditCommand(w world, config *string) *cobra.Command {
	var o watcher.Order
	c := orderCommand(w, config, &o, (*watcher.Watcher).Credit, func(context.Context, *desk, *watcher.Watcher) error {
		if o.Why == "" {
			return usagef("--why is wanted: who asked for it and what proves it, kept in the history")
		}
		return nil
	}, &cobra.Command{
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

func recordsRefundCommand(w world, config *string) *cobra.Command {
	var o watcher.Order
	c := orderCommand(w, config, &o, (*watcher.Watcher).Refund, func(ctx context.Context, d *desk, rules *watcher.Watcher) error {
		return d.checkRefund(ctx, rules, o)
	}, &cobra.Command{
		Use: "refund ID", Short: "Send a transfer back to its sender, or to --to, instead of paying it out",
		Long: "Send a transfer back to its sender, or to --to, instead of paying it out. A sender that is a contract, or looks like an exchange, is not\n" +
			"paid unless --to names it: what comes back there may reach nobody.",
		Example: "  gatewayd records refund 17 --why 'ticket 4711'\n  gatewayd records refund 17 --to 0x… --why 'ticket 4711: sent from an exchange'",
	})
	f := c.Flags()
	f.StringVar(&o.To, "to", "", "address to refund instead of the sender, on the chain that the transfer came by")
	f.StringVar(&o.Why, "why", "", "reason, kept in the history")
	return c
}

func recordsReclassifyCommand(w world, config *string) *cobra.Command {
	var o watcher.Order
	c := orderCommand(w, config, &o, (*watcher.Watcher).Reclassify, func(ctx context.Context, d *desk, _ *watcher.Watcher) error {
		if o.Why == "" {
			return usagef("--why is wanted: what has changed in the configuration, kept in the history")
		}
		return d.checkReloaded(ctx)
	}, &cobra.Command{
		Use: "reclassify ID", Short: "Decide a transfer that is held as a stranger's again, by the configuration of now",
		Long: "Decide a transfer that is held as a stranger's (unknown_token, unknown_label, unbound_address) again, by the configuration of now: when its sender has been\n" +
			"added to `funders` since, or its token is served now, or again. What has a payment is not touched.",
		Example: "  gatewayd records reclassify 17 --why 'our treasury, added to funders today'",
	})
	c.Flags().StringVar(&o.Why, "why", "", "what has changed, kept in the history")
	return c
}

// checkReloaded refuses to decide by a file that the running daemon does not work by.
func (d *desk) checkReloaded(ctx context.Context) error {
	led, err := d.store.Led(ctx, leaseRole)
	if err != nil || !led {
		return err
	}
	known, _, err := d.configured(ctx)
	if err == nil && !known {
		err = errors.New("the daemon does not work by this configuration yet, so nothing was ordered: `gatewayd reload` first")
	}
	return err
}

// orderCommand runs an order in one transaction, after a check that may ask nodes.
func orderCommand(w world, config *string, o *watcher.Order, do orderFunc, check func(context.Context, *desk, *watcher.Watcher) error, c *cobra.Command) *cobra.Command {
	c.Args = cobra.ExactArgs(1)
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if o.Record, err = recordID(args[0]); err != nil {
			return err
		}
		d, err := openDesk(cmd.Context(), *config)
		if err != nil {
			return err
		}
		defer d.store.Close()
		rules, err := d.rules(cmd.Context())
		if err == nil && check != nil {
			err = check(cmd.Context(), d, rules)
		}
		if err == nil {
			err = d.change(cmd.Context(), func(tx *records.Tx) error { return do(rules, tx, *o) })
		}
		if errors.Is(err, records.ErrNotFound) {
			return fmt.Errorf("there is no record %d", o.Record)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(w.stdout, "Ordered. The daemon acts on it within a second; `gatewayd records show %d` tells how far it is.\n", o.Record)
		return nil
	}
	return c
}

func recordID(text string) (uint64, error) {
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, usagef("ID %q: the number that `gatewayd records list` shows is wanted", text)
	}
	return id, nil
}

// parties is a chain that tells what stands at an address.
type parties interface {
	Party(ctx context.Context, address string) (contract bool, sent uint64, err error)
}

// checkRefund refuses to send money back to where it may reach nobody, unless the operator names the address.
func (d *desk) checkRefund(ctx context.Context, rules *watcher.Watcher, o watcher.Order) error {
	if o.To != "" {
		return nil
	}
	var t records.Transfer
	err := d.store.View(ctx, func(tx *records.Tx) (err error) {
		t, err = tx.Transfer(o.Record)
		return err
	})
	if err != nil || t.Direction == records.Funding || t.State != records.Final && t.State != records.Held {
		return err // the order itself says so
	}
	if t.From == "" {
		return fmt.Errorf("nobody knows who sent record %d, only balances show it: --to is wanted", o.Record)
	}
	return unpayable(ctx, rules.Chains[t.Chain], t.From)
}

// unpayable says why an address should not be refunded without being named.
func unpayable(ctx context.Context, c chain.Chain, sender string) error {
	p, ok := c.(parties)
	if !ok {
		return nil
	}
	contract, sent, err := p.Party(ctx, sender)
	switch {
	case err != nil:
		return fmt.Errorf("no node of %s tells what its sender %s is, so nothing was ordered: try again, or name the address with --to", c.ID(), sender)
	case contract:
		return fmt.Errorf("its sender %s is a contract, such as an exchange or a shared wallet, which may give it to nobody: nothing was ordered. "+
			"Ask the user for an address of his own and refund --to it; --to %s sends it there all the same", sender, sender)
	case sent >= busySender:
		return fmt.Errorf("its sender %s has sent %s transactions and looks like an exchange, which may give it to nobody: nothing was ordered. "+
			"Ask the user for an address of his own and refund --to it; --to %s sends it there all the same", sender, grouped(sent), sender)
	}
	return nil
}
