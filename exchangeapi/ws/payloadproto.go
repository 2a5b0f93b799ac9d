package ws

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"gatewayd/exchangeapi/index"
)

// The payloads as protobuf messages; their names and field numbers are those of
// docs/exchange-rest.md 1.12 C. As protobuf has it, zeros and empty texts are left out.

// appendProto appends an OrderList of one order, as the wallets' topics have it.
func (o listedOrder) appendProto(b []byte) []byte {
	return protoItem(b, 1, o.order.appendProto(nil))
}

// appendProto appends an Order.
func (o order) appendProto(m []byte) []byte {
	m = protoText(m, 1, o.ID)
	m = protoPair(m, o.Pair)
	m = protoInt(m, 7, int64(o.Side))
	m = protoText(m, 8, o.Price)
	m = protoText(m, 9, o.Quantity)
	m = protoText(m, 10, o.Amount)
	m = protoText(m, 11, o.ExecutedQuantity)
	m = protoText(m, 12, o.ExecutedAmount)
	m = protoText(m, 13, o.ExecutedPercent)
	m = protoText(m, 14, o.ExecutedAvgPrice)
	m = protoText(m, 15, o.Fee)
	m = protoInt(m, 16, int64(o.Status))
	m = protoInt(m, 17, int64(o.Type))
	m = protoInt(m, 18, o.CreateTime)
	m = protoText(m, 19, o.Address)
	return protoText(m, 20, o.ClientID)
}

// appendProto appends a TradeList of one trade.
func (t trades) appendProto(b []byte) []byte {
	var m []byte
	m = protoText(m, 1, t.ID)
	m = protoPair(m, t.Pair)
	m = protoText(m, 7, t.Price)
	m = protoText(m, 8, t.Quantity)
	m = protoText(m, 9, t.Amount)
	m = protoInt(m, 10, t.Time)
	m = protoInt(m, 11, int64(t.Side))
	m = protoText(m, 12, t.BuyOrder)
	m = protoText(m, 13, t.SellOrder)
	m = protoText(m, 14, t.BuyFee)
	m = protoText(m, 15, t.SellFee)
	m = protoInt(m, 16, int64(t.BlockHeight))
	return protoItem(b, 1, m)
}

// appendProto appends a DepthList. The amount of a level is not sent: clients compute it, and the
// samples have none.
func (d depth) appendProto(b []byte) []byte {
	b = protoLevels(b, 1, d.Asks)
	return protoLevels(b, 2, d.Bids)
}

func protoLevels(b []byte, field protowire.Number, levels []index.Level) []byte {
	var m []byte
	for _, l := range levels {
		m = protoText(m[:0], 1, l.Price)
		m = protoText(m, 2, l.Quantity)
		b = protoItem(b, field, m)
	}
	return b
}

// appendProto appends a TickerStatistics.
func (t ticker) appendProto(b []byte) []byte {
	b = protoText(b, 1, t.Symbol)
	b = protoTokens(b, 2, t.Pair)
	b = protoText(b, 6, t.OpenPrice)
	b = protoText(b, 7, t.PrevClosePrice)
	b = protoText(b, 8, t.ClosePrice)
	b = protoText(b, 9, t.PriceChange)
	b = protoText(b, 10, t.ChangePercent)
	b = protoText(b, 11, t.HighPrice)
	b = protoText(b, 12, t.LowPrice)
	b = protoText(b, 13, t.Quantity)
	b = protoText(b, 14, t.Amount)
	b = protoInt(b, 15, int64(t.PricePrecision))
	return protoInt(b, 16, int64(t.QuantityPrecision))
}

// appendProto appends a Kline.
func (k bar) appendProto(b []byte) []byte {
	b = protoInt(b, 1, k.Time)
	b = protoDouble(b, 2, k.Close)
	b = protoDouble(b, 3, k.Open)
	b = protoDouble(b, 4, k.High)
	b = protoDouble(b, 5, k.Low)
	return protoDouble(b, 6, k.Volume)
}

// protoPair appends the members 2 to 6 of orders and trades.
func protoPair(b []byte, p index.Pair) []byte {
	b = protoText(b, 2, p.Symbol)
	return protoTokens(b, 3, p)
}

// protoTokens appends the four members that name a pair's tokens, from field on.
func protoTokens(b []byte, field protowire.Number, p index.Pair) []byte {
	b = protoText(b, field, p.TradeSymbol)
	b = protoText(b, field+1, p.QuoteSymbol)
	b = protoText(b, field+2, p.TradeToken)
	return protoText(b, field+3, p.QuoteToken)
}

func protoText(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func protoInt(b []byte, field protowire.Number, n int64) []byte {
	if n == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(n))
}

// protoItem appends a message as a member, also an empty one.
func protoItem(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

// protoDouble appends a figure of a candle. The message has doubles there, so this is the one place
// where a price turns into a float: on its way to a chart, and nothing is computed from it.
func protoDouble(b []byte, field protowire.Number, s string) []byte {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f == 0 {
		return b
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(f))
}
