package bitcoin

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/chain/bitcoin/spend"
)

// WorthMerging reports whether an account has many free coins, while blocks ask for little.
func (c *Chain) WorthMerging(ctx context.Context, account string) (bool, error) {
	c = c.current()
	rate, err := c.rate(ctx)
	if err != nil || rate > c.rules.Limits().Cheap {
		return false, err
	}
	held, err := c.heldBy(ctx, account)
	if err != nil {
		return false, fmt.Errorf("reading the coins of %s: %w", account, err)
	}
	held = slices.DeleteFunc(held, func(h chain.HeldCoin) bool { return h.Bound })
	return c.builder().Crowded(coinsOf(held, c.config.Accounts), rate), nil
}

// mayMerge is chain.ErrFeeCeiling for a merge that waits for cheaper blocks.
func (c *Chain) mayMerge(pay chain.Payment, rate spend.Rate) error {
	if pay.Source == "" && rate > c.rules.Limits().Cheap {
		return fmt.Errorf("%w: blocks ask for %d satoshi per 1,000 vbytes, coins are merged up to %d", chain.ErrFeeCeiling, rate, c.rules.Limits().Cheap)
	}
	return nil
}

// Parent returns the largest change of the attempt of a slot that waits in a pool for too low a
// fee, where no node replaces it, or nodes have refused its replacement.
func (c *Chain) Parent(ctx context.Context, slot chain.Slot, attempts []chain.Attempt) (string, error) {
	c = c.current()
	for i, a := range slices.Backward(attempts) {
		seen, err := c.sight(ctx, slot, a)
		if err != nil {
			return "", err
		}
		if !seen.pooled {
			continue // another attempt may be where this one is not
		}
		low, err := c.offersLess(ctx, a, seen.tx)
		newest := i == len(attempts)-1
		if err != nil || !low || newest && seen.replaces {
			return "", err
		}
		return c.largestChange(seen.tx), nil
	}
	return "", nil
}

// largestChange is the largest output of a transaction that goes to the address of change; empty
// without any.
func (c *Chain) largestChange(tx *wire.MsgTx) (out string) {
	largest := int64(0)
	for i, o := range tx.TxOut {
		if to, _ := c.network.Of(o.PkScript); o.Value > largest && to.Text == c.change.pool {
			largest, out = o.Value, wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}.String()
		}
	}
	return out
}

// family is a coin that a transaction of ours makes which no block has, and that transaction.
type family struct {
	coin   spend.Coin
	parent spend.Draft
}

// pendingCoin returns the family of a coin of change, or nil. The parent may still be mined: all
// that it spends is held.
func (c *Chain) pendingCoin(ctx context.Context, out string, held []chain.HeldCoin) (*family, error) {
	at, err := spend.ParseOutpoint(out)
	if err != nil {
		return nil, err
	}
	stored, err := c.accounts.CoinTxs(ctx, c.config.ID, []string{at.Hash.String()})
	if err != nil {
		return nil, err
	}
	raw, tx := stored[at.Hash.String()], new(wire.MsgTx)
	if err := tx.Deserialize(bytes.NewReader(raw)); err != nil || uint64(at.Index) >= uint64(len(tx.TxOut)) {
		return nil, nil // not ours
	}
	spent := slices.DeleteFunc(slices.Clone(held), func(h chain.HeldCoin) bool {
		return !slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool { return in.PreviousOutPoint.String() == h.Out })
	})
	parent, err := spend.ReadDraft(raw, coinsOf(spent, c.config.Accounts))
	if err != nil {
		return nil, nil // a block spends one of its coins
	}
	made := tx.TxOut[at.Index]
	if to, _ := c.network.Of(made.PkScript); to.Text != c.change.pool || tx.TxHash() != at.Hash {
		return nil, nil
	}
	own, err := c.config.Pool()
	return &family{spend.Coin{Outpoint: at, Amount: made.Value, Own: own}, parent}, err
}

// coinsOf are held coins of accounts that are still configured.
func coinsOf(held []chain.HeldCoin, accounts []network.Account) (list []spend.Coin) {
	for _, h := range held {
		if coin, err := coinOf(h, accounts); err == nil {
			list = append(list, coin)
		}
	}
	return list
}
