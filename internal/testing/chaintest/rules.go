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
func (c *Chain) Rules() chain.Rules { return rules{c.cfg.ID, c.cfg.Linked, c.cfg.Pool} }

type rules struct {
	id     chain.ID
	linked bool
	pool   string // see Config
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
	want, same := ordered(o.Slot, o.Payment, r), *asked
	if asked.Purpose == chain.Sweep && asked.Asset == chain.Native && asked.Amount.Less(want.Amount) {
		same.Amount = want.Amount
	}
	same.Tip, same.Cap = want.Tip, want.Cap
	if r.pool != "" { // the change goes back to the account, whatever its amount
		same.Spends, same.Change = nil, nil
	}
	a, errA := json.Marshal(&same)
	b, errB := json.Marshal(want)
	if err := errors.Join(errA, errB); err != nil {
		return nil, err
	}
	if string(a) != string(b) {
		return nil, fmt.Errorf("the transaction is %s, not %s", a, b)
	}
	hash, err := hex.DecodeString(asked.hash)
	if r.pool == "" || err != nil {
		return []chain.Digest{{Key: o.Slot.Key, Hash: hash}}, err
	}
	return asked.digests(o.Slot.Coin, hash)
}

// digests are one for each coin, of which the slot's must be the first.
func (t *tx) digests(anchor string, hash []byte) ([]chain.Digest, error) {
	if len(t.Spends) == 0 || t.Spends[0].Out != anchor {
		return nil, fmt.Errorf("coin: the transaction spends %v, and its slot's is %q", t.spentBy(), anchor)
	}
	list := make([]chain.Digest, len(t.Spends))
	for i, s := range t.Spends {
		list[i] = chain.Digest{Key: s.Key, Hash: hash}
	}
	return list, nil
}

// Fee is all gas at the most that the transaction offers; nothing where blocks are linked, and on
// the ledger of coins what it does not give back.
func (r rules) Fee(o chain.Order) (chain.Amount, error) {
	t, err := decode(o.Unsigned)
	if err != nil {
		return chain.Amount{}, err
	}
	if r.pool != "" {
		return t.Cap, nil
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

// ordered is the transaction of a payment at a slot, without fees and coins.
func ordered(slot chain.Slot, pay chain.Payment, r rules) *tx {
	t := &tx{
		Chain: r.id, Key: slot.Key, Number: slot.Nonce, Prev: slot.Prev,
		Purpose: pay.Purpose, Payment: pay.ID, Asset: pay.Asset, To: pay.To, Amount: pay.Amount, Label: pay.Label, Source: pay.Source,
	}
	for _, m := range pay.Members {
		t.Members = append(t.Members, member{m.ID, m.To, m.Amount})
	}
	if r.pool != "" {
		t.Number = 0 // it is not written into the transaction
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
