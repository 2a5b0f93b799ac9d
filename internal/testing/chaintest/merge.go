package chaintest

import (
	"context"
	"fmt"
	"slices"

	"gatewayd/chain"
)

const (
	// manyCoins is the number of free coins beyond which they are merged, at or below cheapBase.
	// mergeLeaves of the largest stay, and maxMerged are merged at once.
	manyCoins, mergeLeaves, maxMerged = 60, 20, 30
	cheapBase                         = 15
)

// WorthMerging reports whether an account has many free coins, while fees are low.
func (c CoinLedger) WorthMerging(ctx context.Context, account string) (bool, error) {
	held, err := c.heldCoins(ctx, account)
	if err != nil {
		return false, err
	}
	held = slices.DeleteFunc(held, func(h chain.HeldCoin) bool { return h.Bound })
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.begin(ctx, CallPool)
	return err == nil && len(held) > manyCoins && c.mayMerge("") == nil, err
}

func (c *Chain) mayMerge(source string) error {
	if source == "" && number(c.base) > cheapBase {
		return fmt.Errorf("%w: merges wait for %d", chain.ErrFeeCeiling, cheapBase)
	}
	return nil
}

// Parent returns the largest change of the attempt that waits for too low a fee, while nodes keep
// the first.
func (c CoinLedger) Parent(ctx context.Context, _ chain.Slot, attempts []chain.Attempt) (source string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallPool); err != nil {
		return "", err
	}
	for _, a := range attempts {
		t := c.anyTx(a.Hash)
		if _, mined := c.mined[a.Hash]; t == nil || mined || !c.keepsFirst || t.rate() >= number(c.base) {
			continue
		}
		largest := uint64(0)
		for i, o := range t.outputs() {
			if behind := len(t.payees()); i >= behind && o.amount > largest {
				largest, source = o.amount, outpoint(t.hash, i)
			}
		}
	}
	return source, nil
}

// family is a coin that an attempt of ours makes which no block has, with that attempt.
type family struct {
	coin   chain.HeldCoin
	parent *tx
}

// pendingCoin is nil unless all that the coin's transaction spends is held.
func (c *Chain) pendingCoin(ctx context.Context, slot chain.Slot, out string, held []chain.HeldCoin) (*family, error) {
	c.mu.Lock()
	accounts := c.accounts
	c.mu.Unlock()
	hash, _, _ := cutOutpoint(out)
	raw, err := accounts.CoinTxs(ctx, c.cfg.ID, []string{hash})
	if err != nil {
		return nil, err
	}
	parent, err := decode(raw[hash])
	if err != nil || parent.hash != hash {
		return nil, nil
	}
	for _, s := range parent.Spends {
		if !slices.ContainsFunc(held, func(h chain.HeldCoin) bool { return h.Out == s.Out }) {
			return nil, nil
		}
	}
	for i, o := range parent.outputs() {
		if i >= len(parent.payees()) && outpoint(hash, i) == out {
			coin := chain.Coin{Out: out, Address: o.to, Amount: chain.NewAmount(o.amount), Own: true}
			return &family{chain.HeldCoin{Coin: coin, Key: slot.Key}, parent}, nil
		}
	}
	return nil, nil
}

// draftMerge spends the slot's coin, which is the first that is held, to the account: with the coin
// of a parent for which it pays too, or with many small ones.
func (c *Chain) draftMerge(t *tx, held []chain.HeldCoin, prev []chain.Attempt, pending *family) (*tx, error) {
	if err := c.mayMerge(t.Source); err != nil {
		return nil, err
	}
	var last tx // the newest that spends what may be spent
	for _, a := range prev {
		old, err := decode(a.Raw)
		if err != nil {
			return nil, err
		}
		known := func(out string) bool {
			return pending != nil && pending.coin.Out == out || slices.ContainsFunc(held, func(h chain.HeldCoin) bool { return h.Out == out })
		}
		if !slices.ContainsFunc(old.spentBy(), func(out string) bool { return !known(out) }) {
			last = *old
		}
	}
	t.account = Address(t.Chain, t.Key)
	must, may := held[:1:1], held[1:]
	switch {
	case pending != nil:
		must = append(must, pending.coin)
		t.parentSize, t.parentFee = pending.parent.size(), number(pending.parent.Cap)
	case t.Source != "":
		for _, h := range may {
			if h.Out == t.Source {
				must = append(must, h)
			}
		}
		may = slices.DeleteFunc(slices.Clone(may), func(h chain.HeldCoin) bool { return h.Out == t.Source })
	default:
		small := slices.DeleteFunc(slices.Clone(may), func(h chain.HeldCoin) bool { return h.Bound })
		small = small[min(mergeLeaves, len(small)):]
		must, may = append(must, small[max(0, len(small)-maxMerged):]...), nil
	}
	in := uint64(0)
	for _, h := range must {
		t.Spends, in = append(t.Spends, spend{h.Out, h.Key}), in+number(h.Amount)
	}
	for !c.close(t, in, fewCoins, last) {
		if len(may) == 0 {
			return nil, fmt.Errorf("%w: the coins bring %d", chain.ErrNotNow, in)
		}
		t.Spends, in, may = append(t.Spends, spend{may[0].Out, may[0].Key}), in+number(may[0].Amount), may[1:]
	}
	if number(c.cfg.Ceiling)*(t.size()+t.parentSize) < number(t.Cap) {
		return nil, fmt.Errorf("%w: %s", chain.ErrFeeCeiling, t.Cap)
	}
	return t, nil
}

// Merges counts the merges in the line, and those of them that paid for a parent in the same block.
func (c *Chain) Merges() (merges, children int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.line {
		for _, t := range b.txs {
			if t.Purpose != chain.Merge {
				continue
			}
			merges++
			parent, _, _ := cutOutpoint(t.Source)
			if slices.Contains(t.spentBy(), t.Source) && c.mined[parent] == b.Height {
				children++
			}
		}
	}
	return merges, children
}

var _ chain.Merger = CoinLedger{}
