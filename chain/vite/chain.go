// Package vite is the adapter between the gateway and the exchange chain (Vite): it implements
// chain.Chain over the JSON-RPC of one or more nodes, real or embedded.
//
// Its block chain is the snapshot chain. It is read by chunks, each a snapshot block with all
// account blocks that it confirms, and recomputed:
//
//	chunks ── check: links, hashes, contents, signatures ── majority of the nodes
//	       ── our accounts ── Block(h), Blocks
//
// So a node can neither leave out nor invent a transfer on a chain that the majority has
// (docs/adr/010). A node without chunks is read from the accounts' side, and the sends to an
// account of ours are assigned to the height of the snapshot block that confirmed them first:
//
//	node ── unreceived sends of the account ─────────┐
//	     ── own blocks, newest first ── receives ── their sends ┤── scan: height -> transfers, own
//	                                └── own transactions ─────┘   ── Block(h)
//
// A scan made at snapshot head S serves all heights up to S. Hashes and signatures prove what they
// cover. The rest (which snapshot block confirmed a send, a contract's sends, completeness) is
// believed when the majority of the configured nodes agrees.
//
// The package owns: reading and checking, payment data, building of account blocks and the rules of
// their signing, quota and proof of work. It owns no keys, no database and no decision about money.
// See docs/payment-rules.md 3, docs/exchange-chain-wire.md 4, docs/exchange-chain-rpc.md.
package vite

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

// accounts lists our accounts of a ledger: a handful.
type accounts interface {
	Accounts(ctx context.Context, id chain.ID) ([]string, error)
}

// Chain is the exchange chain as the gateway sees it. It is safe for concurrent use.
type Chain struct {
	SigningRules
	cfg   Config // checked, with its defaults
	nodes []*node
	own   accounts

	reader atomic.Int64 // index of the node that proved the line last
	united atomic.Bool  // the last Head found a block that more than half of the nodes have
	*experience

	// live is the chain with the nodes of now; nil in that chain itself. Each exported method takes
	// it once: the answers of one call come from one set of nodes, of which a majority agrees.
	live atomic.Pointer[Chain]
}

// experience contains observations of the chain. They stay when the nodes are replaced.
type experience struct {
	now func() time.Time

	mu      sync.Mutex
	budgets map[core.Address]budget // of our accounts
}

var (
	_ chain.Chain       = (*Chain)(nil)
	_ chain.NodeWatcher = (*Chain)(nil)
)

// New prepares the adapter; it connects to nothing yet. own is asked again for every block. Who
// reads no Block may leave it out.
func New(cfg Config, own accounts) (*Chain, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	c := &Chain{
		SigningRules: NewSigningRules(cfg.Signing()), cfg: cfg.withDefaults(), own: own,
		experience: &experience{now: time.Now, budgets: make(map[core.Address]budget)},
	}
	live := c.with(c.cfg)
	c.nodes = live.nodes
	c.live.Store(live)
	return c, nil
}

// with returns the chain with the nodes of a configuration.
func (c *Chain) with(cfg Config) *Chain {
	next := &Chain{SigningRules: c.SigningRules, cfg: cfg, own: c.own, experience: c.experience}
	for i, target := range cfg.Nodes {
		next.nodes = append(next.nodes, newNode(i+1, target, cfg))
	}
	return next
}

// current is the chain with its present nodes.
func (c *Chain) current() *Chain {
	if live := c.live.Load(); live != nil {
		return live
	}
	return c
}

// SetNodes replaces the nodes. Calls under way to the previous ones come back with errors. It must
// not be called twice at once.
func (c *Chain) SetNodes(targets []string) error {
	was := c.current()
	if slices.Equal(was.cfg.Nodes, targets) {
		return nil
	}
	if err := checkNodes(targets); err != nil {
		return err
	}
	cfg := was.cfg
	cfg.Nodes = slices.Clone(targets)
	c.live.Store(c.with(cfg))
	was.closeNodes()
	return nil
}

// Close ends the connections.
func (c *Chain) Close() { c.current().closeNodes() }

func (c *Chain) closeNodes() {
	for _, n := range c.nodes {
		n.close()
	}
}

// Nodes returns the state of each configured node.
func (c *Chain) Nodes() []chain.NodeState {
	c = c.current()
	states := make([]chain.NodeState, len(c.nodes))
	for i, n := range c.nodes {
		states[i] = n.State()
	}
	return states
}

// Rules returns its signing rules.
func (c *Chain) Rules() chain.Rules { return c.SigningRules }

// ID names the ledger in records and configuration.
func (c *Chain) ID() chain.ID { return c.cfg.ID }

// CheckAddress returns the lower-case form of a user's address. Contracts, among them the built-in
// ones, and the zero address, where money is lost, are ErrAddress; addresses here have no labels
// (ErrLabel). It asks no node.
func (c *Chain) CheckAddress(addr, label string) (string, error) {
	to, err := payable(addr)
	if err != nil {
		return "", err
	}
	if label != "" {
		return "", fmt.Errorf("%w: addresses of this ledger have no labels", chain.ErrLabel)
	}
	return to.String(), nil
}

func payable(addr string) (core.Address, error) {
	to, err := core.ParseAddress(addr)
	switch {
	case err != nil:
		return core.Address{}, fmt.Errorf("%w: %w", chain.ErrAddress, err)
	case to.IsZero():
		return core.Address{}, fmt.Errorf("%w: what is sent to the zero address is lost", chain.ErrAddress)
	case to.IsContract():
		return core.Address{}, fmt.Errorf("%w: it is a contract's", chain.ErrAddress)
	}
	return to, nil
}

// ourAccounts reads the addresses that are ours now.
func (c *Chain) ourAccounts(ctx context.Context) (accountSet, error) {
	texts, err := c.own.Accounts(ctx, c.cfg.ID)
	if err != nil {
		return nil, fmt.Errorf("listing our accounts on %s: %w", c.cfg.ID, err)
	}
	set := make(accountSet, len(texts))
	for _, text := range texts {
		a, err := core.ParseAddress(text)
		if err != nil {
			return nil, fmt.Errorf("listing our accounts on %s: %w", c.cfg.ID, err)
		}
		set[a] = true
	}
	return set, nil
}
