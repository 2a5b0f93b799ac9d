package operator

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/operator/status"
	"gatewayd/records"
	"gatewayd/watcher"
)

// BusySender is how many transactions an address has sent before it looks like an exchange's: what comes back there reaches no user by itself.
const BusySender = 10_000

// CheckReloaded refuses to decide by a file that the running daemon does not work by.
func (d *Session) CheckReloaded(ctx context.Context) error {
	led, err := d.Store.Led(ctx, status.Role)
	if err != nil || !led {
		return err
	}
	known, _, err := d.Configured(ctx)
	if err == nil && !known {
		err = errors.New("the daemon does not work by this configuration yet, so nothing was ordered: `gatewayd reload` first")
	}
	return err
}

// parties is a chain that tells what stands at an address.
type parties interface {
	Party(ctx context.Context, address string) (contract bool, sent uint64, err error)
}

// CheckRefund refuses to send money back to where it may reach nobody, unless the operator names the address.
func (d *Session) CheckRefund(ctx context.Context, rules *watcher.Watcher, o watcher.Order) error {
	if o.To != "" {
		return nil
	}
	var t records.Transfer
	err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
		t, err = tx.Transfer(o.Record)
		return err
	})
	if err != nil || t.Direction == records.Funding || t.State != records.Final && t.State != records.Held {
		return err // the order itself says so
	}
	if t.From == "" {
		return fmt.Errorf("nobody knows who sent record %d, only balances show it: --to is wanted", o.Record)
	}
	return Unpayable(ctx, rules.Chains[t.Chain], t.From)
}

// Unpayable says why an address should not be refunded without being named.
func Unpayable(ctx context.Context, c chain.Chain, sender string) error {
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
	case sent >= BusySender:
		return fmt.Errorf("its sender %s has sent %s transactions and looks like an exchange, which may give it to nobody: nothing was ordered. "+
			"Ask the user for an address of his own and refund --to it; --to %s sends it there all the same", sender, Grouped(sent), sender)
	}
	return nil
}
