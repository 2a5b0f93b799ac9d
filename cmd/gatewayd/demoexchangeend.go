package main

import (
	"context"
	"fmt"

	"github.com/shopspring/decimal"

	"gatewayd/chain"
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
	"gatewayd/exchangeapi/client"
)

// handOver prints what somebody needs to go on. The accounts are everybody's, so their keys are no secret.
func (d *exchangeDemo) handOver(context.Context) error {
	d.log.note("symbol=%s", d.market.symbol)
	for _, t := range d.traders() {
		d.log.note("%s: address=%s key=%s secret=%s", t.name, t.vite.address(), t.api.Key, t.api.Secret)
	}
	d.log.note("A key has ten private calls a minute, and the demo has used some; gatewayd apikey limit KEY 1000 -c %s gives it more.", d.info.Config)
	return nil
}

// takeOut revokes Alice's permission, withdraws everybody's dollars from the exchange, and sends part of what she earned to the source chain.
func (d *exchangeDemo) takeOut(ctx context.Context) (err error) {
	a := d.alice
	if err := a.configAgent(ctx, revokePair, d.own, d.dollars); err != nil {
		return err
	}
	for _, t := range d.traders() {
		if err := d.withdrawAll(ctx, t, d.dollars); err != nil {
			return err
		}
	}
	if d.payee, err = newPayee(); err != nil {
		return err
	}
	d.sent, err = a.withdraw(ctx, d.payee, whole(withdrawnDollars, a.token.Decimals))
	return err
}

// withdrawAll takes all dollars of a trader from the exchange into the wallet.
func (d *exchangeDemo) withdrawAll(ctx context.Context, t *demoTrader, token core.TokenID) error {
	all := t.purse[d.market.quote].Available
	units, err := chain.ParseAmount(all.Shift(d.market.quoteDecimals).String())
	if err != nil {
		return fmt.Errorf("%s of %s: %w", all, t.name, err)
	}
	before, err := t.vite.balance(ctx, token)
	if err != nil {
		return err
	}
	after, err := before.Add(units)
	if err != nil {
		return err
	}
	err = t.moves(ctx, listedWithdrawal, token, all, func() error { return t.vite.call(ctx, dex.FundWithdraw, token, *units.Uint256()) })
	if err != nil {
		return err
	}
	if err := t.takeIn(ctx, token, after); err != nil {
		return err
	}
	t.purse.add(d.market.quote, all.Neg(), decimal.Zero)
	d.log.note("%s withdraws %s %s from the exchange", t.name, all, d.market.quote)
	return t.balances(ctx)
}

// leave shows that an order is refused after the permission has gone, and after the key has gone.
func (d *exchangeDemo) leave(ctx context.Context) error {
	order := d.wish(client.Sell, "5", "1")
	_, err := d.alice.api.Place(ctx, order)
	if err := d.refusedWith(err, client.CodeParameter, "Alice's order after the permission was revoked"); err != nil {
		return err
	}
	for _, t := range d.traders() {
		if err := t.api.RemoveKey(ctx, t.wallet()); err != nil {
			return fmt.Errorf("removing %s's key: %w", t.name, err)
		}
		_, err = t.api.Place(ctx, order)
		if err := d.refusedWith(err, client.CodeParameter, t.name+"'s order after the key was removed"); err != nil {
			return err
		}
	}
	return nil
}

// paid waits for the gateway's payment on the source chain.
func (d *exchangeDemo) paid(ctx context.Context) error {
	err := within(ctx, patientGateway, "the gateway to pay the withdrawal", func() (bool, error) {
		_, err := d.alice.await(ctx, "/withdraw-records", d.sent.String(), "OPPOSITE_CONFIRMED")
		return true, err
	})
	if err != nil {
		return err
	}
	got, err := d.alice.eth.balance(ctx, d.alice.token.Asset, d.payee)
	if err != nil {
		return err
	}
	want := whole(withdrawnDollars, d.alice.token.Decimals)
	if got.Cmp(want.Uint256().ToBig()) != 0 {
		return fmt.Errorf("%s has %s, not %s", d.payee, got, want)
	}
	d.log.note("%s has %s", d.payee, got)
	return nil
}
