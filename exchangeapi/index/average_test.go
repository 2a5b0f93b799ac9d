package index

import (
	"math/rand/v2"
	"testing"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/dex"
)

// executedRow is an order of which something is executed.
func executedRow(t *testing.T, side dex.Side, kind dex.Type, limit, executed, amountPaid string) *orderRow {
	at, err := dex.ParsePrice(limit)
	require.NoError(t, err)
	quantity := amount{*uint256.MustFromDecimal(executed)}
	return &orderRow{
		Side: sideNumber(side), Type: int(kind), Price: price{at}, Quantity: quantity,
		progress: progress{State: dex.Filled, Executed: quantity, ExecutedAmount: amount{*uint256.MustFromDecimal(amountPaid)}},
	}
}

// TestAveragePrice: an order's average is never worse than its limit, and is the limit where
// only the rounding of its amount differs from it. Quantities have 8 decimals, amounts 6, prices
// 6 or 2.
func TestAveragePrice(t *testing.T) {
	six, two := Pair{PricePrecision: 6}, Pair{PricePrecision: 2}
	for name, test := range map[string]struct {
		pair             Pair
		side             dex.Side
		kind             dex.Type
		limit            string
		executed, amount string
		want             string
	}{
		"sell, amount rounded down":            {six, dex.Sell, dex.Limit, "0.9", "144444445", "1300000", "0.900000"},
		"sell, amount rounded up":              {six, dex.Sell, dex.Limit, "0.9", "144444500", "1300001", "0.900000"},
		"buy, amount rounded up":               {six, dex.Buy, dex.Limit, "0.9", "144444500", "1300001", "0.900000"},
		"buy, amount rounded down":             {six, dex.Buy, dex.Limit, "0.9", "144444445", "1300000", "0.900000"},
		"sell in parts, each rounded down":     {six, dex.Sell, dex.Limit, "0.9", "144444445", "1299998", "0.900000"},
		"buy in parts, each rounded up":        {six, dex.Buy, dex.Limit, "0.9", "144444445", "1300003", "0.900000"},
		"sell at a better price":               {six, dex.Sell, dex.Limit, "0.9", "144444445", "1444444", "0.999999"},
		"buy at a better price":                {six, dex.Buy, dex.Limit, "0.9", "144444445", "722222", "0.499999"},
		"smallest sell":                        {six, dex.Sell, dex.Limit, "0.9", "56", "1", "0.900000"},
		"buy worth more than it costs":         {six, dex.Buy, dex.ImmediateOrCancel, "0.9", "56", "0", "0.000000"},
		"post-only sell":                       {six, dex.Sell, dex.PostOnly, "0.9", "144444445", "1300000", "0.900000"},
		"fill-or-kill sell":                    {six, dex.Sell, dex.FillOrKill, "0.9", "144444445", "1300000", "0.900000"},
		"market sell has no limit":             {six, dex.Sell, dex.MarketPrice, "0.9", "144444445", "1300000", "0.899999"},
		"market buy has no limit":              {six, dex.Buy, dex.MarketPrice, "0", "144444445", "1300000", "0.899999"},
		"sell, limit finer than what is shown": {two, dex.Sell, dex.Limit, "0.905", "144444445", "1307222", "0.90"},
		"buy, limit finer than what is shown":  {two, dex.Buy, dex.Limit, "0.899", "144444445", "1298556", "0.89"},
		"sell a little better than its limit":  {six, dex.Sell, dex.Limit, "0.9", "144444445", "1300002", "0.900001"},
		"buy a little better than its limit":   {six, dex.Buy, dex.Limit, "0.9", "144444445", "1299998", "0.899998"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &market{dex.Market{TradeDecimals: 8, QuoteDecimals: 6}, test.pair}
			_, average := executedRow(t, test.side, test.kind, test.limit, test.executed, test.amount).ratios(m)
			require.Equal(t, test.want, average)
		})
	}
}

// TestAveragePriceIsNotWorse matches random orders and holds both sides' average against the limit.
func TestAveragePriceIsNotWorse(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 3))
	for _, decimals := range [][2]uint8{{8, 6}, {18, 6}, {18, 8}, {6, 6}, {0, 8}, {6, 18}} {
		m := dex.Market{ID: 1, QuoteType: dex.QuoteUSD, TradeDecimals: decimals[0], QuoteDecimals: decimals[1]}
		scale, err := dex.NewScale(m.TradeDecimals, m.QuoteDecimals)
		require.NoError(t, err)
		book, orders := dex.NewBook(scale), map[dex.OrderID]*dex.Order{}
		shown := &market{m, Pair{PricePrecision: 8, QuantityPrecision: 8}}
		for serial := range uint32(2000) {
			p := dex.Placement{
				Side: random.IntN(2) == 0, Time: 1, Serial: serial, Available: *new(uint256.Int).Lsh(uint256.NewInt(1), 150),
				Price: dex.Price{Frac: 900_000_000_000 + random.Uint64N(40)*1_234_567}, Quantity: *uint256.NewInt(1 + random.Uint64N(5_000_000_000)),
			}
			o, err := m.Place(&p)
			if err != nil {
				continue // worth less than a smallest unit
			}
			var r dex.Result
			book.Match(&o, &r)
			require.NoError(t, book.Apply(&r))
			orders[o.ID] = &o
			for i := range r.Fills {
				maker := orders[r.Fills[i].Maker]
				maker.Progress = r.Fills[i].MakerProgress
				notWorse(t, shown, maker)
			}
			notWorse(t, shown, &o)
		}
	}
}

func notWorse(t *testing.T, m *market, o *dex.Order) {
	if o.Executed.Quantity.IsZero() {
		return
	}
	row := &orderRow{
		Side: sideNumber(o.ID.Side()), Type: int(o.Type), Price: price{o.ID.Price()}, Quantity: amount{o.Quantity}, progress: progressOf(&o.Progress),
	}
	v := row.view(m)
	average, limit := decimal.RequireFromString(v.ExecutedAvgPrice), decimal.RequireFromString(v.Price)
	if o.ID.Side() == dex.Sell {
		require.True(t, average.GreaterThanOrEqual(limit), "sold %s at %s, limit %s", v.ExecutedQuantity, average, limit)
		return
	}
	require.True(t, average.LessThanOrEqual(limit), "bought %s at %s, limit %s", v.ExecutedQuantity, average, limit)
}
