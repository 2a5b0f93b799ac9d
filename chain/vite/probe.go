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
	Line   LineMode      // how it shows the line
	Err    error         // why it gives no answer; nothing else is set then
}

// NodeInfo asks every node for its newest block and what it can do, in the order of the configuration. A healthy node's block is about a
// second old; a node itself refuses blocks when clocks differ by more than ten minutes.
func (c *Chain) NodeInfo(ctx context.Context) []NodeStatus {
	answers := askAll(ctx, c.nodes, func(ctx context.Context, n *node, nc *client.Client) (NodeStatus, error) {
		h, err := latestHeader(ctx, nc)
		if err != nil {
			return NodeStatus{}, err
		}
		n.Saw(h.Height, h.time)
		s := NodeStatus{Latest: h.Point, Age: c.now().Sub(h.time)}
		s.Line, err = n.lineMode(ctx, nc, c.cfg.Proof)
		return s, err
	})
	all := make([]NodeStatus, len(answers))
	for _, a := range answers {
		a.Value.Number, a.Value.Err = a.Node.number, a.Err
		all[a.Node.number-1] = a.Value
	}
	return all
}

func (n *node) lineMode(ctx context.Context, nc *client.Client, proof string) (LineMode, error) {
	if err := enter(ctx, n.scanning); err != nil {
		return 0, err
	}
	defer leave(n.scanning)
	r, err := n.lineOf(ctx, nc, proof)
	if err != nil {
		return 0, err
	}
	return r.mode, nil
}
