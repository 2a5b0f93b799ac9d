package exchangeapi

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/exchangeapi/index"
	"gatewayd/vite/dex"
)

// markets are the pairs and tokens that the index knows.
type markets interface {
	Markets() []index.Market
	Market(symbol string) (index.Market, error)
	Tokens() []index.Token
}

// pairNames name a pair; most answers begin with them.
type pairNames struct {
	Symbol           string `json:"symbol"`
	TradeTokenSymbol string `json:"tradeTokenSymbol"`
	QuoteTokenSymbol string `json:"quoteTokenSymbol"`
	TradeToken       string `json:"tradeToken"`
	QuoteToken       string `json:"quoteToken"`
}

func namesOf(p index.Pair) pairNames {
	return pairNames{p.Symbol, p.TradeSymbol, p.QuoteSymbol, p.TradeToken, p.QuoteToken}
}

// wholeTokens formats an amount in tokens, without trailing zeros.
func wholeTokens(raw *uint256.Int, decimals uint8) string {
	return decimal.NewFromBigInt(raw.ToBig(), -int32(decimals)).String()
}

// marketDetail is the answer of the trading pair query.
type marketDetail struct {
	Symbol              string      `json:"symbol"`
	TradingCurrency     string      `json:"tradingCurrency"`
	QuoteCurrency       string      `json:"quoteCurrency"`
	TradingCurrencyID   string      `json:"tradingCurrencyId"`
	QuoteCurrencyID     string      `json:"quoteCurrencyId"`
	TradingCurrencyName string      `json:"tradingCurrencyName"`
	QuoteCurrencyName   string      `json:"quoteCurrencyName"`
	Operator            string      `json:"operator"`
	OperatorName        string      `json:"operatorName"`
	OperatorLogo        string      `json:"operatorLogo"`
	PricePrecision      int         `json:"pricePrecision"`
	AmountPrecision     int         `json:"amountPrecision"`
	MinOrderSize        string      `json:"minOrderSize"` // in the quote token
	OperatorMakerFee    json.Number `json:"operatorMakerFee"`
	OperatorTakerFee    json.Number `json:"operatorTakerFee"`
	HighPrice           string      `json:"highPrice"`
	LowPrice            string      `json:"lowPrice"`
	LastPrice           string      `json:"lastPrice"`
	Volume              string      `json:"volume"`     // in the trade token
	BaseVolume          string      `json:"baseVolume"` // in the quote token
	BidPrice            string      `json:"bidPrice"`
	AskPrice            string      `json:"askPrice"`
	OpenBuyOrders       int         `json:"openBuyOrders"`
	OpenSellOrders      int         `json:"openSellOrders"`

	// Rates of an account's next order, with the operator's, for a request that names the account.
	MakerFee json.Number `json:"makerFee,omitempty"`
	TakerFee json.Number `json:"takerFee,omitempty"`
}

func (n *network) market(ctx context.Context, p params) (any, error) {
	m, err := n.symbol(p)
	if err != nil {
		return nil, err
	}
	least, err := n.orderMinimums.of(ctx, m)
	if err != nil {
		return nil, err
	}
	who := n.cfg.Operators[m.Operator]
	detail := marketDetail{
		Symbol: m.Symbol, TradingCurrency: m.TradeSymbol, QuoteCurrency: m.QuoteSymbol, TradingCurrencyID: m.TradeToken, QuoteCurrencyID: m.QuoteToken,
		TradingCurrencyName: m.TradeName, QuoteCurrencyName: m.QuoteName, Operator: m.Operator, OperatorName: who.Name, OperatorLogo: who.Logo,
		PricePrecision: m.PricePrecision, AmountPrecision: m.QuantityPrecision, MinOrderSize: wholeTokens(&least, m.QuoteType.Decimals()),
		OperatorMakerFee: feeNumber(m.MakerFee), OperatorTakerFee: feeNumber(m.TakerFee),
		HighPrice: m.HighPrice, LowPrice: m.LowPrice, LastPrice: m.LastPrice, Volume: m.Volume, BaseVolume: m.BaseVolume,
		BidPrice: m.BidPrice, AskPrice: m.AskPrice, OpenBuyOrders: m.OpenBuyOrders, OpenSellOrders: m.OpenSellOrders,
	}
	if p.get("address") == "" {
		return detail, nil
	}
	owner, err := p.address()
	if err != nil {
		return nil, err
	}
	r, err := n.orderMinimums.rates(ctx, owner, m)
	if err != nil {
		return nil, err
	}
	detail.MakerFee, detail.TakerFee = feeNumber(r.Maker+r.MakerOperator), feeNumber(r.Taker+r.TakerOperator)
	return detail, nil
}

// dexMarket is the market as the exchange's rules have it.
func dexMarket(m index.Market) dex.Market {
	return dex.Market{
		ID: m.ID, Trade: m.Trade, Quote: m.Quote, QuoteType: m.QuoteType, TradeDecimals: m.TradeDecimals, QuoteDecimals: m.QuoteDecimals,
		TakerOperatorRate: m.TakerFee, MakerOperatorRate: m.MakerFee, Stable: m.Stable,
	}
}

// symbol finds the market of a public request; an unknown one is the public sample's "Invalid
// symbol".
func (n *network) symbol(p params) (index.Market, error) {
	symbol, err := p.required("symbol")
	if err != nil {
		return index.Market{}, err
	}
	return n.Index.Market(symbol)
}

// feeNumber is a rate in 1/100000 as a part of one.
func feeNumber(rate uint32) json.Number {
	return json.Number(decimal.New(int64(rate), -5).String())
}

type marketItem struct {
	pairNames
	PricePrecision    int `json:"pricePrecision"`
	QuantityPrecision int `json:"quantityPrecision"`
}

func (n *network) allMarkets(_ context.Context, p params) (any, error) {
	offset, limit, err := p.window(500, 500)
	if err != nil {
		return nil, err
	}
	list := []marketItem{}
	for _, m := range cut(n.Index.Markets(), offset, limit) {
		list = append(list, marketItem{namesOf(m.Pair), m.PricePrecision, m.QuantityPrecision})
	}
	return list, nil
}

// window reads offset and limit.
func (p params) window(absent, most int) (offset, limit int, err error) {
	if limit, err = p.limit(absent, most); err != nil {
		return 0, 0, err
	}
	at, err := p.number("offset", 0, 0, 1<<31-1)
	return int(at), limit, err
}

// cut is the window of a list; behind the end it is empty.
func cut[T any](list []T, offset, limit int) []T {
	offset = min(offset, len(list))
	return list[offset:min(offset+limit, len(list))]
}

// categories are the names of quote types in the ticker query.
func categories() map[string]dex.QuoteType {
	return map[string]dex.QuoteType{"VITE": dex.QuoteVITE, "ETH": dex.QuoteETH, "BTC": dex.QuoteBTC, "USDT": dex.QuoteUSD}
}

func categoryNames() string {
	return strings.Join(slices.Sorted(maps.Keys(categories())), ", ")
}
