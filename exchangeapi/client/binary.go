package client

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"google.golang.org/protobuf/encoding/protowire"
)

// envelope is a message of the shape Binary: 1 client id, 2 topics, 3 operation, 4 payload, 5 error
// code.
type envelope struct {
	clientID, topics, op string
	payload              []byte
	code                 int
}

func (e envelope) encode() []byte {
	var b []byte
	for i, s := range []string{e.clientID, e.topics, e.op} {
		if s != "" {
			b = protowire.AppendTag(b, protowire.Number(i+1), protowire.BytesType)
			b = protowire.AppendString(b, s)
		}
	}
	return b
}

func binaryFrame(data []byte) (frame, error) {
	m, err := readMessage(data)
	if err != nil {
		return frame{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	e := envelope{topics: m.text(2), op: m.text(3), payload: m.bytes(4), code: int(int32(m.number(5)))}
	if err := m.err; err != nil {
		return frame{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	f := frame{event: e.op, code: e.code, msg: errorText(e.code), topics: e.topics}
	if e.op == opPush {
		f.push = Push{Topic: e.topics, Shape: Binary, Data: e.payload}
	}
	return f, nil
}

// message is the members of a protobuf message by number. Reading keeps the first error.
type message struct {
	fields map[protowire.Number][]field
	err    error
}

type field struct {
	kind  protowire.Type
	value []byte
}

func readMessage(data []byte) (*message, error) {
	m := &message{fields: map[protowire.Number][]field{}}
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		data = data[n:]
		size := protowire.ConsumeFieldValue(number, kind, data)
		if size < 0 {
			return nil, fmt.Errorf("member %d: %w", number, protowire.ParseError(size))
		}
		m.fields[number] = append(m.fields[number], field{kind, data[:size]})
		data = data[size:]
	}
	return m, nil
}

// last is the value of a member that is there once: of several the last. nil if it is left out,
// which is its zero.
func (m *message) last(n protowire.Number, kind protowire.Type) []byte {
	list := m.fields[n]
	if len(list) == 0 {
		return nil
	}
	f := list[len(list)-1]
	if f.kind != kind {
		m.fail(fmt.Errorf("member %d has wire type %d, not %d", n, f.kind, kind))
		return nil
	}
	return f.value
}

func (m *message) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

func (m *message) bytes(n protowire.Number) []byte {
	b, _ := protowire.ConsumeBytes(m.last(n, protowire.BytesType))
	return b
}

func (m *message) text(n protowire.Number) string {
	b := m.bytes(n)
	if !utf8.Valid(b) {
		m.fail(fmt.Errorf("member %d is not UTF-8", n))
	}
	return string(b)
}

func (m *message) number(n protowire.Number) int64 {
	v, size := protowire.ConsumeVarint(m.last(n, protowire.VarintType))
	if size < 0 {
		return 0 // left out
	}
	return int64(v)
}

func (m *message) decimal(n protowire.Number) decimal.Decimal {
	s := m.text(n)
	if s == "" {
		return decimal.Decimal{}
	}
	d, err := decimal.NewFromString(s)
	if err != nil {
		m.fail(fmt.Errorf("member %d: %w", n, err))
	}
	return d
}

// double reads a figure of a candle, which the protocol sends as a float.
func (m *message) double(n protowire.Number) decimal.Decimal {
	v, size := protowire.ConsumeFixed64(m.last(n, protowire.Fixed64Type))
	f := math.Float64frombits(v)
	if size < 0 {
		return decimal.Decimal{} // left out
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		m.fail(fmt.Errorf("member %d is no number", n))
		return decimal.Decimal{}
	}
	return decimal.NewFromFloat(f)
}

// each reads the messages of a member that may be there often.
func (m *message) each(n protowire.Number, read func(*message)) {
	for _, f := range m.fields[n] {
		if f.kind != protowire.BytesType {
			m.fail(fmt.Errorf("member %d is no message", n))
			return
		}
		b, _ := protowire.ConsumeBytes(f.value)
		inner, err := readMessage(b)
		if err != nil {
			m.fail(fmt.Errorf("member %d: %w", n, err))
			return
		}
		read(inner)
		if inner.err != nil {
			m.fail(fmt.Errorf("member %d: %w", n, inner.err))
		}
	}
}

// pair reads the five members that name a pair, from number n on.
func (m *message) pair(n protowire.Number) PushedPair {
	return PushedPair{m.text(n), m.text(n + 1), m.text(n + 2), m.text(n + 3), m.text(n + 4)}
}

func (m *message) order() PushedOrder {
	return PushedOrder{
		OrderID: m.text(1), PushedPair: m.pair(2), Side: Side(m.number(7)), Price: m.decimal(8), Quantity: m.decimal(9), Amount: m.decimal(10),
		ExecutedQuantity: m.decimal(11), ExecutedAmount: m.decimal(12), ExecutedPercent: m.decimal(13), ExecutedAvgPrice: m.decimal(14),
		Fee: m.decimal(15), Status: Status(m.number(16)), Type: int(m.number(17)), CreateTime: m.number(18), Address: m.text(19),
		ClientOrderID: m.text(20),
	}
}

// listedOrder reads a list of one order, as the wallets' topics of open and closed orders have it.
func (m *message) listedOrder() (o PushedOrder) {
	m.each(1, func(m *message) { o = m.order() })
	return o
}

func (m *message) trades() (list []PushedTrade) {
	m.each(1, func(m *message) {
		list = append(list, PushedTrade{
			TradeID: m.text(1), PushedPair: m.pair(2), Price: m.decimal(7), Quantity: m.decimal(8), Amount: m.decimal(9), Time: m.number(10),
			Side: Side(m.number(11)), BuyOrder: m.text(12), SellOrder: m.text(13), BuyFee: m.decimal(14), SellFee: m.decimal(15),
			BlockHeight: uint64(m.number(16)),
		})
	})
	return list
}

func (m *message) depth() Depth {
	levels := func(n protowire.Number) []Level {
		list := []Level{}
		m.each(n, func(m *message) { list = append(list, Level{m.decimal(1), m.decimal(2)}) })
		return list
	}
	return Depth{Asks: levels(1), Bids: levels(2)}
}

func (m *message) ticker() PushedTicker {
	return PushedTicker{
		PushedPair: m.pair(1), OpenPrice: m.decimal(6), PrevClosePrice: m.decimal(7), ClosePrice: m.decimal(8), PriceChange: m.decimal(9),
		PriceChangePercent: m.decimal(10), HighPrice: m.decimal(11), LowPrice: m.decimal(12), Quantity: m.decimal(13), Amount: m.decimal(14),
		PricePrecision: int(m.number(15)), QuantityPrecision: int(m.number(16)),
	}
}

func (m *message) kline() PushedKline {
	return PushedKline{
		Time: m.number(1), Close: m.double(2), Open: m.double(3), High: m.double(4), Low: m.double(5), Volume: m.double(6),
	}
}
