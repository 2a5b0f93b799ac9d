package vite

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
	"gatewayd/vite/client"
)

// node is one configured node: its connection and what was last gathered from it.
type node struct {
	*quorum.Node
	// from 1, its place in the configuration: errors name nodes by it, never by an address that may
	// hold a secret
	number      int
	target      string
	timeout     time.Duration
	maxResponse int64
	dial        func(ctx context.Context, network, address string) (net.Conn, error)
	timed       func(method string, took time.Duration) // may be nil
	log         logrus.FieldLogger                      // may be nil

	dialing chan struct{}  // capacity 1: holds a token while a goroutine uses client
	client  *client.Client // nil until first used

	scanning chan struct{} // capacity 1: holds a token while someone uses line or scan
	line     *lineReader   // nil until the node was asked what it can do
	scan     *scan         // of a node without chunks; nil when nothing usable is known
}

func newNode(number int, target string, cfg Config) *node {
	n := &node{
		Node: quorum.New(hostOf(target), len(cfg.Nodes) == 1, cfg.Log), number: number, target: target, timeout: cfg.Timeout, maxResponse: cfg.MaxResponse, dial: cfg.Dial,
		dialing: make(chan struct{}, 1), scanning: make(chan struct{}, 1),
	}
	if observe := cfg.Timed; observe != nil {
		host := hostOf(target)
		n.timed = func(method string, took time.Duration) { observe(host, method, took) }
	}
	if cfg.Log != nil {
		n.log = cfg.Log.WithField("node", number)
	}
	return n
}

// hostOf is the part of an address that holds no secret.
func hostOf(target string) string {
	if u, err := url.Parse(target); err == nil && u.Host != "" {
		return u.Host
	}
	return "socket"
}

// connect dials at the first use; after that the client reconnects automatically.
func (n *node) connect(ctx context.Context) (*client.Client, error) {
	if err := enter(ctx, n.dialing); err != nil {
		return nil, err
	}
	defer leave(n.dialing)
	if n.client != nil {
		return n.client, nil
	}
	c, err := client.Dial(ctx, n.target, client.Options{Timeout: n.timeout, MaxResponse: n.maxResponse, Dial: n.dial, Log: n.log, Called: n.RecordCall, Timed: n.timed})
	if err != nil {
		n.RecordCall(ctx, err)
		return nil, err
	}
	n.client = c
	return c, nil
}

func (n *node) close() {
	n.Node.Close()
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

// question is sent to each node.
type question[T any] func(ctx context.Context, n *node, c *client.Client) (T, error)

// answer is one node's answer.
type answer[T any] = quorum.Answer[*node, T]

// ask puts a question to the nodes until enough is true of the answers.
func ask[T any](ctx context.Context, nodes []*node, q question[T], enough func([]answer[T]) bool) []answer[T] {
	return quorum.Ask(ctx, nodes, q.put, enough)
}

// askAll waits for all nodes.
func askAll[T any](ctx context.Context, nodes []*node, q question[T]) []answer[T] {
	return quorum.All(ctx, nodes, q.put)
}

// put asks one node. What it proves wrong is counted.
func (q question[T]) put(ctx context.Context, n *node) (value T, err error) {
	var c *client.Client
	if err = n.Ready(); err == nil {
		c, err = n.connect(ctx)
	}
	if err == nil {
		value, err = q(ctx, n, c)
	}
	if err != nil {
		err = fmt.Errorf("node %d: %w", n.number, err)
	}
	if errors.Is(err, errLie) {
		n.RecordWrong("block", err)
	}
	return value, err
}

// putWithin asks one node, which gets an equal share of the time that is left for it and those
// after it: one that answers each call just in time must leave enough to the others.
func (q question[T]) putWithin(ctx context.Context, n *node, shares int) (T, error) {
	if deadline, ok := ctx.Deadline(); ok {
		limited, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(shares))
		defer cancel()
		ctx = limited
	}
	return q.put(ctx, n)
}

// errLie marks an answer that contradicts itself: hashes, links or signatures do not fit.
var errLie = errors.New("the node's answer contradicts itself")

// quorum is the number of nodes that must agree.
func (c *Chain) quorum() int { return len(c.nodes)/2 + 1 }

// agreed returns the answer of more than half of the nodes; identity makes equal answers equal.
// ErrNotFound: more than half report that the item does not exist. ErrNotNow: more than half report
// that a block has no quota now. Any other disagreement is ErrUnavailable.
func agreed[T any](ctx context.Context, c *Chain, identity func(T) string, q question[T]) (T, error) {
	common, _, err := agreedAmong(ctx, c, identity, q)
	return common, err
}

// agreedAmong is agreed with each node's answer.
func agreedAmong[T any](ctx context.Context, c *Chain, identity func(T) string, q question[T]) (common T, answers []answer[T], err error) {
	answers = ask(ctx, c.nodes, q, quorum.Same[*node](c.quorum(), identity))
	common, found := quorum.Agreed(answers, c.quorum(), identity)
	if !found {
		err = disagreement(answers, c.quorum())
	}
	return common, answers, err
}

func disagreement[T any](answers []answer[T], need int) error {
	_, all := quorum.Good(answers)
	said := errors.Join(all...)
	for _, finding := range []error{chain.ErrNotFound, chain.ErrNotNow} {
		count := 0
		for _, err := range all {
			if errors.Is(err, finding) {
				count++
			}
		}
		if count >= need {
			return said
		}
	}
	if said == nil {
		return fmt.Errorf("%w: %d nodes contradict each other", chain.ErrUnavailable, len(answers))
	}
	return unavailable(said)
}

// unavailable marks a node's fault. An item that one of several nodes did not find may exist, so
// its error is not passed on.
func unavailable(err error) error {
	if errors.Is(err, chain.ErrNotFound) || errors.Is(err, chain.ErrNotNow) {
		return fmt.Errorf("%w: %s", chain.ErrUnavailable, err.Error())
	}
	return fmt.Errorf("%w: %w", chain.ErrUnavailable, err)
}
