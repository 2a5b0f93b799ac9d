package vite

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
)

// grindStep is the number of nonces tried between two looks at the clock: some milliseconds.
const grindStep = 1 << 16

// price is what a node wants for a block now.
type price struct {
	difficulty *big.Int // of the proof of work; nil when the account's quota pays, now or later
}

func (p price) String() string {
	if p.difficulty == nil {
		return "quota"
	}
	return p.difficulty.String()
}

// fund sees to it that the block can be paid for, and adds proof of work where the stake does not suffice. A block that can never
// be paid for must not be signed: its slot would stay open for ever, since the same bytes are all that is ever sent there.
func (c *Chain) fund(ctx context.Context, b *core.AccountBlock) error {
	need, err := core.RequiredQuota(b.BlockType, b.ToAddress, b.Data, 0)
	if err != nil {
		return err
	}
	due, err := agreed(ctx, c, price.String, func(ctx context.Context, _ *node, nc *client.Client) (price, error) {
		return quote(ctx, nc, b, need)
	})
	if err != nil || due.difficulty == nil {
		return err
	}
	if !c.cfg.PoW {
		return fmt.Errorf("%w: out of quota, and proof of work is not configured", chain.ErrNotNow)
	}
	return c.grind(ctx, b, due.difficulty)
}

// quote asks one node for the price. On the account's tip the node knows it. Before earlier blocks are there it cannot be asked;
// then the block can count on the stake alone, if that gives enough once it has rested.
func quote(ctx context.Context, nc *client.Client, b *core.AccountBlock, need uint64) (price, error) {
	latest, err := nc.LatestAccountBlock(ctx, b.Address)
	if err != nil {
		return price{}, err
	}
	if onTip := latest == nil && b.Height == 1 || latest != nil && latest.Hash == b.PreviousHash; onTip {
		return quoteOnTip(ctx, nc, b)
	}
	quota, err := nc.Quota(ctx, b.Address)
	if err == nil && quota.Max < need {
		err = fmt.Errorf("%w: the stake gives %d quota at most, the block costs %d and its predecessor is not on the ledger",
			chain.ErrNotNow, quota.Max, need)
	}
	return price{}, err
}

func quoteOnTip(ctx context.Context, nc *client.Client, b *core.AccountBlock) (price, error) {
	intent := client.Intent{Address: b.Address, PreviousHash: b.PreviousHash, BlockType: b.BlockType, Data: b.Data}
	if b.IsSend() {
		intent.ToAddress = &b.ToAddress
	}
	due, err := nc.PoWDifficulty(ctx, intent)
	if errors.Is(err, client.ErrPoWTwice) || errors.Is(err, client.ErrChainForked) || errors.Is(err, client.ErrCongested) {
		// The next snapshot block, or the next look at the tip, ends each of these.
		return price{}, fmt.Errorf("%w: %w", chain.ErrNotNow, err)
	}
	return price{due.Difficulty}, err
}

// grind searches a nonce. The search is the same each time: the same block is signed again.
func (c *Chain) grind(ctx context.Context, b *core.AccountBlock, difficulty *big.Int) error {
	if _, ok := core.Target(difficulty); !ok {
		return fmt.Errorf("%w: the nodes want a difficulty of %s, which no work can reach", chain.ErrUnavailable, difficulty)
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
