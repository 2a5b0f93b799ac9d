package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/shopspring/decimal"
)

// NewOrder is a limit order to be placed. Amount is of the trade token.
type NewOrder struct {
	Symbol        string
	Side          Side
	Amount, Price decimal.Decimal
}

func (o NewOrder) params() params {
	return params{{"symbol", o.Symbol}, {"side", strconv.Itoa(int(o.Side))}, {"amount", o.Amount.String()}, {"price", o.Price.String()}}
}

// TestOrder has an order checked as Place has it, with its signature, the permission and the balance; nothing is placed.
func (c *Client) TestOrder(ctx context.Context, o NewOrder) error {
	return c.private(ctx, http.MethodPost, "order/test", o.params(), nil)
}

// Place places an order. Its status is PendingRequest then; pushes and Order tell what becomes of it. An error of the
// network does not say that no order was placed.
func (c *Client) Place(ctx context.Context, o NewOrder) (Placed, error) {
	var p Placed
	err := c.private(ctx, http.MethodPost, "order", o.params(), &p)
	return p, err
}

// Cancel asks for the end of an order. Its status is PendingCancel until the exchange has decided.
func (c *Client) Cancel(ctx context.Context, symbol, orderID string) (Cancellation, error) {
	var done Cancellation
	err := c.private(ctx, http.MethodDelete, "order", params{{"symbol", symbol}, {"orderId", orderID}}, &done)
	return done, err
}

// CancelAll asks for the end of all open orders of a pair, and lists those it has asked for.
func (c *Client) CancelAll(ctx context.Context, symbol string) ([]Cancellation, error) {
	var done []Cancellation
	err := c.private(ctx, http.MethodDelete, "orders", params{{"symbol", symbol}}, &done)
	return done, err
}
