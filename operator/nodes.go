package operator

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
)

// Node is one node of a chain, as the process that answers has found it.
type Node struct {
	Chain    chain.ID   `json:"chain"`
	Name     string     `json:"name"` // host and port
	Up       bool       `json:"up"`
	Why      string     `json:"why,omitempty"` // what was wrong with its last answer
	Head     uint64     `json:"head"`
	HeadTime *time.Time `json:"headTime,omitempty"`
	AskedAt  *time.Time `json:"askedAt,omitempty"`
	Faults   uint64     `json:"faults"` // answers that were proven wrong or contradicted, since the process started
	Fault    string     `json:"lastFault,omitempty"`
	LeftOut  bool       `json:"leftOut"` // it is not asked for now, because of its faults
}

// Nodes lists all nodes with their state. running are the chains of the daemon in this process;
// without them each node is asked once.
func Nodes(ctx context.Context, d *Session, running map[chain.ID]chain.Chain) ([]Node, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	chains := d.Config.Chains()
	found := make([][]Node, len(chains))
	var g errgroup.Group
	for i, c := range chains {
		if watched := chain.CapabilitiesOf(running[c.ID]).Nodes; watched != nil {
			found[i] = nodesOf(c.ID, watched)
			continue
		}
		adapter, err := c.Open(nil, nil)
		if err != nil {
			return nil, err
		}
		g.Go(func() error {
			defer adapter.Close()
			_, _ = adapter.Head(ctx) // its nodes' errors are reported below
			if watched := chain.CapabilitiesOf(adapter).Nodes; watched != nil {
				found[i] = nodesOf(c.ID, watched)
			}
			return nil
		})
	}
	err := g.Wait()
	list := []Node{}
	for _, some := range found {
		list = append(list, some...)
	}
	return list, err
}

func nodesOf(id chain.ID, w chain.NodeWatcher) (list []Node) {
	for _, n := range w.Nodes() {
		list = append(list, Node{
			Chain: id, Name: n.Name, Up: n.Up, Why: n.Why, Head: n.Head, HeadTime: timeOrNil(n.HeadTime), AskedAt: timeOrNil(n.AskedAt),
			Faults: n.Faults, Fault: n.LastFault, LeftOut: n.LeftOut,
		})
	}
	return list
}

func timeOrNil(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
