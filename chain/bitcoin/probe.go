package bitcoin

import (
	"context"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// Report describes one node, for people who set the gateway up.
type Report struct {
	Node     string // number and host, without secrets
	Software string // as it names itself
	Head     chain.Point
	HeadTime time.Time // compare with the clock: an old time means a stalled node, or a clock that is wrong
	Syncing  bool      // it still reads the chain's past
	Pruned   bool      // it deletes old blocks
	Lowest   uint64    // of a pruned node: the lowest block that it keeps; 0: it does not name it
	Err      error     // the first thing that did not work
}

// Probe asks each node about itself. It answers one report for each, in the configured order.
func (c *Chain) Probe(ctx context.Context) []Report {
	c = c.current()
	question := func(ctx context.Context, n *node) (Report, error) { return n.probe(ctx), nil }
	byNode := make(map[*node]Report)
	for _, a := range quorum.All(ctx, c.nodes, question) {
		byNode[a.Node] = a.Value
	}
	reports := make([]Report, len(c.nodes))
	for i, n := range c.nodes {
		reports[i] = byNode[n]
	}
	return reports
}

func (n *node) probe(ctx context.Context) (r Report) {
	r.Node = n.name
	p, tip, err := n.position(ctx)
	if err != nil {
		r.Err = err
		return r
	}
	r.Head, r.Syncing, r.Pruned = chain.Point{Height: p.Blocks, Hash: tip.String()}, p.Syncing, p.Pruned
	if p.PruneHeight != nil {
		r.Lowest = *p.PruneHeight
	}
	h, err := n.header(ctx, tip)
	if err != nil {
		r.Err = err
		return r
	}
	r.HeadTime = h.Timestamp.UTC()
	if r.Software, err = n.software(ctx); err != nil {
		r.Err = fmt.Errorf("asking for the software: %w", err)
	}
	return r
}

// software is the node's own name of its program and version.
func (n *node) software(ctx context.Context) (string, error) {
	var info struct {
		Name    string `json:"subversion"`
		Version int    `json:"version"`
	}
	err := n.call(ctx, &info, "getnetworkinfo")
	if refused(err) { // btcd
		err = n.call(ctx, &info, "getinfo")
	}
	if info.Name == "" {
		info.Name = fmt.Sprint(info.Version)
	}
	return info.Name[:min(len(info.Name), maxText)], err
}
