package client

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/vite/core"
)

// Subscription ends with Close, with the connection, or when the reader falls 20000 events behind.
// It does not resubscribe: after Err returns a value, subscribe again and read the missed events.
type Subscription struct{ sub *rpc.ClientSubscription }

// Err gives one error when the subscription broke and is closed by Close.
func (s *Subscription) Err() <-chan error { return s.sub.Err() }

// Close ends the subscription.
func (s *Subscription) Close() { s.sub.Unsubscribe() }

// BlockEvent is an account block that entered or (Removed) left the chain.
type BlockEvent struct {
	Hash    core.Hash `json:"hash"`
	Height  count     `json:"height"`
	Removed bool      `json:"removed"`
}

// SubscribeAccount streams the blocks of one account, at acceptance: before any snapshot. It needs
// a WebSocket or a Unix socket.
func (c *Client) SubscribeAccount(ctx context.Context, a core.Address, events chan<- []BlockEvent) (*Subscription, error) {
	return c.subscribe(ctx, events, "newAccountBlockByAddress", a)
}

func (c *Client) subscribe(ctx context.Context, events any, topic string, params ...any) (*Subscription, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	over, err := c.link.get(ctx)
	if err != nil {
		return nil, fmt.Errorf("subscribing to %s: %w", topic, err)
	}
	sub, err := over.Subscribe(ctx, "subscribe", events, append([]any{topic}, params...)...)
	if err != nil {
		return nil, fmt.Errorf("subscribing to %s: %w", topic, fromRPC(err))
	}
	return &Subscription{sub}, nil
}
