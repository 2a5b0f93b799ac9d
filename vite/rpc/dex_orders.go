package rpc

import (
	"math/big"
	"strings"

	"github.com/holiman/uint256"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/node"
)

// shownOrder is an open order; amounts that are zero are left out, but quantity and amount.
type shownOrder struct {
	ID                   string       `json:"Id"`
	Address              core.Address `json:"Address"`
	MarketID             uint32       `json:"MarketId"`
	Side                 bool         `json:"Side"`
	Type                 uint8        `json:"Type"`
	Price                string       `json:"Price"`
	TakerFeeRate         uint32       `json:"TakerFeeRate"`
	MakerFeeRate         uint32       `json:"MakerFeeRate"`
	TakerOperatorFeeRate uint32       `json:"TakerOperatorFeeRate"`
	MakerOperatorFeeRate uint32       `json:"MakerOperatorFeeRate"`
	Quantity             string       `json:"Quantity"`
	Amount               string       `json:"Amount"`
	LockedBuyFee         string       `json:"LockedBuyFee,omitempty"`
	Status               uint8        `json:"Status"`
	ExecutedQuantity     string       `json:"ExecutedQuantity,omitempty"`
	ExecutedAmount       string       `json:"ExecutedAmount,omitempty"`
	ExecutedBaseFee      string       `json:"ExecutedBaseFee,omitempty"`
	ExecutedOperatorFee  string       `json:"ExecutedOperatorFee,omitempty"`
	Timestamp            int64        `json:"Timestamp"`
	SendHash             core.Hash    `json:"SendHash"`
}

func showOrder(o *dex.Order) *shownOrder {
	return &shownOrder{
		ID: o.ID.String(), Address: o.Owner, MarketID: o.ID.Market(), Side: bool(o.ID.Side()), Type: uint8(o.Type),
		Price: o.ID.Price().String(), TakerFeeRate: o.Rates.Taker, MakerFeeRate: o.Rates.Maker,
		TakerOperatorFeeRate: o.Rates.TakerOperator, MakerOperatorFeeRate: o.Rates.MakerOperator,
		Quantity: o.Quantity.Dec(), Amount: o.Amount.Dec(), LockedBuyFee: unlessZero(&o.LockedFee), Status: uint8(o.Status),
		ExecutedQuantity: unlessZero(&o.Executed.Quantity), ExecutedAmount: unlessZero(&o.Executed.Amount),
		ExecutedBaseFee: unlessZero(&o.Executed.BaseFee), ExecutedOperatorFee: unlessZero(&o.Executed.OperatorFee),
		Timestamp: o.ID.Time(), SendHash: o.SendHash,
	}
}

func unlessZero(n *uint256.Int) string {
	if n.IsZero() {
		return ""
	}
	return n.Dec()
}

func openOrder(o *dex.Order) (*shownOrder, error) {
	if o == nil {
		return nil, errNoOrder
	}
	return showOrder(o), nil
}

// GetOrderById is an open order by its id of 44 hexadecimal digits.
func (d *dextradeAPI) GetOrderById(id string) (*shownOrder, error) { return d.orderByID(id) }

// GetOrderById is dextrade_getOrderById.
func (d *dexAPI) GetOrderById(id string) (*shownOrder, error) { return d.orderByID(id) }

func (e *exchangeAPI) orderByID(id string) (*shownOrder, error) {
	parsed, err := dex.ParseOrderID(id)
	if err != nil {
		return nil, jsonrpc.Other("invalid order id")
	}
	return openOrder(read(e.node, func(v *node.View) *dex.Order { return v.Exchange().Order(parsed) }))
}

func (e *exchangeAPI) orderBySend(h hashArg) (*shownOrder, error) {
	return openOrder(read(e.node, func(v *node.View) *dex.Order { return v.Exchange().OrderBySend(h.Hash) }))
}

// GetOrderBySendHash is an open order by the block that placed it.
func (d *dextradeAPI) GetOrderBySendHash(h hashArg) (*shownOrder, error) { return d.orderBySend(h) }

// GetOrderByTransactionHash is dextrade_getOrderBySendHash.
func (d *dexAPI) GetOrderByTransactionHash(h hashArg) (*shownOrder, error) { return d.orderBySend(h) }

// orderList is a part of a book, with dexTrade's newest block before and after it was read; both
// are one here.
type orderList struct {
	Orders     []*shownOrder `json:"orders"`
	Size       int           `json:"size"`
	QueryStart hashHeight    `json:"queryStart"`
	QueryEnd   hashHeight    `json:"queryEnd"`
}

// maxOrders is the most that one side of an order query may span.
const maxOrders = 10_000

// bookPart is a range of one side.
type bookPart struct {
	side       dex.Side
	begin, end int
}

func (e *exchangeAPI) orders(trade, quote tokenArg, parts ...bookPart) (list *orderList, err error) {
	for _, p := range parts {
		if p.begin < 0 || p.end < p.begin || p.end-p.begin > maxOrders {
			return nil, errOrderRange
		}
	}
	readInMemory(e.node, func(v *node.View) {
		m := v.Exchange().Market(trade.TokenID, quote.TokenID)
		if m == nil {
			err = errNoMarket
			return
		}
		list = &orderList{Orders: []*shownOrder{}}
		for _, p := range parts {
			for _, o := range v.Exchange().Orders(m.ID, p.side, p.begin, p.end) {
				list.Orders = append(list.Orders, showOrder(&o))
			}
		}
		list.Size = len(list.Orders)
		if tip := v.HeadID(core.DexTradeContract); tip.Height > 0 {
			list.QueryStart = hashHeight{tip.Height, tip.Hash}
			list.QueryEnd = list.QueryStart
		}
	})
	return list, err
}

// GetOrdersFromMarket lists open orders of one side (true: sells), the best first, from number
// begin up to end.
func (d *dextradeAPI) GetOrdersFromMarket(trade, quote tokenArg, side bool, begin, end int) (*orderList, error) {
	return d.orders(trade, quote, bookPart{dex.Side(side), begin, end})
}

// GetOrdersForMarket is dextrade_getOrdersFromMarket.
func (d *dexAPI) GetOrdersForMarket(trade, quote tokenArg, side bool, begin, end int) (*orderList, error) {
	return d.orders(trade, quote, bookPart{dex.Side(side), begin, end})
}

type marketOrdersQuery struct {
	TradeToken tokenArg
	QuoteToken tokenArg
	SellBegin  int
	SellEnd    int
	BuyBegin   int
	BuyEnd     int
}

// GetMarketOrders lists open orders of both sides, sells first.
func (d *dextradeAPI) GetMarketOrders(q marketOrdersQuery) (*orderList, error) {
	return d.orders(q.TradeToken, q.QuoteToken, bookPart{dex.Sell, q.SellBegin, q.SellEnd}, bookPart{dex.Buy, q.BuyBegin, q.BuyEnd})
}

type verifiedBalance struct {
	TokenID        core.TokenID `json:"tokenId"`
	Balance        string       `json:"balance"`
	Amount         string       `json:"amount"`
	UserAmount     string       `json:"userAmount"`
	FeeAmount      string       `json:"feeAmount"`
	FeeOccupy      string       `json:"feeOccupy"`
	BalanceMatched bool         `json:"balanceMatched"`
}

type verifiedBalances struct {
	UserCount      int                              `json:"userCount"`
	BalanceMatched bool                             `json:"balanceMatched"`
	Balances       map[core.TokenID]verifiedBalance `json:"balances"`
}

// VerifyDexBalance holds what the exchange's contract has against what it owes. Stakes for lower
// fees and locked VX count as the users', what is to be mined and shared out as fees.
func (d *dexPrivateAPI) VerifyDexBalance() verifiedBalances {
	books := read(d.node, func(v *node.View) node.ExchangeBooks { return v.Exchange().Books() })
	shown := verifiedBalances{UserCount: books.Users, BalanceMatched: true, Balances: map[core.TokenID]verifiedBalance{}}
	for id, t := range books.Tokens {
		b := verifyToken(id, &t)
		shown.Balances[id] = b
		shown.BalanceMatched = shown.BalanceMatched && b.BalanceMatched
	}
	return shown
}

func verifyToken(id core.TokenID, t *node.ExchangeTotals) verifiedBalance {
	var users, fees, amount uint256.Int
	users.Add(&t.Users, &t.Stakes)
	fees.Add(&t.Fees, &t.Pools)
	amount.Add(&users, &fees)
	b := verifiedBalance{
		TokenID: id, Balance: t.Balance.Dec(), Amount: amount.Dec(), UserAmount: users.Dec(), FeeAmount: "<nil>",
		BalanceMatched: amount.Eq(&t.Balance),
	}
	if !fees.IsZero() { // so it is above zero itself
		share := new(big.Rat).SetFrac(fees.ToBig(), amount.ToBig())
		b.FeeAmount, b.FeeOccupy = fees.Dec(), strings.TrimRight(share.FloatString(11), "0")
	}
	return b
}
