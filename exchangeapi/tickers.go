package exchangeapi

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"gatewayd/exchangeapi/index"
	"gatewayd/vite/dex"
)

// books reads current prices and quantities.
type books interface {
	Depth(symbol string, limit int, precision *int) (index.Depth, error)
	BookTicker(symbol string) (index.BookTicker, error)
	Tickers() []index.Ticker
}

// ticker is an item of the 24 hour ticker.
type ticker struct {
	pairNames
	OpenPrice          string      `json:"openPrice"`
	PrevClosePrice     string      `json:"prevClosePrice"`
	ClosePrice         string      `json:"closePrice"`
	PriceChange        string      `json:"priceChange"`
	PriceChangePercent json.Number `json:"priceChangePercent"` // a part of one
	HighPrice          string      `json:"highPrice"`
	LowPrice           string      `json:"lowPrice"`
	Quantity           string      `json:"quantity"`
	Amount             string      `json:"amount"`
	PricePrecision     int         `json:"pricePrecision"`
	QuantityPrecision  int         `json:"quantityPrecision"`
	OpenTime           *int64      `json:"openTime"` // null in every public sample
	CloseTime          *int64      `json:"closeTime"`
}

// tickerFilter chooses tickers; empty members choose all.
type tickerFilter struct {
	symbols      []string
	quote, trade string
	quoteType    dex.QuoteType
}

func (f tickerFilter) fits(t *index.Ticker) bool {
	return (len(f.symbols) == 0 || slices.Contains(f.symbols, t.Symbol)) && (f.quote == "" || t.QuoteSymbol == f.quote) &&
		(f.trade == "" || t.TradeSymbol == f.trade) && (f.quoteType == 0 || t.QuoteType == f.quoteType)
}

// tickers returns all pairs that fit; unknown symbols are left out. Besides the published filters
// it takes those that the web wallet and a wrapper send (docs/exchange-rest.md 1.7).
func (n *network) tickers(_ context.Context, p params) (any, error) {
	f := tickerFilter{symbols: append(p.list("symbols"), p.list("symbol")...), quote: p.get("quoteTokenSymbol"), trade: p.get("tradeTokenSymbol")}
	if category := p.get("quoteTokenCategory"); category != "" {
		if f.quoteType = categories()[category]; !f.quoteType.Valid() {
			return nil, reject(codeParameter, "Invalid quoteTokenCategory: one of %s is wanted", categoryNames())
		}
	}
	list := []ticker{}
	for _, t := range n.Index.Tickers() {
		if f.fits(&t) {
			list = append(list, tickerOf(&t))
		}
	}
	return list, nil
}

func tickerOf(t *index.Ticker) ticker {
	return ticker{
		pairNames: namesOf(t.Pair), OpenPrice: t.OpenPrice, PrevClosePrice: t.PrevClosePrice, ClosePrice: t.ClosePrice, PriceChange: t.PriceChange,
		PriceChangePercent: json.Number(t.ChangePercent), HighPrice: t.HighPrice, LowPrice: t.LowPrice, Quantity: t.Quantity, Amount: t.Amount,
		PricePrecision: t.PricePrecision, QuantityPrecision: t.QuantityPrecision,
	}
}

type bookTicker struct {
	Symbol      string `json:"symbol"`
	BidPrice    string `json:"bidPrice"`
	BidQuantity string `json:"bidQuantity"`
	AskPrice    string `json:"askPrice"`
	AskQuantity string `json:"askQuantity"`
	Height      *int64 `json:"height"` // null in every public sample
}

func (n *network) bookTicker(_ context.Context, p params) (any, error) {
	symbol, err := p.required("symbol")
	if err != nil {
		return nil, err
	}
	t, err := n.Index.BookTicker(symbol)
	if err != nil {
		return nil, err
	}
	return bookTicker{t.Symbol, t.BidPrice, t.BidQuantity, t.AskPrice, t.AskQuantity, nil}, nil
}

// depth is {"timestamp","asks","bids"}: asks ascend, bids descend. It is the largest of the
// frequent answers. It is formatted without reflection, which would cost half as much again as the
// complete answer.
type depth index.Depth

func (d depth) appendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"timestamp":`...), d.Time, 10)
	b = appendLevels(append(b, `,"asks":`...), d.Asks)
	b = appendLevels(append(b, `,"bids":`...), d.Bids)
	return append(b, '}')
}

// appendLevels prints levels as pairs of texts, which are digits and points.
func appendLevels(b []byte, list []index.Level) []byte {
	b = append(b, '[')
	for i, l := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `["`...), l.Price...)
		b = append(append(b, `","`...), l.Quantity...)
		b = append(b, `"]`...)
	}
	return append(b, ']')
}

func (n *network) depth(_ context.Context, p params) (any, error) {
	symbol, err := p.required("symbol")
	if err != nil {
		return nil, err
	}
	limit, err := p.limit(index.MaxDepth, index.MaxDepth)
	if err != nil {
		return nil, err
	}
	precision, err := p.choice("precision", priceDecimals)
	if err != nil {
		return nil, err
	}
	d, err := n.Index.Depth(symbol, limit, precision)
	return depth(d), err
}
