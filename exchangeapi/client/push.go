package client

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
)

// Push is a message about a topic. Order, Trades, Depth, Ticker and Kline read its data.
type Push struct {
	Topic     string // empty on a stream of the shape OpType with several topics
	Timestamp int64  // Unix milliseconds; of the shape Command only
	Shape     Shape
	Data      []byte // JSON; in the shape Binary protobuf
}

// PushedPair names a pair and its tokens in pushes.
type PushedPair struct {
	Symbol           string `json:"s"`
	TradeTokenSymbol string `json:"ts"`
	QuoteTokenSymbol string `json:"qs"`
	TradeToken       string `json:"tid"`
	QuoteToken       string `json:"qid"`
}

// PushedOrder is an order as pushes show it.
type PushedOrder struct {
	PushedPair
	OrderID          string          `json:"oid"`
	Address          string          `json:"d"`
	Side             Side            `json:"side"`
	Price            decimal.Decimal `json:"p"`
	Quantity         decimal.Decimal `json:"q"`
	Amount           decimal.Decimal `json:"a"`
	ExecutedQuantity decimal.Decimal `json:"eq"`
	ExecutedAmount   decimal.Decimal `json:"ea"`
	ExecutedPercent  decimal.Decimal `json:"ep"`
	ExecutedAvgPrice decimal.Decimal `json:"eap"`
	Fee              decimal.Decimal `json:"f"`
	Status           Status          `json:"st"`
	Type             int             `json:"tp"`
	CreateTime       int64           `json:"ct"` // Unix seconds
	ClientOrderID    string          `json:"cid"`
}

// PushedTrade is a fill as pushes show it.
type PushedTrade struct {
	PushedPair
	TradeID     string          `json:"id"`
	Price       decimal.Decimal `json:"p"`
	Quantity    decimal.Decimal `json:"q"`
	Amount      decimal.Decimal `json:"a"`
	Time        int64           `json:"t"` // Unix seconds
	Side        Side            `json:"side"`
	BuyOrder    string          `json:"bid"`
	SellOrder   string          `json:"sid"`
	BuyFee      decimal.Decimal `json:"bf"`
	SellFee     decimal.Decimal `json:"sf"`
	BlockHeight uint64          `json:"bh"`
}

// PushedTicker contains the figures of a pair over 24 hours as in pushes. encoding/json confuses
// members whose names differ in case only, so UnmarshalJSON separates pCp and pcp.
type PushedTicker struct {
	PushedPair
	OpenPrice          decimal.Decimal `json:"op"`
	PrevClosePrice     decimal.Decimal `json:"-"` // pcp
	ClosePrice         decimal.Decimal `json:"cp"`
	PriceChange        decimal.Decimal `json:"pc"`
	PriceChangePercent decimal.Decimal `json:"-"` // pCp; zero if it is not sent
	HighPrice          decimal.Decimal `json:"hp"`
	LowPrice           decimal.Decimal `json:"lp"`
	Quantity           decimal.Decimal `json:"q"`
	Amount             decimal.Decimal `json:"a"`
	PricePrecision     int             `json:"pp"`
	QuantityPrecision  int             `json:"qp"`
}

// UnmarshalJSON reads a ticker.
func (t *PushedTicker) UnmarshalJSON(b []byte) error {
	type plain PushedTicker
	if err := json.Unmarshal(b, (*plain)(t)); err != nil {
		return err
	}
	var exact map[string]json.RawMessage // a map's keys are exact
	if err := json.Unmarshal(b, &exact); err != nil {
		return err
	}
	for name, to := range map[string]*decimal.Decimal{"pcp": &t.PrevClosePrice, "pCp": &t.PriceChangePercent} {
		if raw, ok := exact[name]; ok {
			if err := json.Unmarshal(raw, to); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// PushedKline is a candle.
type PushedKline struct {
	Time   int64           `json:"t"` // start, Unix seconds
	Open   decimal.Decimal `json:"o"`
	Close  decimal.Decimal `json:"c"`
	High   decimal.Decimal `json:"h"`
	Low    decimal.Decimal `json:"l"`
	Volume decimal.Decimal `json:"v"`
}

// Order reads a push of order.<address>, or of the wallets' topics
// market.<symbol>.order.<address>.open and .history.
func (p Push) Order() (PushedOrder, error) {
	if strings.HasPrefix(p.Topic, "market.") {
		return readPush(p, (*message).listedOrder)
	}
	return readPush(p, (*message).order)
}

// Trades reads a push of market.<symbol>.trade.
func (p Push) Trades() ([]PushedTrade, error) { return readPush(p, (*message).trades) }

// Depth reads a push of market.<symbol>.depth: the complete book, not a difference.
func (p Push) Depth() (Depth, error) { return readPush(p, (*message).depth) }

// Ticker reads a push of the tickers topics.
func (p Push) Ticker() (PushedTicker, error) { return readPush(p, (*message).ticker) }

// Kline reads a push of market.<symbol>.kline.<interval>.
func (p Push) Kline() (PushedKline, error) { return readPush(p, (*message).kline) }

func readPush[T any](p Push, decode func(*message) T) (data T, err error) {
	if p.Shape == Binary {
		var m *message
		if m, err = readMessage(p.Data); err == nil {
			data = decode(m)
			err = m.err
		}
	} else {
		err = json.Unmarshal(p.Data, &data)
	}
	if err != nil {
		return data, fmt.Errorf("reading a push of %s: %w", p.Topic, err)
	}
	return data, nil
}
