package exchangeapi

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common/lru"
	"github.com/holiman/uint256"

	"gatewayd/exchangeapi/index"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// querier answers questions about the exchange that the index has no answer to.
type querier interface {
	PlaceOrderInfo(ctx context.Context, a core.Address, trade, quote core.TokenID, sell bool) (client.PlaceOrderInfo, error)
	Quota(ctx context.Context, a core.Address) (client.Quota, error)
	TradeMining(ctx context.Context) (client.TradeMining, error)
}

// orderLimits are the limits for an account's orders: dex_getPlaceOrderInfo (docs/exchange-rules.md
// 3.5).
type orderLimits struct {
	available uint256.Int // of the token that the order would lock, smallest units
	minimum   uint256.Int // least amount, in the decimals of the quote type
	feeTier   dex.FeeTier
}

// orderMinimums asks for them and remembers the least amount of each quote type and the fee tier of
// each account for a while: the queries of both are public.
type orderMinimums struct {
	node querier
	now  func() time.Time

	mu    sync.Mutex
	known map[dex.QuoteType]minimum
	tiers lru.BasicLRU[core.Address, tier]
}

type minimum struct {
	amount uint256.Int
	read   time.Time
}

type tier struct {
	fees dex.FeeTier
	read time.Time
}

// maxTiers bounds the memory of fee tiers; the one not used for longest is forgotten first.
const maxTiers = 1000

// minimumTTL is for how long a least amount or a fee tier is not asked for again: both hardly ever
// change.
const minimumTTL = time.Minute

func newOrderMinimums(q querier, now func() time.Time) *orderMinimums {
	return &orderMinimums{node: q, now: now, known: map[dex.QuoteType]minimum{}, tiers: lru.NewBasicLRU[core.Address, tier](maxTiers)}
}

func (q *orderMinimums) query(ctx context.Context, owner core.Address, m index.Market, side dex.Side) (orderLimits, error) {
	info, err := q.node.PlaceOrderInfo(ctx, owner, m.Trade, m.Quote, bool(side))
	if err != nil {
		return orderLimits{}, fmt.Errorf("asking for the order limits of %s: %w", m.Symbol, err)
	}
	t := orderLimits{info.Available, info.Minimum, dex.FeeTier{VIP: info.VIP, SVIP: info.SVIP, Invited: info.Invited}}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known[m.QuoteType] = minimum{t.minimum, q.now()}
	q.tiers.Add(owner, tier{t.feeTier, q.now()})
	return t, nil
}

// of is the least amount of an order in a market, in the decimals of its quote type. While the node
// does not answer, the last one holds.
func (q *orderMinimums) of(ctx context.Context, m index.Market) (uint256.Int, error) {
	q.mu.Lock()
	last, ok := q.known[m.QuoteType]
	q.mu.Unlock()
	if ok && q.now().Sub(last.read) < minimumTTL {
		return last.amount, nil
	}
	t, err := q.query(ctx, core.DexFundContract, m, dex.Buy) // whose limits does not matter for the least amount
	switch {
	case err == nil:
		return t.minimum, nil
	case ok:
		return last.amount, nil
	}
	return uint256.Int{}, nodeError(err)
}

// rates are those that an account's order pays, by its fee tier of at most minimumTTL ago.
func (q *orderMinimums) rates(ctx context.Context, owner core.Address, m index.Market) (dex.Rates, error) {
	market := dexMarket(m)
	q.mu.Lock()
	last, ok := q.tiers.Get(owner)
	q.mu.Unlock()
	if ok && q.now().Sub(last.read) < minimumTTL {
		return market.Rates(last.fees), nil
	}
	t, err := q.query(ctx, owner, m, dex.Buy)
	if err != nil {
		return dex.Rates{}, nodeError(err)
	}
	return market.Rates(t.feeTier), nil
}

// limitsAnswer is the answer of the limit query.
type limitsAnswer struct {
	MinAmount       map[string]string     `json:"minAmount"` // by quote token symbol, in the quote token
	DepthStepsLimit map[string]DepthSteps `json:"depthStepsLimit"`
}

// limits returns the minimum amount of an order for each quote token that has a market.
func (n *network) limits(ctx context.Context, _ params) (any, error) {
	out := limitsAnswer{MinAmount: map[string]string{}, DepthStepsLimit: map[string]DepthSteps{}}
	maps.Copy(out.DepthStepsLimit, n.cfg.DepthSteps)
	for _, m := range n.Index.Markets() {
		if _, known := out.MinAmount[m.QuoteSymbol]; known {
			continue
		}
		least, err := n.orderMinimums.of(ctx, m)
		if err != nil {
			return nil, err
		}
		out.MinAmount[m.QuoteSymbol] = wholeTokens(&least, m.QuoteType.Decimals())
	}
	return out, nil
}
