package main

import (
	"context"
	"fmt"

	"gatewayd/chain"
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
	"gatewayd/chain/vite/node"
)

// setAllowMining is the call that lets a market's fees mine VX (docs/adr/009).
const setAllowMining = 1

// The supply of VX, in tenths, as the exchange has published it, and how much of it a development world mines.
const (
	devSupplyVX = 293_288_078
	devMinedVX  = 290_000_000
)

// devVX is the exchange's own token. Its operator has all of it in the beginning.
func devVX(owner core.Address) node.TokenInfo {
	return node.TokenInfo{
		ID: dex.VX, Name: "ViteX Coin", Symbol: "VX", Decimals: 18, Owner: owner, TotalSupply: *tenthsVX(devSupplyVX).Uint256(),
	}
}

func tenthsVX(n uint64) chain.Amount {
	amount, _, _ := chain.NewAmount(n).Rescale(1, 18)
	return amount
}

// mine puts VX into the pool that traders mine from, and has the fees of all markets mine it, where that is not so yet.
func (o *exchangeOperator) mine(ctx context.Context) error {
	pool, err := o.node.TradeMining(ctx)
	if err != nil {
		return err
	}
	if share := pool.VX[uint8(dex.QuoteVITE)]; share.IsZero() {
		if err := o.endow(ctx); err != nil {
			return fmt.Errorf("endowing the mining pool: %w", err)
		}
	}
	return o.allowMining(ctx)
}

func (o *exchangeOperator) endow(ctx context.Context) error {
	data, err := dex.FundEndorseVX.Pack()
	if err != nil {
		return err
	}
	_, err = o.send(ctx, core.DexFundContract, dex.VX, tenthsVX(devMinedVX).Uint256(), data)
	return err
}

// allowMining lets the fees of every market mine, also of those that users have opened.
func (o *exchangeOperator) allowMining(ctx context.Context) error {
	markets, err := o.node.Markets(ctx)
	if err != nil {
		return err
	}
	for _, m := range markets {
		if m.AllowMining {
			continue
		}
		if err := o.call(ctx, dex.FundTradeAdmin, uint8(setAllowMining), m.Trade, m.Quote, true, m.Trade, uint8(0), uint8(0), 0, uint8(0), 0); err != nil {
			return err
		}
	}
	return nil
}

// Jobs of the exchange that its operator begins when a day is over. Mining needs no one.
const (
	jobDividends    = 1
	jobOperatorFees = 2
)

// endDay has a day's dividends and operators' fees paid.
func (o *exchangeOperator) endDay(ctx context.Context, period int64) error {
	for _, job := range []uint8{jobDividends, jobOperatorFees} {
		if err := o.call(ctx, dex.FundPeriodJob, uint64(period), job); err != nil {
			return err
		}
	}
	return nil
}
