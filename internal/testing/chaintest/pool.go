package chaintest

import (
	"fmt"
	"slices"

	"gatewayd/chain"
)

// admit accepts a transaction that is in no block, by the rules of the ledger's kind.
func (c *Chain) admit(t *tx) error {
	if t.Chain != c.cfg.ID {
		return fmt.Errorf("%w: %q, this is %q", errWrongChain, t.Chain, c.cfg.ID)
	}
	if c.cfg.Linked {
		if _, err := c.cur.apply(t, chain.Amount{}); err != nil {
			return err
		}
		c.waiting = append(c.waiting, t)
		return nil
	}
	if c.coins() {
		return c.admitCoins(t)
	}
	return c.admitNonce(t)
}

// admitNonce lets numbers ahead of the account's wait, as a real pool does.
func (c *Chain) admitNonce(t *tx) error {
	if t.Key == "" {
		c.waiting = append(c.waiting, t)
		return nil
	}
	if next := c.cur.nextNumber(t.account); t.Number < next {
		return fmt.Errorf("%w: %d, the next is %d", errNumberLow, t.Number, next)
	}
	if err := c.cur.checkFunds(t); err != nil {
		return err
	}
	i := slices.IndexFunc(c.waiting, func(o *tx) bool { return o.account == t.account && o.Number == t.Number })
	if i < 0 {
		c.waiting = append(c.waiting, t)
		return nil
	}
	if old := c.waiting[i]; old.hash != t.hash && !t.outranks(old) {
		return errUnderpriced
	}
	c.waiting[i] = t
	return nil
}

// known reports whether the ledger has the transaction already, in the line or waiting.
func (c *Chain) known(hash string) bool {
	if _, ok := c.mined[hash]; ok {
		return true
	}
	return slices.ContainsFunc(c.waiting, func(t *tx) bool { return t.hash == hash })
}
