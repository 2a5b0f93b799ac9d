package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/vite/core"
)

// Subscription ends with Close, with the connection, or when the reader falls 20000 events behind. There is no
// resubscribing here: after Err gives something, subscribe anew and catch up by reading what was missed.
type Subscription struct{ sub *rpc.ClientSubscription }

// Err gives one error when the subscription broke and is closed by Close.
func (s *Subscription) Err() <-chan error { return s.sub.Err() }

// Close ends the subscription.
func (s *Subscription) Close() { s.sub.Unsubscribe() }

// SnapshotEvent is a snapshot block that entered or (Removed) left the chain.
type SnapshotEvent struct {
	Hash    core.Hash
	Height  uint64
	Removed bool
}

// BlockEvent is an account block that entered or (Removed) left the chain. Height is 0 in the stream of all accounts.
type BlockEvent struct {
	Hash    core.Hash
	Height  uint64
	Removed bool
}

// UnreceivedEvent tells of a send to an account: new, then Received; Removed when either was rolled back.
type UnreceivedEvent struct {
	Hash     core.Hash // of the send
	Received bool
	Removed  bool
}

type eventWire struct {
	Hash     core.Hash `json:"hash"`
	Height   count     `json:"height"`
	Received bool      `json:"received"`
	Closed   bool      `json:"closed"`
	Removed  bool      `json:"removed"`
}

// UnmarshalJSON reads either generation of members.
func (e *SnapshotEvent) UnmarshalJSON(raw []byte) error {
	var w eventWire
	err := json.Unmarshal(raw, &w)
	*e = SnapshotEvent{w.Hash, uint64(w.Height), w.Removed}
	return err
}

// UnmarshalJSON reads either generation of members.
func (e *BlockEvent) UnmarshalJSON(raw []byte) error {
	var w eventWire
	err := json.Unmarshal(raw, &w)
	*e = BlockEvent{w.Hash, uint64(w.Height), w.Removed}
	return err
}

// UnmarshalJSON reads either generation of members.
func (e *UnreceivedEvent) UnmarshalJSON(raw []byte) error {
	var w eventWire
	err := json.Unmarshal(raw, &w)
	*e = UnreceivedEvent{w.Hash, w.Received || w.Closed, w.Removed}
	return err
}

// SubscribeSnapshotBlocks streams snapshot blocks. It needs a WebSocket or a Unix socket, as all subscriptions do.
func (c *Client) SubscribeSnapshotBlocks(ctx context.Context, events chan<- []SnapshotEvent) (*Subscription, error) {
	return c.subscribe(ctx, events, "newSnapshotBlock")
}

// SubscribeAccountBlocks streams the blocks of all accounts, at acceptance: before any snapshot.
func (c *Client) SubscribeAccountBlocks(ctx context.Context, events chan<- []BlockEvent) (*Subscription, error) {
	return c.subscribe(ctx, events, "newAccountBlock")
}

// SubscribeAccount streams the blocks of one account, at acceptance.
func (c *Client) SubscribeAccount(ctx context.Context, a core.Address, events chan<- []BlockEvent) (*Subscription, error) {
	return c.subscribe(ctx, events, "newAccountBlockByAddress", a)
}

// SubscribeUnreceived streams the sends to one account and their being received.
func (c *Client) SubscribeUnreceived(ctx context.Context, a core.Address, events chan<- []UnreceivedEvent) (*Subscription, error) {
	return c.subscribe(ctx, events, "newUnreceivedBlockByAddress", a)
}

// SubscribeVMLogs streams contract events; the filter's Page and Size mean nothing here.
func (c *Client) SubscribeVMLogs(ctx context.Context, f LogFilter, events chan<- []LogEntry) (*Subscription, error) {
	return c.subscribe(ctx, events, "newVmLog", f)
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
