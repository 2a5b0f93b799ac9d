package exchangeapi

import (
	"context"
	"encoding/json"

	"gatewayd/exchangeapi/index"
	"gatewayd/vite/core"
)

// history reads past trades.
type history interface {
	Trades(ctx context.Context, f index.TradeFilter, p index.Page) (index.Trades, error)
	Bars(ctx context.Context, f index.BarFilter) ([]index.Bar, error)
	Transfers(ctx context.Context, owner core.Address, token core.TokenID, p index.Page) (index.Transfers, error)
}

type publicTrade struct {
	Timestamp int64  `json:"timestamp"` // Unix milliseconds
	Price     string `json:"price"`
	Amount    string `json:"amount"` // in the trade token
	Side      int    `json:"side"`   // of the taker
}

func (n *network) trades(ctx context.Context, p params) (any, error) {
	symbol, err := p.required("symbol")
	if err != nil {
		return nil, err
	}
	limit, err := p.limit(500, 500)
	if err != nil {
		return nil, err
	}
	found, err := n.Index.Trades(ctx, index.TradeFilter{Symbol: symbol}, index.Page{Limit: limit})
	if err != nil {
		return nil, err
	}
	list := make([]publicTrade, 0, len(found.List))
	for _, t := range found.List {
		list = append(list, publicTrade{t.Time * 1000, t.Price, t.Quantity, t.Side})
	}
	return list, nil
}

type trade struct {
	TradeID string `json:"tradeId"`
	pairNames
	Price       string `json:"price"`
	Quantity    string `json:"quantity"`
	Amount      string `json:"amount"`
	Time        int64  `json:"time"` // Unix seconds
	Side        int    `json:"side"` // of the taker
	BuyFee      string `json:"buyFee"`
	SellFee     string `json:"sellFee"`
	BlockHeight uint64 `json:"blockHeight"` // of the exchange contract's block
}

type tradePage struct {
	Height *int64  `json:"height"` // null in every public sample
	Trade  []trade `json:"trade"`
	Total  int     `json:"total"`
}

func (n *network) allTrades(ctx context.Context, p params) (any, error) {
	f, page, err := p.trades()
	if err != nil {
		return nil, err
	}
	found, err := n.Index.Trades(ctx, f, page)
	if err != nil {
		return nil, err
	}
	out := tradePage{Trade: make([]trade, 0, len(found.List)), Total: found.Total}
	for _, t := range found.List {
		out.Trade = append(out.Trade, trade{
			t.ID, namesOf(t.Pair), t.Price, t.Quantity, t.Amount, t.Time, t.Side, t.BuyFee, t.SellFee, t.BlockHeight,
		})
	}
	return out, nil
}

func (p params) trades() (f index.TradeFilter, page index.Page, err error) {
	if f.Symbol, err = p.required("symbol"); err != nil {
		return f, page, err
	}
	if p.get("orderId") != "" {
		id, err := p.hash("orderId")
		if err != nil {
			return f, page, err
		}
		f.Order = &id
	}
	if f.Start, f.End, err = p.span(); err != nil {
		return f, page, err
	}
	if f.Side, err = p.choice("side", 1); err != nil {
		return f, page, err
	}
	page, err = p.page(30, 100)
	return f, page, err
}

// bars are parallel lists, one element for each bar, oldest first. Values are numbers in the public
// sample.
type bars struct {
	T []int64       `json:"t"` // starts, Unix seconds
	C []json.Number `json:"c"`
	P []json.Number `json:"p"` // open
	H []json.Number `json:"h"`
	L []json.Number `json:"l"`
	V []json.Number `json:"v"`
}

func (n *network) klines(ctx context.Context, p params) (any, error) {
	f, err := p.bars()
	if err != nil {
		return nil, err
	}
	found, err := n.Index.Bars(ctx, f)
	if err != nil {
		return nil, err
	}
	list := func() []json.Number { return make([]json.Number, 0, len(found)) }
	out := bars{make([]int64, 0, len(found)), list(), list(), list(), list(), list()}
	for _, b := range found {
		out.T = append(out.T, b.Time)
		out.C = append(out.C, json.Number(b.Close))
		out.P = append(out.P, json.Number(b.Open))
		out.H = append(out.H, json.Number(b.High))
		out.L = append(out.L, json.Number(b.Low))
		out.V = append(out.V, json.Number(b.Volume))
	}
	return out, nil
}

func (p params) bars() (f index.BarFilter, err error) {
	if f.Symbol, err = p.required("symbol"); err != nil {
		return f, err
	}
	interval, err := p.required("interval")
	if err != nil {
		return f, err
	}
	if f.Interval = index.Interval(interval); !f.Interval.Valid() {
		return f, reject(codeParameter, "Invalid interval: one of minute, minute30, hour, hour6, hour12, day, week is wanted")
	}
	if f.Start, f.End, err = p.span(); err != nil {
		return f, err
	}
	f.Limit, err = p.limit(500, 1500)
	return f, err
}
