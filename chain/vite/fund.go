package vite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// grindStep is the number of nonces tried between two checks of the clock: some milliseconds.
const grindStep = 1 << 16

// budgetAge is the time for which a node's answer about an account's quota is used for further
// blocks: about one snapshot block.
const budgetAge = time.Second

// price is a node's present price of a block.
type price struct {
	difficulty *big.Int // of the proof of work; nil when the account's quota pays
	left       uint64   // quota that remains for the blocks after it
}

// String omits the remaining quota: nodes that are a block apart agree all the same.
func (p price) String() string {
	if p.difficulty == nil {
		return "quota"
	}
	return p.difficulty.String()
}

// budget is the quota that an account has for the blocks that follow one that was signed.
type budget struct {
	head  core.Hash
	left  uint64
	until time.Time
}

// fund ensures that the block has enough quota, and adds proof of work where the stake does not
// suffice. It returns the remaining quota. Nodes are asked once for a series of blocks, and again
// when their answer is used up or old. No block beyond the quota is signed, so that no sent block
// has to wait.
func (c *Chain) fund(ctx context.Context, b *core.AccountBlock) (left uint64, err error) {
	need, err := core.RequiredQuota(b.BlockType, b.ToAddress, b.Data, 0)
	if err != nil {
		return 0, err
	}
	if has := c.budgetFor(b); has >= need {
		return has - need, nil
	}
	due, err := c.agreedPrice(ctx, b, need)
	if err != nil || due.difficulty == nil {
		return due.left, err
	}
	if !c.cfg.PoW {
		return 0, fmt.Errorf("%w: out of quota, and proof of work is not configured", chain.ErrNotNow)
	}
	return 0, c.grind(ctx, b, due.difficulty)
}

// agreedPrice returns the price of more than half of the nodes, and the remaining quota that as
// many report at least.
func (c *Chain) agreedPrice(ctx context.Context, b *core.AccountBlock, need uint64) (price, error) {
	due, answers, err := agreedAmong(ctx, c, price.String, func(ctx context.Context, _ *node, nc *client.Client) (price, error) {
		return quote(ctx, nc, b, need)
	})
	if err != nil {
		return price{}, err
	}
	var left []uint64
	for _, a := range answers {
		if a.Err == nil && a.Value.String() == due.String() {
			left = append(left, a.Value.left)
		}
	}
	slices.Sort(left)
	due.left = left[len(left)-c.quorum()]
	return due, nil
}

// budgetFor is the quota known to be left for a block: none unless it follows the block that was
// signed last, a moment ago.
func (c *Chain) budgetFor(b *core.AccountBlock) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.budgets[b.Address]
	if known.head != b.PreviousHash || known.head.IsZero() || !c.now().Before(known.until) {
		return 0
	}
	return known.left
}

// prepared keeps what is left after a block. The first of a row begins the time.
func (c *Chain) prepared(b *core.AccountBlock, left uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.budgets[b.Address]
	until := c.now().Add(budgetAge)
	if known.head == b.PreviousHash && c.now().Before(known.until) {
		until = known.until
	}
	c.budgets[b.Address] = budget{b.Hash, left, until}
}

// quote asks one node for the price. On the account's head the node knows it exactly. Before
// earlier blocks are there it cannot be asked; then the block can count on what the stake gives
// beyond those.
func quote(ctx context.Context, nc *client.Client, b *core.AccountBlock, need uint64) (price, error) {
	latest, err := nc.LatestAccountBlock(ctx, b.Address)
	if err != nil {
		return price{}, err
	}
	quota, err := nc.Quota(ctx, b.Address)
	if err != nil {
		return price{}, err
	}
	var height uint64
	var head core.Hash
	if latest != nil {
		height, head = latest.Height, latest.Hash
	}
	onHead := b.Height == height+1 && b.PreviousHash == head
	switch waiting := waitingQuota(b.Height, height, need); {
	case onHead && quota.Current < need:
		return quoteOnTip(ctx, nc, b)
	case onHead:
		return price{left: quota.Current - need}, nil
	case quota.Max < need:
		return price{}, fmt.Errorf("%w: the stake gives %d quota at most, the block costs %d and its predecessor is not on the ledger",
			chain.ErrNotNow, quota.Max, need)
	case quota.Current < waiting || quota.Current-waiting < need:
		return price{}, fmt.Errorf("%w: out of quota: %d now, of which the blocks before this one take %d", chain.ErrNotNow, quota.Current, waiting)
	default:
		return price{left: quota.Current - waiting - need}, nil
	}
}

// waitingQuota is the cost of the blocks between an account's head and a later one, if each costs
// as much as that.
func waitingQuota(number, head, need uint64) uint64 {
	if number <= head+1 {
		return 0
	}
	if count := number - head - 1; count <= maxWaitingBlocks {
		return count * need
	}
	return math.MaxUint64
}

// maxWaitingBlocks is far beyond what any quota pays for.
const maxWaitingBlocks = 1 << 20

func quoteOnTip(ctx context.Context, nc *client.Client, b *core.AccountBlock) (price, error) {
	intent := client.Intent{Address: b.Address, PreviousHash: b.PreviousHash, BlockType: b.BlockType, Data: b.Data}
	if b.IsSend() {
		intent.ToAddress = &b.ToAddress
	}
	due, err := nc.PoWDifficulty(ctx, intent)
	if errors.Is(err, client.ErrPoWTwice) || errors.Is(err, client.ErrChainForked) || errors.Is(err, client.ErrCongested) {
		// The next snapshot block, or the next check of the tip, ends each of these.
		return price{}, fmt.Errorf("%w: %w", chain.ErrNotNow, err)
	}
	return price{difficulty: due.Difficulty}, err
}

// grind searches a nonce. The search is the same each time: the same block is signed again.
func (c *Chain) grind(ctx context.Context, b *core.AccountBlock, difficulty *big.Int) error {
	if _, ok := core.Target(difficulty); !ok {
		return fmt.Errorf("%w: the nodes require a difficulty of %s, which is not reachable", chain.ErrUnavailable, difficulty)
	}
	limited, cancel := context.WithTimeout(ctx, c.cfg.PoWTimeout)
	defer cancel()
	work := core.PoWDataHash(b.Address, b.PreviousHash)
	for start := uint64(0); ; start += grindStep {
		if nonce, ok := core.Grind(work, difficulty, start, grindStep); ok {
			b.Nonce, b.Difficulty = nonce[:], difficulty
			return nil
		}
		if err := limited.Err(); err != nil {
			return fmt.Errorf("%w: proof of work of difficulty %s: %w", chain.ErrNotNow, difficulty, err)
		}
	}
}
