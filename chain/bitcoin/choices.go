package bitcoin

import (
	"sync"
	"time"

	"gatewayd/chain"
)

// keepChoice is the time from Prepare until the records know which coins an attempt spends.
const keepChoice = time.Minute

// choices are the coins that transactions spend which were prepared a moment ago. Two slots would
// choose the same until the records know.
type choices struct {
	mu sync.Mutex // held from the choice of coins until it is kept
	by map[string]choice
}

type choice struct {
	account string
	number  uint64
	until   time.Time
}

// taken reports whether another slot has chosen a coin. It is called with mu held.
func (c *choices) taken(out string, slot chain.Slot, now time.Time) bool {
	by, ok := c.by[out]
	return ok && now.Before(by.until) && (by.account != slot.Account || by.number != slot.Nonce)
}

// choose keeps the coins of a slot in place of those that it chose before. It is called with mu
// held.
func (c *choices) choose(slot chain.Slot, outs []string, now time.Time) {
	for out, by := range c.by {
		if !now.Before(by.until) || by.account == slot.Account && by.number == slot.Nonce {
			delete(c.by, out)
		}
	}
	for _, out := range outs {
		c.by[out] = choice{slot.Account, slot.Nonce, now.Add(keepChoice)}
	}
}
