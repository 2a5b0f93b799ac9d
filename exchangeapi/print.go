package exchangeapi

import (
	"encoding/json"
	"strconv"
)

// What lists and bots ask for all the time prints itself: encoding/json looks at each member by reflection, which costs as much as reading the rows. The
// structs' tags say what the text is, and a test holds both against each other.

// appendMember appends a name with the value's text, both in quotation marks, and a comma. Name and value are plain: figures, ids, addresses.
func appendMember(b []byte, name, value string) []byte {
	b = append(append(append(b, '"'), name...), `":"`...)
	return append(append(b, value...), `",`...)
}

// appendName is appendMember of a text that came from a chain.
func appendName(b []byte, name, value string) []byte {
	if isPlain(value) {
		return appendMember(b, name, value)
	}
	quoted, _ := json.Marshal(value) // a string has JSON
	b = append(append(append(b, '"'), name...), `":`...)
	return append(append(b, quoted...), ',')
}

// isPlain tells whether encoding/json leaves a text as it is.
func isPlain(text string) bool {
	for i := range len(text) {
		switch c := text[i]; c {
		case '"', '\\', '<', '>', '&':
			return false
		default:
			if c < ' ' || c > '~' {
				return false
			}
		}
	}
	return true
}

func appendNumber(b []byte, name string, n int64) []byte {
	b = append(append(append(b, '"'), name...), `":`...)
	return append(strconv.AppendInt(b, n, 10), ',')
}

// closed puts the closing bracket in the place of the last comma.
func closed(b []byte) []byte {
	b[len(b)-1] = '}'
	return b
}

// appendList appends a JSON list.
func appendList[T any](b []byte, list []T, one func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, &list[i])
	}
	return append(b, ']')
}

func (p *pairNames) appendMembers(b []byte) []byte {
	b = appendName(b, "symbol", p.Symbol)
	b = appendName(b, "tradeTokenSymbol", p.TradeTokenSymbol)
	b = appendName(b, "quoteTokenSymbol", p.QuoteTokenSymbol)
	b = appendName(b, "tradeToken", p.TradeToken)
	return appendName(b, "quoteToken", p.QuoteToken)
}

func (o *order) appendMembers(b []byte) []byte {
	b = appendMember(append(b, '{'), "address", o.Address)
	b = appendMember(b, "orderId", o.OrderID)
	b = o.pairNames.appendMembers(b)
	b = appendNumber(b, "side", int64(o.Side))
	b = appendMember(b, "price", o.Price)
	b = appendMember(b, "quantity", o.Quantity)
	b = appendMember(b, "amount", o.Amount)
	b = appendMember(b, "executedQuantity", o.ExecutedQuantity)
	b = appendMember(b, "executedAmount", o.ExecutedAmount)
	b = appendMember(b, "executedPercent", o.ExecutedPercent)
	b = appendMember(b, "executedAvgPrice", o.ExecutedAvgPrice)
	b = appendMember(b, "fee", o.Fee)
	b = appendNumber(b, "status", int64(o.Status))
	b = appendNumber(b, "type", int64(o.Type))
	return appendNumber(b, "createTime", o.CreateTime)
}

func appendOrder(b []byte, o *order) []byte { return closed(o.appendMembers(b)) }

func appendOpenOrder(b []byte, o *openOrder) []byte {
	return append(o.appendMembers(b), `"confirmations":null}`...)
}

func (o order) appendJSON(b []byte) []byte { return appendOrder(b, &o) }

func (p orderPage) appendJSON(b []byte) []byte {
	b = appendList(append(b, `{"order":`...), p.Order, appendOrder)
	return closed(appendNumber(append(b, ','), "total", int64(p.Total)))
}

func (p openPage) appendJSON(b []byte) []byte {
	b = appendList(append(b, `{"order":`...), p.Order, appendOpenOrder)
	return closed(appendNumber(append(b, ','), "total", int64(p.Total)))
}

// tape is the answer to /trades.
type tape []tradeSummary

func (t tape) appendJSON(b []byte) []byte {
	return appendList(b, t, func(b []byte, s *tradeSummary) []byte {
		b = appendNumber(append(b, '{'), "timestamp", s.Timestamp)
		b = appendMember(b, "price", s.Price)
		b = appendMember(b, "amount", s.Amount)
		return closed(appendNumber(b, "side", int64(s.Side)))
	})
}

func (k bars) appendJSON(b []byte) []byte {
	b = appendList(append(b, `{"t":`...), k.T, func(b []byte, n *int64) []byte { return strconv.AppendInt(b, *n, 10) })
	for _, list := range []struct {
		name   string
		values []json.Number
	}{{"c", k.C}, {"p", k.P}, {"h", k.H}, {"l", k.L}, {"v", k.V}} {
		b = append(append(append(b, `,"`...), list.name...), `":`...)
		b = appendList(b, list.values, func(b []byte, n *json.Number) []byte { return append(b, *n...) })
	}
	return append(b, '}')
}
