package index

import (
	"context"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// noticeNode announces new blocks; *client.Client is one over a WebSocket or a Unix socket.
type noticeNode interface {
	SubscribeAccount(context.Context, core.Address, chan<- []client.BlockEvent) (*client.Subscription, error)
}

// resubscribeAfter is the delay between a failed subscription and the next one.
const resubscribeAfter = 15 * time.Second

// listenForNotices subscribes to the blocks of two accounts until ctx ends, repeatedly. It calls
// tell for new blocks, with removed set if some were removed. It never calls tell for a node
// without subscriptions.
func listenForNotices(ctx context.Context, node noticeNode, log logrus.FieldLogger, accounts [2]core.Address, tell func(removed bool)) {
	for ctx.Err() == nil {
		if err := hear(ctx, node, accounts, tell); err != nil && ctx.Err() == nil {
			log.WithError(err).Debug("the node does not announce new blocks; polling instead")
		}
		select {
		case <-ctx.Done():
		case <-time.After(resubscribeAfter):
		}
	}
}

// hear calls tell for each block until a subscription breaks or ctx ends.
func hear(ctx context.Context, node noticeNode, accounts [2]core.Address, tell func(removed bool)) error {
	events := make(chan []client.BlockEvent, 1)
	first, err := node.SubscribeAccount(ctx, accounts[0], events)
	if err != nil {
		return err
	}
	defer first.Close()
	second, err := node.SubscribeAccount(ctx, accounts[1], events)
	if err != nil {
		return err
	}
	defer second.Close()
	tell(false) // for what came before
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-first.Err():
			return err
		case err := <-second.Err():
			return err
		case list := <-events:
			tell(slices.ContainsFunc(list, func(e client.BlockEvent) bool { return e.Removed }))
		}
	}
}
