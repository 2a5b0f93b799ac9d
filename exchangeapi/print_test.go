package exchangeapi

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/exchangeapi/index"
)

// TestPrinted: what prints itself prints what encoding/json makes of its tags.
func TestPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return rapid.String().Draw(t, name) }
		number := func(name string) int64 { return rapid.Int64().Draw(t, name) }
		digits := func(name string) json.Number {
			return json.Number(rapid.StringMatching(`(0|[1-9][0-9]{0,20})(\.[0-9]{1,18})?`).Draw(t, name))
		}
		figure := func(name string) string { return rapid.StringMatching(`[a-z_0-9.]*`).Draw(t, name) }
		o := order{
			Address: figure("address"), OrderID: figure("id"), pairNames: pairNames{text("symbol"), text("trade"), text("quote"), text("trade id"), text("quote id")},
			Side: int(number("side")), Price: figure("price"), Quantity: figure("quantity"), Amount: figure("amount"), ExecutedQuantity: figure("executed"),
			ExecutedAmount: figure("executed amount"), ExecutedPercent: figure("percent"), ExecutedAvgPrice: figure("average"), Fee: figure("fee"),
			Status: index.Status(rapid.IntRange(0, 10).Draw(t, "status")), Type: int(number("type")), CreateTime: number("time"),
		}
		many := rapid.IntRange(0, 3).Draw(t, "many")
		page, open, tape := orderPage{Order: []order{}, Total: int(number("total"))}, openPage{Order: []openOrder{}, Total: -1}, tape{}
		k := bars{[]int64{}, []json.Number{}, []json.Number{}, []json.Number{}, []json.Number{}, []json.Number{}}
		for range many {
			page.Order, open.Order = append(page.Order, o), append(open.Order, openOrder{order: o})
			tape = append(tape, tradeSummary{number("at"), figure("price"), figure("amount"), int(number("side"))})
			k.T, k.C, k.P, k.H = append(k.T, number("start")), append(k.C, digits("c")), append(k.P, digits("p")), append(k.H, digits("h"))
			k.L, k.V = append(k.L, digits("l")), append(k.V, digits("v"))
		}
		for _, p := range []printed{o, page, open, tape, k} {
			want, err := json.Marshal(p)
			require.NoError(t, err)
			require.Equal(t, string(want), string(p.appendJSON(nil)))
		}
	})
}
