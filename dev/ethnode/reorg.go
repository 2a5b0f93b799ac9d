package ethnode

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// Fate selects the treatment of transactions in blocks that a re-organisation removes.
type Fate int

const (
	Keep Fate = iota // the new blocks hold them too, each at its old height
	// the new blocks are empty; the transactions wait in the pool for the next one (up to a depth
	// of 64)
	Return
	Lose // the new blocks are empty and the transactions are lost
)

// Reorg replaces the newest depth blocks with as many others, in one step as every observer sees
// it, and returns the new head's hash. Depth may reach below the final block: that breaks the
// promise of finality, and "finalized" then shows the new branch.
func (n *Node) Reorg(depth int, fate Fate) (common.Hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	removed, err := n.newest(depth)
	if err != nil {
		return common.Hash{}, err
	}
	branch, err := n.buildBranch(removed, fate)
	if err != nil {
		return common.Hash{}, err
	}
	if err := n.adopt(branch); err != nil {
		return common.Hash{}, err
	}
	if fate == Lose {
		err = n.dropFromPool(transactionsOf(removed))
	}
	return branch[len(branch)-1].Hash(), err
}

// Fork makes parent the head, so that the chain is shorter until new blocks follow. Transactions of
// the removed blocks return to the pool up to a depth of 64; with lose, they are lost.
func (n *Node) Fork(parent common.Hash, lose bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	block := n.backend.BlockChain().GetBlockByHash(parent)
	if block == nil {
		return fmt.Errorf("block %s is unknown", parent)
	}
	removed, err := n.above(block)
	if err != nil {
		return err
	}
	if err := n.setHead(block, nil); err != nil {
		return err
	}
	if lose {
		return n.dropFromPool(transactionsOf(removed))
	}
	return nil
}

// newest returns the depth blocks at the end of the chain, oldest first.
func (n *Node) newest(depth int) ([]*types.Block, error) {
	head := n.head().Number.Uint64()
	if depth < 1 || uint64(depth) > head {
		return nil, fmt.Errorf("a re-organisation of %d blocks does not fit a chain of %d", depth, head)
	}
	removed := make([]*types.Block, 0, depth)
	for number := head - uint64(depth) + 1; number <= head; number++ {
		removed = append(removed, n.backend.BlockChain().GetBlockByNumber(number))
	}
	return removed, nil
}

// above returns the blocks of the chain that are not ancestors of block.
func (n *Node) above(block *types.Block) ([]*types.Block, error) {
	chain := n.backend.BlockChain()
	for block != nil && chain.GetCanonicalHash(block.NumberU64()) != block.Hash() {
		block = chain.GetBlockByHash(block.ParentHash())
	}
	if block == nil {
		return nil, errors.New("the block has no ancestor on the chain")
	}
	if depth := n.head().Number.Uint64() - block.NumberU64(); depth > 0 {
		return n.newest(int(depth))
	}
	return nil, nil
}

// buildBranch builds an alternative to each of the removed blocks.
func (n *Node) buildBranch(removed []*types.Block, fate Fate) ([]*types.Block, error) {
	branch := make([]*types.Block, 0, len(removed))
	parent := n.backend.BlockChain().GetHeaderByHash(removed[0].ParentHash())
	for _, old := range removed {
		var inside content
		if fate == Keep {
			inside.txs = old.Transactions()
		}
		block, err := n.build(parent, old.Time(), inside)
		if err != nil {
			return nil, err
		}
		branch = append(branch, block)
		parent = block.Header()
	}
	return branch, nil
}

func transactionsOf(blocks []*types.Block) map[common.Hash]bool {
	all := make(map[common.Hash]bool)
	for _, block := range blocks {
		for _, tx := range block.Transactions() {
			all[tx.Hash()] = true
		}
	}
	return all
}
