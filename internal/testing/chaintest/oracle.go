package chaintest

import (
	"maps"

	"gatewayd/chain"
)

// Find returns the height of the block that includes a transaction, and whether that block is
// final. ok is false when no block includes it.
func (c *Chain) Find(hash string) (height uint64, final, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	height, ok = c.mined[hash]
	return height, ok && height <= c.final, ok
}

// Final is the height of the newest final block.
func (c *Chain) Final() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.final
}

// Holding is an account's balance in the newest state, pending receives included.
func (c *Chain) Holding(account string, asset chain.Asset) chain.Amount {
	return c.Balances()[account][asset]
}

// Balances returns all holdings in the newest state, pending receives included.
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

// Burnt is the native coin spent on fees, over the complete chain.
func (c *Chain) Burnt() chain.Amount {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cur.burnt
}

// Paid counts, by payment id, the transactions of ours in the line that moved value. More than one
// is a double payment.
func (c *Chain) Paid() map[uint64]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	paid := make(map[uint64]int)
	for _, b := range c.line {
		for i, t := range b.txs {
			if t.account == "" || t.Purpose.PaysNobody() || t.Payment == 0 || !b.receipts[i].ok {
				continue
			}
			for n, m := range t.Members {
				if b.receipts[i].members[n] == chain.MemberPaid {
					paid[m.Payment]++
				}
			}
			if len(t.Members) == 0 {
				paid[t.Payment]++
			}
		}
	}
	return paid
}

// Sent returns the outputs of a transaction in the line of the ledger of coins.
func (c *Chain) Sent(hash string) (sum uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.minedTx(hash); t != nil {
		for _, o := range t.outputs() {
			sum += o.amount
		}
	}
	return sum
}

// Spends are the outpoints that an attempt on the ledger of coins spends.
func Spends(a chain.Attempt) []string {
	t, err := decode(a.Raw)
	if err != nil {
		return nil
	}
	return t.spentBy()
}

// IsFinal reports whether a final block has made a coin, and the next block may spend it.
func (c *Chain) IsFinal(out string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	hash, _, _ := cutOutpoint(out)
	t := c.minedTx(hash)
	return t != nil && c.mined[hash] <= c.final && t.Matures <= uint64(len(c.line))
}

// OwnTxs counts the transactions in the line that a key of ours has signed.
func (c *Chain) OwnTxs() (n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.line {
		for _, t := range b.txs {
			if t.Key != "" {
				n++
			}
		}
	}
	return n
}

// Batches counts the batches in the line, and the payments in them that were made and that failed.
func (c *Chain) Batches() (batches, made, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.line {
		for _, r := range b.receipts {
			batches += min(len(r.members), 1)
			for _, o := range r.members {
				if o == chain.MemberPaid {
					made++
				} else {
					failed++
				}
			}
		}
	}
	return batches, made, failed
}
