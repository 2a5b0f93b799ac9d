package chaintest

import (
	"maps"

	"gatewayd/chain"
)

// Find is the height of the block in which a transaction stands, and whether that block is final. ok is false when it stands in none.
func (c *Chain) Find(hash string) (height uint64, final, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	height, ok = c.mined[hash]
	return height, ok && height <= c.final, ok
}

// Holding is what an account has on the newest state, with what waits to be received.
func (c *Chain) Holding(account string, asset chain.Asset) chain.Amount {
	return c.Balances()[account][asset]
}

// Balances is everybody's holdings on the newest state, with what waits to be received.
func (c *Chain) Balances() map[string]map[chain.Asset]chain.Amount {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := newState(false, nil)
	maps.Copy(s.balances, c.cur.balances)
	for _, in := range c.cur.unreceived {
		s.credit(holding{in.to, in.asset}, in.amount)
	}
	all := make(map[string]map[chain.Asset]chain.Amount)
	for h, a := range s.balances {
		if all[h.account] == nil {
			all[h.account] = make(map[chain.Asset]chain.Amount)
		}
		all[h.account][h.asset] = a
	}
	return all
}

// Burnt is the native coin that fees took, over the whole line.
func (c *Chain) Burnt() chain.Amount {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cur.burnt
}

// Paid counts, by payment id, the transactions of ours in the line that moved value. More than one is a double payment.
func (c *Chain) Paid() map[uint64]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	paid := make(map[uint64]int)
	for _, b := range c.line {
		for i, t := range b.txs {
			if t.account != "" && t.Purpose != chain.Receive && t.Purpose != chain.Cancel && t.Payment != 0 && b.receipts[i].ok {
				paid[t.Payment]++
			}
		}
	}
	return paid
}
