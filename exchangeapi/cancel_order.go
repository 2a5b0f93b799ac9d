package exchangeapi

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// cancelled is the answer to one cancel.
type cancelled struct {
	Symbol        string       `json:"symbol"`
	OrderID       string       `json:"orderId"`
	CancelRequest string       `json:"cancelRequest"`
	Status        index.Status `json:"status"`
}

// cancel asks the exchange to end one order. It passes the order's own pair to the chain, which
// checks only the pair that is passed (docs/exchange-rules.md 2.11).
func (n *network) cancel(ctx context.Context, key apikey.Key, p params) (any, error) {
	m, err := n.pair(p)
	if err != nil {
		return nil, err
	}
	id, err := n.orderID(ctx, key.Owner, p)
	if errors.Is(err, apikey.ErrNoOrder) {
		return nil, reject(codeFailed, textNotOwner)
	}
	if err != nil {
		return nil, err
	}
	order, err := n.Index.Order(ctx, key.Owner, id)
	if err != nil {
		return nil, err
	}
	if err := cancellable(order, m.Symbol); err != nil {
		return nil, err
	}
	if err := n.checkPermission(ctx, key, m.Symbol); err != nil {
		return nil, err
	}
	done, err := n.cancelEach(ctx, key, m, []core.Hash{id})
	if err != nil {
		return nil, err
	}
	return done[0], nil
}

func cancellable(order *index.Order, symbol string) error {
	switch {
	case order == nil:
		return reject(codeFailed, textNotOwner)
	case order.Symbol != symbol:
		return reject(codeParameter, "Invalid symbol: the order is of %s", order.Symbol)
	}
	switch order.Status {
	case index.PendingRequest, index.Received, index.Open, index.PartiallyFilled:
		return nil
	case index.PendingCancel:
		return reject(codeFailed, "The order is being cancelled")
	}
	return reject(codeFailed, textTerminated)
}

// maxCancels bounds one request. What is left can be cancelled by the next.
const maxCancels = 1000

// cancelAll cancels every order of a pair that is not ended and not being cancelled. A later
// failure keeps what was done: the answer lists it.
func (n *network) cancelAll(ctx context.Context, key apikey.Key, p params) (any, error) {
	m, err := n.pair(p)
	if err != nil {
		return nil, err
	}
	if err := n.checkPermission(ctx, key, m.Symbol); err != nil {
		return nil, err
	}
	ids, err := living(ctx, n.Index, key.Owner, m.Symbol)
	if err != nil {
		return nil, err
	}
	done, err := n.cancelEach(ctx, key, m, ids)
	if err != nil && len(done) > 0 {
		n.Log.WithError(err).WithField("left", len(ids)-len(done)).Warn("cancelling all orders of a pair: some are left")
		err = nil
	}
	return done, err
}

// living are the orders of a pair that can be cancelled: in the book, or on the way to it.
func living(ctx context.Context, x exchangeIndex, owner core.Address, symbol string) ([]core.Hash, error) {
	page, err := x.Orders(ctx, index.OrderFilter{Owner: owner, Symbol: symbol, Cancellable: true}, index.Page{Limit: maxCancels})
	if err != nil {
		return nil, err
	}
	ids := make([]core.Hash, len(page.List))
	for i := range page.List {
		if ids[i], err = core.ParseHash(page.List[i].ID); err != nil {
			return nil, fmt.Errorf("order %s: %w", page.List[i].ID, err)
		}
	}
	return ids, nil
}

// cancelEach sends one request for each order, one after the other, and answers those that the node
// took.
func (n *network) cancelEach(ctx context.Context, key apikey.Key, m index.Market, ids []core.Hash) ([]cancelled, error) {
	done := []cancelled{}
	if len(ids) == 0 {
		return done, nil
	}
	err := n.sender.run(ctx, key, func(a *accountSender) error {
		for _, id := range ids {
			data, err := dex.FundCancelBySendHash.Pack(id, key.Owner, m.Trade, m.Quote)
			if err != nil {
				return fmt.Errorf("encoding a cancel: %w", err)
			}
			request, err := a.call(ctx, data, nil)
			if err != nil {
				return err
			}
			n.note(func(ctx context.Context) error {
				return n.Index.NoteCancel(ctx, index.CancelRequest{Hash: request, Order: id})
			})
			done = append(done, cancelled{m.Symbol, id.String(), request.String(), index.PendingCancel})
		}
		return nil
	})
	return done, err
}
