package dex

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// fillCase is a scenario that ran through the reference engine.
type fillCase struct {
	Name   string
	Market struct {
		MakerOperatorFeeRate, TakerOperatorFeeRate, QuoteTokenType uint32
		QuoteTokenDecimals, TradeTokenDecimals                     uint8
		Stable                                                     bool
	}
	Start   map[string]struct{ Trade, Quote string }
	Steps   []fillStep
	Summary []struct {
		Place string
		Fills int
		Order fillOrder
	}
}

type fillStep struct {
	Action, User, Side, Price, Quantity, SendHash, OrderID, Agent, Principal string
	Type                                                                     Type
	Expect                                                                   struct {
		Result   string
		Order    *fillOrder
		Updates  []fillOrder
		Trades   []fillTrade
		Balances map[string]struct{ Trade, Quote [2]string }
	}
}

type fillOrder struct {
	ID, Owner, Price, Amount, LockedBuyFee, RefundToken, RefundQuantity    string
	ExecutedQuantity, ExecutedAmount, ExecutedBaseFee, ExecutedOperatorFee string
	Status                                                                 Status
	CancelReason                                                           Reason
	TakerFeeRate, MakerFeeRate, TakerOperatorFeeRate, MakerOperatorFeeRate uint32
}

type fillTrade struct {
	ID, Price, Quantity, Amount, TakerFee, MakerFee, TakerOperatorFee, MakerOperatorFee, TakerID, MakerID string
	TakerSide                                                                                             bool
	Timestamp                                                                                             int64
}

// elsewhere are the steps whose rule is not this package's: the contracts of vite/node decide who
// may act and when.
var elsewhere = []string{
	"trade market not granted", "trade market stopped", "dex stopped", "not own to initiator", "order not exists",
	"invalid order hash", "invalid order quantity", "invalid order type",
}

func TestFills(t *testing.T) {
	var doc struct{ Cases []fillCase }
	load(t, "fills.json", &doc)
	require.Len(t, doc.Cases, 23)
	for _, c := range doc.Cases {
		t.Run(c.Name, func(t *testing.T) {
			d := newTestMarket(t, Market{
				QuoteType: QuoteType(c.Market.QuoteTokenType), TradeDecimals: c.Market.TradeTokenDecimals,
				QuoteDecimals: c.Market.QuoteTokenDecimals, TakerOperatorRate: c.Market.TakerOperatorFeeRate,
				MakerOperatorRate: c.Market.MakerOperatorFeeRate, Stable: c.Market.Stable,
			})
			if c.Summary != nil {
				d.hundredFills(&c)
				return
			}
			for name, f := range c.Start {
				d.fund(user(name), number(t, f.Trade), number(t, f.Quote))
			}
			for i := range c.Steps {
				d.step(&c, i)
			}
		})
	}
}

// step plays a step and compares everything that was recorded of it.
func (d *testMarket) step(c *fillCase, i int) {
	s, t := &c.Steps[i], d.t
	want := s.Expect.Result
	for _, rule := range elsewhere {
		if strings.Contains(want, rule) {
			return
		}
	}
	d.minimum = minimumOf(c.Name)
	switch s.Action {
	case "place", "placeAgentOrder":
		d.stepPlace(c, i)
	case "configMarketAgents":
	default:
		id, known := d.byHash[hash(t, s.SendHash)]
		if s.OrderID != "" {
			parsed, err := ParseOrderID(s.OrderID)
			require.NoError(t, err)
			id, known = parsed, true
		}
		require.True(t, known, "step %d", i)
		o := d.cancel(id)
		require.Len(t, s.Expect.Updates, 1)
		s.Expect.Updates[0].compare(t, o.ID, &o.Progress)
	}
	for name, want := range s.Expect.Balances {
		p := d.fundsOf(user(name))
		require.Equal(t, want.Trade, texts(p.trade), "step %d: %s's trade tokens", i, name)
		require.Equal(t, want.Quote, texts(p.quote), "step %d: %s's quote tokens", i, name)
	}
	d.check()
}

// minimumOf is the least amount that the recorded scenario had set, in the decimals of its quote
// type.
func minimumOf(name string) uint256.Int {
	switch {
	case strings.HasPrefix(name, "17"):
		return tokens(2, 18)
	case strings.HasPrefix(name, "20"):
		return *uint256.NewInt(1)
	}
	return uint256.Int{}
}

func (d *testMarket) stepPlace(c *fillCase, i int) {
	s, t := &c.Steps[i], d.t
	name := s.User + s.Principal
	price, err := ParsePrice(s.Price)
	if err == nil && price.IsZero() && s.Type != MarketPrice {
		err = ErrPrice
	}
	var r *Result
	if err == nil {
		if s.Expect.Order != nil {
			id, err := ParseOrderID(s.Expect.Order.ID)
			require.NoError(t, err)
			d.time, d.serial = id.Time(), id.Serial() // refused orders used up serials there
		}
		r, err = d.place(Placement{
			Owner: user(name), Side: Side(s.Side == "sell"), Type: s.Type, Price: price, Quantity: number(t, s.Quantity),
			SendHash: hash(t, s.SendHash), FeeTier: feeTierOf(c.Name, name),
		})
	}
	if s.Expect.Result != "ok" {
		require.Error(t, err, "step %d", i)
		require.Contains(t, s.Expect.Result, rootOf(err), "step %d", i)
		return
	}
	require.NoError(t, err, "step %d", i)
	s.compare(d, r)
}

// rootOf is the text of the innermost error.
func rootOf(err error) string {
	text, _, _ := strings.Cut(err.Error(), ":")
	return text
}

func feeTierOf(scenario, name string) FeeTier {
	if !strings.HasPrefix(scenario, "19") {
		return FeeTier{}
	}
	return map[string]FeeTier{"A": {VIP: true, Invited: true}, "B": {SVIP: true}}[name]
}

func (s *fillStep) compare(d *testMarket, r *Result) {
	t, want := d.t, s.Expect.Order
	require.Equal(t, want.ID, r.Taker.ID.String())
	require.Equal(t, want.Price, r.Taker.ID.Price().String())
	require.Equal(t, want.Amount, r.Taker.Amount.Dec())
	require.Equal(t, want.LockedBuyFee, r.Taker.LockedFee.Dec())
	require.Equal(t, Rates{want.TakerFeeRate, want.MakerFeeRate, want.TakerOperatorFeeRate, want.MakerOperatorFeeRate}, r.Taker.Rates)
	want.compare(t, r.Taker.ID, &r.Taker.Progress)
	require.Len(t, r.Fills, len(s.Expect.Trades))
	require.Len(t, r.Fills, len(s.Expect.Updates))
	for i := range r.Fills {
		f := &r.Fills[i]
		s.Expect.Updates[i].compare(t, f.Maker, &f.MakerProgress)
		trade := r.TradeOf(f, d.time)
		require.Equal(t, s.Expect.Trades[i], fillTrade{
			ID: trade.ID.String(), Price: trade.Price.String(), Quantity: trade.Quantity.Dec(), Amount: trade.Amount.Dec(),
			TakerFee: trade.TakerFee.Dec(), MakerFee: trade.MakerFee.Dec(), TakerOperatorFee: trade.TakerOperatorFee.Dec(),
			MakerOperatorFee: trade.MakerOperatorFee.Dec(), TakerID: trade.Taker.String(), MakerID: trade.Maker.String(),
			TakerSide: bool(trade.TakerSide), Timestamp: trade.Time,
		})
	}
}

func (want *fillOrder) compare(t testing.TB, id OrderID, p *Progress) {
	refund := ""
	switch {
	case p.Refund.IsZero():
	case id.Side() == Sell:
		refund = "trade"
	default:
		refund = "quote"
	}
	if want.ID != "" {
		require.Equal(t, want.ID, id.String())
		require.Equal(t, want.RefundToken, refund)
	}
	got := fillOrder{
		Status: p.Status, CancelReason: p.Reason, ExecutedQuantity: p.Executed.Quantity.Dec(), ExecutedAmount: p.Executed.Amount.Dec(),
		ExecutedBaseFee: p.Executed.BaseFee.Dec(), ExecutedOperatorFee: p.Executed.OperatorFee.Dec(), RefundQuantity: p.Refund.Dec(),
	}
	if want.ExecutedOperatorFee == "" {
		got.ExecutedOperatorFee = "" // a summary leaves it out
	}
	require.Equal(t, fillOrder{
		Status: want.Status, CancelReason: want.CancelReason, ExecutedQuantity: want.ExecutedQuantity,
		ExecutedAmount: want.ExecutedAmount, ExecutedBaseFee: want.ExecutedBaseFee, ExecutedOperatorFee: want.ExecutedOperatorFee,
		RefundQuantity: want.RefundQuantity,
	}, got)
}

// hundredFills plays the scenario that is only summed up: 101 sells of 1.0 at 1, and buys against
// them.
func (d *testMarket) hundredFills(c *fillCase) {
	t, one := d.t, tokens(1, 18)
	d.fund(user("A"), tokens(1000, 18), tokens(1000, 18))
	for range 101 {
		_, err := d.place(Placement{Owner: user("A"), Side: Sell, Price: Price{Units: 1}, Quantity: one})
		require.NoError(t, err)
	}
	for _, s := range c.Summary {
		var quantity uint64
		_, err := fmt.Sscanf(s.Place, "buy %d at 1", &quantity)
		require.NoError(t, err)
		r, err := d.place(Placement{Owner: user("A"), Price: Price{Units: 1}, Quantity: tokens(quantity, 18)})
		require.NoError(t, err)
		require.Len(t, r.Fills, s.Fills)
		s.Order.compare(t, r.Taker.ID, &r.Taker.Progress)
		d.check()
	}
}

func texts(b Balance) [2]string { return [2]string{b.Available.Dec(), b.Locked.Dec()} }

func hash(t testing.TB, s string) core.Hash {
	if s == "" {
		return core.Hash{}
	}
	s = strings.Repeat("0", 64-len(s)) + s
	h, err := core.ParseHash(s)
	require.NoError(t, err)
	return h
}

func TestRounding(t *testing.T) {
	type row struct {
		Price, Quantity, Amount, Fee, Exact string
		Half                                string `json:"exact_half_up"`
		Chain                               string
		Diff                                int    `json:"decimalsDiff"`
		Dust                                string `json:"exact_is_dust"`
		Rate                                uint32
	}
	var doc struct {
		Amounts, Fees []row
		Differs       []row `json:"amounts_where_chain_differs"`
		Dust          []row `json:"dust_edge_where_chain_differs"`
	}
	load(t, "rounding.json", &doc)
	scale := func(r row) *Scale {
		s, err := NewScale(uint8(max(0, r.Diff)), uint8(max(0, -r.Diff)))
		require.NoError(t, err)
		return &s
	}
	require.NotEmpty(t, doc.Amounts)
	for _, r := range append(doc.Amounts, doc.Differs...) {
		var z uint256.Int
		q := number(t, r.Quantity)
		require.True(t, scale(r).Amount(&z, mustPrice(t, r.Price), &q))
		require.Equal(t, r.Half, z.Dec(), "%s at %s, %d", r.Quantity, r.Price, r.Diff)
	}
	require.NotEmpty(t, doc.Dust)
	for _, r := range doc.Dust {
		q := number(t, r.Quantity)
		require.Equal(t, r.Dust == "true", scale(r).IsDust(mustPrice(t, r.Price), &q))
	}
	require.NotEmpty(t, doc.Fees)
	for _, r := range doc.Fees {
		var z uint256.Int
		amount := number(t, r.Amount)
		fee(&z, &amount, r.Rate)
		require.Equal(t, r.Fee, z.Dec())
	}
}

func TestOrderIDs(t *testing.T) {
	var doc struct {
		PriceBytes map[string]string `json:"price_bytes"`
		IDs        []struct {
			ID, Price string
			MarketID  uint32
			Side      int
			Timestamp int64
			Serial    uint32
		}
		TradeIDs struct {
			Vectors []struct{ TakerID, MakerID, TradeID string }
		} `json:"trade_ids"`
	}
	load(t, "orderid_vectors.json", &doc)
	require.NotEmpty(t, doc.PriceBytes)
	for text, want := range doc.PriceBytes {
		b := mustPrice(t, text).Bytes()
		require.Equal(t, want, hex.EncodeToString(b[:]))
		p, err := PriceFromBytes(b)
		require.NoError(t, err)
		require.Equal(t, text, p.String())
	}
	require.NotEmpty(t, doc.IDs)
	for _, v := range doc.IDs {
		id, err := ParseOrderID(v.ID)
		require.NoError(t, err)
		require.Equal(t, v.MarketID, id.Market())
		require.Equal(t, Side(v.Side == 1), id.Side())
		require.Equal(t, v.Price, id.Price().String())
		require.Equal(t, v.Timestamp, id.Time())
		require.Equal(t, v.Serial, id.Serial())
		require.Equal(t, id, NewOrderID(v.MarketID, Side(v.Side == 1), id.Price(), v.Timestamp, v.Serial))
	}
	require.NotEmpty(t, doc.TradeIDs.Vectors)
	for _, v := range doc.TradeIDs.Vectors {
		taker, err := ParseOrderID(v.TakerID)
		require.NoError(t, err)
		maker, err := ParseOrderID(v.MakerID)
		require.NoError(t, err)
		require.Equal(t, v.TradeID, NewTradeID(taker, maker).String())
	}
}
