package ethnode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/miner"
)

// content selects a block's transactions: those of the pool, or exactly txs.
type content struct {
	pool bool
	txs  []*types.Transaction
}

// Mine makes count blocks at once, whatever the period, and returns the head's hash. Transactions
// that the pool accepted before the call are in the first of them, as far as they fit and pay
// enough.
func (n *Node) Mine(count int) (common.Hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range count {
		if _, err := n.mineOne(content{pool: true}); err != nil {
			return common.Hash{}, err
		}
	}
	return n.head().Hash(), nil
}

// StopMining stops the blocks of the period. Mine still works.
func (n *Node) StopMining() { n.setPaused(true) }

// StartMining resumes the blocks of the period.
func (n *Node) StartMining() { n.setPaused(false) }

func (n *Node) setPaused(paused bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.paused = paused
}

// HoldFinality keeps "safe" and "finalized" at their blocks, as when the validators do not agree.
// Blocks continue.
func (n *Node) HoldFinality(hold bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.holdFinal = hold
}

// AdjustTime makes a block whose time is by this much later than the next block's would be.
func (n *Node) AdjustTime(by time.Duration) error {
	if by < 0 {
		return errors.New("the time of blocks does not go back")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err := n.mineAt(n.blockTime(n.head())+uint64(by/time.Second), content{pool: true})
	return err
}

// mineOne adds a block to the head.
func (n *Node) mineOne(c content) (*types.Block, error) {
	return n.mineAt(n.blockTime(n.head()), c)
}

func (n *Node) mineAt(seconds uint64, c content) (*types.Block, error) {
	block, err := n.build(n.head(), seconds, c)
	if err != nil {
		return nil, err
	}
	return block, n.adopt([]*types.Block{block})
}

// blockTime is now (see Config.Legacy), or the second after the parent if the chain runs ahead.
func (n *Node) blockTime(parent *types.Header) uint64 {
	now := time.Now()
	if n.config.Legacy {
		now = now.Add(-time.Hour)
	}
	return max(uint64(now.Unix()), parent.Time+1)
}

// build executes a new block on parent. Its randomness makes it differ from every other block, so
// that a re-organisation with the same content is one.
func (n *Node) build(parent *types.Header, seconds uint64, c content) (*types.Block, error) {
	if err := n.promote(); err != nil {
		return nil, err
	}
	args := &miner.BuildPayloadArgs{
		Parent:       parent.Hash(),
		Timestamp:    seconds,
		FeeRecipient: n.feeRecipient(),
		Withdrawals:  n.withdrawals,
	}
	if !n.config.Legacy {
		args.BeaconRoot = &common.Hash{}
	}
	if n.config.Amsterdam {
		slot := parent.Number.Uint64() + 1
		args.SlotNum = &slot
	}
	if _, err := rand.Read(args.Random[:]); err != nil {
		return nil, fmt.Errorf("drawing the block's randomness: %w", err)
	}
	empty := !c.pool && len(c.txs) == 0
	block, _, err := n.backend.Miner().BuildTestingPayload(args, c.txs, empty, []byte("gatewayd dev"))
	if err != nil {
		return nil, fmt.Errorf("building block %d: %w", parent.Number.Uint64()+1, err)
	}
	if _, err := n.backend.BlockChain().InsertBlockWithoutSetHead(context.Background(), block, false); err != nil {
		return nil, fmt.Errorf("inserting block %d: %w", block.NumberU64(), err)
	}
	return block, nil
}

// feeRecipient receives the tips of new blocks: an account with an unknown key, unless PayTips has
// named another.
func (n *Node) feeRecipient() common.Address {
	if n.tips != (common.Address{}) {
		return n.tips
	}
	return common.BytesToAddress(crypto.Keccak256([]byte("gatewayd development chain fees")))
}

// PayTips makes an account the recipient of the tips of new blocks; the zero address ends it.
func (n *Node) PayTips(to common.Address) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tips = to
}

// Withdraw makes a block that pays what validators withdraw. No transaction shows it.
func (n *Node) Withdraw(list ...*types.Withdrawal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.withdrawals = list
	defer func() { n.withdrawals = nil }()
	_, err := n.mineOne(content{pool: true})
	return err
}

// adopt makes the last of the built blocks the head: first on disk, then for clients.
func (n *Node) adopt(blocks []*types.Block) error {
	return n.setHead(blocks[len(blocks)-1], blocks)
}

// setHead makes a known block the head; fresh are those that the log does not have yet.
func (n *Node) setHead(head *types.Block, fresh []*types.Block) error {
	final, err := n.finalFor(head)
	if err != nil {
		return err
	}
	if n.log != nil {
		if err := n.log.append(step{Blocks: fresh, Tip: tip{Head: head.Hash(), Final: final.Hash()}}); err != nil {
			return err
		}
	}
	if _, err := n.backend.BlockChain().SetCanonical(head); err != nil {
		return fmt.Errorf("making block %d the head: %w", head.NumberU64(), err)
	}
	n.publishTags(final)
	return nil
}

// finalFor returns the final block once head is the head. It moves forward along the chain; it goes
// back only where a re-organisation took it away.
func (n *Node) finalFor(head *types.Block) (*types.Header, error) {
	now := n.backend.BlockChain().CurrentFinalBlock()
	standing := n.ancestor(head.Header(), now.Number.Uint64())
	if standing == nil || standing.Hash() != now.Hash() {
		return n.behind(head.Header())
	}
	if n.holdFinal || head.NumberU64() < now.Number.Uint64()+n.config.FinalityDepth {
		return now, nil
	}
	return n.behind(head.Header())
}

// behind is the block that is FinalityDepth below head, or genesis.
func (n *Node) behind(head *types.Header) (*types.Header, error) {
	number := head.Number.Uint64()
	number -= min(number, n.config.FinalityDepth)
	header := n.ancestor(head, number)
	if header == nil {
		return nil, fmt.Errorf("block %d below block %d is missing", number, head.Number)
	}
	return header, nil
}

// ancestor walks down from head to number; nil if head is lower.
func (n *Node) ancestor(head *types.Header, number uint64) *types.Header {
	chain := n.backend.BlockChain()
	for head != nil && head.Number.Uint64() > number {
		if below := head.Number.Uint64() - 1; chain.GetCanonicalHash(below) == head.ParentHash {
			return chain.GetHeaderByNumber(number)
		}
		head = chain.GetHeaderByHash(head.ParentHash)
	}
	if head == nil || head.Number.Uint64() != number {
		return nil
	}
	return head
}

// publishTags sets the final block, and the safe one: half as far behind the head.
func (n *Node) publishTags(final *types.Header) {
	chain := n.backend.BlockChain()
	chain.SetFinalized(final)
	head := n.head().Number.Uint64()
	safe := max(final.Number.Uint64(), head-min(head, (n.config.FinalityDepth+1)/2))
	if n.holdFinal {
		safe = max(final.Number.Uint64(), min(safe, chain.CurrentSafeBlock().Number.Uint64()))
	}
	chain.SetSafe(chain.GetHeaderByNumber(safe))
}
