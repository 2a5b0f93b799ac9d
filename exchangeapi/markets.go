package exchangeapi

import (
	"context"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/chain/vite/dex"
	"gatewayd/exchangeapi/index"
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

// orderLimit is the answer of the limit query.
type orderLimit struct {
	MinAmount       map[string]string   `json:"minAmount"` // by quote token symbol, in the quote token
	DepthStepsLimit map[string]struct{} `json:"depthStepsLimit"`
}

// limits tells the least amount of an order for each quote token that has a market.
func (n *network) limits(ctx context.Context, _ params) (any, error) {
	out := orderLimit{MinAmount: map[string]string{}, DepthStepsLimit: map[string]struct{}{}}
	for _, m := range n.Index.Markets() {
		if _, known := out.MinAmount[m.QuoteSymbol]; known {
			continue
		}
		least, err := n.minimums.of(ctx, m)
		if err != nil {
			return nil, err
		}
		out.MinAmount[m.QuoteSymbol] = wholeTokens(&least, m.QuoteType.Decimals())
	}
	return out, nil
}

// wholeTokens is an amount in whole tokens, as short as it goes.
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
}

func (n *network) market(ctx context.Context, p params) (any, error) {
	m, err := n.symbol(p)
	if err != nil {
		return nil, err
	}
	least, err := n.minimums.of(ctx, m)
	if err != nil {
		return nil, err
	}
	who := n.cfg.Operators[m.Operator]
	return marketDetail{
		Symbol: m.Symbol, TradingCurrency: m.TradeSymbol, QuoteCurrency: m.QuoteSymbol, TradingCurrencyID: m.TradeToken, QuoteCurrencyID: m.QuoteToken,
		TradingCurrencyName: m.TradeName, QuoteCurrencyName: m.QuoteName, Operator: m.Operator, OperatorName: who.Name, OperatorLogo: who.Logo,
		PricePrecision: m.PricePrecision, AmountPrecision: m.QuantityPrecision, MinOrderSize: wholeTokens(&least, m.QuoteType.Decimals()),
		OperatorMakerFee: feeNumber(m.MakerFee), OperatorTakerFee: feeNumber(m.TakerFee),
		HighPrice: m.HighPrice, LowPrice: m.LowPrice, LastPrice: m.LastPrice, Volume: m.Volume, BaseVolume: m.BaseVolume,
		BidPrice: m.BidPrice, AskPrice: m.AskPrice, OpenBuyOrders: m.OpenBuyOrders, OpenSellOrders: m.OpenSellOrders,
	}, nil
}

// symbol finds the market of a public request; an unknown one is the public sample's "Invalid symbol".
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

type tokenItem struct {
	TokenID        string  `json:"tokenId"`
	Name           string  `json:"name"`
	Symbol         string  `json:"symbol"`
	OriginalSymbol string  `json:"originalSymbol"`
	TotalSupply    string  `json:"totalSupply"` // smallest units
	Owner          string  `json:"owner"`
	TokenDecimals  int     `json:"tokenDecimals"`
	URLIcon        *string `json:"urlIcon"`
}

func (n *network) tokens(_ context.Context, p params) (any, error) {
	offset, limit, err := p.window(500, 500)
	if err != nil {
		return nil, err
	}
	category := p.get("category")
	if category != "" && category != "all" && category != "quote" {
		return nil, refuse(codeParameter, "Invalid category: quote or all is wanted")
	}
	like := strings.ToLower(p.get("tokenSymbolLike"))
	found := slices.DeleteFunc(slices.Clone(n.Index.Tokens()), func(t index.Token) bool {
		return category == "quote" && !t.QuoteType.Valid() || !strings.Contains(strings.ToLower(t.Symbol), like)
	})
	list := []tokenItem{}
	for _, t := range cut(found, offset, limit) {
		list = append(list, tokenItem{t.ID, t.Name, t.Symbol, t.OriginalSymbol, t.TotalSupply, t.Owner, int(t.Decimals), nil})
	}
	return list, nil
}

// Numbers of the member reissue (facts/exchange.md 1.1).
const (
	reissueYes = 1
	reissueNo  = 2
)

// tokenDetail has members that only a directory of tokens could fill. There is none: they are null.
type tokenDetail struct {
	TokenID        string  `json:"tokenId"`
	Name           string  `json:"name"`
	Symbol         string  `json:"symbol"`
	OriginalSymbol string  `json:"originalSymbol"`
	TotalSupply    string  `json:"totalSupply"`
	Publisher      string  `json:"publisher"`
	TokenDecimals  int     `json:"tokenDecimals"`
	TokenAccuracy  string  `json:"tokenAccuracy"`
	PublisherDate  *int64  `json:"publisherDate"`
	Reissue        int     `json:"reissue"`
	URLIcon        *string `json:"urlIcon"`
	Gateway        any     `json:"gateway"`
	Website        *string `json:"website"`
	Links          any     `json:"links"`
	Overview       any     `json:"overview"`
}

// tokenDetail answers null for a token that the exchange does not know: clients handle that.
func (n *network) tokenDetail(_ context.Context, p params) (any, error) {
	symbol, id := p.get("tokenSymbol"), p.get("tokenId")
	if symbol == "" && id == "" {
		return nil, refuse(codeParameter, "Parameter tokenSymbol or tokenId is missing")
	}
	for _, t := range n.Index.Tokens() {
		if id != "" && t.ID != id || symbol != "" && t.Symbol != symbol {
			continue
		}
		reissue := reissueNo
		if t.ReIssuable {
			reissue = reissueYes
		}
		return tokenDetail{
			TokenID: t.ID, Name: t.Name, Symbol: t.Symbol, OriginalSymbol: t.OriginalSymbol, TotalSupply: t.TotalSupply, Publisher: t.Owner,
			TokenDecimals: int(t.Decimals), TokenAccuracy: accuracy(t.Decimals), Reissue: reissue,
		}, nil
	}
	return nil, nil
}

// accuracy is one smallest unit in whole tokens, with all its decimals.
func accuracy(decimals uint8) string {
	return decimal.NewFromBigInt(big.NewInt(1), -int32(decimals)).StringFixed(int32(decimals))
}

type tokenName struct {
	TokenID string `json:"tokenId"`
	Symbol  string `json:"symbol"`
}

// mapped are the tokens that are traded against a quote token.
func (n *network) mapped(_ context.Context, p params) (any, error) {
	quote, err := n.quoteToken(p)
	if err != nil {
		return nil, err
	}
	traded := n.tradedAgainst(quote.ID)
	list := []tokenName{}
	for _, t := range n.Index.Tokens() {
		if traded[t.ID] {
			list = append(list, tokenName{t.ID, t.Symbol})
		}
	}
	return list, nil
}

// unmapped are the tokens that could be, but are not.
func (n *network) unmapped(_ context.Context, p params) (any, error) {
	quote, err := n.quoteToken(p)
	if err != nil {
		return nil, err
	}
	traded := n.tradedAgainst(quote.ID)
	list := []tokenName{}
	for _, t := range n.Index.Tokens() {
		if !traded[t.ID] && t.ID != quote.ID && t.QuoteType <= quote.QuoteType {
			list = append(list, tokenName{t.ID, t.Symbol})
		}
	}
	return list, nil
}

func (n *network) quoteToken(p params) (index.Token, error) {
	symbol, err := p.required("quoteTokenSymbol")
	if err != nil {
		return index.Token{}, err
	}
	for _, t := range n.Index.Tokens() {
		if t.Symbol == symbol && t.QuoteType.Valid() {
			return t, nil
		}
	}
	return index.Token{}, refuse(codeParameter, "Invalid quoteTokenSymbol")
}

func (n *network) tradedAgainst(quote string) map[string]bool {
	traded := map[string]bool{}
	for _, m := range n.Index.Markets() {
		if m.QuoteToken == quote {
			traded[m.TradeToken] = true
		}
	}
	return traded
}

// categories are the names of quote types in the ticker query.
func categories() map[string]dex.QuoteType {
	return map[string]dex.QuoteType{"VITE": dex.QuoteVITE, "ETH": dex.QuoteETH, "BTC": dex.QuoteBTC, "USDT": dex.QuoteUSD}
}

func categoryNames() string {
	return strings.Join(slices.Sorted(maps.Keys(categories())), ", ")
}
