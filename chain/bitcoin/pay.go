package bitcoin

import (
	"context"
	"fmt"
	"time"

	"gatewayd/chain"
)

// Rules are those by which the chain's payments are signed.
func (c *Chain) Rules() chain.Rules { return c.rules }

// SpendsCoins is chain.CoinLedger.
func (c *Chain) SpendsCoins() {}

// Balance returns the coin that an account can spend now: its coins that no signed attempt spends.
func (c *Chain) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	c = c.current()
	if err := onlyCoin(asset); err != nil {
		return chain.Amount{}, err
	}
	held, err := c.heldBy(ctx, account)
	var sum chain.Amount
	for _, h := range held {
		if err == nil && !h.Signed {
			sum, err = sum.Add(h.Amount)
		}
	}
	if err != nil {
		return chain.Amount{}, fmt.Errorf("reading the coins of %s: %w", account, err)
	}
	return sum, nil
}

// AccountHead has no number: the records count the slots, and each has a coin of its own.
func (c *Chain) AccountHead(context.Context, string) (chain.AccountHead, error) {
	return chain.AccountHead{Settled: true}, nil
}

// Estimate drafts a payment of the account's coins that no signed attempt spends, the largest
// first, and returns its fee. chain.ErrRefused: no transaction can make it. ErrNotNow and
// ErrFeeCeiling are as the port has them.
func (c *Chain) Estimate(ctx context.Context, account string, pay chain.Payment) (chain.Amount, error) {
	c = c.current()
	fee, err := c.estimate(ctx, account, pay)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("trying payment %d: %w", pay.ID, err)
	}
	return chain.NewAmount(uint64(fee)), nil
}

func (c *Chain) estimate(ctx context.Context, account string, pay chain.Payment) (int64, error) {
	if err := c.payable(pay); err != nil {
		return 0, err
	}
	rate, err := c.offer(ctx, false)
	if err != nil {
		return 0, err
	}
	if pay.Purpose == chain.Merge { // it pays with the coins that it brings together
		return 0, c.mayMerge(pay, rate)
	}
	held, err := c.heldBy(ctx, account)
	if err != nil {
		return 0, err
	}
	first := true
	f, err := c.funds(held, func(h chain.HeldCoin) use {
		switch {
		case h.Signed:
			return useNot
		case first:
			first = false
			return useFirst
		}
		return useAny
	})
	if err != nil {
		return 0, err
	}
	d, err := build(c.builder(), f, pay, rate, nil)
	return d.Fee, err
}

// Turnover returns how many coins of an account may be in payments at a time, and after how many
// blocks the change of a payment pays again.
func (c *Chain) Turnover(ctx context.Context, account string) (coins int, blocks uint64, err error) {
	c = c.current()
	held, err := c.heldBy(ctx, account)
	return min(len(held), maxUnmined), c.config.Confirmations, err
}

// Cost is zero: the coins of a signed attempt are in no Balance.
func (c *Chain) Cost(chain.Attempt) (chain.Amount, error) { return chain.Amount{}, nil }

// maxUnmined bounds the transactions that wait in nodes' pools. None spends what another makes.
const maxUnmined = 100

// MaxUnmined bounds the transactions of one account that are in no block yet.
func (c *Chain) MaxUnmined() int { return maxUnmined }

// MaxBatch returns how many payments of an asset one transaction may make.
func (c *Chain) MaxBatch(asset chain.Asset) int {
	if onlyCoin(asset) != nil {
		return 0
	}
	return c.config.Batch.Most
}

// BatchWait returns for how long a payout may wait for others.
func (c *Chain) BatchWait() time.Duration { return c.config.Batch.Wait }

// BatchTo is empty: a batch has no payee of its own.
func (c *Chain) BatchTo(chain.Asset) string { return "" }

// Separate reports which payments no transaction can make: others must not fail with them.
func (c *Chain) Separate(_ context.Context, pays []chain.Payment) ([]bool, error) {
	alone := make([]bool, len(pays))
	for i, pay := range pays {
		alone[i] = c.payable(pay) != nil
	}
	return alone, nil
}

// Allowed is true: a batch needs no allowance.
func (c *Chain) Allowed(context.Context, string, chain.Asset, chain.Amount) (bool, error) {
	return true, nil
}
