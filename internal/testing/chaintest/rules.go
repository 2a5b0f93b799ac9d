package chaintest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"gatewayd/chain"
)

// Rules returns the signing rules of a ledger in memory.
func (c *Chain) Rules() chain.Rules { return rules{c.cfg.ID, c.cfg.Linked} }

type rules struct {
	id     chain.ID
	linked bool
}

// Digests passes what the payment asks for, whatever it offers for its fee; a native sweep may
// bring less.
func (r rules) Digests(o chain.Order) ([]chain.Digest, error) {
	if !r.linked && o.Slot.Branch != 0 {
		return nil, fmt.Errorf("branch: %d, where the ledger counts nonces", o.Slot.Branch)
	}
	asked, err := decode(o.Unsigned)
	if err != nil {
		return nil, err
	}
	want, same := ordered(r.id, o.Slot, o.Payment), *asked
	if asked.Purpose == chain.Sweep && asked.Asset == chain.Native && asked.Amount.Less(want.Amount) {
		same.Amount = want.Amount
	}
	same.Tip, same.Cap = want.Tip, want.Cap
	a, errA := json.Marshal(&same)
	b, errB := json.Marshal(want)
	if err := errors.Join(errA, errB); err != nil {
		return nil, err
	}
	if string(a) != string(b) {
		return nil, fmt.Errorf("the transaction is %s, not %s", a, b)
	}
	hash, err := hex.DecodeString(asked.hash)
	return []chain.Digest{{Key: o.Slot.Key, Hash: hash}}, err
}

// Fee is all gas at the most that the transaction offers; nothing where blocks are linked.
func (r rules) Fee(o chain.Order) (chain.Amount, error) {
	t, err := decode(o.Unsigned)
	if err != nil {
		return chain.Amount{}, err
	}
	return t.Cap.Mul(gas)
}

// Seal marks the transaction as signed. There is no real signature: keys here are names.
func (r rules) Seal(o chain.Order, _ ...chain.Signature) (chain.SignedTx, error) {
	t, err := decode(o.Unsigned)
	if err != nil {
		return chain.SignedTx{}, err
	}
	t.Signed = true
	raw, err := t.seal()
	return chain.SignedTx{Hash: t.hash, Raw: raw}, err
}

// ordered is the transaction of a payment at a slot, without fees.
func ordered(id chain.ID, slot chain.Slot, pay chain.Payment) *tx {
	t := &tx{
		Chain: id, Key: slot.Key, Number: slot.Nonce, Prev: slot.Prev,
		Purpose: pay.Purpose, Payment: pay.ID, Asset: pay.Asset, To: pay.To, Amount: pay.Amount, Label: pay.Label, Source: pay.Source,
	}
	for _, m := range pay.Members {
		t.Members = append(t.Members, member{m.ID, m.To, m.Amount})
	}
	if pay.Purpose == chain.Cancel {
		t.Asset, t.To, t.Amount, t.Label = chain.Native, slot.Account, chain.Amount{}, ""
	}
	return t
}

// Keys sign digests.
type Keys interface {
	Sign(ctx context.Context, path string, digest []byte) (public, signature []byte, err error)
}

// NoKeys are those of ledgers in memory.
type NoKeys struct{}

// Sign answers nothing, which suffices.
func (NoKeys) Sign(context.Context, string, []byte) (public, signature []byte, err error) {
	return nil, nil, nil
}

// Ledger is an adapter with the rules by which its transactions are signed.
type Ledger interface {
	chain.Chain
	Rules() chain.Rules
}

// Sign prepares a payment's transaction and signs it, without a sign-guard.
func Sign(ctx context.Context, c Ledger, keys Keys, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	a, err := c.Prepare(ctx, slot, pay, prev)
	if err != nil {
		return chain.Attempt{}, err
	}
	order := chain.Order{Slot: slot, Payment: pay, Unsigned: a.Raw}
	digests, err := c.Rules().Digests(order)
	if err != nil {
		return chain.Attempt{}, err
	}
	signatures := make([]chain.Signature, len(digests))
	for i, d := range digests {
		if signatures[i].Public, signatures[i].Bytes, err = keys.Sign(ctx, d.Key, d.Hash); err != nil {
			return chain.Attempt{}, err
		}
	}
	signed, err := c.Rules().Seal(order, signatures...)
	a.Hash, a.Raw = signed.Hash, signed.Raw
	return a, err
}
