package vite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
)

// node is one configured node: its connection and what was last gathered from it.
type node struct {
	number  int // from 1, its place in the configuration: errors name nodes by it, never by an address that may hold a secret
	target  string
	timeout time.Duration
	log     logrus.FieldLogger // nil: nobody is told

	dialing chan struct{}  // capacity 1: holds a token while someone looks at client
	client  *client.Client // nil until first used

	scanning chan struct{} // capacity 1: holds a token while someone uses line or scan
	line     *lineReader   // nil until the node was asked what it can do
	scan     *scan         // of a node without chunks; nil when nothing usable is known
}

func newNode(number int, target string, cfg Config) *node {
	n := &node{number: number, target: target, timeout: cfg.Timeout, dialing: make(chan struct{}, 1), scanning: make(chan struct{}, 1)}
	if cfg.Log != nil {
		n.log = cfg.Log.WithField("node", number)
	}
	return n
}

// connect dials at the first use; after that the client mends its connection itself.
func (n *node) connect(ctx context.Context) (*client.Client, error) {
	if err := enter(ctx, n.dialing); err != nil {
		return nil, err
	}
	defer leave(n.dialing)
	if n.client != nil {
		return n.client, nil
	}
	c, err := client.Dial(ctx, n.target, client.Options{Timeout: n.timeout, Log: n.log})
	if err != nil {
		return nil, err
	}
	n.client = c
	return c, nil
}

func (n *node) close() {
	n.dialing <- struct{}{}
	defer leave(n.dialing)
	if n.client != nil {
		n.client.Close()
		n.client = nil
	}
}

// enter and leave are a lock for which one waits no longer than ctx lasts.
func enter(ctx context.Context, door chan struct{}) error {
	select {
	case door <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func leave(door chan struct{}) { <-door }

// question is what is asked of each node.
type question[T any] func(ctx context.Context, n *node, c *client.Client) (T, error)

// answer is what one node said.
type answer[T any] struct {
	node  int // its number
	value T
	err   error
}

// ask puts a question to all nodes at once and answers in the order in which they do. When enough says so, the rest is cancelled.
func ask[T any](ctx context.Context, nodes []*node, q question[T], enough func(answer[T]) bool) []answer[T] {
	incoming := make(chan answer[T], len(nodes)) // as many as will be sent, so that nobody waits
	var asking sync.WaitGroup
	defer asking.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, n := range nodes {
		asking.Go(func() { incoming <- askOne(ctx, n, q) })
	}
	var answers []answer[T]
	for range nodes {
		a := <-incoming
		answers = append(answers, a)
		if enough(a) {
			break
		}
	}
	return answers
}

func askOne[T any](ctx context.Context, n *node, q question[T]) answer[T] {
	a := answer[T]{node: n.number}
	err := ctx.Err() // an ended context must not send a block
	var c *client.Client
	if err == nil {
		c, err = n.connect(ctx)
	}
	if err == nil {
		a.value, err = q(ctx, n, c)
	}
	if err != nil {
		a.err = fmt.Errorf("node %d: %w", n.number, err)
	}
	return a
}

// askAll waits for all nodes.
func askAll[T any](ctx context.Context, nodes []*node, q question[T]) []answer[T] {
	return ask(ctx, nodes, q, func(answer[T]) bool { return false })
}

// quorum is the number of nodes that must say the same.
func (c *Chain) quorum() int { return len(c.nodes)/2 + 1 }

// agreed answers what more than half of the nodes say; identity makes equal answers equal. Where more than half say that a thing
// is not there it is ErrNotFound, where more than half say that a block cannot be paid for now it is ErrNotNow, and everything else
// is ErrUnavailable.
func agreed[T any](ctx context.Context, c *Chain, identity func(T) string, q question[T]) (T, error) {
	votes := make(map[string]int, len(c.nodes))
	var common *T
	answers := ask(ctx, c.nodes, q, func(a answer[T]) bool {
		if a.err != nil {
			return false
		}
		id := identity(a.value)
		if votes[id]++; votes[id] >= c.quorum() {
			common = &a.value
		}
		return common != nil
	})
	if common == nil {
		var none T
		return none, disagreement(answers, c.quorum())
	}
	return *common, nil
}

func disagreement[T any](answers []answer[T], quorum int) error {
	var all []error
	for _, a := range answers {
		if a.err != nil {
			all = append(all, a.err)
		}
	}
	said := errors.Join(all...)
	for _, finding := range []error{chain.ErrNotFound, chain.ErrNotNow} {
		count := 0
		for _, err := range all {
			if errors.Is(err, finding) {
				count++
			}
		}
		if count >= quorum {
			return said
		}
	}
	if said == nil {
		return fmt.Errorf("%w: %d nodes contradict each other", chain.ErrUnavailable, len(answers))
	}
	return unavailable(said)
}

// unavailable marks a node's fault. What one node of several did not find is no finding, so the word for it does not go on.
func unavailable(err error) error {
	if errors.Is(err, chain.ErrNotFound) || errors.Is(err, chain.ErrNotNow) {
		return fmt.Errorf("%w: %s", chain.ErrUnavailable, err.Error())
	}
	return fmt.Errorf("%w: %w", chain.ErrUnavailable, err)
}
