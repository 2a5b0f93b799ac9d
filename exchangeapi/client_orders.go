package exchangeapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/core"
)

// maxClientID is the maximum length of a client order ID: room for a UUID.
const maxClientID = 36

// clientIDAlphabet has nothing that needs encoding, so that there is one way to sign an id.
const clientIDAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// abandonedAfter is when an order that was about to be sent has been sent, or never will be: a
// request takes a minute at most.
const abandonedAfter = 2 * time.Minute

// clientID reads a client order id; "" when it is absent.
func (p params) clientID() (string, error) {
	id := p.get("clientOrderId")
	if len(id) > maxClientID || strings.Trim(id, clientIDAlphabet) != "" {
		return "", reject(codeParameter, "Invalid clientOrderId: at most %d letters, digits, dots, underscores and dashes are wanted", maxClientID)
	}
	return id, nil
}

// orderID reads which order of an account is meant, by its id or by the client's; ErrNoOrder.
func (n *network) orderID(ctx context.Context, owner core.Address, p params) (core.Hash, error) {
	clientID, err := p.clientID()
	switch {
	case err != nil:
		return core.Hash{}, err
	case clientID == "":
		return p.hash("orderId")
	case p.get("orderId") != "":
		return core.Hash{}, reject(codeParameter, "Invalid clientOrderId: either it or orderId is wanted")
	}
	return n.Keys.OrderOf(ctx, n.Name, owner, clientID)
}

// checkUnused refuses an id that the key has used. It is asked first: an order that was placed may
// be what keeps it from being placed again. To place an order it frees the ID of an abandoned one.
func (n *network) checkUnused(ctx context.Context, key apikey.Key, clientID string, toPlace bool) error {
	if clientID == "" {
		return nil
	}
	err := n.Keys.CheckUnused(ctx, key.Key, clientID)
	var taken *apikey.TakenError
	if toPlace && errors.As(err, &taken) && n.Now().Sub(taken.Created) >= abandonedAfter {
		err = n.freeAbandoned(ctx, key, taken)
	}
	return rejectTaken(err)
}

// freeAbandoned frees an ID whose order never reached the chain, because the program ended before
// it was sent. The ID is too old for an order that is still being sent. A node that is behind the
// processes that send for the key proves nothing.
func (n *network) freeAbandoned(ctx context.Context, key apikey.Key, taken *apikey.TakenError) error {
	if err := n.sender.run(ctx, key, func(a *accountSender) error { return a.awaitSent(ctx) }); err != nil {
		return err
	}
	block, err := n.Node.AccountBlockByHash(ctx, taken.Order)
	switch {
	case err != nil:
		return nodeError(fmt.Errorf("asking for order %s: %w", taken.Order, err))
	case block != nil:
		return taken
	}
	return n.Keys.UnbindOrder(ctx, taken.ClientOrder)
}

// rejectTaken returns an error with the order that has the ID, so that a client that lost an answer
// learns the outcome.
func rejectTaken(err error) error {
	var taken *apikey.TakenError
	if errors.As(err, &taken) {
		return reject(codeFailed, "clientOrderId %s belongs to order %s", taken.ClientID, taken.Order)
	}
	return err
}

// clientOrderBinding binds the client's id to the block that is about to be sent: whatever the
// chain may have is found by it.
type clientOrderBinding struct {
	*network
	apikey.ClientOrder
	bound bool
}

// bind is called with each block that may become the order.
func (t *clientOrderBinding) bind(ctx context.Context, order core.Hash) error {
	if t.ClientID == "" {
		return nil
	}
	if err := t.unbind(ctx); err != nil { // the block before this one was not taken
		return err
	}
	t.Order = order
	err := t.Keys.BindOrder(ctx, t.ClientOrder)
	t.bound = err == nil
	return rejectTaken(err)
}

// unbindIfRefused frees the id when the order was plainly refused. Where it may have been taken,
// the id stays with it.
func (t *clientOrderBinding) unbindIfRefused(err error) {
	if err == nil || errors.Is(err, errOutcomeUnknown) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), noteTimeout)
	defer cancel()
	if err := t.unbind(ctx); err != nil {
		t.Log.WithError(err).Warn("freeing the client order id of an order that was refused")
	}
}

func (t *clientOrderBinding) unbind(ctx context.Context) error {
	if !t.bound {
		return nil
	}
	t.bound = false
	return t.Keys.UnbindOrder(ctx, t.ClientOrder)
}

// withClientIDs adds to orders what their clients call them.
func (n *network) withClientIDs(ctx context.Context, list []index.Order) ([]order, error) {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	names, err := n.Keys.ClientIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]order, len(list))
	for i := range list {
		list[i].ClientID = names[list[i].ID]
		out[i] = orderOf(&list[i])
	}
	return out, nil
}
