package exchangeapi

import (
	"context"
	"errors"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/core"
)

// orders reads the accounts' orders.
type orders interface {
	Order(ctx context.Context, owner core.Address, id core.Hash) (*index.Order, error)
	Orders(ctx context.Context, f index.OrderFilter, p index.Page) (index.Orders, error)
}

// order is an order as every order query shows it.
type order struct {
	Address string `json:"address"` // the owner's, not the delegation address
	OrderID string `json:"orderId"`

	ClientOrderID string `json:"clientOrderId,omitempty"` // only of orders that have one
	pairNames
	Side             int          `json:"side"`
	Price            string       `json:"price"`
	Quantity         string       `json:"quantity"`
	Amount           string       `json:"amount"`
	ExecutedQuantity string       `json:"executedQuantity"`
	ExecutedAmount   string       `json:"executedAmount"`
	ExecutedPercent  string       `json:"executedPercent"`
	ExecutedAvgPrice string       `json:"executedAvgPrice"`
	Fee              string       `json:"fee"`
	Status           index.Status `json:"status"`
	Type             int          `json:"type"`
	CreateTime       int64        `json:"createTime"` // Unix seconds
}

// openOrder has one member more, which is null in every public sample.
type openOrder struct {
	order
	Confirmations *int64 `json:"confirmations"`
}

func orderOf(o *index.Order) order {
	return order{
		Address: o.Address, OrderID: o.ID, pairNames: namesOf(o.Pair), Side: o.Side, Price: o.Price, Quantity: o.Quantity, Amount: o.Amount,
		ExecutedQuantity: o.ExecutedQuantity, ExecutedAmount: o.ExecutedAmount, ExecutedPercent: o.ExecutedPercent,
		ExecutedAvgPrice: o.ExecutedAvgPrice, Fee: o.Fee, Status: o.Status, Type: o.Type, CreateTime: o.CreateTime,
		ClientOrderID: o.ClientID,
	}
}

// order answers null for an order that the account does not have: clients handle that.
func (n *network) order(ctx context.Context, p params) (any, error) {
	owner, err := p.address()
	if err != nil {
		return nil, err
	}
	id, err := n.orderID(ctx, owner, p)
	if errors.Is(err, apikey.ErrNoOrder) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o, err := n.Index.Order(ctx, owner, id)
	if err != nil || o == nil {
		return nil, err
	}
	one, err := n.withClientIDs(ctx, []index.Order{*o})
	if err != nil {
		return nil, err
	}
	return one[0], nil
}

type orderPage struct {
	Order []order `json:"order"`
	Total int     `json:"total"`
}

type openPage struct {
	Order []openOrder `json:"order"`
	Total int         `json:"total"`
}

// openOrders are those that wait in the book.
func (n *network) openOrders(ctx context.Context, p params) (any, error) {
	f, page, err := p.orders()
	if err != nil {
		return nil, err
	}
	f.OpenOnly = true
	found, err := n.orderPage(ctx, f, page)
	out := openPage{make([]openOrder, len(found.Order)), found.Total}
	for i := range found.Order {
		out.Order[i].order = found.Order[i]
	}
	return out, err
}

func (n *network) orders(ctx context.Context, p params) (any, error) {
	f, page, err := p.orders()
	if err != nil {
		return nil, err
	}
	if f.Start, f.End, err = p.span(); err != nil {
		return nil, err
	}
	if f.Side, err = p.choice("side", 1); err != nil {
		return nil, err
	}
	status, err := p.choice("status", int64(index.Expired))
	if err != nil {
		return nil, err
	}
	f.Status = (*index.Status)(status)
	return n.orderPage(ctx, f, page)
}

func (n *network) orderPage(ctx context.Context, f index.OrderFilter, page index.Page) (orderPage, error) {
	found, err := n.Index.Orders(ctx, f, page)
	if err != nil {
		return orderPage{}, err
	}
	list, err := n.withClientIDs(ctx, found.List)
	return orderPage{list, found.Total}, err
}

// orders reads what both order lists take.
func (p params) orders() (f index.OrderFilter, page index.Page, err error) {
	if f.Owner, err = p.address(); err != nil {
		return f, page, err
	}
	f.Symbol, f.QuoteSymbol, f.TradeSymbol = p.get("symbol"), p.get("quoteTokenSymbol"), p.get("tradeTokenSymbol")
	page, err = p.page(30, 100)
	return f, page, err
}

// page reads offset, limit and total.
func (p params) page(absent, most int) (page index.Page, err error) {
	if page.Offset, page.Limit, err = p.window(absent, most); err != nil {
		return page, err
	}
	total, err := p.number("total", 0, 0, 1)
	page.Total = total == 1
	return page, err
}
