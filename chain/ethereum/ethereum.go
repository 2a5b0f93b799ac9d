package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"gatewayd/chain"
)

// ErrWrongChain is a node that serves another chain than the configured one. Waiting does not help;
// the configuration does.
var ErrWrongChain = errors.New("the node serves another chain")

// owned knows our addresses. It is asked after a block was read and before it is searched, so that
// no deposit can come before the address it goes to. Candidates and the keys of the answer are in
// EIP-55 form.
type owned interface {
	Owned(ctx context.Context, id chain.ID, candidates []string) (map[string]bool, error)
}

// Chain is one EVM chain behind one or several nodes. It is safe for concurrent use.
type Chain struct {
	*SigningRules
	config        Config
	addresses     owned // nil: blocks cannot be searched
	nodes         []*node
	tag           string // of finality; empty: by count
	confirmations uint64
	minTip        *uint256.Int
	united        atomic.Bool // the last Head found a block that a majority has
	*experience

	// live is the chain with the nodes of now; nil in that chain itself. Each exported method takes
	// it once: the answers of one call come from one set of nodes, of which a majority agrees.
	live atomic.Pointer[Chain]
}

// experience contains observations of the chain. They stay when the nodes are replaced.
type experience struct {
	loss traceLoss
	code contractCode

	mu     sync.Mutex
	used   map[chain.Asset][]uint64 // gas that our last payments used
	pooled map[common.Hash]uint64   // attempt -> newest block when Underpriced first saw it in a pool
}

// New is a chain that was not spoken to yet. Close it when done. Without addresses it cannot read a
// Block; everything else works.
func New(config Config, addresses owned) (*Chain, error) {
	if err := config.Check(); err != nil {
		return nil, fmt.Errorf("configuration of chain %q: %w", config.ID, err)
	}
	config = config.withDefaults()
	c := &Chain{
		config: config, addresses: addresses,
		experience: &experience{used: make(map[chain.Asset][]uint64), pooled: make(map[common.Hash]uint64)},
	}
	var err error
	if c.SigningRules, err = NewSigningRules(config.Signing()); err != nil {
		return nil, fmt.Errorf("configuration of chain %q: %w", config.ID, err)
	}
	if c.tag, c.confirmations, err = config.finality(); err != nil {
		return nil, fmt.Errorf("finality: %w", err)
	}
	if c.minTip, err = parseGwei(config.MinTipGwei); err != nil {
		return nil, fmt.Errorf("min_tip_gwei: %w", err)
	}
	live := c.with(config)
	c.nodes = live.nodes
	c.live.Store(live)
	return c, nil
}

// with returns the chain with the nodes of a configuration.
func (c *Chain) with(config Config) *Chain {
	next := &Chain{
		SigningRules: c.SigningRules, config: config, addresses: c.addresses, tag: c.tag, confirmations: c.confirmations, minTip: c.minTip, experience: c.experience,
	}
	for i, address := range config.Nodes {
		next.nodes = append(next.nodes, newNode(i, address, config))
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
	c.live.Store(c.with(config))
	was.closeNodes()
	return nil
}

// ID names the ledger.
func (c *Chain) ID() chain.ID { return c.config.ID }

// Close ends the connections. Calls under way come back with errors.
func (c *Chain) Close() { c.current().closeNodes() }

func (c *Chain) closeNodes() {
	for _, n := range c.nodes {
		n.close()
	}
}

// Rules returns its signing rules. They follow later changes of the chain's tokens and ceiling.
func (c *Chain) Rules() chain.Rules { return c.SigningRules }

// assetOf converts a token contract to the port's asset.
func assetOf(token common.Address) chain.Asset { return chain.Asset(token.Hex()) }

// Nodes returns the state of each configured node.
func (c *Chain) Nodes() []chain.NodeState {
	c = c.current()
	states := make([]chain.NodeState, len(c.nodes))
	for i, n := range c.nodes {
		states[i] = n.State()
	}
	return states
}

var (
	_ chain.Chain          = (*Chain)(nil)
	_ chain.NodeWatcher    = (*Chain)(nil)
	_ chain.TracingWatcher = (*Chain)(nil)
	_ chain.Batcher        = (*Chain)(nil)
)
