package ledger

import (
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// tradeMethods are dexTrade's: the books (docs/exchange-rules.md 3.1).
var tradeMethods = []method{
	{dex.TradeCancel, checkNoAmount, cancelOrder},
	{dex.OldTradeCancel, checkNoAmount, cancelOrder},
	{dex.TradeCancelByHash, checkNoAmount, cancelByHash},
	{dex.OldTradeCancelByHash, checkNoAmount, cancelByHash},
	{dex.TradePlaceOrder, fromContract, matchOrder},
	{dex.TradeInnerCancel, fromContract, cancelFor},
	{dex.TradeSyncMarket, fromContract, syncMarket},
}

// syncMarket has nothing to do: here both contracts know the markets.
func syncMarket(_ *execution, args []any) error {
	_, err := dex.DecodeMarket(args[0].([]byte))
	return err
}

// matchOrder puts an order from dexFund to its book.
func matchOrder(x *execution, args []any) error {
	order, err := dex.DecodeOrder(args[0].([]byte))
	if err != nil {
		return err
	}
	market := x.state.Exchange.Markets[order.ID.Market()]
	var r dex.Result
	x.state.Exchange.Books[market.ID].Match(&order, &r)
	if err := x.state.applyResult(&r); err != nil {
		return err
	}
	x.announceResult(&market, &r)
	settlement := dex.NewSettlement(&market)
	settlement.AddResult(&r)
	if settlement.Empty() {
		return nil
	}
	return x.sendContractCall(core.DexFundContract, dex.FundSettleOrders, settlement.Encode())
}

// applyResult changes the book, and remembers how to take it back.
func (s *State) applyResult(r *dex.Result) error {
	book := s.Exchange.Books[r.Taker.ID.Market()]
	before := make([]dex.Order, len(r.Fills))
	for i := range r.Fills {
		before[i], _ = book.Order(r.Fills[i].Maker)
	}
	if err := book.Apply(r); err != nil {
		return err
	}
	taker := r.Taker.ID
	s.journal.add(func() {
		book.Remove(taker)
		for i := len(before) - 1; i >= 0; i-- {
			restore(book, &before[i])
		}
	})
	for i := range r.Fills {
		if r.Fills[i].MakerProgress.Ended() {
			del(&s.journal, s.Exchange.Hashes, before[i].SendHash)
		}
	}
	if r.Taker.Ended() {
		del(&s.journal, s.Exchange.Hashes, r.Taker.SendHash)
	}
	return nil
}

// restore puts an order back to where it was.
func restore(book *dex.Book, o *dex.Order) {
	if err := book.Put(o); err != nil {
		panic("node: restoring an order: " + err.Error())
	}
}

// announceResult logs the taker as it is now, then each maker, then each trade.
func (x *execution) announceResult(market *dex.Market, r *dex.Result) {
	placed := dex.Placed{Order: *r.Taker, Trade: market.Trade, Quote: market.Quote}
	x.announce(dex.NewOrderEvent, placed.Encode())
	for i := range r.Fills {
		x.announceUpdate(market, r.Fills[i].Maker, r.Fills[i].MakerProgress)
	}
	for i := range r.Fills {
		trade := r.TradeOf(&r.Fills[i], r.Taker.ID.Time())
		x.announce(dex.TradeEvent, trade.Encode())
	}
}

func (x *execution) announceUpdate(market *dex.Market, id dex.OrderID, p dex.Progress) {
	update := dex.Updated{ID: id, Trade: market.Trade, Quote: market.Quote, Progress: p}
	x.announce(dex.OrderUpdateEvent, update.Encode())
}

// cancelOrder fails for an id that is malformed. As on a real chain, the send is accepted.
func cancelOrder(x *execution, args []any) error {
	id, err := dex.OrderIDFromBytes(args[0].([]byte))
	if err != nil {
		return err
	}
	return x.cancelOrder(id, x.send.Address)
}

func cancelByHash(x *execution, args []any) error {
	return x.cancelHash(args[0].(core.Hash), x.send.Address)
}

func cancelFor(x *execution, args []any) error {
	return x.cancelHash(args[0].(core.Hash), args[1].(core.Address))
}

func (x *execution) cancelHash(hash core.Hash, owner core.Address) error {
	id, known := x.state.Exchange.Hashes[hash]
	if !known {
		return errOrderHash
	}
	return x.cancelOrder(id, owner)
}

// cancelOrder takes an order of the owner out of its book and has its lock released.
func (x *execution) cancelOrder(id dex.OrderID, owner core.Address) error {
	s, e := x.state, &x.state.Exchange
	order, open := e.OpenOrder(id)
	switch {
	case !open:
		return errNoOrder
	case order.Owner != owner:
		return errNotOrderOwner
	}
	market, book, before := e.Markets[id.Market()], e.Books[id.Market()], order
	book.Remove(id)
	s.journal.add(func() { restore(book, &before) })
	del(&s.journal, e.Hashes, order.SendHash)
	order.Cancel()
	x.announceUpdate(&market, id, order.Progress)
	settlement := dex.NewSettlement(&market)
	settlement.AddEnd(order.Owner, id.Side(), &order.Progress)
	return x.sendContractCall(core.DexFundContract, dex.FundSettleOrders, settlement.Encode())
}
