package vite

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

// Sign builds the account block that carries out a payment at the slot's height, and signs it. It sends nothing.
//
// Credit, Refund and Sweep send (type 2) with PaymentData; Receive takes in the send that pay.Source names (type 4). There is no
// replacement: with an earlier attempt it is ErrNoReplacement. ErrNotNow: the account's quota cannot pay for the block, or the
// account has to receive before it can send. Wrong orders are ErrAddress, ErrLabel, ErrAmount or an error that names the field.
func (c *Chain) Sign(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	a, err := c.sign(ctx, slot, pay, prev)
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("signing payment %d at height %d of %s: %w", pay.ID, slot.Nonce, slot.Account, err)
	}
	return a, nil
}

func (c *Chain) sign(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	if len(prev) > 0 {
		return chain.Attempt{}, chain.ErrNoReplacement
	}
	block, err := blockAt(slot)
	if err != nil {
		return chain.Attempt{}, err
	}
	if err := c.fill(block, pay); err != nil {
		return chain.Attempt{}, err
	}
	left, err := c.fund(ctx, block)
	if err != nil {
		return chain.Attempt{}, err
	}
	if err := c.seal(ctx, block, slot.Key); err != nil {
		return chain.Attempt{}, err
	}
	c.signed(block, left)
	raw, err := core.EncodeBlock(block)
	if err != nil {
		return chain.Attempt{}, err
	}
	return chain.Attempt{Hash: block.Hash.String(), Raw: raw}, nil
}

// blockAt is an empty block at the slot's place. The first block of an account has no previous one: "" or zeros.
func blockAt(slot chain.Slot) (*core.AccountBlock, error) {
	account, err := core.ParseAddress(slot.Account)
	switch {
	case err != nil:
		return nil, fmt.Errorf("account: %w", err)
	case account.IsContract() || account.IsZero():
		return nil, errors.New("account: not a user's address")
	case slot.Nonce == 0:
		return nil, errors.New("number: heights begin with 1")
	}
	block := &core.AccountBlock{Address: account, Height: slot.Nonce}
	if slot.Prev != "" {
		if block.PreviousHash, err = core.ParseHash(slot.Prev); err != nil {
			return nil, fmt.Errorf("prev: %w", err)
		}
	}
	if (slot.Nonce == 1) != block.PreviousHash.IsZero() {
		return nil, fmt.Errorf("prev: %q does not go with height %d", slot.Prev, slot.Nonce)
	}
	return block, nil
}

// fill writes the order into the block.
func (c *Chain) fill(b *core.AccountBlock, pay chain.Payment) error {
	switch pay.Purpose {
	case chain.Receive:
		return fillReceive(b, pay)
	case chain.Credit, chain.Refund, chain.Sweep:
		return c.fillSend(b, pay)
	}
	return fmt.Errorf("purpose: %q is not done on this ledger", pay.Purpose)
}

func fillReceive(b *core.AccountBlock, pay chain.Payment) (err error) {
	b.BlockType = core.Receive
	if b.SendBlockHash, err = core.ParseHash(pay.Source); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if b.SendBlockHash.IsZero() {
		return errors.New("source: the zero hash is no send")
	}
	return nil
}

func (c *Chain) fillSend(b *core.AccountBlock, pay chain.Payment) (err error) {
	if b.ToAddress, err = payable(pay.To); err != nil {
		return err
	}
	if b.TokenID, err = core.ParseTokenID(string(pay.Asset)); err != nil {
		return fmt.Errorf("asset: %w", err)
	}
	switch {
	case pay.Label != "":
		return fmt.Errorf("%w: addresses of this ledger take none", chain.ErrLabel)
	case b.ToAddress == b.Address:
		return fmt.Errorf("%w: the account would pay itself", chain.ErrAddress)
	case b.TokenID.IsZero():
		return errors.New("asset: the zero token id is no token")
	case pay.Amount.IsZero():
		return fmt.Errorf("%w: nothing to pay", chain.ErrAmount)
	case b.Height == 1:
		return fmt.Errorf("%w: the first block of an account must be a receive", chain.ErrNotNow)
	}
	b.BlockType, b.Amount = core.SendCall, *pay.Amount.Uint256()
	b.Data, err = EncodePaymentData(PaymentData{Tag: c.cfg.Tag, Purpose: pay.Purpose, ID: pay.ID})
	return err
}

// seal hashes and signs. What the signer returned is checked: a wrong key would fill the slot with a block that nobody takes.
func (c *Chain) seal(ctx context.Context, b *core.AccountBlock, path string) (err error) {
	b.Hash = b.ComputeHash()
	if b.PublicKey, b.Signature, err = c.keys.Sign(ctx, path, b.Hash[:]); err != nil {
		return fmt.Errorf("key %s: %w", path, err)
	}
	if err := b.Verify(); err != nil {
		return fmt.Errorf("key %s: %w", path, err)
	}
	return nil
}
