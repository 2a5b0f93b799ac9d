package exchangeapi

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/vite/client"
	"gatewayd/vite/dex"
)

// fees reads the fees paid for trading.
type fees interface {
	// Fees returns the base fees of the trades since a time in Unix seconds, in tokens.
	Fees(since int64) map[dex.QuoteType]decimal.Decimal
}

// mining is the answer of the trade mining query, by quote type 1 to 4.
type mining struct {
	TradePoolVx  map[string]string `json:"tradePoolVx"`
	TradePoolFee map[string]string `json:"tradePoolFee"`
}

const vxDecimals = 18

// cycleStart is when the exchange's day began, in Unix seconds.
func cycleStart(now int64) int64 { return now - (now-dex.FirstPeriod)%dex.PeriodTime }

// pools caches the node's mining data of the cycle for a moment: the query is public.
type pools struct {
	node querier
	now  func() time.Time

	mu   sync.Mutex
	last client.TradeMining // empty when the node does not support mining
	read time.Time
}

// poolsTTL is for how long the pools are not asked for again.
const poolsTTL = time.Second

func newPools(q querier, now func() time.Time) *pools { return &pools{node: q, now: now} }

// query asks the node for the cycle's mining; the answer is empty when the node does not support
// it.
func (p *pools) query(ctx context.Context) (client.TradeMining, error) {
	now := p.now()
	p.mu.Lock()
	m, read := p.last, p.read
	p.mu.Unlock()
	if !read.IsZero() && now.Sub(read) < poolsTTL {
		return m, nil
	}
	m, err := p.node.TradeMining(ctx)
	if err != nil && !refusesMining(err) {
		return m, nodeError(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.read = m, now
	return m, nil
}

// refusesMining reports whether a node has answered that it does not know: it lacks the query, or
// has no VX to mine.
func refusesMining(err error) bool {
	var refusal *client.Error
	return errors.As(err, &refusal) && !errors.Is(err, client.ErrShuttingDown)
}

// mining returns what traders mine in the day that runs, and the day's fees: on a chain where VX is
// mined those of the markets that mine, else all.
func (n *network) mining(ctx context.Context, _ params) (any, error) {
	m, err := n.pools.query(ctx)
	if err != nil {
		return nil, err
	}
	paid, out := n.feesPaid(&m), mining{map[string]string{}, map[string]string{}}
	for _, q := range dex.QuoteTypes() {
		name, decimals := strconv.Itoa(int(q)), int32(q.Decimals())
		out.TradePoolVx[name] = units(m.VX[uint8(q)], vxDecimals).StringFixed(vxDecimals)
		out.TradePoolFee[name] = paid[q].Truncate(decimals).StringFixed(decimals)
	}
	return out, nil
}

// feesPaid returns the fees of the day, in tokens.
func (n *network) feesPaid(m *client.TradeMining) map[dex.QuoteType]decimal.Decimal {
	for _, vx := range m.VX {
		if !vx.IsZero() {
			paid := map[dex.QuoteType]decimal.Decimal{}
			for q, fee := range m.Fees {
				paid[dex.QuoteType(q)] = units(fee, dex.QuoteType(q).Decimals())
			}
			return paid
		}
	}
	return n.Index.Fees(cycleStart(n.Now().Unix()))
}

// units converts smallest units to tokens.
func units(n uint256.Int, decimals uint8) decimal.Decimal {
	return decimal.NewFromBigInt(n.ToBig(), -int32(decimals))
}
