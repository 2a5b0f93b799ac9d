package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

const (
	// passedOverAfter is the number of blocks after which a block with room counts as having
	// ignored a transaction seen in a pool: the next one may have been built before.
	passedOverAfter = 2
	// maxPooled bounds how many transactions are remembered to have been seen in a pool.
	maxPooled = 4096
)

// waiting is one node's view of a transaction of ours that is in no known block.
type waiting struct {
	pooled   bool   // the node has it and no block of its chain includes it
	hadSpace bool   // nothing of its account comes before it, and the newest block had room for it
	newest   uint64 // that block
}

// Underpriced reports whether an attempt waits in the pool of a node because its offer is too low.
// One case is an offer below the present price, by the median of the nodes. The other applies below
// twice the usual tip: a block with room ignored it, which was made after an earlier call saw it in
// the pool. A transaction in no pool, be it refused, forgotten or not affordable, would not be
// included at a higher price either.
func (c *Chain) Underpriced(ctx context.Context, slot chain.Slot, a chain.Attempt) (bool, error) {
	c = c.current()
	tx, err := readAttempt(a)
	if err != nil {
		return false, fmt.Errorf("asking for attempt %s: %w", a.Hash, err)
	}
	account := common.HexToAddress(slot.Account)
	question := func(ctx context.Context, n *node) (waiting, error) { return waitingOn(ctx, n, account, tx) }
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, question, anyPooled))
	if len(good) == 0 {
		return false, fmt.Errorf("asking for attempt %s: %w", a.Hash, unavailable(faults))
	}
	pooled, passed := false, false
	for _, one := range good {
		if one.Value.pooled {
			pooled = true
			passed = c.passedOver(tx.Hash(), one.Value) || passed
		}
	}
	if !pooled {
		return false, nil
	}
	now, err := c.gasPrices(ctx)
	if err != nil {
		return false, err
	}
	return now.above(tx, c.minTip, passed), nil
}

// passedOver reports whether a transaction that waits in a pool was left out of a block that could
// have had it.
func (c *Chain) passedOver(hash common.Hash, w waiting) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, seen := c.pooled[hash]
	if !seen {
		if len(c.pooled) >= maxPooled {
			clear(c.pooled) // they are observed again
		}
		c.pooled[hash] = w.newest
		return false
	}
	return w.hadSpace && w.newest >= since+passedOverAfter
}

// anyPooled is enough to ask for: one node that has it.
func anyPooled(answers []quorum.Answer[*node, waiting]) bool {
	return slices.ContainsFunc(answers, func(a quorum.Answer[*node, waiting]) bool { return a.Err == nil && a.Value.pooled })
}

// above reports whether blocks ask for more than a transaction offers.
func (m gasPrices) above(tx *types.Transaction, floor *uint256.Int, passed bool) bool {
	tip, ceiling := uint256.MustFromBig(tx.GasTipCap()), uint256.MustFromBig(tx.GasFeeCap())
	usual := higher(m.tip, floor)
	room, short := new(uint256.Int).SubOverflow(ceiling, m.base)
	if short || lower(tip, room).Lt(usual) {
		return true
	}
	twice, over := new(uint256.Int).MulOverflow(usual, uint256.NewInt(2))
	return passed && (over || tip.Lt(twice))
}

// waitingOn asks one node.
func waitingOn(ctx context.Context, n *node, account common.Address, tx *types.Transaction) (w waiting, err error) {
	var known *struct {
		Hash  common.Hash  `json:"hash"`
		Block *common.Hash `json:"blockHash"`
	}
	var next hexutil.Uint64
	var newest *struct {
		Number hexutil.Uint64 `json:"number"`
		Limit  hexutil.Uint64 `json:"gasLimit"`
		Used   hexutil.Uint64 `json:"gasUsed"`
	}
	elems := []rpc.BatchElem{
		{Method: "eth_getTransactionByHash", Args: []any{tx.Hash()}, Result: &known},
		{Method: "eth_getTransactionCount", Args: []any{account, "latest"}, Result: &next},
		{Method: "eth_getBlockByNumber", Args: []any{"latest", false}, Result: &newest},
	}
	if err := n.batch(ctx, elems); err != nil {
		return w, err
	}
	if err := errors.Join(elems[0].Error, elems[1].Error, elems[2].Error); err != nil {
		return w, err
	}
	w.pooled = known != nil && known.Hash == tx.Hash() && (known.Block == nil || *known.Block == common.Hash{})
	if newest == nil {
		return w, fmt.Errorf("%s: no latest block", n.name)
	}
	w.newest = uint64(newest.Number)
	w.hadSpace = newest.Limit >= newest.Used && uint64(newest.Limit-newest.Used) >= tx.Gas() && uint64(next) == tx.Nonce()
	return w, nil
}
