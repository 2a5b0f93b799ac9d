package demo

import (
	"context"
	"fmt"

	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/exchangeapi/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// user is one person of the demo: a wallet on both chains, an API key, and what was on the exchange
// before.
type user struct {
	*dev.BridgeUser
	*dev.Trader
	log    *Log
	before map[string]client.Balance
}

// user makes a user of the gateway's dollars and notes what is on the exchange already: the
// environment may have been used.
func (d *exchangeDemo) user(ctx context.Context, name string, n uint32) (*user, error) {
	dollars, err := d.info.Token(dev.DollarSymbol)
	if err != nil {
		return nil, err
	}
	u, err := dev.NewBridgeUser(ctx, d.info, dollars, n, d.log)
	if err != nil {
		return nil, err
	}
	t := &user{BridgeUser: u, log: d.log, Trader: &dev.Trader{ViteUser: u.Vite, Name: name, API: &client.Client{Base: d.info.API}, Note: d.log.Note}}
	d.log.Note("%s is %s", name, t.Account())
	t.before, err = t.API.Balance(ctx, t.Account())
	return t, err
}

// fromExchange takes all of the trader's dollars from the exchange into the wallet.
func (t *user) fromExchange(ctx context.Context, symbol string) error {
	have, err := t.API.Balance(ctx, t.Account())
	if err != nil {
		return err
	}
	all := have[symbol].Available
	units, err := chain.ParseAmount(all.Shift(int32(t.Token.Decimals)).String())
	if err != nil {
		return fmt.Errorf("%s of %s: %w", all, t.Name, err)
	}
	before, err := t.Vite.Balance(ctx, t.Token.ID())
	if err != nil {
		return err
	}
	after, err := before.Add(units)
	if err != nil {
		return err
	}
	err = t.Moves(ctx, dev.ListedWithdrawal, t.Token.ID(), all, func() error { return t.Vite.Call(ctx, dex.FundWithdraw, t.Token.ID(), *units.Uint256()) })
	if err != nil {
		return err
	}
	t.log.Note("%s withdraws %s %s from the exchange", t.Name, all, symbol)
	return t.Collect(ctx, after)
}

// The token that the demo issues.
const (
	ownSymbol   = "DEMO"
	ownDecimals = 18
	ownSupply   = 1_000_000
)

// issue makes a token of the trader's own, which costs 1,000 VITE, and takes it in.
func (t *user) issue(ctx context.Context) (core.TokenID, error) {
	before, err := t.Vite.Node.TokensByOwner(ctx, t.Vite.Address())
	if err != nil {
		return core.TokenID{}, fmt.Errorf("asking for %s's tokens: %w", t.Name, err)
	}
	supply := *dev.Whole(ownSupply, ownDecimals).Uint256()
	data, err := core.IssueToken.Pack(false, "Demo Token", ownSymbol, supply, uint8(ownDecimals), uint256.Int{}, false)
	if err != nil {
		return core.TokenID{}, err
	}
	b := &core.AccountBlock{BlockType: core.SendCall, ToAddress: core.AssetContract, TokenID: core.VITE, Data: data}
	b.Fee = core.RequiredFee(b.BlockType, b.ToAddress, b.Data)
	if _, err := t.Vite.Submit(ctx, b); err != nil {
		return core.TokenID{}, fmt.Errorf("issuing a token: %w", err)
	}
	known := map[core.TokenID]bool{}
	for _, k := range before {
		known[k.ID] = true
	}
	var token core.TokenID
	err = dev.Within(ctx, dev.Soon, "the asset contract to issue a token", func() (bool, error) {
		now, err := t.Vite.Node.TokensByOwner(ctx, t.Vite.Address())
		for _, k := range now {
			if !known[k.ID] {
				token = k.ID
			}
		}
		return token != core.TokenID{}, err
	})
	if err != nil {
		return token, err
	}
	return token, t.Vite.Collect(ctx, token, dev.Whole(ownSupply, ownDecimals))
}
