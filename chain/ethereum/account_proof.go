package ethereum

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// Bounds of an account proof. A path has one node for each half byte of its key at most, and the
// largest node has 17 hashes.
const (
	maxProofNodes = 64 + 1
	maxProofNode  = 1 << 10
)

// accountProof is the answer of eth_getProof (EIP-1186) as far as it is used: the balance is in the
// last node.
type accountProof struct {
	Nodes []hexutil.Bytes `json:"accountProof"`
}

// ProvenBalance returns the native coin of an account after a final block, in wei. One node proves
// it by the state root of the block on which a majority agrees. Where no node offers proofs of that
// block, a majority must report the same balance. chain.ErrNotFound: the nodes do not keep the
// state of that block. chain.ErrUnavailable: neither is to be had now.
func (c *Chain) ProvenBalance(ctx context.Context, height uint64, account string) (chain.Amount, error) {
	c = c.current()
	owner, err := parseAddress(account)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("balance of %q: %w", account, err)
	}
	if !c.config.Unverified {
		balance, ok, err := c.proveBalance(ctx, height, owner)
		if err != nil || ok {
			return balance, err
		}
	}
	all, err := c.BalancesAt(ctx, height, []string{account})
	switch {
	case err == nil:
		return all[0], nil
	case classify(err) == verdictNoState:
		return chain.Amount{}, fmt.Errorf("%w: %w", chain.ErrNotFound, err)
	}
	return chain.Amount{}, err
}

// proveBalance asks one node after the other for a proof; ok is false when none gives one. A wrong
// proof counts against its node only where another node proves the same account: the state of some
// chains has another form.
func (c *Chain) proveBalance(ctx context.Context, height uint64, owner common.Address) (balance chain.Amount, ok bool, err error) {
	ref, having, err := c.agreeAt(ctx, height)
	if err != nil {
		return balance, false, fmt.Errorf("reading the balance of %s: %w", owner, unavailable([]error{err}))
	}
	wrong := map[*node]error{}
	for _, n := range quorum.Order(having) {
		balance, err := n.provenBalance(ctx, *ref.Hash, height, owner)
		switch {
		case ctx.Err() != nil:
			return balance, false, err
		case errors.Is(err, errLie):
			wrong[n] = err
		case err == nil:
			for liar, lie := range wrong {
				liar.RecordWrong("proof", lie)
			}
			return balance, true, nil
		}
	}
	return balance, false, nil
}

// provenBalance asks one node. errLie: its answers do not fit the block's hash.
func (n *node) provenBalance(ctx context.Context, block common.Hash, height uint64, owner common.Address) (balance chain.Amount, err error) {
	var proof *accountProof
	if err := n.call(ctx, &proof, "eth_getProof", owner, []string{}, hexutil.EncodeUint64(height)); err != nil {
		return balance, err
	}
	root, err := n.stateRoot(ctx, block, height)
	if err == nil {
		balance, err = proof.balance(root, owner)
	}
	if err != nil {
		err = fmt.Errorf("%s: proof of %s at block %d: %w", n.name, owner, height, err)
	}
	return balance, err
}

// stateRoot is that of a block's header, whose hash is computed here.
func (n *node) stateRoot(ctx context.Context, block common.Hash, height uint64) (common.Hash, error) {
	var raw *struct {
		wireBlock
		Transactions json.RawMessage `json:"transactions"` // only hashes
	}
	if err := n.call(ctx, &raw, "eth_getBlockByNumber", hexutil.EncodeUint64(height), false); err != nil {
		return common.Hash{}, err
	}
	if raw == nil {
		return common.Hash{}, fmt.Errorf("block %d: %w", height, chain.ErrNotFound)
	}
	if err := raw.Check(); err != nil {
		return common.Hash{}, fmt.Errorf("%w: %w", errLie, err)
	}
	if hash := raw.Header().Hash(); hash != block {
		return common.Hash{}, fmt.Errorf("%w: the header's hash is %s, not %s", errLie, hash, block)
	}
	return raw.Root, nil
}

// balance is that of an account under a state root; zero where the proof shows that there is no
// such account.
func (p *accountProof) balance(root common.Hash, owner common.Address) (balance chain.Amount, err error) {
	if p == nil || len(p.Nodes) == 0 || len(p.Nodes) > maxProofNodes {
		return balance, fmt.Errorf("%w: it has no path, or one that is too long", errLie)
	}
	nodes := make(proofNodes, len(p.Nodes))
	for _, n := range p.Nodes {
		if len(n) > maxProofNode {
			return balance, fmt.Errorf("%w: a node of %d bytes", errLie, len(n))
		}
		nodes[crypto.Keccak256Hash(n)] = n
	}
	value, err := trie.VerifyProof(root, crypto.Keccak256(owner[:]), nodes)
	if err != nil {
		return balance, fmt.Errorf("%w: %w", errLie, err)
	}
	if value == nil {
		return balance, nil
	}
	var account types.StateAccount
	if err := rlp.DecodeBytes(value, &account); err != nil || account.Balance == nil {
		return balance, fmt.Errorf("%w: its account cannot be read", errLie)
	}
	return chain.AmountOf(account.Balance), nil
}

// proofNodes are the nodes of a proof by their hashes, as trie.VerifyProof reads them.
type proofNodes map[common.Hash][]byte

// Has reports whether a node is among them.
func (p proofNodes) Has(key []byte) (bool, error) { return p[common.BytesToHash(key)] != nil, nil }

// Get returns a node, nil for none.
func (p proofNodes) Get(key []byte) ([]byte, error) { return p[common.BytesToHash(key)], nil }
