package follow

import (
	"context"
	"fmt"
	"hash/fnv"

	"gatewayd/chain"
	"gatewayd/records"
)

// On a ledger of coins a block names no number of our transactions: they have that of the slot
// whose coin they spend.

// unknownNumbers is where the numbers of transactions begin that spend no coin of any slot: beyond
// all that are given.
const unknownNumbers = 1 << 61

// findSpenders gives our transactions in blocks their account and number.
func (f *Follower) findSpenders(ctx context.Context, blocks []chain.Block) error {
	if !f.coins {
		return nil
	}
	for _, b := range blocks {
		for i := range b.OwnTxs {
			if err := f.findSpender(ctx, &b.OwnTxs[i]); err != nil {
				return fmt.Errorf("finding the slot of our transaction %s: %w", b.OwnTxs[i].Tx, err)
			}
		}
	}
	return nil
}

// findSpender asks the records first and then the sign-guard, which knows what restored records
// lack.
func (f *Follower) findSpender(ctx context.Context, e *chain.OwnTx) error {
	var s records.Spender
	found := false
	err := f.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
		s, found, err = tx.Coins().SpenderOf(f.id, *e)
		return err
	})
	if err != nil {
		return err
	}
	if s.Account != "" {
		e.Account = s.Account
	}
	if found {
		e.Number = s.Number
		return nil
	}
	anchors, err := f.deps.Signer.Anchors(ctx, f.id, e.Spent...)
	if err != nil {
		return err
	}
	for _, out := range e.Spent {
		for _, a := range anchors {
			if a.Coin == out {
				e.Account, e.Number = a.Account, a.Number
				return nil
			}
		}
	}
	h := fnv.New64a()
	h.Write([]byte(e.Tx))
	e.Number = unknownNumbers + h.Sum64()%unknownNumbers
	return nil
}
