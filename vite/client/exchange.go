package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// The exchange's queries (docs/exchange-rules.md 3.5). What a real node and the embedded one have
// in common is here; prices and order ids are texts, which vite/dex reads.

// Fund is an account's balance of a token on the exchange.
type Fund struct {
	Token             *TokenInfo
	Available, Locked uint256.Int
}

// UnmarshalJSON reads a member of dex_getAccountBalanceInfo.
func (f *Fund) UnmarshalJSON(raw []byte) error {
	var w struct {
		Token     *TokenInfo `json:"tokenInfo"`
		Available amount     `json:"available"`
		Locked    amount     `json:"locked"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	*f = Fund{w.Token, uint256.Int(w.Available), uint256.Int(w.Locked)}
	return nil
}

// Funds returns an account's balances on the exchange, by token; empty for an account that never
// used it.
func (c *Client) Funds(ctx context.Context, a core.Address) (map[core.TokenID]Fund, error) {
	funds, err := callResult[map[core.TokenID]Fund](ctx, c, "dex_getAccountBalanceInfo", a, nil)
	if errors.Is(err, ErrNoFundUser) {
		return nil, nil
	}
	return funds, err
}

// Market is a pair of tokens on the exchange. Rates are in parts of 100000.
type Market struct {
	ID                   uint32       `json:"marketId"`
	Symbol               string       `json:"marketSymbol"`
	Trade                core.TokenID `json:"tradeToken"`
	Quote                core.TokenID `json:"quoteToken"`
	QuoteType            uint8        `json:"quoteTokenType"`
	TradeDecimals        uint8        `json:"tradeTokenDecimals"`
	QuoteDecimals        uint8        `json:"quoteTokenDecimals"`
	TakerOperatorFeeRate uint32       `json:"takerOperatorFeeRate"`
	MakerOperatorFeeRate uint32       `json:"makerOperatorFeeRate"`
	AllowMining          bool         `json:"allowMining"`
	Valid                bool         `json:"valid"`
	Owner                core.Address `json:"owner"`
	Creator              core.Address `json:"creator"`
	Stopped              bool         `json:"stopped"`
	Stable               bool         `json:"stableMarket"`
	Timestamp            int64        `json:"timestamp"` // seconds
}

// Market of a pair; ErrNoMarket without one.
func (c *Client) Market(ctx context.Context, trade, quote core.TokenID) (Market, error) {
	return callResult[Market](ctx, c, "dex_getMarketInfo", trade, quote)
}

// Markets lists all markets.
func (c *Client) Markets(ctx context.Context) ([]Market, error) {
	return callList[Market](ctx, c, "dexfund_getAllTradePairs")
}

// ExchangeToken is a token as the exchange knows it; QuoteType 0 is none that others are quoted in.
type ExchangeToken struct {
	ID        core.TokenID `json:"tokenId"`
	Symbol    string       `json:"tokenSymbol"`
	Decimals  uint8        `json:"decimals"`
	Index     uint16       `json:"index"`
	Owner     core.Address `json:"owner"`
	QuoteType uint8        `json:"quoteTokenType"`
}

// ExchangeToken of an id; ErrExchangeToken if the exchange does not know it.
func (c *Client) ExchangeToken(ctx context.Context, id core.TokenID) (ExchangeToken, error) {
	return callResult[ExchangeToken](ctx, c, "dex_getTokenInfo", id)
}

// ExchangeTime is the exchange's clock in seconds. A node's public port answers it by this name
// only.
func (c *Client) ExchangeTime(ctx context.Context) (int64, error) {
	return callResult[int64](ctx, c, "dextrade_getTimestamp")
}

// IsAgent reports whether an agent may trade for a principal in a market. ErrNoMarket without one.
func (c *Client) IsAgent(ctx context.Context, principal, agent core.Address, trade, quote core.TokenID) (bool, error) {
	return callResult[bool](ctx, c, "dex_isMarketDelegatedTo", principal, agent, trade, quote)
}

// PlaceOrderInfo contains an account's limits and fees for an order.
type PlaceOrderInfo struct {
	Available uint256.Int // of the token that the order locks
	Minimum   uint256.Int // least amount, in the decimals of the market's quote type: 18, 18, 8, 6
	FeeRate   uint32      // the highest that the order can come to pay, in parts of 100000
	VIP, SVIP bool
	Invited   bool
}

// PlaceOrderInfo of an account for one side of a market. ErrNoMarket without one.
func (c *Client) PlaceOrderInfo(ctx context.Context, a core.Address, trade, quote core.TokenID, sell bool) (PlaceOrderInfo, error) {
	w, err := callResult[struct {
		Available amount `json:"available"`
		Minimum   amount `json:"minTradeAmount"`
		FeeRate   uint32 `json:"feeRate"`
		VIP       bool   `json:"isVIP"`
		SVIP      bool   `json:"isSVIP"`
		Invited   bool   `json:"isInvited"`
	}](ctx, c, "dex_getPlaceOrderInfo", a, trade, quote, sell)
	return PlaceOrderInfo{uint256.Int(w.Available), uint256.Int(w.Minimum), w.FeeRate, w.VIP, w.SVIP, w.Invited}, err
}

// TradeMining is the reward of the exchange's running cycle for traders, by the type of the quote
// token, 1 to 4.
type TradeMining struct {
	// VX is the amount that the traders of each type share, in VX's smallest units.
	VX map[uint8]uint256.Int
	// Fees are the weights of the shares, in the decimals of the type: 18, 18, 8, 6.
	Fees map[uint8]uint256.Int
}

// TradeMining asks two questions; between them a trade may have come, or the cycle may have ended.
// A node without VX to mine may refuse to answer: an *Error.
func (c *Client) TradeMining(ctx context.Context) (TradeMining, error) {
	info, err := callResult[struct {
		Detail map[uint8]amount `json:"feeMineDetail"`
	}](ctx, c, "dex_getCurrentMiningInfo")
	if err != nil {
		return TradeMining{}, err
	}
	fees, err := callResult[map[uint8]amount](ctx, c, "dex_getCurrentFeesValidForMining")
	if err != nil {
		return TradeMining{}, err
	}
	m := TradeMining{VX: amounts(info.Detail), Fees: amounts(fees)}
	for _, list := range []map[uint8]uint256.Int{m.VX, m.Fees} {
		for q := range list {
			if q < 1 || q > 4 {
				return TradeMining{}, fmt.Errorf("the node names quote token type %d, which is none of 1 to 4", q)
			}
		}
	}
	return m, nil
}

func amounts(in map[uint8]amount) map[uint8]uint256.Int {
	out := make(map[uint8]uint256.Int, len(in))
	for k, v := range in {
		out[k] = uint256.Int(v)
	}
	return out
}
