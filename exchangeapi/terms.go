package exchangeapi

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
	"gatewayd/exchangeapi/index"
)

// querier answers questions about the exchange that the index has no answer to.
type querier interface {
	PlaceOrderInfo(ctx context.Context, a core.Address, trade, quote core.TokenID, sell bool) (client.PlaceOrderInfo, error)
	Quota(ctx context.Context, a core.Address) (client.Quota, error)
	TradeMining(ctx context.Context) (client.TradeMining, error)
}

// terms are what an account may place orders under: dex_getPlaceOrderInfo (docs/exchange-rules.md 3.5).
type terms struct {
	available uint256.Int // of the token that the order would lock, smallest units
	minimum   uint256.Int // least amount, in the decimals of the quote type
	standing  dex.Standing
}

// minimums asks for terms and remembers the least amount of each quote type for a while: the limit query is public.
type minimums struct {
	node querier
	now  func() time.Time

	mu    sync.Mutex
	known map[dex.QuoteType]minimum
}

type minimum struct {
	amount uint256.Int
	read   time.Time
}

// minimumLife is for how long a least amount is not asked for again; administrators change it hardly ever.
const minimumLife = time.Minute

func newMinimums(q querier, now func() time.Time) *minimums {
	return &minimums{node: q, now: now, known: map[dex.QuoteType]minimum{}}
}

func (q *minimums) ask(ctx context.Context, owner core.Address, m index.Market, side dex.Side) (terms, error) {
	info, err := q.node.PlaceOrderInfo(ctx, owner, m.Trade, m.Quote, bool(side))
	if err != nil {
		return terms{}, fmt.Errorf("asking for the terms of %s: %w", m.Symbol, err)
	}
	t := terms{info.Available, info.Minimum, dex.Standing{VIP: info.VIP, SVIP: info.SVIP, Invited: info.Invited}}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known[m.QuoteType] = minimum{t.minimum, q.now()}
	return t, nil
}

// of is the least amount of an order in a market, in the decimals of its quote type. While the node does not answer, the last one holds.
func (q *minimums) of(ctx context.Context, m index.Market) (uint256.Int, error) {
	q.mu.Lock()
	last, ok := q.known[m.QuoteType]
	q.mu.Unlock()
	if ok && q.now().Sub(last.read) < minimumLife {
		return last.amount, nil
	}
	t, err := q.ask(ctx, core.DexFundContract, m, dex.Buy) // whose terms does not matter for the least amount
	switch {
	case err == nil:
		return t.minimum, nil
	case ok:
		return last.amount, nil
	}
	return uint256.Int{}, refusalOfNode(err)
}
