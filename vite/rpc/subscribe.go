package rpc

import (
	"context"
	"sync"

	gethrpc "github.com/ethereum/go-ethereum/rpc"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/node"
)

// changesBuffered is the number of changes that may wait for one subscriber; a slower one loses its
// connection.
const changesBuffered = 1024

// subscribeAPI is the module subscribe: callbacks over WebSocket and Unix socket, polling filters
// over any transport.
type subscribeAPI struct {
	node    *node.Node
	filters *filterTable
	slots   chan struct{}     // one per live callback subscription
	drop    func(peer string) // closes the connection of a subscriber who does not keep up
	done    <-chan struct{}   // closed when the server ends
	running sync.WaitGroup    // the forwarders
}

// forward starts a subscription. The library ends it with its connection or on unsubscribing; the
// server's end ends it, too.
func (s *subscribeAPI) forward(ctx context.Context, t topic) (*gethrpc.Subscription, error) {
	notifier, ok := gethrpc.NotifierFromContext(ctx)
	if !ok {
		return nil, jsonrpc.Other("notifications not supported")
	}
	select {
	case s.slots <- struct{}{}:
	default:
		return nil, jsonrpc.Other("too many subscriptions")
	}
	sub := notifier.CreateSubscription()
	feed := s.node.Subscribe(changesBuffered)
	peer := gethrpc.PeerInfoFromContext(ctx).RemoteAddr
	s.running.Go(func() {
		defer func() { <-s.slots }()
		defer feed.Close()
		if !s.pump(notifier, sub, feed, t) {
			s.drop(peer)
		}
	})
	return sub, nil
}

// pump hands changes over until the subscription ends. It is false when the subscriber did not keep
// up: he must not believe in an unbroken stream, so he loses his connection.
func (s *subscribeAPI) pump(n *gethrpc.Notifier, sub *gethrpc.Subscription, feed *node.Subscription, t topic) bool {
	for {
		select {
		case change, open := <-feed.Changes():
			if !open {
				return false
			}
			if items := t.items(change); len(items) > 0 && n.Notify(sub.ID, items) != nil {
				return false
			}
		case <-sub.Err():
			return true
		case <-s.done:
			return true
		}
	}
}

// NewSnapshotBlock streams snapshot blocks.
func (s *subscribeAPI) NewSnapshotBlock(ctx context.Context) (*gethrpc.Subscription, error) {
	return s.forward(ctx, snapshotBlocks)
}

// NewAccountBlock streams the blocks of all accounts.
func (s *subscribeAPI) NewAccountBlock(ctx context.Context) (*gethrpc.Subscription, error) {
	return s.forward(ctx, accountBlocks)
}

// NewAccountBlockByAddress streams the blocks of one account.
func (s *subscribeAPI) NewAccountBlockByAddress(ctx context.Context, a addressArg) (*gethrpc.Subscription, error) {
	return s.forward(ctx, blocksOf(a.Address))
}

// NewUnreceivedBlockByAddress streams what happens to the unreceived list of an account.
func (s *subscribeAPI) NewUnreceivedBlockByAddress(ctx context.Context, a addressArg) (*gethrpc.Subscription, error) {
	return s.forward(ctx, unreceivedOf(a.Address))
}

// NewVmLog streams events of contracts.
func (s *subscribeAPI) NewVmLog(ctx context.Context, f logFilter) (*gethrpc.Subscription, error) {
	chosen, err := f.filter()
	if err != nil {
		return nil, err
	}
	return s.forward(ctx, logsOf(chosen))
}

// The names of the first generation.

// NewSnapshotBlocks is NewSnapshotBlock with older members.
func (s *subscribeAPI) NewSnapshotBlocks(ctx context.Context) (*gethrpc.Subscription, error) {
	return s.forward(ctx, v1SnapshotBlocks)
}

// NewAccountBlocks is NewAccountBlock.
func (s *subscribeAPI) NewAccountBlocks(ctx context.Context) (*gethrpc.Subscription, error) {
	return s.forward(ctx, accountBlocks)
}

// NewAccountBlocksByAddr is NewAccountBlockByAddress with older members.
func (s *subscribeAPI) NewAccountBlocksByAddr(ctx context.Context, a addressArg) (*gethrpc.Subscription, error) {
	return s.forward(ctx, v1BlocksOf(a.Address))
}

// NewOnroadBlocksByAddr is NewUnreceivedBlockByAddress with older members.
func (s *subscribeAPI) NewOnroadBlocksByAddr(ctx context.Context, a addressArg) (*gethrpc.Subscription, error) {
	return s.forward(ctx, v1UnreceivedOf(a.Address))
}

// NewLogs is NewVmLog with older members.
func (s *subscribeAPI) NewLogs(ctx context.Context, f logFilter) (*gethrpc.Subscription, error) {
	chosen, err := f.filter()
	if err != nil {
		return nil, err
	}
	return s.forward(ctx, v1LogsOf(chosen))
}

// The names between the generations; their members are the newer ones.

// CreateSnapshotBlockSubscription is NewSnapshotBlock.
func (s *subscribeAPI) CreateSnapshotBlockSubscription(ctx context.Context) (*gethrpc.Subscription, error) {
	return s.NewSnapshotBlock(ctx)
}

// CreateAccountBlockSubscription is NewAccountBlock.
func (s *subscribeAPI) CreateAccountBlockSubscription(ctx context.Context) (*gethrpc.Subscription, error) {
	return s.NewAccountBlock(ctx)
}

// CreateAccountBlockSubscriptionByAddress is NewAccountBlockByAddress.
func (s *subscribeAPI) CreateAccountBlockSubscriptionByAddress(ctx context.Context, a addressArg) (*gethrpc.Subscription, error) {
	return s.NewAccountBlockByAddress(ctx, a)
}

// CreateUnreceivedBlockSubscriptionByAddress is NewUnreceivedBlockByAddress.
func (s *subscribeAPI) CreateUnreceivedBlockSubscriptionByAddress(ctx context.Context, a addressArg) (*gethrpc.Subscription, error) {
	return s.NewUnreceivedBlockByAddress(ctx, a)
}

// CreateVmlogSubscription is NewVmLog.
func (s *subscribeAPI) CreateVmlogSubscription(ctx context.Context, f logFilter) (*gethrpc.Subscription, error) {
	return s.NewVmLog(ctx, f)
}
