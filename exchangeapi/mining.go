package exchangeapi

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"gatewayd/chain/vite/dex"
	"gatewayd/exchangeapi/index"
)

// mining is the answer of the trade mining query, by quote type 1 to 4.
type mining struct {
	TradePoolVx  map[string]string `json:"tradePoolVx"`
	TradePoolFee map[string]string `json:"tradePoolFee"`
}

const (
	firstCycle  = 1558411200 // Unix seconds; the exchange's contract counts its days from there
	cycleLength = 24 * 60 * 60
	// miningLife is for how long the pools are not summed again: a cycle may have many trades.
	miningLife = 30 * time.Second
	miningPage = 5000
	vxDecimals = 18
)

// pools keeps the newest sums.
type pools struct {
	mu    sync.Mutex // held while summing: who comes meanwhile takes the same sums
	read  time.Time
	known mining
}

// mining sums the fees of the cycle that runs, as trades show them. There is no reward to hand out: nothing on this exchange mines.
func (n *network) mining(ctx context.Context, _ params) (any, error) {
	n.pools.mu.Lock()
	defer n.pools.mu.Unlock()
	now := n.Now()
	if now.Sub(n.pools.read) < miningLife && !now.Before(n.pools.read) {
		return n.pools.known, nil
	}
	sums := map[dex.QuoteType]decimal.Decimal{}
	for _, m := range n.Index.Markets() {
		paid, err := n.paidSince(ctx, m.Symbol, cycleStart(now.Unix()))
		if err != nil {
			return nil, err
		}
		sums[m.QuoteType] = sums[m.QuoteType].Add(paid)
	}
	out := mining{map[string]string{}, map[string]string{}}
	for q := dex.QuoteVITE; q.Valid(); q++ {
		name := strconv.Itoa(int(q))
		out.TradePoolVx[name] = decimal.Zero.StringFixed(vxDecimals)
		out.TradePoolFee[name] = sums[q].Truncate(int32(q.Decimals())).StringFixed(int32(q.Decimals()))
	}
	n.pools.read, n.pools.known = now, out
	return out, nil
}

// cycleStart is when the exchange's day began, in Unix seconds.
func cycleStart(now int64) int64 { return now - (now-firstCycle)%cycleLength }

// paidSince sums both sides' fees of a market in its quote token.
func (n *network) paidSince(ctx context.Context, symbol string, since int64) (sum decimal.Decimal, err error) {
	for offset := 0; ; offset += miningPage {
		page, err := n.Index.Trades(ctx, index.TradeFilter{Symbol: symbol, Start: since}, index.Page{Offset: offset, Limit: miningPage})
		if err != nil {
			return sum, err
		}
		for _, t := range page.List {
			for _, text := range []string{t.BuyFee, t.SellFee} {
				fee, err := decimal.NewFromString(text)
				if err != nil {
					return sum, fmt.Errorf("fee of trade %s: %w", t.ID, err)
				}
				sum = sum.Add(fee)
			}
		}
		if len(page.List) < miningPage {
			return sum, nil
		}
	}
}
