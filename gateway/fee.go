package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common/lru"

	"gatewayd/chain"
	"gatewayd/records"
)

// withdrawFee is the data of /withdraw-fee.
type withdrawFee struct {
	Fee chain.Amount `json:"fee"`
}

// withdrawFee quotes what a withdrawal costs. When the amount contains the fee, the fee is the rest
// next to the greatest net amount that fits; the watcher splits what arrives in the same way.
func (n *network) withdrawFee(ctx context.Context, q query) (any, error) {
	owner, err := q.wallet(n.exchange)
	if err != nil {
		return nil, err
	}
	amount, err := q.amount()
	if err != nil {
		return nil, err
	}
	contains, err := q.containsFee()
	if err != nil {
		return nil, err
	}
	cost, err := n.cost(ctx, q.token, owner)
	if err != nil {
		return nil, err
	}
	fee, err := quote(q.token.Policy.Fee, amount, cost, contains)
	return withdrawFee{fee}, err
}

// quote returns the fee. An amount that contains the fee and does not cover it is fee entirely: the
// wallet then shows a net amount of zero and its own reason, and quotes the true fee for that. An
// error would leave the web wallet's button "All" without any effect (docs/gateway-clients.md 5).
func quote(f records.Fee, amount, cost chain.Amount, contains bool) (chain.Amount, error) {
	if contains {
		_, fee, ok := f.NetOf(amount, cost)
		if !ok {
			return amount, nil
		}
		return fee, nil
	}
	fee, err := f.Of(amount, cost)
	if err == nil {
		_, err = amount.Add(fee)
	}
	if err != nil {
		return chain.Amount{}, refuse(amountTooLarge)
	}
	return fee, nil
}

const (
	// quoteStep is the period in which all replicas quote the same cost, unless it falls.
	quoteStep = time.Minute
	// holdTime is the period in which no second quote to a wallet exceeds the first. Wallets quote
	// again before they send, and a fee that rose meanwhile makes their transfer exceed the balance
	// (docs/gateway-clients.md 5).
	holdTime = time.Minute
	// maxHoldTime bounds a hold that is renewed by repeated requests. Together with quoteStep and
	// the time to send it stays within the ten minutes whose lowest cost the watcher charges, so no
	// user pays more than the quote.
	maxHoldTime = 6 * time.Minute
)

// cost returns the payout's cost on the source chain, in units of the token, as far as the token's
// fee depends on it. It is the lowest cost since the present minute began, and never more than this
// wallet's quote of a moment ago.
func (n *network) cost(ctx context.Context, token records.Token, owner string) (chain.Amount, error) {
	if token.Policy.Fee.Kind != "network" {
		return chain.Amount{}, nil
	}
	now := n.Now()
	cost, err := callStore(ctx, n.Server, n.Store.RawRead, func(tx *records.Tx) (chain.Amount, error) {
		cost, _, found, err := records.QuotesSince(tx, n.Name, token.TokenID, now.Truncate(quoteStep))
		if err == nil && !found {
			err = refuse(feeUnknown)
		}
		return cost, err
	})
	if err != nil {
		return chain.Amount{}, err
	}
	return n.holds.keep(n.Name+" "+token.TokenID+" "+owner, cost, now), nil
}

// maxHolds bounds the memory of holds; the one not asked for longest is forgotten first.
const maxHolds = 100_000

// holds remembers what each wallet was quoted.
type holds struct {
	mu    sync.Mutex
	known lru.BasicLRU[string, hold]
}

type hold struct {
	cost        chain.Amount
	first, last time.Time
}

func newHolds() *holds { return &holds{known: lru.NewBasicLRU[string, hold](maxHolds)} }

// keep returns the cost to quote: the held one, unless it has ended or the present one is not above
// it.
func (h *holds) keep(key string, cost chain.Amount, now time.Time) chain.Amount {
	h.mu.Lock()
	defer h.mu.Unlock()
	held, ok := h.known.Get(key)
	if !ok || !held.cost.Less(cost) || now.Sub(held.last) >= holdTime || now.Sub(held.first) >= maxHoldTime {
		held = hold{cost: cost, first: now}
	}
	held.last = now
	h.known.Add(key, held)
	return held.cost
}
