package dex

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
)

// splitRow is a market buy as a real chain recorded it.
type splitRow struct {
	Funds, Amount, LockedBuyFee *uint256.Int
	RateSum                     uint32
}

// UnmarshalJSON reads amounts as decimal text.
func (r *splitRow) UnmarshalJSON(data []byte) error {
	var text struct {
		Funds, Amount, LockedBuyFee string
		RateSum                     uint32
	}
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*r = splitRow{
		uint256.MustFromDecimal(text.Funds), uint256.MustFromDecimal(text.Amount), uint256.MustFromDecimal(text.LockedBuyFee), text.RateSum,
	}
	return nil
}

// splitOf splits funds at a rate sum. Nothing of them gets lost.
func splitOf(t *testing.T, funds uint256.Int, rate uint32) Order {
	o := Order{Rates: Rates{Taker: rate}}
	o.splitFunds(&funds, false)
	var sum uint256.Int
	require.Equal(t, funds, *sum.Add(&o.Amount, &o.LockedFee))
	return o
}

// TestMarketBuySplit holds the split of funds against recorded orders of a real chain.
func TestMarketBuySplit(t *testing.T) {
	raw, err := os.ReadFile("testdata/market-buy-split.json")
	require.NoError(t, err)
	var rows []splitRow
	require.NoError(t, json.Unmarshal(raw, &rows))
	require.Len(t, rows, 36)
	for _, r := range rows {
		operator := r.RateSum - baseRate
		for _, m := range []Market{{TakerOperatorRate: operator}, {MakerOperatorRate: operator}} {
			m.QuoteType, m.TradeDecimals, m.QuoteDecimals = QuoteVITE, 18, 18
			o, err := m.Place(&Placement{Side: Buy, Type: MarketPrice, Quantity: tokens(1, 18), Available: *r.Funds})
			require.NoError(t, err)
			require.Equal(t, r.Amount.Dec(), o.Amount.Dec(), "funds %s at %d", r.Funds.Dec(), r.RateSum)
			require.Equal(t, r.LockedBuyFee.Dec(), o.LockedFee.Dec(), "funds %s at %d", r.Funds.Dec(), r.RateSum)
		}
	}
}

// TestMarketBuySplitCoversItsFees: at every rate sum, the locked fee covers the fee of the amount
// but for half a smallest unit.
func TestMarketBuySplitCoversItsFees(t *testing.T) {
	for rate := range uint32(401) {
		for _, funds := range []uint64{0, 1, 2, 99, 100, 101, 99_999, 100_000, 250_001, 1<<63 - 1} {
			o := splitOf(t, *uint256.NewInt(funds), rate)
			var due uint256.Int
			fee(&due, &o.Amount, rate)
			due.Sub(&due, uint256.NewInt(min(1, due.Uint64())))
			require.False(t, due.Gt(&o.LockedFee), "funds %d at %d: fee %s, locked %s", funds, rate, due.Dec(), o.LockedFee.Dec())
			if rate == 0 {
				require.True(t, o.LockedFee.IsZero())
			}
		}
	}
}

// TestOlderMarketBuySplit: logs of older versions need the split that they were made with.
func TestOlderMarketBuySplit(t *testing.T) {
	m := Market{ID: 1, QuoteType: QuoteVITE, TradeDecimals: 18, QuoteDecimals: 18, TakerOperatorRate: 200}
	p := Placement{Side: Buy, Type: MarketPrice, Quantity: tokens(5, 18), Available: tokens(1_000_000, 18), OlderSplit: true}
	older, err := m.Place(&p)
	require.NoError(t, err)
	require.Equal(t, tokens(4000, 18), older.LockedFee)
	p.OlderSplit = false
	o, err := m.Place(&p)
	require.NoError(t, err)
	require.Equal(t, tokens(996_010, 18), o.Amount)
	require.Equal(t, tokens(3990, 18), o.LockedFee)
}
