package ethereum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"gatewayd/chain"
)

// message is what a payment does on the chain, whatever it pays for gas.
type message struct {
	from  common.Address
	to    common.Address
	value *uint256.Int
	data  []byte
	token bool // a call of a token contract
	asked *chain.Payment
}

// Sign makes one transaction for a slot, with two fees (EIP-1559) or, on a chain without a base fee, with a gas price (EIP-155): the nonce is the slot's, receiver, value and data are the payment's alone. With earlier
// attempts it is a replacement: the same message with both fees raised by an eighth or to what blocks ask, and no less gas. Earlier attempts
// must be of this slot and this payment; only a cancellation may stand over a payment. Only a native sweep may bring less than it asks for,
// down to half: its receiver is ours, and its fee comes out of what is swept. Swept tells how much that is.
//
// A payment that the chain would refuse (a receiver that takes no coins, a blocked one) is signed all the same: its failure in a final
// block is the proof that the slot is void. ErrFeeCeiling: not under the ceiling of the payment or the chain, or of what is left for fees
// beside half of a swept amount. ErrNotNow: the account holds too little now. ErrAddress, ErrLabel, ErrAmount: the payment itself. ErrUnavailable: the nodes.
func (c *Chain) Sign(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	attempt, err := c.sign(ctx, slot, pay, prev)
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("signing payment %d for nonce %d of %s: %w", pay.ID, slot.Nonce, slot.Account, err)
	}
	return attempt, nil
}

func (c *Chain) sign(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	if c.keys == nil {
		return chain.Attempt{}, errors.New("there are no keys")
	}
	msg, err := c.message(slot, pay)
	if err != nil {
		return chain.Attempt{}, err
	}
	earlier, err := c.earlier(slot, msg, prev)
	if err != nil {
		return chain.Attempt{}, err
	}
	gas, err := c.gas(ctx, msg, earlier)
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
	tx, err := c.seal(ctx, slot, types.NewTx(c.unsigned(slot.Nonce, msg, gas, offer)), msg.from)
	if err != nil {
		return chain.Attempt{}, err
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("encoding the transaction: %w", err)
	}
	return chain.Attempt{
		Seq: nextSeq(prev), Hash: tx.Hash().Hex(), Raw: raw, TipCap: chain.AmountOf(offer.tip), FeeCap: chain.AmountOf(offer.cap),
	}, nil
}

// unsigned is the transaction of the kind that the chain takes.
func (c *Chain) unsigned(nonce uint64, msg message, gas uint64, offer fees) types.TxData {
	if offer.legacy {
		return &types.LegacyTx{Nonce: nonce, GasPrice: offer.cap.ToBig(), Gas: gas, To: &msg.to, Value: msg.value.ToBig(), Data: msg.data}
	}
	return &types.DynamicFeeTx{
		ChainID: new(big.Int).SetUint64(c.config.ChainID), Nonce: nonce, GasTipCap: offer.tip.ToBig(), GasFeeCap: offer.cap.ToBig(), Gas: gas,
		To: &msg.to, Value: msg.value.ToBig(), Data: msg.data,
	}
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

// message builds what a payment does.
func (c *Chain) message(slot chain.Slot, pay chain.Payment) (message, error) {
	from, err := parseAddress(slot.Account)
	if err != nil {
		return message{}, fmt.Errorf("account %q: %w", slot.Account, err)
	}
	msg := message{from: from, value: new(uint256.Int), asked: &pay}
	switch pay.Purpose {
	case chain.Cancel:
		msg.to = from
		return msg, nil
	case chain.Credit, chain.Refund, chain.Sweep, chain.Gas:
	default:
		return message{}, fmt.Errorf("purpose %q is none of this chain", pay.Purpose)
	}
	text, err := c.CheckAddress(pay.To, pay.Label)
	if err != nil {
		return message{}, fmt.Errorf("receiver %q: %w", pay.To, err)
	}
	if pay.Amount.IsZero() {
		return message{}, fmt.Errorf("%w: zero is not paid", chain.ErrAmount)
	}
	to := common.HexToAddress(text)
	if pay.Asset == chain.Native {
		msg.to, msg.value, msg.data = to, pay.Amount.Uint256(), []byte(pay.Label)
		return msg, nil
	}
	if msg.to, err = c.token(pay.Asset); err != nil {
		return message{}, err
	}
	msg.data, msg.token = transferCall(to, pay.Amount.Uint256(), pay.Label), true
	return msg, nil
}

// token is the contract of a configured asset; nothing else is ever called.
func (c *Chain) token(asset chain.Asset) (common.Address, error) {
	token, err := parseAddress(string(asset))
	if err != nil {
		return common.Address{}, fmt.Errorf("asset %q: %w", asset, err)
	}
	if !c.isToken(token) {
		return common.Address{}, fmt.Errorf("asset %s is not configured on this chain", asset)
	}
	return token, nil
}

// attempts is what the earlier attempts offered at most; gas 0 means that there were none.
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

// checkAttempt makes sure that a replacement cannot pay somebody else than the attempt it replaces.
func (c *Chain) checkAttempt(tx *types.Transaction, slot chain.Slot, msg message) error {
	if tx.Nonce() != slot.Nonce || tx.ChainId().Uint64() != c.config.ChainID {
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

// seal has the transaction signed and makes sure that the signature is the account's.
func (c *Chain) seal(ctx context.Context, slot chain.Slot, tx *types.Transaction, from common.Address) (*types.Transaction, error) {
	signature, err := c.keys.SignDigest(ctx, slot.Key, c.sender.Hash(tx).Bytes())
	if err != nil {
		return nil, fmt.Errorf("asking for a signature: %w", err)
	}
	if len(signature) != crypto.SignatureLength {
		return nil, fmt.Errorf("the signature has %d bytes, not %d", len(signature), crypto.SignatureLength)
	}
	signed, err := tx.WithSignature(c.sender, signature)
	if err != nil {
		return nil, fmt.Errorf("adding the signature: %w", err)
	}
	if signer, err := types.Sender(c.sender, signed); err != nil || signer != from {
		return nil, errors.New("the signature is not the slot's account's: wrong key")
	}
	return signed, nil
}
