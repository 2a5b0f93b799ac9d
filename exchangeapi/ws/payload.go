package ws

import (
	"bytes"
	"encoding/json"
	"strconv"

	"gatewayd/exchangeapi/index"
)

// payload is the content of a push, in the two encodings of the shapes. Both append to b.
type payload interface {
	appendJSON(b []byte) []byte
	appendProto(b []byte) []byte
}

// order is an order as pushes show it.
type order index.Order

func (o order) appendJSON(b []byte) []byte {
	b = appendText(b, `{"a":`, o.Amount)
	if o.ClientID != "" {
		b = appendText(b, `,"cid":`, o.ClientID)
	}
	b = appendInt(b, `,"ct":`, o.CreateTime)
	b = appendText(b, `,"d":`, o.Address)
	b = appendText(b, `,"ea":`, o.ExecutedAmount)
	b = appendText(b, `,"eap":`, o.ExecutedAvgPrice)
	b = appendText(b, `,"ep":`, o.ExecutedPercent)
	b = appendText(b, `,"eq":`, o.ExecutedQuantity)
	b = appendText(b, `,"f":`, o.Fee)
	b = appendText(b, `,"oid":`, o.ID)
	b = appendText(b, `,"p":`, o.Price)
	b = appendText(b, `,"q":`, o.Quantity)
	b = appendPair(b, o.Pair)
	b = appendInt(b, `,"side":`, int64(o.Side))
	b = appendInt(b, `,"st":`, int64(o.Status))
	b = appendInt(b, `,"tp":`, int64(o.Type))
	return append(b, '}')
}

// listedOrder is an order on the wallets' topics of open and closed orders, which carry a list.
// They exist in the binary shape only.
type listedOrder struct{ order }

// trades is the list that a trade push carries: always of one fill, because clients exist that read
// the first only (docs/exchange-rest.md 1.12).
type trades index.Trade

func (t trades) appendJSON(b []byte) []byte {
	b = appendText(b, `[{"a":`, t.Amount)
	b = appendText(b, `,"bf":`, t.BuyFee)
	b = appendInt(b, `,"bh":`, int64(t.BlockHeight))
	b = appendText(b, `,"bid":`, t.BuyOrder)
	b = appendText(b, `,"id":`, t.ID)
	b = appendText(b, `,"p":`, t.Price)
	b = appendText(b, `,"q":`, t.Quantity)
	b = appendPair(b, t.Pair)
	b = appendText(b, `,"sf":`, t.SellFee)
	b = appendText(b, `,"sid":`, t.SellOrder)
	b = appendInt(b, `,"side":`, int64(t.Side))
	b = appendInt(b, `,"t":`, t.Time)
	return append(b, '}', ']')
}

// depth is a book: at most 100 levels a side, asks ascending, bids descending.
type depth index.Depth

func (d depth) appendJSON(b []byte) []byte {
	b = appendLevels(append(b, `{"asks":`...), d.Asks)
	b = appendLevels(append(b, `,"bids":`...), d.Bids)
	return append(b, '}')
}

func appendLevels(b []byte, levels []index.Level) []byte {
	b = append(b, '[')
	for i, l := range levels {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, "[", l.Price)
		b = appendText(b, ",", l.Quantity)
		b = append(b, ']')
	}
	return append(b, ']')
}

// ticker is the figures of a pair over 24 hours.
type ticker index.Ticker

func (t ticker) appendJSON(b []byte) []byte {
	b = appendText(b, `{"a":`, t.Amount)
	b = appendText(b, `,"cp":`, t.ClosePrice)
	b = appendText(b, `,"hp":`, t.HighPrice)
	b = appendText(b, `,"lp":`, t.LowPrice)
	b = appendText(b, `,"op":`, t.OpenPrice)
	b = appendText(b, `,"pCp":`, t.ChangePercent)
	b = appendText(b, `,"pc":`, t.PriceChange)
	b = appendText(b, `,"pcp":`, t.PrevClosePrice)
	b = appendInt(b, `,"pp":`, int64(t.PricePrecision))
	b = appendText(b, `,"q":`, t.Quantity)
	b = appendInt(b, `,"qp":`, int64(t.QuantityPrecision))
	b = appendPair(b, t.Pair)
	return append(b, '}')
}

// bar is a candle; its figures are numbers.
type bar index.Bar

func (k bar) appendJSON(b []byte) []byte {
	b = appendNumber(b, `{"c":`, k.Close)
	b = appendNumber(b, `,"h":`, k.High)
	b = appendNumber(b, `,"l":`, k.Low)
	b = appendNumber(b, `,"o":`, k.Open)
	b = appendInt(b, `,"t":`, k.Time)
	b = appendNumber(b, `,"v":`, k.Volume)
	return append(b, '}')
}

// appendPair appends the members that name a pair.
func appendPair(b []byte, p index.Pair) []byte {
	b = appendText(b, `,"qid":`, p.QuoteToken)
	b = appendText(b, `,"qs":`, p.QuoteSymbol)
	b = appendText(b, `,"s":`, p.Symbol)
	b = appendText(b, `,"tid":`, p.TradeToken)
	return appendText(b, `,"ts":`, p.TradeSymbol)
}

// appendText appends name as it is and then s as a JSON string.
func appendText(b []byte, name, s string) []byte {
	b = append(b, name...)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string always marshals
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendInt(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

// appendNumber appends a decimal text as a JSON number, digit by digit: no float comes near it.
// Zeros at the end of the fraction go, as they do in the samples.
func appendNumber(b []byte, name, s string) []byte {
	b = append(b, name...)
	if s == "" {
		return append(b, '0')
	}
	from := len(b)
	b = append(b, s...)
	if bytes.IndexByte(b[from:], '.') < 0 {
		return b
	}
	return bytes.TrimSuffix(bytes.TrimRight(b, "0"), []byte{'.'})
}
