package rpc

import (
	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// The modules dex, dexfund and dextrade show the exchange (docs/exchange-rules.md 3.5). dex is the
// newest generation of names; the other two are named after the contract that keeps what they show.
type (
	dexAPI      struct{ exchangeAPI }
	dexfundAPI  struct{ exchangeAPI }
	dextradeAPI struct{ exchangeAPI }

	// dexPrivateAPI are the methods of dex that a real node answers on its private port only.
	dexPrivateAPI struct{ exchangeAPI }
)

// exchangeAPI is shared by the modules.
type exchangeAPI struct{ node *node.Node }

// Refusals of the exchange's queries.
var (
	errNoMarket     = jsonrpc.NewError(-37007, "trade market not exists")
	errNoOrder      = jsonrpc.NewError(-37008, "order not exists")
	errNoFundUser   = jsonrpc.NewError(-37013, "fund user doesn't exist")
	errUnknownToken = jsonrpc.Other("invalid token")
	errOrderRange   = jsonrpc.Other("begin and end must span 0 to 10000 orders")
)

// errUninitialised is the text of a real node's panic before the exchange has an owner.
var errUninitialised = jsonrpc.NewError(jsonrpc.CodePanic, "server execute panic")

// GetOwner is who administers the exchange.
func (d *dexPrivateAPI) GetOwner() (core.Address, error) {
	r := read(d.node, func(v *node.View) ledger.ExchangeRoles { return v.Exchange().Roles() })
	if r.Owner.IsZero() {
		return core.Address{}, errUninitialised
	}
	return r.Owner, nil
}

type dexConfig struct {
	Owner      core.Address `json:"owner"`
	Timer      core.Address `json:"timer"`
	Trigger    core.Address `json:"trigger"`
	MineProxy  core.Address `json:"mineProxy"`
	Maintainer core.Address `json:"maintainer"`
}

// GetDexConfig is who runs the exchange.
func (d *dexPrivateAPI) GetDexConfig() (*dexConfig, error) {
	r := read(d.node, func(v *node.View) ledger.ExchangeRoles { return v.Exchange().Roles() })
	if r.Owner.IsZero() {
		return nil, errUninitialised
	}
	return &dexConfig{r.Owner, r.Timer, r.Trigger, r.MineProxy, r.Maintainer}, nil
}

// GetTime is the exchange's clock in seconds.
func (d *dexPrivateAPI) GetTime() int64 {
	return read(d.node, func(v *node.View) int64 { return v.Exchange().Time() })
}

// GetTimestamp is the exchange's clock as matching sees it.
func (d *dextradeAPI) GetTimestamp() int64 {
	return read(d.node, func(v *node.View) int64 { return v.Exchange().Time() })
}

// GetPeriodId is the number of the day of the exchange's clock.
func (d *dexPrivateAPI) GetPeriodId() int64 {
	return read(d.node, func(v *node.View) int64 { return v.Exchange().Period() })
}

type dexToken struct {
	TokenSymbol    string       `json:"tokenSymbol"`
	Decimals       uint8        `json:"decimals"`
	TokenID        core.TokenID `json:"tokenId"`
	Index          uint16       `json:"index"`
	Owner          core.Address `json:"owner"`
	QuoteTokenType uint8        `json:"quoteTokenType,omitempty"`
}

// GetTokenInfo describes a token as the exchange knows it.
func (d *dexAPI) GetTokenInfo(id tokenArg) (*dexToken, error) { return d.token(id) }

// GetTokenInfo is dex_getTokenInfo.
func (d *dexfundAPI) GetTokenInfo(id tokenArg) (*dexToken, error) { return d.token(id) }

func (e *exchangeAPI) token(id tokenArg) (*dexToken, error) {
	t := read(e.node, func(v *node.View) *dex.Token { return v.Exchange().Token(id.TokenID) })
	if t == nil {
		return nil, errUnknownToken
	}
	return showDexToken(t), nil
}

func showDexToken(t *dex.Token) *dexToken {
	return &dexToken{t.Symbol, t.Decimals, t.ID, t.Index, t.Owner, uint8(t.QuoteType)}
}

// fundInfo is an account's balance of a token.
type fundInfo struct {
	TokenInfo *tokenInfo `json:"tokenInfo"`
	Available string     `json:"available"`
	Locked    string     `json:"locked"`
	// VX locked for dividends, and on its way back from there.
	VXLocked    string `json:"vxLocked,omitempty"`
	VXUnlocking string `json:"vxUnlocking,omitempty"`
	// VITE that was staked to mine, on its way back.
	CancellingStake string `json:"cancellingStake,omitempty"`
}

func showFund(v *node.View, a core.Address, id core.TokenID, b *dex.Balance) fundInfo {
	f := fundInfo{TokenInfo: showToken(v.Token(id)), Available: b.Available.Dec(), Locked: b.Locked.Dec()}
	switch id {
	case dex.VX:
		locked, unlocking := v.Exchange().LockedVX(a), v.Exchange().Unlocking(a, id)
		f.VXLocked, f.VXUnlocking = unlessZero(&locked), unlessZero(&unlocking)
	case core.VITE:
		cancelling := v.Exchange().Unlocking(a, id)
		f.CancellingStake = unlessZero(&cancelling)
	}
	return f
}

func (e *exchangeAPI) funds(a addressArg, only *tokenArg) (map[core.TokenID]fundInfo, error) {
	shown := map[core.TokenID]fundInfo{}
	known := false
	readInMemory(e.node, func(v *node.View) {
		funds := v.Exchange().Funds(a.Address)
		known = len(funds) > 0
		for id, b := range funds {
			if only == nil || only.TokenID == id {
				shown[id] = showFund(v, a.Address, id, &b)
			}
		}
	})
	if !known {
		return nil, errNoFundUser
	}
	return shown, nil
}

// GetAccountFundInfo returns an account's balances on the exchange, of all tokens or of one.
func (d *dexfundAPI) GetAccountFundInfo(a addressArg, only *tokenArg) (map[core.TokenID]fundInfo, error) {
	return d.funds(a, only)
}

// GetAccountBalanceInfo is dexfund_getAccountFundInfo.
func (d *dexAPI) GetAccountBalanceInfo(a addressArg, only *tokenArg) (map[core.TokenID]fundInfo, error) {
	return d.funds(a, only)
}

// marketPair contains the members that both generations of names have in common.
type marketPair struct {
	MarketID           uint32       `json:"marketId"`
	MarketSymbol       string       `json:"marketSymbol"`
	TradeToken         core.TokenID `json:"tradeToken"`
	QuoteToken         core.TokenID `json:"quoteToken"`
	QuoteTokenType     uint8        `json:"quoteTokenType"`
	TradeTokenDecimals uint8        `json:"tradeTokenDecimals"`
	QuoteTokenDecimals uint8        `json:"quoteTokenDecimals"`
	Valid              bool         `json:"valid"`
	Owner              core.Address `json:"owner"`
	Creator            core.Address `json:"creator"`
	Stopped            bool         `json:"stopped"`
	Timestamp          int64        `json:"timestamp"`
}

type v1Market struct {
	marketPair
	TakerBrokerFeeRate uint32 `json:"takerBrokerFeeRate"`
	MakerBrokerFeeRate uint32 `json:"makerBrokerFeeRate"`
	AllowMine          bool   `json:"allowMine"`
}

type shownMarket struct {
	marketPair
	TakerOperatorFeeRate uint32 `json:"takerOperatorFeeRate"`
	MakerOperatorFeeRate uint32 `json:"makerOperatorFeeRate"`
	AllowMining          bool   `json:"allowMining"`
	StableMarket         bool   `json:"stableMarket"`
}

func pairOf(m *dex.Market) marketPair {
	return marketPair{
		m.ID, m.Symbol, m.Trade, m.Quote, uint8(m.QuoteType), m.TradeDecimals, m.QuoteDecimals, m.Valid, m.Owner, m.Creator,
		m.Stopped, m.Time,
	}
}

func showMarket(m *dex.Market) *shownMarket {
	return &shownMarket{pairOf(m), m.TakerOperatorRate, m.MakerOperatorRate, m.AllowMining, m.Stable}
}

func (e *exchangeAPI) market(trade, quote tokenArg) (*dex.Market, error) {
	m := read(e.node, func(v *node.View) *dex.Market { return v.Exchange().Market(trade.TokenID, quote.TokenID) })
	if m == nil {
		return nil, errNoMarket
	}
	return m, nil
}

// GetMarketInfo describes a market under the older names.
func (d *dexfundAPI) GetMarketInfo(trade, quote tokenArg) (*v1Market, error) {
	m, err := d.market(trade, quote)
	if err != nil {
		return nil, err
	}
	return showV1Market(m), nil
}

func showV1Market(m *dex.Market) *v1Market {
	return &v1Market{pairOf(m), m.TakerOperatorRate, m.MakerOperatorRate, m.AllowMining}
}

// GetMarketInfoById describes the market of a number, under the names of dexfund_getMarketInfo.
func (d *dextradeAPI) GetMarketInfoById(id uint32) (*v1Market, error) {
	m := read(d.node, func(v *node.View) *dex.Market { return v.Exchange().MarketByID(id) })
	if m == nil {
		return nil, errNoMarket
	}
	return showV1Market(m), nil
}

// GetMarketInfo describes a market.
func (d *dexAPI) GetMarketInfo(trade, quote tokenArg) (*shownMarket, error) {
	m, err := d.market(trade, quote)
	if err != nil {
		return nil, err
	}
	return showMarket(m), nil
}

// GetAllTradePairs lists all markets, under the newer names.
func (d *dexfundAPI) GetAllTradePairs() []*shownMarket {
	list := []*shownMarket{}
	for _, m := range read(d.node, func(v *node.View) []dex.Market { return v.Exchange().Markets() }) {
		list = append(list, showMarket(&m))
	}
	return list
}

func (e *exchangeAPI) granted(principal, agent addressArg, trade, quote tokenArg) (granted bool, err error) {
	readInMemory(e.node, func(v *node.View) {
		m := v.Exchange().Market(trade.TokenID, quote.TokenID)
		if m == nil {
			err = errNoMarket
			return
		}
		granted = v.Exchange().IsAgent(principal.Address, agent.Address, m.ID)
	})
	return granted, err
}

// IsMarketGrantedToAgent reports whether the agent may trade for the principal in the market.
func (d *dexfundAPI) IsMarketGrantedToAgent(principal, agent addressArg, trade, quote tokenArg) (bool, error) {
	return d.granted(principal, agent, trade, quote)
}

// IsMarketDelegatedTo is dexfund_isMarketGrantedToAgent.
func (d *dexAPI) IsMarketDelegatedTo(principal, agent addressArg, trade, quote tokenArg) (bool, error) {
	return d.granted(principal, agent, trade, quote)
}

type placeOrderInfo struct {
	Available      string `json:"available"`
	MinTradeAmount string `json:"minTradeAmount"`
	FeeRate        uint32 `json:"feeRate"`
	Side           bool   `json:"side"`
	IsVIP          bool   `json:"isVIP"`
	IsSVIP         bool   `json:"isSVIP"`
	IsInvited      bool   `json:"isInvited"`
}

// GetPlaceOrderInfo returns an account's limits for an order. minTradeAmount is in the decimals of
// the quote token's type, feeRate the highest possible rate of the order, in parts of 100000.
func (d *dexAPI) GetPlaceOrderInfo(a addressArg, trade, quote tokenArg, side bool) (info *placeOrderInfo, err error) {
	readInMemory(d.node, func(v *node.View) {
		m := v.Exchange().Market(trade.TokenID, quote.TokenID)
		if m == nil {
			err = errNoMarket
			return
		}
		token := m.Quote
		if dex.Side(side) == dex.Sell {
			token = m.Trade
		}
		funds, _ := v.Exchange().Fund(a.Address, token)
		least, standing := v.Exchange().OrderMinimum(m.QuoteType), v.Exchange().FeeTier(a.Address)
		info = &placeOrderInfo{
			funds.Available.Dec(), least.Dec(), m.Rates(standing).Highest(), side, standing.VIP, standing.SVIP, standing.Invited,
		}
	})
	return info, err
}
