package dev

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// devOperator is the wallet path index of the account that owns a development environment's
// exchange and its tokens.
const devOperator = 9

// The operator's roles (all of them) and the call that makes a token one that others are quoted in.
const (
	AllRoles      = 55
	SetQuoteToken = 2
)

// DollarSymbol is the gateway token in which users may open markets.
const DollarSymbol = "USDT"

// Operator opens the exchange on a development chain and keeps its clock, as the owner of a real
// one does.
type Operator struct {
	*ViteUser
	markets []core.TokenID // tokens with a market against VITE
	dollar  core.TokenID   // the token that others may be quoted in besides VITE
}

func NewOperator(ctx context.Context, url string) (*Operator, error) {
	key, err := keystore.NewKeys(keystore.Seed(Mnemonic, "")).ByIndex(devOperator)
	if err != nil {
		return nil, err
	}
	user, err := NewViteUser(ctx, url, key)
	if err != nil {
		return nil, err
	}
	o := &Operator{ViteUser: user}
	for _, t := range Tokens() {
		o.markets = append(o.markets, t.ID)
		if t.Symbol == DollarSymbol {
			o.dollar = t.ID
		}
	}
	return o, nil
}

const (
	// clockEvery is the interval at which the exchange's clock is set, at the beginning of each
	// such span. Its orders and candles carry the last set time, in full seconds. So a query for
	// orders since the second of an order's placement finds it.
	clockEvery = time.Second
	// clockStep bounds the advance of its clock in one call, in seconds: an exchange that rested
	// for days catches up day by day.
	clockStep = 24 * 60 * 60
	// marketsEvery is the interval at which the operator checks for markets that users have opened.
	marketsEvery = time.Second
)

// Run opens the exchange unless it is open, sets its clock, and starts the work at the end of a
// day, until ctx ends.
func (o *Operator) Run(ctx context.Context) error {
	defer o.Node.Close()
	if err := o.Open(ctx); err != nil && ctx.Err() == nil {
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
			clock, act = time.After(now.Truncate(clockEvery).Add(clockEvery).Sub(now)), o.TellTime
		case <-markets.C:
			act = o.allowMining
		}
		if err := act(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("operating the exchange: %w", err)
		}
	}
}

func (o *Operator) TellTime(ctx context.Context) error {
	told, err := o.Node.ExchangeTime(ctx)
	if err != nil {
		return err
	}
	now := min(time.Now().Unix(), told+clockStep)
	if err := o.Call(ctx, dex.FundNotifyTime, now); err != nil || dex.PeriodOf(now) == dex.PeriodOf(told) {
		return err
	}
	return o.endDay(ctx, dex.PeriodOf(told))
}

// Open does what is not done yet: the markets against VITE, what they mine, then prices in dollars.
func (o *Operator) Open(ctx context.Context) error {
	if err := o.openMarkets(ctx); err != nil {
		return err
	}
	if err := o.allOpened(ctx); err != nil {
		return err
	}
	if err := o.mine(ctx); err != nil {
		return fmt.Errorf("mining: %w", err)
	}
	if known, err := o.Node.ExchangeToken(ctx, o.dollar); err != nil || known.QuoteType != 0 {
		return err
	}
	return o.makeQuote(ctx, o.dollar, dex.QuoteUSD)
}

// openMarkets takes the roles, makes VITE a token that prices are in, and has a market opened of
// every gateway token, the last one last.
func (o *Operator) openMarkets(ctx context.Context) error {
	if opened, err := o.opened(ctx, o.markets[len(o.markets)-1]); err != nil || opened {
		return err
	}
	return openMarkets(o.Address(), o.markets, time.Now(), func(b *core.AccountBlock) error {
		_, err := o.Submit(ctx, b)
		return err
	})
}

// marketFees pay for the markets, in VITE.
const marketFees = 100_000

// openMarkets submits the calls by which an account opens the exchange.
func openMarkets(me core.Address, tokens []core.TokenID, now time.Time, submit func(*core.AccountBlock) error) error {
	deposit := fundCall(dex.FundDeposit)
	deposit.Amount = *Whole(marketFees, 18).Uint256()
	calls := []*core.AccountBlock{
		fundCall(dex.FundDexAdmin, uint8(AllRoles), me, me, me, false, me, me),
		fundCall(dex.FundNotifyTime, now.Unix()),
		quoteCall(core.VITE, dex.QuoteVITE),
		deposit,
	}
	for _, token := range tokens {
		calls = append(calls, fundCall(dex.FundOpenMarket, token, core.VITE))
	}
	for _, b := range calls {
		if err := submit(b); err != nil {
			return err
		}
	}
	return nil
}

// fundCall is a call of the exchange's fund contract with arguments that fit the method.
func fundCall(m core.Method, args ...any) *core.AccountBlock {
	data, err := m.Pack(args...)
	if err != nil {
		panic(m.Name() + ": " + err.Error())
	}
	return &core.AccountBlock{BlockType: core.SendCall, ToAddress: core.DexFundContract, TokenID: core.VITE, Data: data}
}

// allOpened waits for the tokens' contract, which answers for each market when it gets to it.
func (o *Operator) allOpened(ctx context.Context) error {
	for _, token := range o.markets {
		if err := Poll(ctx, func() (bool, error) { return o.opened(ctx, token) }); err != nil {
			return err
		}
	}
	return nil
}

// makeQuote lets markets have their prices in a token.
func (o *Operator) makeQuote(ctx context.Context, token core.TokenID, kind dex.QuoteType) error {
	_, err := o.Submit(ctx, quoteCall(token, kind))
	return err
}

func quoteCall(token core.TokenID, kind dex.QuoteType) *core.AccountBlock {
	return fundCall(dex.FundTradeAdmin, uint8(SetQuoteToken), core.VITE, core.VITE, false, token, uint8(kind), uint8(0), 0, uint8(0), 0)
}

// opened reports whether a token has its market.
func (o *Operator) opened(ctx context.Context, token core.TokenID) (bool, error) {
	_, err := o.Node.Market(ctx, token, core.VITE)
	if errors.Is(err, client.ErrNoMarket) {
		return false, nil
	}
	return err == nil, err
}

// devOperatorPath is the derivation path of the operator's key.
func devOperatorPath() string { return wallet.GatewayPath(devOperator) }

// setAllowMining is the call that lets a market's fees mine VX (docs/adr/021).
const setAllowMining = 1

// The supply of VX, in tenths, as the exchange has published it, and how much of it a development
// environment mines.
const (
	devSupplyVX = 293_288_078
	devMinedVX  = 290_000_000
)

// genesisVX is the exchange's own token. Its operator has all of it in the beginning.
func genesisVX(owner core.Address) ledger.TokenInfo {
	return ledger.TokenInfo{
		ID: dex.VX, Name: "ViteX Coin", Symbol: "VX", Decimals: 18, Owner: owner, TotalSupply: *tenthsVX(devSupplyVX).Uint256(),
	}
}

func tenthsVX(n uint64) chain.Amount {
	amount, _, _ := chain.NewAmount(n).Rescale(1, 18)
	return amount
}

// mine puts VX into the pool that traders mine from, and has the fees of all markets mine it, where
// that is not so yet.
func (o *Operator) mine(ctx context.Context) error {
	pool, err := o.Node.TradeMining(ctx)
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

func (o *Operator) endow(ctx context.Context) error {
	data, err := dex.FundEndorseVX.Pack()
	if err != nil {
		return err
	}
	_, err = o.Send(ctx, core.DexFundContract, dex.VX, tenthsVX(devMinedVX).Uint256(), data)
	return err
}

// allowMining lets the fees of every market mine, also of those that users have opened.
func (o *Operator) allowMining(ctx context.Context) error {
	markets, err := o.Node.Markets(ctx)
	if err != nil {
		return err
	}
	for _, m := range markets {
		if m.AllowMining {
			continue
		}
		if err := o.Call(ctx, dex.FundTradeAdmin, uint8(setAllowMining), m.Trade, m.Quote, true, m.Trade, uint8(0), uint8(0), 0, uint8(0), 0); err != nil {
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

var endOfDay = []uint8{jobDividends, jobOperatorFees}

// endDay has a day's dividends and operators' fees paid.
func (o *Operator) endDay(ctx context.Context, period int64) error {
	for _, job := range endOfDay {
		if err := o.Call(ctx, dex.FundPeriodJob, uint64(period), job); err != nil {
			return err
		}
	}
	return nil
}
