package vite

import (
	"context"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
)

// NodeStatus is how one configured node is doing.
type NodeStatus struct {
	Number int           // from 1, its place in the configuration
	Latest chain.Point   // its newest snapshot block
	Age    time.Duration // of that block by our clock: below zero when the node's time is ahead of ours
	Err    error         // why it gives no answer; nothing else is set then
}

// NodeInfo asks every node for its newest block, in the order of the configuration. A healthy node's is about a second old; a node
// itself refuses blocks when clocks differ by more than ten minutes (vite-wire.md 5.2).
func (c *Chain) NodeInfo(ctx context.Context) []NodeStatus {
	answers := askAll(ctx, c.nodes, func(ctx context.Context, _ *node, nc *client.Client) (header, error) {
		return latestHeader(ctx, nc)
	})
	all := make([]NodeStatus, len(answers))
	for _, a := range answers {
		status := NodeStatus{Number: a.node, Err: a.err}
		if a.err == nil {
			status.Latest, status.Age = a.value.Point, c.now().Sub(a.value.time)
		}
		all[a.node-1] = status
	}
	return all
}
