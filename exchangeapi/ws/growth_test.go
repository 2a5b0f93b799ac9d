package ws

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

// maxSubscriptionBytes is more than the memory of a subscription to a topic without other
// subscribers.
const maxSubscriptionBytes = 512

// Ten thousand markets and a hundred thousand subscriptions: each takes little, however long the
// message was that it came with; there are no more of them than is allowed; a push concerns only
// those who want it; and what has ended is gone.
func TestManySubscriptions(t *testing.T) {
	const markets, connections, each = 10_000, 50, 2_000
	r := setup(t, Config{Subscriptions: connections * each, Expiry: time.Hour}) // subscribing to all of it may take minutes
	symbols := make([]string, markets)
	for i := range symbols {
		symbols[i] = fmt.Sprintf("T%d-000_VITE", i)
		r.feed.books[symbols[i]] = index.Depth{}
	}
	clients := make([]*client, connections)
	for i := range clients {
		clients[i] = r.dial("/v2/ws")
	}
	before := heap()
	for i, c := range clients {
		for from := 0; from < each; from += each / 40 {
			var topics []string
			for n := range each / 40 {
				at := i*each + from + n
				topics = append(topics, klineTopic(symbols[at%markets], string(interval(at/markets))))
			}
			padding := strings.Repeat("x", 55_000) // no topic, dropped silently
			answer := c.ask(`{"command":"sub","params":["` + strings.Join(append(topics, padding), `","`) + `"]}`)
			require.Equal(t, 0.0, fields(t, answer)["code"])
		}
	}
	require.Equal(t, connections*each, r.hub.Stats().Subscriptions)
	grown := heap() - before
	t.Logf("%d subscriptions to %d topics take %d bytes each", connections*each, len(r.hub.table.groups), grown/(connections*each))
	require.Less(t, grown, int64(connections*each*maxSubscriptionBytes))

	one := r.dial("/v2/ws")
	require.Equal(t, 1001.0, fields(t, one.ask(`{"command":"sub","params":["market.T1-000_VITE.trade"]}`))["code"], "all together have enough")
	r.feed.push(index.Update{Bars: []index.Bar{{Symbol: symbols[0], Interval: interval(0)}, {Symbol: "T1-000_BTC-000", Interval: interval(0)}}})
	require.Equal(t, klineTopic(symbols[0], string(interval(0))), fields(t, clients[0].readFrame())["topic"])
	pushes := newPublisher(r.hub).bundle([]push{{topic: klineTopic(symbols[0], string(interval(0)))}, {topic: tradeTopic(symbols[0])}})
	require.Len(t, pushes, 1, "what nobody wants is not even encoded")

	clients[0].ask(`{"command":"un_sub","params":["` + klineTopic(symbols[0], string(interval(0))) + `"]}`)
	require.Equal(t, 0.0, fields(t, one.ask(`{"command":"sub","params":["market.T1-000_VITE.trade"]}`))["code"], "one place is free")
	for _, c := range append(clients, one) {
		c.Close()
	}
	r.eventually(func() bool { return r.hub.Stats().Subscriptions == 0 && r.hub.Stats().Connections == 0 })
	r.hub.table.mu.Lock()
	defer r.hub.table.mu.Unlock()
	require.Empty(t, r.hub.table.groups)
}

// interval is one of the seven.
func interval(n int) index.Interval {
	return []index.Interval{index.Minute, index.Minute30, index.Hour, index.Hour6, index.Hour12, index.Day, index.Week}[n%7]
}

// heap returns the heap in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools kept over the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
