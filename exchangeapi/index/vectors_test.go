package index

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// sample is an action on the reference engine and the logs it gave.
type sample struct {
	Case string `json:"case"`
	Logs []struct {
		Topic   string         `json:"topic"`
		Data    string         `json:"data"`
		Decoded map[string]any `json:"decoded"`
	} `json:"logs"`
}

func readVectors(t testing.TB, name string, into any) {
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
}

func samples(t testing.TB) []sample {
	var file struct {
		Samples []sample `json:"samples"`
	}
	readVectors(t, "chain_events.json", &file)
	require.NotEmpty(t, file.Samples)
	return file.Samples
}

func (s *sample) vmLogs(t testing.TB) (logs []client.VMLog) {
	for _, l := range s.Logs {
		topic, err := core.ParseHash(l.Topic)
		require.NoError(t, err)
		data, err := hex.DecodeString(l.Data)
		require.NoError(t, err)
		logs = append(logs, client.VMLog{Topics: []core.Hash{topic}, Data: data})
	}
	return logs
}

// shown is the decoded members of an event as the vectors write them, without the zero ones.
func (e *event) shown() map[string]any {
	f := fields{}
	switch {
	case e.placed != nil:
		f["Order"] = map[string]any(orderFields(&e.placed.Order))
		f.pair(e.placed.Trade, e.placed.Quote)
		if n := e.placed.Order.Refund; !n.IsZero() {
			f["Order"].(map[string]any)["RefundToken"] = hex.EncodeToString(e.placed.Trade[:])
			if e.placed.Order.ID.Side() == dex.Buy {
				f["Order"].(map[string]any)["RefundToken"] = hex.EncodeToString(e.placed.Quote[:])
			}
		}
	case e.updated != nil:
		f["Id"] = e.updated.ID.String()
		f.pair(e.updated.Trade, e.updated.Quote)
		f.progress(&e.updated.Progress)
		if !e.updated.Refund.IsZero() {
			f["RefundToken"] = hex.EncodeToString(e.updated.Trade[:])
			if e.updated.ID.Side() == dex.Buy {
				f["RefundToken"] = hex.EncodeToString(e.updated.Quote[:])
			}
		}
	case e.trade != nil:
		f.trade(e.trade)
	case e.grant != nil:
		f["Principal"], f["Agent"] = hex.EncodeToString(e.grant.Principal[:]), hex.EncodeToString(e.grant.Agent[:])
		f.number("MarketId", int64(e.grant.Market))
	}
	return f
}

type fields map[string]any

func (f fields) number(name string, n int64) {
	if n != 0 {
		f[name] = float64(n)
	}
}

func (f fields) amount(name string, n uint256.Int) {
	if !n.IsZero() {
		f[name] = n.Dec()
	}
}

func (f fields) pair(trade, quote core.TokenID) {
	f["TradeToken"], f["QuoteToken"] = hex.EncodeToString(trade[:]), hex.EncodeToString(quote[:])
}

func (f fields) progress(p *dex.Progress) {
	f.number("Status", int64(p.Status))
	f.number("CancelReason", int64(p.Reason))
	f.amount("ExecutedQuantity", p.Executed.Quantity)
	f.amount("ExecutedAmount", p.Executed.Amount)
	f.amount("ExecutedBaseFee", p.Executed.BaseFee)
	f.amount("ExecutedOperatorFee", p.Executed.OperatorFee)
	f.amount("RefundQuantity", p.Refund)
}

func orderFields(o *dex.Order) fields {
	f := fields{"Id": o.ID.String(), "Address": hex.EncodeToString(o.Owner[:]), "Price": o.ID.Price().String()}
	f.number("MarketId", int64(o.ID.Market()))
	if o.ID.Side() == dex.Sell {
		f["Side"] = true
	}
	f.number("Type", int64(o.Type))
	f.number("TakerFeeRate", int64(o.Rates.Taker))
	f.number("MakerFeeRate", int64(o.Rates.Maker))
	f.number("TakerOperatorFeeRate", int64(o.Rates.TakerOperator))
	f.number("MakerOperatorFeeRate", int64(o.Rates.MakerOperator))
	f.amount("Quantity", o.Quantity)
	f.amount("Amount", o.Amount)
	f.amount("LockedBuyFee", o.LockedFee)
	f.progress(&o.Progress)
	f.number("Timestamp", o.ID.Time())
	f["SendHash"] = o.SendHash.String()
	return f
}

func (f fields) trade(t *dex.Trade) {
	f["Id"], f["TakerId"], f["MakerId"], f["Price"] = t.ID.String(), t.Taker.String(), t.Maker.String(), t.Price.String()
	if t.TakerSide == dex.Sell {
		f["TakerSide"] = true
	}
	f.amount("Quantity", t.Quantity)
	f.amount("Amount", t.Amount)
	f.amount("TakerFee", t.TakerFee)
	f.amount("MakerFee", t.MakerFee)
	f.amount("TakerOperatorFee", t.TakerOperatorFee)
	f.amount("MakerOperatorFee", t.MakerOperatorFee)
	f.number("Timestamp", t.Time)
}

func TestEventVectors(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.Case, func(t *testing.T) {
			b := block{logs: s.vmLogs(t)}
			require.NoError(t, b.decode())
			for i := range b.events {
				require.Equal(t, s.Logs[i].Decoded, b.events[i].shown())
			}
		})
	}
}

// TestPublicSample stores the fill of the public documentation and shows its numbers
// (docs/exchange-rules.md 2.5, example 1).
func TestPublicSample(t *testing.T) {
	x, err := New(t.Context(), Config{URL: sqliteURL(t)}, nil, quiet())
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	market := dex.Market{ID: 1, Symbol: "VTT-000_BTC-000", TradeDecimals: 18, QuoteDecimals: 8, QuoteType: dex.QuoteBTC}
	copy(market.Trade[:], "trade")
	opened := client.VMLog{Topics: []core.Hash{dex.Topic(dex.MarketEvent)}, Data: market.Encode()}
	store := func(c contract, b block) {
		require.NoError(t, b.decode())
		require.NoError(t, x.write(t.Context(), nil, func(a *applier) error { return a.blocks(c, []block{b}) }))
	}
	store(fund, block{height: 1, hash: core.Hash{1}, ok: true, logs: []client.VMLog{opened}})
	all := samples(t)
	for i := range all[:2] {
		require.Contains(t, all[i].Case, "01_equal_price")
		store(trade, block{height: uint64(i + 1), hash: core.Hash{byte(i)}, ok: true, logs: all[i].vmLogs(t)})
	}
	trades, err := x.Trades(t.Context(), TradeFilter{Symbol: market.Symbol}, Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, trades.List, 1)
	got := trades.List[0]
	require.Equal(t, []any{"0.00000182", "100.00000000", "0.00018200", "0.00000045", "0.00000045", 1, int64(1614571200)},
		[]any{got.Price, got.Quantity, got.Amount, got.BuyFee, got.SellFee, got.Side, got.Time})
	owner, err := hex.DecodeString("272c94c456e72e698616500acd73b7ffd130708d00")
	require.NoError(t, err)
	orders, err := x.Orders(t.Context(), OrderFilter{Owner: core.Address(owner)}, Page{Limit: 10, Total: true})
	require.NoError(t, err)
	require.Equal(t, 1, orders.Total)
	o := orders.List[0]
	require.Equal(t, []any{Filled, "0.00018200", "100.00000000", "0.00018200", "1.00000000", "0.00000182", "0.00000045"},
		[]any{o.Status, o.Amount, o.ExecutedQuantity, o.ExecutedAmount, o.ExecutedPercent, o.ExecutedAvgPrice, o.Fee})
}

// TestNumberVectors: numbers are cut, never rounded (behaviours 42 and 43).
func TestNumberVectors(t *testing.T) {
	var file struct {
		Format struct {
			Samples []struct {
				Field string `json:"field"`
				Value string `json:"value"`
				Price int    `json:"pricePrecision"`
				Qty   int    `json:"quantityPrecision"`
				Shown any    `json:"shown"`
			} `json:"samples"`
		} `json:"number_format"`
	}
	readVectors(t, "status_and_number_format.json", &file)
	plain := regexp.MustCompile(`^[0-9]+\.[0-9]+`)
	exact := map[string]decimal.Decimal{
		"price 0.1688 x quantity 81.3102 in a quote token of 6 decimals": decimal.RequireFromString("0.1688").Mul(decimal.RequireFromString("81.3102")),
		"100/100.0001 = 0.999999000001":                                  cutRatio(decimal.New(100, 0), decimal.RequireFromString("100.0001"), 6),
		"45 raw of 8 decimals":                                           wholeAmount(uint256.NewInt(45), 8),
		"143.8816/7540":                                                  cutRatio(decimal.RequireFromString("143.8816"), decimal.New(7540, 0), 8),
	}
	require.NotEmpty(t, file.Format.Samples)
	for _, s := range file.Format.Samples {
		value, isRule := exact[s.Value]
		if !isRule {
			text := plain.FindString(s.Value)
			require.NotEmpty(t, text, s.Value)
			value = decimal.RequireFromString(text)
		}
		places := s.Price
		switch {
		case strings.HasPrefix(s.Field, "depth"):
			places = s.Qty
		case places == 0:
			places = wideDecimals
		}
		require.Equal(t, fmt.Sprint(s.Shown), formatCut(value, places), s.Field)
	}
	require.Equal(t, "-0.12", formatCut(decimal.RequireFromString("-0.129"), 2), "towards zero")
}

// TestStatuses is the table of docs/exchange-rest.md 4.3.
func TestStatuses(t *testing.T) {
	some := amount{*uint256.NewInt(1)}
	for name, c := range map[string]struct {
		row  orderRow
		want Status
	}{
		"noted":                    {orderRow{Noted: 1}, PendingRequest},
		"received":                 {orderRow{Received: 1}, Received},
		"refused":                  {orderRow{Refused: true}, Failed},
		"cancel before it is open": {orderRow{Received: 1, Cancel: "c"}, Received},
		"open":                     {orderRow{Placed: 1}, Open},
		"partly":                   {orderRow{Placed: 1, progress: progress{State: dex.PartiallyFilled}}, PartiallyFilled},
		"cancel of open":           {orderRow{Placed: 1, Cancel: "c", progress: progress{State: dex.PartiallyFilled}}, PendingCancel},
		"filled":                   {orderRow{Placed: 1, progress: progress{State: dex.Filled}}, Filled},
		"filled before the cancel": {orderRow{Placed: 1, Cancel: "c", progress: progress{State: dex.Filled}}, Filled},
		"cancelled":                {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: dex.ByOwner}}, Cancelled},
		"post-only":                {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: dex.WouldMatch}}, Cancelled},
		"fill-or-kill":             {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: dex.NotFillable}}, Cancelled},
		"market volume":            {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: dex.OverMarketVolume}}, Cancelled},
		"unmatched":                {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: dex.Unmatched}}, Cancelled},
		"unmatched rest":           {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: dex.Unmatched, Executed: some}}, PartiallyCancelled},
		"cancelled rest":           {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: dex.ByOwnerPartial, Executed: some}}, PartiallyCancelled},
		"too many fills":           {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: dex.TooManyFills, Executed: some}}, PartiallyCancelled},
		"expired":                  {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: 2}}, Expired},
		"expired partly":           {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: 5, Executed: some}}, Expired},
		"expired, cleaned":         {orderRow{Placed: 1, progress: progress{State: dex.Cancelled, Reason: 6}}, Expired},
		"failed":                   {orderRow{Placed: 1, progress: progress{State: 4}}, Failed},
	} {
		require.Equal(t, c.want, c.row.publicStatus(), name)
	}
}

func FuzzReadEvent(f *testing.F) {
	for _, s := range samples(f) {
		for _, l := range s.vmLogs(f) {
			f.Add(l.Topics[0][:], l.Data)
		}
	}
	f.Fuzz(func(t *testing.T, topic, data []byte) {
		var h core.Hash
		copy(h[:], topic)
		if _, err := readEvent(client.VMLog{Topics: []core.Hash{h}, Data: data}); err != nil {
			require.ErrorIs(t, err, dex.ErrWire)
		}
	})
}

func FuzzReadCall(f *testing.F) {
	for _, m := range []core.Method{dex.FundPlaceOrder, dex.FundPlaceAgentOrder, dex.FundWithdraw, dex.FundNotifyTime, dex.FundDeposit} {
		selector := m.Selector()
		f.Add(selector[:])
		f.Add(append(selector[:], make([]byte, 256)...))
	}
	order, err := dex.FundPlaceOrder.Pack(core.VITE, core.VITE, true, uint8(0), "1.5", *uint256.NewInt(7))
	require.NoError(f, err)
	f.Add(order)
	f.Fuzz(func(t *testing.T, data []byte) {
		c := readCall(&block{call: data})
		if c.place != nil {
			require.Contains(t, []int{0, 1}, c.place.Side)
		}
	})
}
