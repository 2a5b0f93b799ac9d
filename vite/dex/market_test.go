package dex

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMarketSellHasNoAmount: its price names no amount, whatever it is.
func TestMarketSellHasNoAmount(t *testing.T) {
	m := Market{ID: 1, QuoteType: QuoteVITE, TradeDecimals: 18, QuoteDecimals: 18}
	for _, price := range []string{"0", "2"} {
		p := Placement{
			Side: Sell, Type: MarketPrice, Price: mustPrice(t, price), Quantity: tokens(5, 18), Available: tokens(5, 18), Minimum: tokens(100, 18),
		}
		o, err := m.Place(&p)
		require.NoError(t, err)
		require.True(t, o.Amount.IsZero())
		require.Equal(t, tokens(5, 18), o.Locked())
	}
}
