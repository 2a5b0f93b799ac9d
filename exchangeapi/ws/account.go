package ws

import (
	"context"
	"errors"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/encoding/protowire"

	"gatewayd/exchangeapi/index"
)

// Accounts are the API keys of the network, and what clients call their orders: apikey.Accounts.
type Accounts interface {
	// SignIn returns whose key has signed key and timestamp. Errors that are not the client's fault
	// wrap none of ErrSignIn.
	SignIn(ctx context.Context, key, timestamp, signature string) (owner string, err error)
	// IsActive reports whether a key has not ended.
	IsActive(ctx context.Context, key string) (bool, error)
	ClientIDs(ctx context.Context, orders []string) (map[string]string, error)
}

// ErrSignIn marks a key, timestamp or signature that is not good.
var ErrSignIn = errors.New("invalid key, timestamp or signature")

// maxSignIns bounds how often a connection may sign in: a key for each account that it follows.
const maxSignIns = 16

// signIn makes the topic account.<address> of the key's owner this connection's.
func (c *conn) signIn(req request) fault {
	if c.hub.accounts == nil {
		return illegalOp
	}
	if c.signIns++; c.signIns > maxSignIns {
		return visitLimit
	}
	ctx, cancel := context.WithTimeout(context.Background(), clientIDsTimeout)
	defer cancel()
	owner, err := c.hub.accounts.SignIn(ctx, req.key, req.timestamp, req.signature)
	switch {
	case errors.Is(err, ErrSignIn):
		return refusedSignIn
	case err != nil:
		c.hub.log.WithError(err).Warn("signing in to pushes")
		return unavailable
	}
	c.hub.table.mu.Lock()
	defer c.hub.table.mu.Unlock()
	if c.signedIn == nil {
		c.signedIn = map[string]string{}
	}
	c.signedIn[accountTopic(owner)] = req.key
	return noFault
}

// mayHear reports whether a connection may have a topic: an account's own wants its signature.
func (t *table) mayHear(c *conn, what topic) bool {
	if what.kind != kindAccount {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return c.signedIn[what.name] != ""
}

// recheckKeys closes, again and again, the connections that have signed in with a key that has
// ended since.
func (h *Hub) recheckKeys(ctx context.Context) error {
	look := time.NewTicker(h.cfg.Expiry/2 + 1)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			h.endWithKeys(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (h *Hub) endWithKeys(ctx context.Context) {
	for _, c := range h.connections() {
		for _, key := range h.table.keysOf(c) {
			if good, err := h.accounts.IsActive(ctx, key); err == nil && !good {
				c.end(websocket.ClosePolicyViolation, "the API key has ended")
			}
		}
	}
}

func (t *table) keysOf(c *conn) (keys []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range c.signedIn {
		keys = append(keys, key)
	}
	return keys
}

// accountOrder is a change of an order on its account's topic.
type accountOrder struct{ order }

func (o accountOrder) appendJSON(b []byte) []byte {
	b = o.order.appendJSON(append(b, `{"order":`...))
	return append(b, '}')
}

// appendProto appends an AccountEvent.
func (o accountOrder) appendProto(b []byte) []byte {
	return protoItem(b, 1, o.order.appendProto(nil))
}

// accountFill is a fill of one order on its account's topic.
type accountFill struct {
	index.Trade
	order *index.Order
	side  int
	fee   string
}

func (f accountFill) maker() bool { return f.side != f.Side }

func (f accountFill) appendJSON(b []byte) []byte {
	b = appendText(b, `{"fill":{"a":`, f.Amount)
	b = appendInt(b, `,"bh":`, int64(f.BlockHeight))
	if f.order.ClientID != "" {
		b = appendText(b, `,"cid":`, f.order.ClientID)
	}
	b = appendText(b, `,"f":`, f.fee)
	b = appendText(b, `,"id":`, f.ID)
	if f.maker() {
		b = append(b, `,"maker":true`...)
	} else {
		b = append(b, `,"maker":false`...)
	}
	b = appendText(b, `,"oid":`, f.order.ID)
	b = appendText(b, `,"p":`, f.Price)
	b = appendText(b, `,"q":`, f.Quantity)
	b = appendText(b, `,"s":`, f.Symbol)
	b = appendInt(b, `,"side":`, int64(f.side))
	b = appendInt(b, `,"t":`, f.Time)
	return append(b, '}', '}')
}

// appendProto appends an AccountEvent.
func (f accountFill) appendProto(b []byte) []byte {
	m := protoText(nil, 1, f.ID)
	m = protoText(m, 2, f.order.ID)
	m = protoText(m, 3, f.order.ClientID)
	m = protoText(m, 4, f.Symbol)
	m = protoInt(m, 5, int64(f.side))
	m = protoText(m, 6, f.Price)
	m = protoText(m, 7, f.Quantity)
	m = protoText(m, 8, f.Amount)
	m = protoText(m, 9, f.fee)
	m = protoInt(m, 10, int64(protowire.EncodeBool(f.maker())))
	m = protoInt(m, 11, f.Time)
	m = protoInt(m, 12, int64(f.BlockHeight))
	return protoItem(b, 2, m)
}

// gatherAccounts adds an update's changes for accounts with a signed-in client: their orders, and
// then their fills. The orders of a fill change with it, so they are in the same update.
func gatherAccounts(list *[kinds][]push, u index.Update, called map[string]string, wanted map[string]bool) {
	if len(wanted) == 0 {
		return
	}
	own := map[string]*index.Order{}
	for i := range u.Orders {
		o := u.Orders[i]
		if !wanted[o.Address] {
			continue
		}
		o.ClientID = called[o.ID]
		own[o.InnerID] = &o
		list[kindAccount] = append(list[kindAccount], push{topic: accountTopic(o.Address), kind: kindAccount, payload: accountOrder{order(o)}})
	}
	for _, t := range u.Trades {
		for side, of := range [2]struct{ inner, fee string }{{t.BuyOrder, t.BuyFee}, {t.SellOrder, t.SellFee}} {
			if o := own[of.inner]; o != nil {
				fill := accountFill{Trade: t, order: o, side: side, fee: of.fee}
				list[kindAccount] = append(list[kindAccount], push{topic: accountTopic(o.Address), kind: kindAccount, payload: fill})
			}
		}
	}
}
