package ethereum

import (
	"context"
	"fmt"
	"slices"

	"gatewayd/chain"
)

// keptUses is how many payments of an asset the usual gas is taken from.
const keptUses = 31

// learn remembers how much gas payments of ours use.
func (c *Chain) learn(t *transaction) {
	if !t.kept() || t.to == nil {
		return
	}
	asset := chain.Native
	if c.isToken(*t.to) {
		asset = assetOf(*t.to)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	uses := append(c.used[asset], t.gasUsed)
	c.used[asset] = uses[max(0, len(uses)-keptUses):]
}

// usual is how much gas a payment of an asset is expected to use: the median of those seen last, so that one odd receiver does not count.
func (c *Chain) usual(asset chain.Asset) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if uses := slices.Sorted(slices.Values(c.used[asset])); len(uses) > 0 {
		return uses[len(uses)/2]
	}
	if asset == chain.Native {
		return minGas
	}
	return c.config.TokenGas
}

// PayoutCost is what one payment of an asset is expected to burn now, in wei: its gas x (base fee + tip, or the gas price), and an eighth more, since the
// base fee may rise by that in a block. It is what users are charged by; the ceiling of a signed transaction is about twice as high.
func (c *Chain) PayoutCost(ctx context.Context, asset chain.Asset) (chain.Amount, error) {
	if asset != chain.Native {
		if _, err := c.token(asset); err != nil {
			return chain.Amount{}, fmt.Errorf("cost of a payment: %w", err)
		}
	}
	now, err := c.Fees(ctx)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("cost of a payment: %w", err)
	}
	return chain.AmountOf(raised(now.Price.Uint256())).Mul(c.usual(asset))
}

// SweepCost is what must stay behind when all native coin of one of our addresses is sent to another, in wei: the gas of a plain payment
// at the fee cap that Sign would offer now, with room for one replacement.
func (c *Chain) SweepCost(ctx context.Context) (chain.Amount, error) {
	return c.roomFor(ctx, minGas)
}

// TokenSweepCost is the native coin that an address needs to send one token payment, in wei: like SweepCost, with the gas of the dearest
// of the configured tokens and Sign's margin.
func (c *Chain) TokenSweepCost(ctx context.Context) (chain.Amount, error) {
	gas := uint64(0)
	for token := range *c.tokens.Load() {
		gas = max(gas, c.usual(assetOf(token)))
	}
	return c.roomFor(ctx, withMargin(max(gas, c.config.TokenGas)))
}

// roomFor is gas at the cap that a first attempt would have now, once raised. ErrFeeCeiling: no attempt can be made now.
func (c *Chain) roomFor(ctx context.Context, gas uint64) (chain.Amount, error) {
	now, err := c.market(ctx)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("cost of a sweep: %w", err)
	}
	offer, err := now.first(c.minTip, c.maxFee)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("cost of a sweep: %w", err)
	}
	return chain.AmountOf(raised(offer.cap)).Mul(gas)
}
