package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	api "gatewayd/exchangeapi/client"
	"gatewayd/exchangeapi/index"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/core"
)

// TestExchangeReplicas runs two exchange APIs on one database of PostgreSQL. Each block is stored
// once, and both show the same data. A listener of either of them gets every trade, or the
// information that some were lost; never one twice.
func TestExchangeReplicas(t *testing.T) {
	dir, url := t.TempDir(), recordstest.Postgres(t).Database(t)
	buildExchange(t, dir, url)
	b, link, apis := openExchanges(t, dir, url, url)
	pair := exchangeMarkets[0]
	var heard []*pushRecorder
	for _, rest := range apis {
		heard = append(heard, listenTo(t, rest, "market."+pair+".trade"))
	}
	var sells []core.Hash
	for n := range 40 {
		sells = append(sells, b.order(1+n%4, true, "10", 20))
		b.order(5+n%4, false, "10", 20)
		if n%5 == 0 {
			b.snapshot()
		}
	}
	b.snapshot()
	for _, rest := range apis {
		waitFor(t, "all trades", func() bool {
			records, err := rest.TradeRecords(t.Context(), api.TradeFilter{Symbol: pair}, api.Page{Total: true})
			return err == nil && records.Total == len(sells)
		})
		for n, id := range sells {
			o, err := rest.Order(t.Context(), exchangeKey(1+n%4).Address().String(), id.String())
			require.NoError(t, err)
			require.Equal(t, api.Filled, o.Status)
		}
		waitFor(t, "an empty book, also in memory", func() bool {
			d, err := rest.Depth(t.Context(), pair, 0, nil)
			require.NoError(t, err)
			tickers, err := rest.Tickers(t.Context(), "", pair)
			require.NoError(t, err)
			return len(d.Asks)+len(d.Bids) == 0 && tickers[0].Quantity.IntPart() == int64(20*len(sells))
		})
	}
	for _, e := range heard {
		e.checkTrades(t, pair, len(sells))
	}
	now := time.Now()
	kept, err := index.New(t.Context(), exchangeIndexConfig(url, func() time.Time { return now }), link, logrus.New())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, kept.Close()) })
	anew := buildIndex(t, link, "sqlite:"+dir+"/anew.db", now)
	requireSameLines(t, withoutMarkets(dumpIndex(t, anew)), withoutMarkets(dumpIndex(t, kept)))
}

// checkTrades requires that no trade was pushed twice, and that all were unless the connection was
// ended in between.
func (e *pushRecorder) checkTrades(t *testing.T, pair string, all int) {
	t.Helper()
	seen := map[string]bool{}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.pushes {
		trades, err := p.Trades()
		require.NoError(t, err)
		for _, one := range trades {
			require.False(t, seen[one.TradeID], "trade %s of %s twice", one.TradeID, pair)
			seen[one.TradeID] = true
		}
	}
	require.True(t, len(seen) == all || e.opened > 1, "%d of %d trades were pushed, and nobody was told of the others", len(seen), all)
	t.Logf("%d of %d trades pushed over %d connections", len(seen), all, e.opened)
}

// withoutMarkets leaves out the lines with the names of tokens, which an index asks the node for
// while it runs.
func withoutMarkets(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "market ") })
}
