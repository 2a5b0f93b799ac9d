package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
	"gatewayd/wallet"
	"gatewayd/wallet/entropy"
)

// devOperator is the wallet path index of the account that owns a development world's exchange and its tokens.
const devOperator = 9

// The operator's roles (all of them) and the call that makes a token one that others are quoted in.
const (
	allRoles      = 55
	setQuoteToken = 2
)

// dollarSymbol is the gateway token in which users may open markets.
const dollarSymbol = "USDT"

// exchangeOperator opens the exchange on a development chain and keeps its clock, as the owner of a real one does.
type exchangeOperator struct {
	*viteUser
	markets []core.TokenID // tokens with a market against VITE
	dollar  core.TokenID   // the token that others may be quoted in besides VITE
}

func newExchangeOperator(ctx context.Context, url string) (*exchangeOperator, error) {
	key, err := entropy.NewKeys(entropy.Seed(devMnemonic, "")).ByIndex(devOperator)
	if err != nil {
		return nil, err
	}
	user, err := newViteUser(ctx, url, key)
	if err != nil {
		return nil, err
	}
	o := &exchangeOperator{viteUser: user}
	for _, t := range devTokens() {
		o.markets = append(o.markets, t.ID)
		if t.Symbol == dollarSymbol {
			o.dollar = t.ID
		}
	}
	return o, nil
}

const (
	// clockEvery is how often the exchange is told the time, at the beginning of each such span: its orders and candles carry the time told last, in
	// whole seconds, and who asks for orders from the second on in which he placed one finds it.
	clockEvery = time.Second
	// clockStep is how far its clock goes at most in one call, in seconds: a world that rested for days catches up day by day.
	clockStep = 24 * 60 * 60
	// marketsEvery is how often the operator looks for markets that users have opened.
	marketsEvery = time.Second
)

// Run opens the exchange unless it is open, and tells it the time, and what is due when a day is over, until ctx ends.
func (o *exchangeOperator) Run(ctx context.Context) error {
	defer o.node.Close()
	if err := o.open(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("opening the exchange: %w", err)
	}
	markets := time.NewTicker(marketsEvery)
	defer markets.Stop()
	clock := time.After(0)
	for {
		var act func(context.Context) error
		select {
		case <-ctx.Done():
			return nil
		case <-clock:
			now := time.Now()
			clock, act = time.After(now.Truncate(clockEvery).Add(clockEvery).Sub(now)), o.tellTime
		case <-markets.C:
			act = o.allowMining
		}
		if err := act(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("operating the exchange: %w", err)
		}
	}
}

func (o *exchangeOperator) tellTime(ctx context.Context) error {
	told, err := o.node.ExchangeTime(ctx)
	if err != nil {
		return err
	}
	now := min(time.Now().Unix(), told+clockStep)
	if err := o.call(ctx, dex.FundNotifyTime, now); err != nil || dex.PeriodOf(now) == dex.PeriodOf(told) {
		return err
	}
	return o.endDay(ctx, dex.PeriodOf(told))
}

// open does what is not done yet: the markets against VITE, what they mine, then prices in dollars.
func (o *exchangeOperator) open(ctx context.Context) error {
	if err := o.openMarkets(ctx); err != nil {
		return err
	}
	if err := o.mine(ctx); err != nil {
		return fmt.Errorf("mining: %w", err)
	}
	if known, err := o.node.ExchangeToken(ctx, o.dollar); err != nil || known.QuoteType != 0 {
		return err
	}
	return o.makeQuote(ctx, o.dollar, dex.QuoteUSD)
}

// openMarkets takes the roles, makes VITE a token that prices are in, and opens a market of every gateway token.
func (o *exchangeOperator) openMarkets(ctx context.Context) error {
	if opened, err := o.opened(ctx, o.markets[len(o.markets)-1]); err != nil || opened {
		return err
	}
	me := o.address()
	if err := o.call(ctx, dex.FundDexAdmin, uint8(allRoles), me, me, me, false, me, me); err != nil {
		return err
	}
	if err := o.call(ctx, dex.FundNotifyTime, time.Now().Unix()); err != nil {
		return err
	}
	if err := o.makeQuote(ctx, core.VITE, dex.QuoteVITE); err != nil {
		return err
	}
	fees, _, _ := chain.NewAmount(100_000).Rescale(0, 18)
	deposit, err := dex.FundDeposit.Pack()
	if err != nil {
		return err
	}
	if _, err := o.send(ctx, core.DexFundContract, core.VITE, fees.Uint256(), deposit); err != nil {
		return fmt.Errorf("depositing: %w", err)
	}
	for _, token := range o.markets {
		if err := o.call(ctx, dex.FundOpenMarket, token, core.VITE); err != nil {
			return err
		}
	}
	return poll(ctx, func() (bool, error) { return o.opened(ctx, o.markets[len(o.markets)-1]) })
}

// makeQuote lets markets have their prices in a token.
func (o *exchangeOperator) makeQuote(ctx context.Context, token core.TokenID, kind dex.QuoteType) error {
	return o.call(ctx, dex.FundTradeAdmin, uint8(setQuoteToken), core.VITE, core.VITE, false, token, uint8(kind), uint8(0), 0, uint8(0), 0)
}

// opened tells whether a token has its market.
func (o *exchangeOperator) opened(ctx context.Context, token core.TokenID) (bool, error) {
	_, err := o.node.Market(ctx, token, core.VITE)
	if errors.Is(err, client.ErrNoMarket) {
		return false, nil
	}
	return err == nil, err
}

// devOperatorPath is where the operator's key is derived.
func devOperatorPath() string { return wallet.GatewayPath(devOperator) }
