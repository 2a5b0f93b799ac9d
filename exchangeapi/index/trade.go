package index

import "gatewayd/chain/vite/dex"

// tradeRow is a row of ex_trades.
type tradeRow struct {
	Height     uint64 `db:"height"`
	Pos        int    `db:"pos"`
	ID         string `db:"id"`
	Market     uint32 `db:"market"`
	Side       int    `db:"side"`
	Price      price  `db:"price"`
	Quantity   amount `db:"quantity"`
	Amount     amount `db:"amount"`
	Taker      string `db:"taker"`
	Maker      string `db:"maker"`
	TakerInner string `db:"taker_inner"`
	MakerInner string `db:"maker_inner"`
	TakerFee   amount `db:"taker_fee"`
	MakerFee   amount `db:"maker_fee"`
	BaseFees   amount `db:"base_fees"`
	At         int64  `db:"at"`
}

const tradeColumns = `height, pos, id, market, side, price, quantity, amount, taker, maker, taker_inner, maker_inner,
	taker_fee, maker_fee, base_fees, at`

// tradeWidth is the number of columns.
const tradeWidth = 16

func (r *tradeRow) appendColumns(values []any) []any {
	return append(values, r.Height, r.Pos, r.ID, r.Market, r.Side, r.Price.String(), r.Quantity.Dec(), r.Amount.Dec(), r.Taker, r.Maker,
		r.TakerInner, r.MakerInner, r.TakerFee.Dec(), r.MakerFee.Dec(), r.BaseFees.Dec(), r.At)
}

// trade stores a fill. Its two orders were announced by earlier events of the same block, or long before.
func (a *applier) trade(b *block, pos int, t *dex.Trade) error {
	taker, err := a.inner(t.Taker)
	if err != nil {
		return err
	}
	maker, err := a.inner(t.Maker)
	if err != nil {
		return err
	}
	row := tradeRow{
		Height: b.height, Pos: pos, ID: t.ID.String(), Market: t.Taker.Market(), Side: sideNumber(t.TakerSide),
		Price: price{t.Price}, Quantity: amount{t.Quantity}, Amount: amount{t.Amount}, Taker: taker.ID, Maker: maker.ID,
		TakerInner: taker.InnerID, MakerInner: maker.InnerID, TakerFee: amount{plus(&t.TakerFee, &t.TakerOperatorFee)},
		MakerFee: amount{plus(&t.MakerFee, &t.MakerOperatorFee)},
		BaseFees: amount{plus(&t.TakerFee, &t.MakerFee)}, At: t.Time,
	}
	a.trades = append(a.trades, row)
	return a.addToBars(&row)
}

// view is the trade as it is shown. Buyer and seller are what their names say; the public service once put the taker first
// (docs/exchange-rules.md 1.8).
func (r *tradeRow) view(m *market) Trade {
	pp, qp := m.pair.PricePrecision, m.pair.QuantityPrecision
	t := Trade{
		Pair: m.pair, ID: r.ID, Price: cutPrice(r.Price.Price, pp), Quantity: cutAmount(&r.Quantity.Int, m.TradeDecimals, qp),
		Amount: cutAmount(&r.Amount.Int, m.QuoteDecimals, wideDecimals), Time: r.At, Side: r.Side, BlockHeight: r.Height,
		BuyFee:   cutAmount(&r.TakerFee.Int, m.QuoteDecimals, wideDecimals),
		SellFee:  cutAmount(&r.MakerFee.Int, m.QuoteDecimals, wideDecimals),
		BuyOrder: r.TakerInner, SellOrder: r.MakerInner,
	}
	if r.Side == 1 {
		t.BuyFee, t.SellFee, t.BuyOrder, t.SellOrder = t.SellFee, t.BuyFee, t.SellOrder, t.BuyOrder
	}
	return t
}
