package ethereum

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"gatewayd/chain"
)

// Prepare makes one transaction for a slot, without its signature, with two fees (EIP-1559) or, on
// a chain without a base fee, with a gas price (EIP-155). The nonce is the slot's; receiver, value
// and data depend on the payment alone. With earlier attempts it is a replacement: the same message
// with both fees raised by an eighth or to the blocks' price, and no less gas. Earlier attempts
// must belong to this slot and this payment; only a cancellation may follow a payment. Only a
// native sweep may bring less than requested, down to half: its receiver is ours, and its fee is
// taken from the swept amount. Swept returns the amount.
//
// A payment that the chain would refuse (a receiver that takes no coins, a blocked one) is prepared
// all the same: its failure in a final block is the proof that the slot is void. ErrFeeCeiling:
// above the ceiling of the payment or the chain, or of the half of a swept amount that may go to
// fees. ErrNotNow: the account holds too little now. ErrAddress, ErrLabel, ErrAmount: the payment
// itself. ErrUnavailable: the nodes.
func (c *Chain) Prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	c = c.current()
	attempt, err := c.prepare(ctx, slot, pay, prev)
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("preparing payment %d for nonce %d of %s: %w", pay.ID, slot.Nonce, slot.Account, err)
	}
	return attempt, nil
}

func (c *Chain) prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	msg, err := c.message(slot, pay)
	if err != nil {
		return chain.Attempt{}, err
	}
	if len(prev) > 0 {
		tx, err := readAttempt(prev[0])
		if err != nil {
			return chain.Attempt{}, err
		}
		msg = msg.withGasOf(tx.Data())
	}
	earlier, err := c.earlier(slot, msg, prev)
	if err == nil && msg.batch != nil {
		err = c.needsPayouts(ctx)
	}
	if err != nil {
		return chain.Attempt{}, err
	}
	msg, gas, err := c.gas(ctx, msg, earlier)
	if err != nil {
		return chain.Attempt{}, err
	}
	holds, err := c.sweeps(ctx, msg)
	if err != nil {
		return chain.Attempt{}, err
	}
	ceiling, err := c.ceiling(msg, gas, holds)
	if err != nil {
		return chain.Attempt{}, err
	}
	offer, err := c.offer(ctx, earlier, ceiling)
	if err != nil {
		return chain.Attempt{}, err
	}
	if holds != nil {
		msg.value = msg.brings(holds, gas, offer)
	}
	tx := types.NewTx(c.unsigned(slot.Nonce, msg, gas, offer))
	raw, err := tx.MarshalBinary()
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("encoding the transaction: %w", err)
	}
	return chain.Attempt{
		Seq: nextSeq(prev), Hash: tx.Hash().Hex(), Raw: raw, TipCap: chain.AmountOf(offer.tip), FeeCap: chain.AmountOf(offer.cap),
	}, nil
}

// Swept is the native coin that an attempt moves, in wei. It asks no node.
func (c *Chain) Swept(a chain.Attempt) (chain.Amount, error) {
	tx, err := readAttempt(a)
	if err != nil {
		return chain.Amount{}, err
	}
	return chain.AmountOf(uint256.MustFromBig(tx.Value())), nil
}

func nextSeq(prev []chain.Attempt) int {
	next := 0
	for _, a := range prev {
		next = max(next, a.Seq+1)
	}
	return next
}

// attempts contains the maximum offers of earlier attempts; gas 0 means that there were none.
type attempts struct {
	fees fees
	gas  uint64
}

// earlier reads the attempts made so far and refuses those that are not of this slot and payment.
func (c *Chain) earlier(slot chain.Slot, msg message, prev []chain.Attempt) (attempts, error) {
	most := attempts{fees: fees{tip: new(uint256.Int), cap: new(uint256.Int)}}
	for _, a := range prev {
		tx, err := readAttempt(a)
		if err != nil {
			return attempts{}, err
		}
		if err := c.checkAttempt(tx, slot, msg); err != nil {
			return attempts{}, fmt.Errorf("attempt %d: %w", a.Seq, err)
		}
		most.gas = max(most.gas, tx.Gas())
		most.fees.tip = higher(most.fees.tip, uint256.MustFromBig(tx.GasTipCap()))
		most.fees.cap = higher(most.fees.cap, uint256.MustFromBig(tx.GasFeeCap()))
	}
	return most, nil
}

// readAttempt decodes stored bytes and holds them against the stored hash.
func readAttempt(a chain.Attempt) (*types.Transaction, error) {
	var tx types.Transaction
	if err := tx.UnmarshalBinary(a.Raw); err != nil {
		return nil, fmt.Errorf("attempt %d: decoding its bytes: %w", a.Seq, err)
	}
	if tx.Hash().Hex() != a.Hash {
		return nil, fmt.Errorf("attempt %d: its bytes have the hash %s, not %s", a.Seq, tx.Hash().Hex(), a.Hash)
	}
	return &tx, nil
}

// checkAttempt verifies that a replacement pays the same payee as the attempt it replaces.
func (c *Chain) checkAttempt(tx *types.Transaction, slot chain.Slot, msg message) error {
	if tx.Nonce() != slot.Nonce || tx.ChainId().Uint64() != c.chainID {
		return fmt.Errorf("it has nonce %d of chain %s", tx.Nonce(), tx.ChainId())
	}
	if sender, err := types.Sender(c.sender, tx); err != nil || sender != msg.from {
		return errors.New("it is not signed by the slot's account")
	}
	if msg.asked.Purpose == chain.Cancel {
		return nil
	}
	if tx.To() == nil || *tx.To() != msg.to || !bytes.Equal(tx.Data(), msg.data) {
		return errors.New("it pays another receiver or carries other data")
	}
	swept := msg.asked.Purpose == chain.Sweep && !msg.token
	if !swept && tx.Value().Cmp(msg.value.ToBig()) != 0 {
		return errors.New("it pays another amount")
	}
	return nil
}

// offer prices a first attempt or a replacement.
func (c *Chain) offer(ctx context.Context, earlier attempts, ceiling *uint256.Int) (fees, error) {
	now, err := c.gasPrices(ctx)
	if err != nil {
		return fees{}, err
	}
	if earlier.gas == 0 {
		return now.first(c.minTip, ceiling)
	}
	return now.replace(earlier.fees, c.minTip, ceiling)
}
