package dex

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// codecs decode an event's data and encode it again, by topic.
var codecs = map[string]func([]byte) (any, []byte, error){
	NewOrderEvent: func(p []byte) (any, []byte, error) { e, err := DecodePlaced(p); return e, e.Encode(), err },
	OrderUpdateEvent: func(p []byte) (any, []byte, error) {
		e, err := DecodeUpdated(p)
		return e, e.Encode(), err
	},
	TradeEvent:    func(p []byte) (any, []byte, error) { e, err := DecodeTrade(p); return e, e.Encode(), err },
	MarketEvent:   func(p []byte) (any, []byte, error) { e, err := DecodeMarket(p); return e, e.Encode(), err },
	TokenEvent:    func(p []byte) (any, []byte, error) { e, err := DecodeToken(p); return e, e.Encode(), err },
	GrantEvent:    func(p []byte) (any, []byte, error) { e, err := DecodeGrant(p); return e, e.Encode(), err },
	TransferEvent: func(p []byte) (any, []byte, error) { e, err := DecodeTransfer(p); return e, e.Encode(), err },
	"settlement":  func(p []byte) (any, []byte, error) { e, err := DecodeSettlement(p); return e, e.Encode(), err },
}

type recordedLog struct {
	Topic, Data string
	Decoded     map[string]any
}

func recordedLogs(t testing.TB) (all []recordedLog) {
	var doc struct {
		Samples []struct{ Logs []recordedLog }
	}
	load(t, "chain_events.json", &doc)
	for _, s := range doc.Samples {
		all = append(all, s.Logs...)
	}
	require.NotEmpty(t, all)
	return all
}

func nameOf(t testing.TB, topic string) string {
	raw, err := hex.DecodeString(topic)
	require.NoError(t, err)
	return string(bytes.TrimRight(raw, "\x00"))
}

// TestRecordedEvents reads the reference engine's events, compares every member, and writes the
// same bytes.
func TestRecordedEvents(t *testing.T) {
	for _, l := range recordedLogs(t) {
		data, err := hex.DecodeString(l.Data)
		require.NoError(t, err)
		event, again, err := codecs[nameOf(t, l.Topic)](data)
		require.NoError(t, err)
		require.Equal(t, l.Data, hex.EncodeToString(again))
		for name, want := range l.Decoded {
			if name == "Order" {
				for inner, want := range want.(map[string]any) {
					require.Equal(t, fmt.Sprint(want), memberOf(t, event, inner), inner)
				}
				continue
			}
			require.Equal(t, fmt.Sprint(want), memberOf(t, event, name), name)
		}
	}
}

// memberOf is the text of a member under its recorded name.
func memberOf(t testing.TB, event any, name string) string {
	switch e := event.(type) {
	case Placed:
		switch name {
		case "TradeToken":
			return hex.EncodeToString(e.Trade[:])
		case "QuoteToken":
			return hex.EncodeToString(e.Quote[:])
		}
		return orderMember(t, &e.Order, name, e.Trade, e.Quote)
	case Updated:
		switch name {
		case "TradeToken":
			return hex.EncodeToString(e.Trade[:])
		case "QuoteToken":
			return hex.EncodeToString(e.Quote[:])
		}
		return orderMember(t, &Order{ID: e.ID, Progress: e.Progress}, name, e.Trade, e.Quote)
	case Trade:
		return map[string]string{
			"Id": e.ID.String(), "TakerSide": fmt.Sprint(bool(e.TakerSide)), "TakerId": e.Taker.String(), "MakerId": e.Maker.String(),
			"Price": e.Price.String(), "Quantity": e.Quantity.Dec(), "Amount": e.Amount.Dec(), "TakerFee": e.TakerFee.Dec(),
			"MakerFee": e.MakerFee.Dec(), "TakerOperatorFee": e.TakerOperatorFee.Dec(),
			"MakerOperatorFee": e.MakerOperatorFee.Dec(), "Timestamp": asNumber(e.Time),
		}[name]
	case Grant:
		return map[string]string{
			"Principal": hex.EncodeToString(e.Principal[:]), "Agent": hex.EncodeToString(e.Agent[:]), "MarketId": fmt.Sprint(e.Market),
		}[name]
	}
	t.Fatalf("unexpected event %T", event)
	return ""
}

func orderMember(t testing.TB, o *Order, name string, trade, quote core.TokenID) string {
	refund := refundToken(o.ID.Side(), trade, quote)
	text, known := map[string]string{
		"Id": o.ID.String(), "Address": hex.EncodeToString(o.Owner[:]), "MarketId": fmt.Sprint(o.ID.Market()),
		"Side": fmt.Sprint(bool(o.ID.Side())), "Type": fmt.Sprint(uint8(o.Type)), "Price": o.ID.Price().String(),
		"TakerFeeRate": fmt.Sprint(o.Rates.Taker), "MakerFeeRate": fmt.Sprint(o.Rates.Maker),
		"TakerOperatorFeeRate": fmt.Sprint(o.Rates.TakerOperator), "MakerOperatorFeeRate": fmt.Sprint(o.Rates.MakerOperator),
		"Quantity": o.Quantity.Dec(), "Amount": o.Amount.Dec(), "LockedBuyFee": o.LockedFee.Dec(),
		"Status": fmt.Sprint(uint8(o.Status)), "CancelReason": fmt.Sprint(uint8(o.Reason)),
		"ExecutedQuantity": o.Executed.Quantity.Dec(), "ExecutedAmount": o.Executed.Amount.Dec(),
		"ExecutedBaseFee": o.Executed.BaseFee.Dec(), "ExecutedOperatorFee": o.Executed.OperatorFee.Dec(),
		"RefundToken": hex.EncodeToString(refund[:]), "RefundQuantity": o.Refund.Dec(), "Timestamp": asNumber(o.ID.Time()),
		"SendHash": o.SendHash.String(), "MarketOrderAmtThreshold": o.Limit.Dec(),
	}[name]
	require.True(t, known, name)
	return text
}

// asNumber formats a decoded JSON number of this size.
func asNumber(n int64) string {
	var v any
	if json.Unmarshal([]byte(fmt.Sprint(n)), &v) != nil {
		return ""
	}
	return fmt.Sprint(v)
}

func TestBadMessages(t *testing.T) {
	for name, data := range map[string]string{
		"no id":            "",
		"cut tag":          "80",
		"cut member":       "0a16",
		"id of 2 bytes":    "0a020102",
		"number for bytes": "0801",
	} {
		raw, err := hex.DecodeString(data)
		require.NoError(t, err)
		for _, event := range []string{NewOrderEvent, OrderUpdateEvent, TradeEvent} {
			_, _, err = codecs[event](raw)
			require.ErrorIs(t, err, ErrWire, "%s of %s", name, event)
		}
	}
}

// FuzzEvents: what decodes, encodes and decodes to the same. TestSettlementInAnyOrder: members may
// come in any order, unknown ones are skipped, and a fault inside an item is the message's.
func TestSettlementInAnyOrder(t *testing.T) {
	var want Settlement
	want.Trade[0], want.Quote[0] = 1, 2
	want.Accounts = make([]AccountSettlement, 2)
	want.Accounts[1].Owner[0] = 3
	want.Accounts[1].Trade.Inc.SetUint64(4)
	want.Accounts[1].Quote.Reduce.SetUint64(5)
	want.Fees = []FeeSettlement{{BaseFee: *uint256.NewInt(6)}}
	got, err := DecodeSettlement(want.Encode())
	require.NoError(t, err)
	require.Equal(t, want, got)

	var backwards []byte
	for _, part := range [][]byte{
		write(func(c *codec) { list(c, 4, "", &want.Fees, (*FeeSettlement).members) }),
		write(func(c *codec) { c.putNumber(9, 1) }),
		write(func(c *codec) { list(c, 3, "", &want.Accounts, (*AccountSettlement).members) }),
		write(func(c *codec) { c.fixed(2, "", want.Quote[:]); c.put(9, []byte("x")) }),
		write(func(c *codec) { c.fixed(1, "", want.Trade[:]) }),
	} {
		backwards = append(backwards, part...)
	}
	got, err = DecodeSettlement(backwards)
	require.NoError(t, err)
	require.Equal(t, want, got)

	short := write(func(c *codec) { c.inner(4, "", func(c *codec) { c.put(1, []byte{1}) }) })
	_, err = DecodeSettlement(append(short, backwards...))
	require.ErrorIs(t, err, ErrWire)
	require.ErrorContains(t, err, "Address is 1 bytes long, not 21")
}

func FuzzEvents(f *testing.F) {
	for _, l := range recordedLogs(f) {
		data, err := hex.DecodeString(l.Data)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, codec := range codecs {
			_, encoded, err := codec(data)
			if err != nil {
				require.ErrorIs(t, err, ErrWire)
				continue
			}
			_, again, err := codec(encoded)
			require.NoError(t, err, name)
			require.Equal(t, encoded, again, name)
		}
	})
}

func FuzzPrice(f *testing.F) {
	for _, s := range []string{"0", "1", ".5", "01.5", "1.50", "1.", ".", "", "1e3", "-1", "+1", "1 ", "999999999999.999999999999", "1234567890123", "0.0000000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePrice(s)
		if err != nil {
			require.ErrorIs(t, err, ErrPrice)
			return
		}
		again, err := ParsePrice(p.String())
		require.NoError(t, err)
		require.Equal(t, p, again)
		back, err := PriceFromBytes(p.Bytes())
		require.NoError(t, err)
		require.Equal(t, p, back)
	})
}

func FuzzOrderID(f *testing.F) {
	f.Add("00000401000000000000001bc56000617e877c00001a")
	f.Add("ffffff01e8d4a50fffe8d4a50fffffffffffffffffff")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseOrderID(s)
		if err != nil {
			require.ErrorIs(t, err, ErrOrderID)
			return
		}
		require.Equal(t, id, NewOrderID(id.Market(), id.Side(), id.Price(), id.Time(), id.Serial()))
	})
}

func TestPriceTexts(t *testing.T) {
	for text, want := range map[string]string{
		".5": "0.5", "1.": "1", "01.5": "1.5", "1.50": "1.5", "0": "0", "000.000": "0", "999999999999.999999999999": "999999999999.999999999999",
	} {
		require.Equal(t, want, mustPrice(t, text).String())
	}
	for _, text := range []string{"", ".", "-1", "+1", "1e1", " 1", "1,5", "1.1234567890123", "1234567890123", "1.2.3", "abc"} {
		_, err := ParsePrice(text)
		require.ErrorIs(t, err, ErrPrice, text)
	}
}
