// Package bitcoin is the adapter for Bitcoin and Litecoin, on all their networks.
//
// It reads the chain over JSON-RPC of ordinary nodes: without their wallet, without an index of
// transactions. It owns the proof of what it reads: work and targets of headers (work.go, line.go),
// the roots over transactions (parse.go). It pays with coins of our accounts that the records keep
// (prepare.go), at the nodes' fees (rate.go); package spend drafts what is signed.
package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/chain/bitcoin/spend"
)

// What callers test for with errors.Is.
var (
	// ErrWrongChain is a node that serves another chain than the configured one. Waiting does not
	// help; the configuration does.
	ErrWrongChain = errors.New("the node serves another chain")
	// ErrPruned is a node that has deleted the block. Another node must have it.
	ErrPruned = errors.New("the node is pruned")
)

// Accounts knows what is ours. It is asked after a block was read, so that no deposit can come
// before the address that it goes to.
type Accounts interface {
	// Owned returns which of the addresses are ours.
	Owned(ctx context.Context, id chain.ID, candidates []string) (map[string]bool, error)
	// Coins returns which of the outpoints ("txid:vout") are coins of ours, or were before they
	// were spent. It knows the coins of all blocks that were stored; those of blocks that were read
	// after them the adapter knows itself.
	Coins(ctx context.Context, id chain.ID, outpoints []string) (map[string]chain.Coin, error)
	// HeldCoins returns the coins that an account may spend, with those that its open slots use.
	HeldCoins(ctx context.Context, id chain.ID, account string) ([]chain.HeldCoin, error)
	// CoinsAt returns the coins of ours that the blocks up to a final height have made and not
	// spent.
	CoinsAt(ctx context.Context, id chain.ID, height uint64) ([]chain.Coin, error)
	// CoinTxs returns the transactions that made coins of ours, without witnesses, by hash.
	CoinTxs(ctx context.Context, id chain.ID, hashes []string) (map[string][]byte, error)
}

// Chain is one chain behind one or several nodes. It is safe for concurrent use.
type Chain struct {
	config   Config
	network  *network.Network
	accounts Accounts // nil: blocks cannot be searched
	nodes    []*node
	line     *line
	recent   *recent[chain.Coin]
	own      *recent[chain.Outgoing] // our transactions
	pool     *pool
	change   changes
	rules    *spend.Rules
	rates    *rates
	chosen   *choices

	// live is the chain with the nodes of now; nil in that chain itself. Each exported method takes
	// it once: the answers of one call come from one set of nodes, of which a majority agrees.
	live atomic.Pointer[Chain]
}

// New is a chain that was not spoken to yet. Close it when done. Without accounts it cannot read a
// Block; everything else works.
func New(config Config, accounts Accounts) (*Chain, error) {
	if err := config.Check(); err != nil {
		return nil, fmt.Errorf("configuration of chain %q: %w", config.ID, err)
	}
	config = config.withDefaults()
	of := network.Named(config.Network)
	change, err := changesOf(config.Accounts)
	if err != nil {
		return nil, fmt.Errorf("configuration of chain %q: %w", config.ID, err)
	}
	c := &Chain{
		config: config, network: of, accounts: accounts, line: newLine(rules{of, paramsOf(of)}), pool: newPool(), change: change,
		rules: NewSigningRules(config), rates: new(rates), chosen: &choices{by: make(map[string]choice)},
		recent: newRecent[chain.Coin](rememberCoins), own: newRecent[chain.Outgoing](rememberOwn),
	}
	live, err := c.with(config)
	if err != nil {
		return nil, fmt.Errorf("configuration of chain %q: %w", config.ID, err)
	}
	c.nodes = live.nodes
	c.live.Store(live)
	return c, nil
}

// with returns the chain with the nodes of a configuration.
func (c *Chain) with(config Config) (*Chain, error) {
	next := &Chain{
		config: config, network: c.network, accounts: c.accounts, line: c.line, recent: c.recent, own: c.own, pool: c.pool,
		change: c.change, rules: c.rules, rates: c.rates.next(), chosen: c.chosen,
	}
	authorities, err := config.authorities()
	if err != nil {
		return nil, err
	}
	for i, address := range config.Nodes {
		n, err := newNode(i, address, config, c.network, authorities)
		if err != nil {
			return nil, fmt.Errorf("nodes[%d]: %w", i, err)
		}
		next.nodes = append(next.nodes, n)
	}
	return next, nil
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
func (c *Chain) SetNodes(addresses []string) error {
	was := c.current()
	if slices.Equal(was.config.Nodes, addresses) {
		return nil
	}
	config := was.config
	config.Nodes = slices.Clone(addresses)
	if err := config.checkNodes(); err != nil {
		return err
	}
	next, err := was.with(config)
	if err != nil {
		return err
	}
	c.live.Store(next)
	was.closeNodes()
	return nil
}

// SetMaxFee sets the ceiling of what payments offer from the next call on, in satoshi per vbyte.
func (c *Chain) SetMaxFee(perVbyte string) error { return c.rules.SetMaxFee(perVbyte) }

// ID names the ledger.
func (c *Chain) ID() chain.ID { return c.config.ID }

// Close ends the connections. Calls under way come back with errors.
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

// CheckAddress returns the canonical form of an address that is paid, or why it is not one
// (chain.ErrAddress); addresses here have no labels (chain.ErrLabel). It asks no node.
func (c *Chain) CheckAddress(addr, label string) (string, error) {
	a, err := c.network.Parse(addr)
	if err != nil {
		return "", err
	}
	if label != "" {
		return "", fmt.Errorf("%w: addresses of this ledger have no labels", chain.ErrLabel)
	}
	return a.Text, nil
}

var (
	_ chain.Chain          = (*Chain)(nil)
	_ chain.Batcher        = (*Chain)(nil)
	_ chain.CoinLedger     = (*Chain)(nil)
	_ chain.Merger         = (*Chain)(nil)
	_ chain.CostReader     = (*Chain)(nil)
	_ chain.Describer      = (*Chain)(nil)
	_ chain.NodeWatcher    = (*Chain)(nil)
	_ chain.NodeSetter     = (*Chain)(nil)
	_ chain.MaxFeeSetter   = (*Chain)(nil)
	_ chain.Intervaler     = (*Chain)(nil)
	_ chain.HoldingsReader = (*Chain)(nil)
	_ chain.RangeReader    = (*Chain)(nil)
	_ chain.PoolReader     = (*Chain)(nil)
)
