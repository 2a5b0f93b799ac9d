package vite

import (
	"context"
	"errors"
	"time"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// NodeStatus is the state of one configured node.
type NodeStatus struct {
	Number int           // from 1, its place in the configuration
	Latest chain.Point   // its newest snapshot block
	Age    time.Duration // of that block by our clock: below zero when the node's time is ahead of ours
	Line   LineMode      // how it shows the line
	Err    error         // why it gives no answer; nothing else is set then
}

// NodeInfo asks every node for its newest block and what it can do, in the order of the
// configuration. A healthy node's block is about a second old; a node itself refuses blocks when
// clocks differ by more than ten minutes.
func (c *Chain) NodeInfo(ctx context.Context) []NodeStatus {
	c = c.current()
	answers := askAll(ctx, c.nodes, func(ctx context.Context, n *node, nc *client.Client) (NodeStatus, error) {
		h, err := latestHeader(ctx, nc)
		if err != nil {
			return NodeStatus{}, err
		}
		n.RecordHead(h.Height, h.time)
		s := NodeStatus{Latest: h.Point, Age: c.now().Sub(h.time)}
		s.Line, err = n.lineMode(ctx, nc, c)
		return s, err
	})
	all := make([]NodeStatus, len(answers))
	for _, a := range answers {
		a.Value.Number, a.Value.Err = a.Node.number, a.Err
		all[a.Node.number-1] = a.Value
	}
	return all
}

func (n *node) lineMode(ctx context.Context, nc *client.Client, c *Chain) (LineMode, error) {
	if err := enter(ctx, n.scanning); err != nil {
		return 0, err
	}
	defer leave(n.scanning)
	r, err := n.lineOf(ctx, nc, c)
	if err != nil {
		return 0, err
	}
	return r.mode, nil
}

// NodeCalls lists the adapter's calls that a node's port lacks.
type NodeCalls struct {
	Number  int      // from 1, its place in the configuration
	Asked   int      // methods
	Missing []string // the missing ones; the module is the part before the underscore
	Err     error    // why it could not be asked; nothing else counts then
}

// probe is a method with parameters that any chain has an answer to. Chunks and upgrades are not
// among them: a node may do without (LineMode).
type probe struct {
	method string
	params []any
}

func probes() []probe {
	nobody, nothing := core.Address{}, core.Hash{}
	return []probe{
		{"ledger_getLatestSnapshotBlock", nil},
		{"ledger_getSnapshotBlockByHeight", []any{"1"}},
		{"ledger_getSnapshotBlockByHash", []any{nothing}},
		{"ledger_getLatestAccountBlock", []any{nobody}},
		{"ledger_getAccountBlockByHash", []any{nothing}},
		{"ledger_getAccountBlocks", []any{nobody, nil, nil, 1}},
		{"ledger_getUnreceivedBlocksByAddress", []any{nobody, 0, 1}},
		{"ledger_getAccountInfoByAddress", []any{nobody}},
		{"contract_getTokenInfoById", []any{core.VITE}},
		{"contract_getQuotaByAccount", []any{nobody}},
		{"ledger_getPoWDifficulty", []any{map[string]any{"address": nobody, "previousHash": nothing, "blockType": core.SendCall, "toAddress": nobody}}},
		{"ledger_sendRawTransaction", []any{map[string]any{}}}, // refused as what it is: no block
	}
}

// ProbeCalls asks every node each method that the adapter uses, in the order of the configuration.
// A refusal is an answer. It sends no block.
func (c *Chain) ProbeCalls(ctx context.Context) []NodeCalls {
	c = c.current()
	all := make([]NodeCalls, len(c.nodes))
	for _, a := range askAll(ctx, c.nodes, missingOf) {
		all[a.Node.number-1] = NodeCalls{Number: a.Node.number, Asked: len(probes()), Missing: a.Value, Err: a.Err}
	}
	return all
}

func missingOf(ctx context.Context, _ *node, nc *client.Client) (missing []string, err error) {
	for _, p := range probes() {
		err := nc.Call(ctx, nil, p.method, p.params...)
		var refused *client.Error
		switch {
		case errors.Is(err, client.ErrMethod):
			missing = append(missing, p.method)
		case err != nil && !errors.As(err, &refused):
			return nil, err
		}
	}
	return missing, nil
}
