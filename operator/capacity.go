package operator

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/records"
)

// quotaPerPayment is the quota of one payment on the exchange chain: a transfer with our data.
const quotaPerPayment = 21_448

// payer describes the account that makes the payments of a channel. A zero part is unknown or no
// bound.
type payer struct {
	unmined   int           // transactions that may be in no block yet, of all its accounts
	coins     int           // payments that its coins make at a time, on a ledger of coins
	blocks    uint64        // after which the change of a transaction pays again; 0 on other ledgers
	interval  time.Duration // between blocks of its chain
	inclusion Inclusion

	quota *uint64 // that its stake gives with each snapshot block; nil where payments need none
	pow   bool    // without enough quota it works for its blocks, one in each snapshot block at most

	holds chain.Amount // of what it pays with
	least chain.Amount // the smallest payment, in the same unit
	coin  chain.Amount // that it has for fees
	cost  chain.Amount // fee of one payment; zero where there are none
	same  bool         // it pays with the coin that fees are paid with
}

// Inclusion measures the time until a payment is in a block. That time bounds payments: only
// max_unmined of them may wait for a block.
type Inclusion struct {
	Seen records.Inclusion // of the last hour
	Poll time.Duration     // between two checks of the chain's head
}

// time returns the time from a signature until the transaction's block is read. Without a payment
// in the last hour, the next block is assumed, and half a poll on average to see each of the two
// blocks.
func (i Inclusion) time(interval time.Duration) time.Duration {
	if i.Seen.Count == 0 {
		return interval + i.Poll
	}
	return time.Duration(float64(interval) * float64(max(i.Seen.Blocks, i.Seen.Count)) / float64(i.Seen.Count))
}

// Capacity contains the bounds of a channel by settings and accounts. A nil part is no bound, or is
// unknown.
type Capacity struct {
	Unmined *uint64 `json:"by_unmined,omitempty"` // payments a minute by max_unmined: so many transactions in the time until one is in a block
	Coins   *uint64 `json:"by_coins,omitempty"`   // payments a minute by the coins of the pool: full batches, and change that is final before it pays
	Quota   *uint64 `json:"by_quota,omitempty"`   // payments a minute by the stake of the paying account
	Funds   *uint64 `json:"by_funds,omitempty"`   // payments of the smallest amount that the paying account holds enough for
	Fees    *uint64 `json:"by_fees,omitempty"`    // payments whose fee it can pay
}

// capacityOf works it out. Nothing in it is a promise: fees, stakes and blocks change.
func capacityOf(p payer) Capacity {
	var c Capacity
	if p.unmined > 0 && p.interval > 0 {
		c.Unmined = aMinute(uint64(p.unmined), p.inclusion.time(p.interval))
	}
	if p.blocks > 0 && p.interval > 0 {
		c.Coins = aMinute(uint64(p.coins), p.interval*time.Duration(p.blocks))
	}
	if p.quota != nil && p.interval > 0 {
		c.Quota = aMinute(*p.quota, p.interval*quotaPerPayment)
		if p.pow {
			c.Quota = greater(c.Quota, aMinute(1, p.interval))
		}
	}
	least := p.least
	if p.same {
		least = saturated(least.Add(p.cost))
	}
	c.Funds = times(p.holds, least)
	if !p.same {
		c.Fees = times(p.coin, p.cost)
	}
	return c
}

// aMinute returns the number per minute for n in each interval.
func aMinute(n uint64, interval time.Duration) *uint64 {
	product := new(uint256.Int).Mul(uint256.NewInt(n), uint256.NewInt(uint64(time.Minute)))
	return rounded(product.Div(product, uint256.NewInt(uint64(interval))))
}

// times returns how often a fits into b; nil if a is zero.
func times(b, a chain.Amount) *uint64 {
	if a.IsZero() {
		return nil
	}
	return rounded(new(uint256.Int).Div(b.Uint256(), a.Uint256()))
}

func rounded(n *uint256.Int) *uint64 {
	most := uint64(math.MaxUint64)
	if n.IsUint64() {
		most = n.Uint64()
	}
	return &most
}

func greater(a, b *uint64) *uint64 {
	if *a < *b {
		return b
	}
	return a
}

// saturated takes a sum that is too large for the largest amount.
func saturated(sum chain.Amount, err error) chain.Amount {
	if err != nil {
		return chain.AmountOf(new(uint256.Int).SetAllOne())
	}
	return sum
}

// PerMinute is the narrowest of what bounds payments in time; nil where nothing is known.
func (c Capacity) PerMinute() (least *uint64) {
	for _, n := range []*uint64{c.Unmined, c.Coins, c.Quota} {
		if n != nil && (least == nil || *n < *least) {
			least = n
		}
	}
	return least
}

// lasts is for how many payments the account has what it needs.
func (c Capacity) lasts() *uint64 {
	if c.Funds == nil || c.Fees != nil && *c.Fees < *c.Funds {
		return c.Fees
	}
	return c.Funds
}

// String is short: for a column.
func (c Capacity) String() string {
	var parts []string
	if n := c.PerMinute(); n != nil {
		parts = append(parts, fmt.Sprintf("%d/min", *n))
	}
	if n := c.lasts(); n != nil {
		parts = append(parts, "funds for "+count(*n))
	}
	if len(parts) == 0 {
		return "unknown"
	}
	return strings.Join(parts, ", ")
}

// manyPayments is the number beyond which a count has no use.
const manyPayments = 1_000_000

func count(n uint64) string {
	if n > manyPayments {
		return fmt.Sprintf("over %d", manyPayments)
	}
	return strconv.FormatUint(n, 10)
}

// Explained describes the bounds.
func (c Capacity) Explained() string {
	var parts []string
	add := func(n *uint64, format string) {
		if n != nil {
			parts = append(parts, fmt.Sprintf(format, count(*n)))
		}
	}
	add(c.Unmined, "%s payments a minute by max_unmined")
	add(c.Coins, "%s payments a minute by the number of coins")
	add(c.Quota, "%s payments a minute by quota")
	add(c.Funds, "funds for %s payments of the minimum")
	add(c.Fees, "coin for the fees of %s")
	if len(parts) == 0 {
		return "unknown"
	}
	return strings.Join(parts, ", ")
}
