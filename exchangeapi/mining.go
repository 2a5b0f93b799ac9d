package exchangeapi

import (
	"context"
	"strconv"

	"github.com/shopspring/decimal"

	"gatewayd/chain/vite/dex"
)

// fees are what was paid for trading.
type fees interface {
	// Fees are the base fees of the trades since a time in Unix seconds, in whole tokens.
	Fees(since int64) map[dex.QuoteType]decimal.Decimal
}

// mining is the answer of the trade mining query, by quote type 1 to 4.
type mining struct {
	TradePoolVx  map[string]string `json:"tradePoolVx"`
	TradePoolFee map[string]string `json:"tradePoolFee"`
}

const (
	firstCycle  = 1558411200 // Unix seconds; the exchange's contract counts its days from there
	cycleLength = 24 * 60 * 60
	vxDecimals  = 18
)

// cycleStart is when the exchange's day began, in Unix seconds.
func cycleStart(now int64) int64 { return now - (now-firstCycle)%cycleLength }

// mining answers the fees of the day that runs. There is no reward to hand out: nothing on this exchange mines.
func (n *network) mining(context.Context, params) (any, error) {
	paid := n.Index.Fees(cycleStart(n.Now().Unix()))
	out := mining{map[string]string{}, map[string]string{}}
	for q := dex.QuoteVITE; q.Valid(); q++ {
		name, decimals := strconv.Itoa(int(q)), int32(q.Decimals())
		out.TradePoolVx[name] = decimal.Zero.StringFixed(vxDecimals)
		out.TradePoolFee[name] = paid[q].Truncate(decimals).StringFixed(decimals)
	}
	return out, nil
}
