package chaintest

import (
	"context"
	"fmt"

	"gatewayd/chain"
)

// Hide sends native coin to an account in a way that no block shows, as a contract does where no
// node traces.
func (c *Chain) Hide(to string, amount chain.Amount) string {
	return c.Send(Out{To: to, Asset: chain.Native, Amount: amount, Hidden: true})
}

// Take makes native coin of an account vanish in a way that no block shows.
func (c *Chain) Take(from string, amount chain.Amount) string {
	return c.Send(Out{To: from, Asset: chain.Native, Amount: amount, Taken: true})
}

// SetTracing sets the tracing state that later blocks report.
func (c *Chain) SetTracing(t chain.Tracing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tracing = t
}

// KeepBalances bounds how many blocks below the newest PastBalances still knows; more than 512 are
// never known.
func (c *Chain) KeepBalances(blocks uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past = blocks
}

// SetBalancePage bounds how many accounts BalancesAt takes at once; 0: the usual 100.
func (c *Chain) SetBalancePage(accounts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.page = accounts
}

// AuditsBalances is true on the nonce ledger, whose own coin pays fees.
func (c *Chain) AuditsBalances() bool { return !c.cfg.Linked && !c.coins() }

// BalancePage returns the number of accounts per call of BalancesAt.
func (c *Chain) BalancePage() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.page > 0 {
		return c.page
	}
	return 100
}

// BalancesAt is the native coin of accounts after a block.
func (c *Chain) BalancesAt(ctx context.Context, height uint64, accounts []string) ([]chain.Amount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallBalances); err != nil {
		return nil, err
	}
	out := make([]chain.Amount, len(accounts))
	for i, a := range accounts {
		b := c.balanceAt(a, height)
		if b == nil {
			return nil, fmt.Errorf("balances at block %d of %s: %w", height, c.cfg.ID, chain.ErrUnavailable)
		}
		out[i] = *b
	}
	return out, nil
}

// ProvenBalance is the native coin of an account after a final block; chain.ErrNotFound where the
// state is gone.
func (c *Chain) ProvenBalance(ctx context.Context, height uint64, account string) (chain.Amount, error) {
	list, err := c.PastBalances(ctx, []chain.Moment{{Account: account, Height: height}})
	if err != nil {
		return chain.Amount{}, err
	}
	if list[0] == nil {
		return chain.Amount{}, fmt.Errorf("balance at block %d of %s: %w", height, c.cfg.ID, chain.ErrNotFound)
	}
	return *list[0], nil
}

// PastBalances is the native coin of accounts after blocks; nil where the state is gone.
func (c *Chain) PastBalances(ctx context.Context, of []chain.Moment) ([]*chain.Amount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallBalances); err != nil {
		return nil, err
	}
	out := make([]*chain.Amount, len(of))
	for i, m := range of {
		out[i] = c.balanceAt(m.Account, m.Height)
	}
	return out, nil
}

// balanceAt returns an account's balance after a block, or the value of BendBalances.
func (c *Chain) balanceAt(account string, height uint64) *chain.Amount {
	if c.bend != nil {
		if told := c.bend(account, height); told != nil {
			return told
		}
	}
	top := uint64(len(c.line) - 1)
	if height > top || (c.past > 0 && height+c.past < top) || c.line[height].after == nil {
		return nil
	}
	have := c.line[height].after.balances[holding{account, chain.Native}]
	return &have
}

// BendBalances makes all nodes report balances other than the ledger's where f returns one. f runs
// under the ledger's lock.
func (c *Chain) BendBalances(f func(account string, height uint64) *chain.Amount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bend = f
}

// FailedForUs reports whether a transaction in a block failed because its account had too little.
// Like balances it is forgotten after a while.
func (c *Chain) FailedForUs(ctx context.Context, height uint64, _ string, _ chain.Payment, _ chain.Amount, a chain.Attempt) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallBalances); err != nil {
		return false, err
	}
	if top := uint64(len(c.line) - 1); height <= top && (c.past == 0 || height+c.past >= top) {
		for i, t := range c.line[height].txs {
			if t.hash == a.Hash {
				return c.line[height].receipts[i].short, nil
			}
		}
	}
	return false, fmt.Errorf("block %d of %s: %w", height, c.cfg.ID, chain.ErrUnavailable)
}
