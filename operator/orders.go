package operator

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/transfers"
)

// BusySender is the number of sent transactions from which an address looks like an exchange's: a
// refund there reaches no user automatically.
const BusySender = 10_000

// CheckReloaded refuses to decide by a file that the running daemon does not work by.
func (d *Session) CheckReloaded(ctx context.Context) error {
	led, err := d.Store.Led(ctx, status.Role)
	if err != nil || !led {
		return err
	}
	known, _, err := d.Configured(ctx)
	if err == nil && !known {
		err = errors.New("the daemon does not use this configuration yet, so nothing was ordered: run `gatewayd reload` first")
	}
	return err
}

// CheckRefund refuses a refund to an address that may not reach the user, unless the operator names
// the address.
func (d *Session) CheckRefund(ctx context.Context, b *Bridge, o transfers.Order) error {
	if o.To != "" {
		return nil
	}
	var t records.Transfer
	err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
		t, err = tx.Transfers().Get(o.Record)
		return err
	})
	small := t.State == records.Refused && t.Reason == records.ReasonBelowMinimum
	if err != nil || t.Direction == records.Funding || t.State != records.Final && t.State != records.Held && !small {
		return err // the order itself reports it
	}
	if t.From == "" {
		return fmt.Errorf("the sender of record %d is unknown, because only balances show it: --to is required", o.Record)
	}
	return Unpayable(ctx, b.Chains[t.Chain], t.From)
}

// Unpayable returns the reason why an address should not be refunded without being named.
func Unpayable(ctx context.Context, c chain.Chain, sender string) error {
	p := chain.CapabilitiesOf(c).Parties
	if p == nil {
		return nil
	}
	contract, sent, err := p.Party(ctx, sender)
	switch {
	case err != nil:
		return fmt.Errorf("no node of %s reports the type of its sender %s, so nothing was ordered: try again, or name the address with --to", c.ID(), sender)
	case contract:
		return fmt.Errorf("its sender %s is a contract, such as an exchange or a shared wallet, so the user may not receive it: nothing was ordered. "+
			"Ask the user for a personal address and refund --to it; --to %s refunds the sender anyway", sender, sender)
	case sent >= BusySender:
		return fmt.Errorf("its sender %s has sent %s transactions and looks like an exchange, so the user may not receive it: nothing was ordered. "+
			"Ask the user for a personal address and refund --to it; --to %s refunds the sender anyway", sender, Grouped(sent), sender)
	}
	return nil
}

// priorChecks are what an order requires before its transaction; they may ask nodes.
var priorChecks = map[transfers.OrderName]func(*Session, context.Context, *Bridge, transfers.Order) error{
	transfers.OrderRefund: (*Session).CheckRefund,
	transfers.OrderReject: (*Session).CheckRefund,
	transfers.OrderReclassify: func(d *Session, ctx context.Context, _ *Bridge, _ transfers.Order) error {
		return d.CheckReloaded(ctx)
	},
}

// OrderRecord executes an order by name, or returns transfers.ErrNoOrder. All changes are made in
// one transaction, under the actor of ctx.
func (d *Session) OrderRecord(ctx context.Context, b *Bridge, name string, o transfers.Order) error {
	order := transfers.OrderName(name)
	if check := priorChecks[order]; check != nil {
		if err := check(d, ctx, b, o); err != nil {
			return err
		}
	}
	return d.Store.Update(ctx, func(tx *records.Tx) error { return b.transfers().Order(tx, order, o) })
}
