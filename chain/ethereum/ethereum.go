package ethereum

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"gatewayd/chain"
)

// ErrWrongChain is a node that serves another chain than the configured one. Waiting does not help; the configuration does.
var ErrWrongChain = errors.New("the node serves another chain")

// signer holds the keys. The answer is 65 bytes: R, S and the recovery bit.
type signer interface {
	SignDigest(ctx context.Context, path string, digest []byte) ([]byte, error)
}

// owned knows our addresses. It is asked after a block was read and before it is searched, so that no deposit can come before the
// address it goes to. Candidates and the keys of the answer are in EIP-55 form.
type owned interface {
	Owned(ctx context.Context, id chain.ID, candidates []string) (map[string]bool, error)
}

// Chain is one EVM chain behind one or several nodes. It is safe for concurrent use.
type Chain struct {
	config        Config
	keys          signer // nil: nothing can be signed
	addresses     owned  // nil: blocks cannot be searched
	nodes         []*node
	tokens        atomic.Pointer[map[common.Address]bool] // exchanged as a whole, never written to
	sender        types.Signer
	tag           string // of finality; empty: by count
	confirmations uint64
	maxFee        atomic.Pointer[uint256.Int] // per gas; exchanged as a whole
	minTip        *uint256.Int

	untraced atomic.Uint64

	mu     sync.Mutex
	used   map[chain.Asset][]uint64 // gas that our last payments used
	pooled map[common.Hash]uint64   // attempt -> newest block when Underpriced first saw it in a pool
}

// New is a chain that was not spoken to yet. Close it when done. Without keys it cannot Sign, without addresses it cannot read a Block;
// everything else works.
func New(config Config, keys signer, addresses owned) (*Chain, error) {
	if err := config.Check(); err != nil {
		return nil, fmt.Errorf("configuration of chain %q: %w", config.ID, err)
	}
	config = config.withDefaults()
	c := &Chain{
		config: config, keys: keys, addresses: addresses,
		used: make(map[chain.Asset][]uint64), pooled: make(map[common.Hash]uint64),
	}
	c.sender = types.LatestSignerForChainID(new(big.Int).SetUint64(config.ChainID))
	c.tokens.Store(&map[common.Address]bool{})
	c.AddTokens(config.Tokens...)
	for i, address := range config.Nodes {
		c.nodes = append(c.nodes, newNode(i, address, config))
	}
	var err error
	if c.tag, c.confirmations, err = config.finality(); err != nil {
		return nil, fmt.Errorf("finality: %w", err)
	}
	if err := c.SetMaxFee(config.MaxFeeGwei); err != nil {
		return nil, err
	}
	if c.minTip, err = parseGwei(config.MinTipGwei); err != nil {
		return nil, fmt.Errorf("min_tip_gwei: %w", err)
	}
	return c, nil
}

// AddTokens lets further contracts be read and paid from the next call on. It must not run beside itself. None is ever taken away: payments of a
// token that is served no more may be under way, and what comes of it is held instead of passed by.
func (c *Chain) AddTokens(assets ...chain.Asset) {
	all := maps.Clone(*c.tokens.Load())
	for _, asset := range assets {
		all[common.HexToAddress(string(asset))] = true
	}
	c.tokens.Store(&all)
}

// SetMaxFee is the ceiling of the fee per gas from the next call on, in gwei; empty for the default.
func (c *Chain) SetMaxFee(gwei string) error {
	most, err := parseGwei(or(gwei, defaultMaxFee))
	if err != nil {
		return fmt.Errorf("max_fee_gwei: %w", err)
	}
	c.maxFee.Store(most)
	return nil
}

// isToken tells whether a contract is a bridged token.
func (c *Chain) isToken(contract common.Address) bool { return (*c.tokens.Load())[contract] }

// ID names the ledger.
func (c *Chain) ID() chain.ID { return c.config.ID }

// Close ends the connections. Calls under way come back with errors.
func (c *Chain) Close() {
	for _, n := range c.nodes {
		n.close()
	}
}

// Untraced counts the blocks in which a contract may have moved native coin that no node could trace. What such a block paid to us is
// only seen in balances, by BalancesAt.
func (c *Chain) Untraced() uint64 { return c.untraced.Load() }

// assetOf is how the port writes a token contract.
func assetOf(token common.Address) chain.Asset { return chain.Asset(token.Hex()) }

// Nodes tells the state of each configured node.
func (c *Chain) Nodes() []chain.NodeState {
	states := make([]chain.NodeState, len(c.nodes))
	for i, n := range c.nodes {
		states[i] = n.State()
	}
	return states
}

var (
	_ chain.Chain       = (*Chain)(nil)
	_ chain.NodeWatcher = (*Chain)(nil)
)
