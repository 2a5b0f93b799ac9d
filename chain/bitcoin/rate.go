package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/chain/bitcoin/spend"
	"gatewayd/chain/quorum"
)

const (
	// feeTarget is the number of blocks within which a payment is to be in one.
	feeTarget = 3
	// keepRate is the time for which the nodes' estimates are used.
	keepRate = 10 * time.Second

	// usualCoins and usualPayees are the size of the transaction by which users are charged.
	usualCoins, usualPayees = 2, 5

	codeNoMethod = -32601
)

// rates are the fees that blocks ask for now.
type rates struct {
	mu     sync.Mutex
	rate   spend.Rate
	until  time.Time
	agreed spend.Rate // the last rate of several estimates
}

// next are the rates of other nodes.
func (r *rates) next() *rates {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &rates{agreed: r.agreed}
}

// maxRise bounds what one node of several asks for alone: so often the last agreed rate, or the
// floor where there is none yet.
const maxRise = 2

// rate is the median of the nodes' estimates, at least the floor and what their pools ask for.
// Nodes without an estimate do not count: they have read too few blocks. Of two in the middle it is
// the lower, so that one node of two cannot raise it. One estimate alone raises it by maxRise only.
func (c *Chain) rate(ctx context.Context) (spend.Rate, error) {
	c.rates.mu.Lock()
	rate, until := c.rates.rate, c.rates.until
	c.rates.mu.Unlock()
	if time.Now().Before(until) {
		return rate, nil
	}
	answers := quorum.Ask(ctx, c.nodes, feesOf, c.estimated)
	good, faults := quorum.Good(answers)
	if len(good) == 0 {
		return 0, fmt.Errorf("reading fees: %w", unavailable(faults))
	}
	var estimates, least []spend.Rate
	for _, a := range good {
		if a.Value.estimate > 0 {
			estimates = append(estimates, a.Value.estimate)
		}
		least = append(least, a.Value.least)
	}
	floor := c.rules.Limits().Relay
	rate = max(floor, median(estimates), median(least))
	c.rates.mu.Lock()
	defer c.rates.mu.Unlock()
	if len(c.nodes) > 1 && len(estimates) < 2 {
		rate = min(rate, maxRise*max(floor, c.rates.agreed))
	} else {
		c.rates.agreed = rate
	}
	c.rates.rate, c.rates.until = rate, time.Now().Add(keepRate)
	return rate, nil
}

// estimated reports whether a majority of the nodes has an estimate.
func (c *Chain) estimated(answers []answer[fees]) bool {
	n := 0
	for _, a := range answers {
		if a.Err == nil && a.Value.estimate > 0 {
			n++
		}
	}
	return n >= c.majority()
}

// median is the middle one, or the lower of two; 0 of none.
func median(list []spend.Rate) spend.Rate {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[(len(list)-1)/2]
}

// fees are a node's estimate and the minimum of its pool; 0: unknown.
type fees struct{ estimate, least spend.Rate }

func feesOf(ctx context.Context, n *node) (f fees, err error) {
	var smart struct {
		Rate float64 `json:"feerate"`
	}
	err = n.call(ctx, &smart, "estimatesmartfee", feeTarget)
	if hasCode(err, codeNoMethod) { // btcd
		err = n.call(ctx, &smart.Rate, "estimatefee", feeTarget)
	}
	if err != nil && !refused(err) { // a refusal: no estimate
		return f, err
	}
	var pool struct {
		Least float64 `json:"mempoolminfee"`
	}
	if err := n.call(ctx, &pool, "getmempoolinfo"); err != nil && !refused(err) {
		return f, err
	}
	var poolErr error
	f.estimate, err = rateOf(smart.Rate)
	f.least, poolErr = rateOf(pool.Least)
	if err = errors.Join(err, poolErr); err != nil {
		return f, n.RecordWrong("fees", fmt.Errorf("%s: its fees: %w", n.name, err))
	}
	return f, nil
}

// rateOf converts coins per 1,000 vbytes. Nodes print them with 8 decimals, which is exact. Below
// zero there is no estimate.
func rateOf(coins float64) (spend.Rate, error) {
	if coins*btcutil.SatoshiPerBitcoin > maxCoins {
		return 0, fmt.Errorf("%v coins per 1,000 vbytes", coins)
	}
	amount, err := btcutil.NewAmount(max(coins, 0))
	return spend.Rate(amount), err
}

func hasCode(err error, code int) bool {
	var r *refusal
	return errors.As(err, &r) && r.Code == code
}

// offer returns the fee rate of a transaction that is prepared now. A replacement gets the ceiling
// where blocks ask for more.
func (c *Chain) offer(ctx context.Context, replaces bool) (spend.Rate, error) {
	rate, err := c.rate(ctx)
	if err != nil {
		return 0, err
	}
	if most := c.rules.Limits().MaxRate; rate > most {
		if !replaces {
			return 0, fmt.Errorf("%w: blocks ask for %d satoshi per 1,000 vbytes, max_fee_rate is %d", chain.ErrFeeCeiling, rate, most)
		}
		rate = most
	}
	return rate, nil
}

// PayoutCost returns the present cost of one payout: its share of the fee of a usual batch.
func (c *Chain) PayoutCost(ctx context.Context, asset chain.Asset) (chain.Amount, error) {
	c = c.current()
	if err := onlyCoin(asset); err != nil {
		return chain.Amount{}, err
	}
	rate, err := c.rate(ctx)
	if err != nil {
		return chain.Amount{}, err
	}
	payee, err := c.network.Make(network.P2TR, make([]byte, 32)) // the largest of the paid kinds
	if err != nil {
		return chain.Amount{}, err
	}
	size := spend.PayeeSize(c.config.kind(), usualCoins, min(usualPayees, c.config.Batch.Most), payee.Script)
	return chain.NewAmount(uint64(rate.Fee(size))), nil
}

func onlyCoin(asset chain.Asset) error {
	if asset != chain.Native {
		return fmt.Errorf("asset %.100q: the chain has its coin alone", asset)
	}
	return nil
}
