package vite

import (
	"context"
	"fmt"

	"gatewayd/chain"
)

// Prepare builds the account block that carries out a payment at the slot's height, with its hash
// and without a signature. It sends nothing.
//
// Credit, Refund and Sweep send (type 2) with PaymentData; Receive takes in the send that
// pay.Source names (type 4). There is no replacement: with an earlier attempt it is
// ErrNoReplacement. ErrNotNow: the account's quota cannot pay for the block, or the account has to
// receive before it can send. Wrong orders are ErrAddress, ErrLabel, ErrAmount or an error that
// names the field.
func (c *Chain) Prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	c = c.current()
	a, err := c.prepare(ctx, slot, pay, prev)
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("preparing payment %d at height %d of %s: %w", pay.ID, slot.Nonce, slot.Account, err)
	}
	return a, nil
}

func (c *Chain) prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	if len(prev) > 0 {
		return chain.Attempt{}, chain.ErrNoReplacement
	}
	block, err := c.ordered(slot, pay)
	if err != nil {
		return chain.Attempt{}, err
	}
	left, err := c.fund(ctx, block)
	if err != nil {
		return chain.Attempt{}, err
	}
	block.Hash = block.ComputeHash()
	c.prepared(block, left)
	raw, err := encodeUnsigned(block)
	if err != nil {
		return chain.Attempt{}, err
	}
	return chain.Attempt{Hash: block.Hash.String(), Raw: raw}, nil
}
