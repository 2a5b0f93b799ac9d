package ws

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

// Of the thousand clients of TestBehaviour52Crowd.
const (
	goodClients  = 940 // read what comes
	deafClients  = 20  // read nothing
	slowClients  = 20  // read a few hundred bytes now and then
	goneClients  = 20  // have vanished without a word: nothing of theirs ever arrives
	pushedTrades = 150
)

// The good ones' orders are small; each of the others' is as much as a queue takes of a few.
const (
	subLight = `{"command":"sub","params":["market.VX_VITE.trade","order.` + other + `"]}`
	subHeavy = `{"command":"sub","params":["market.VX_VITE.trade","order.` + address + `"]}`
)

// dialSmallBuffer connects with a small buffer for what is not read yet.
func (r *rig) dialSmallBuffer(room int) *client {
	r.t.Helper()
	d := websocket.Dialer{ReadBufferSize: 256, NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(room)
		}
		return c, err
	}}
	c, answer, err := d.Dial(r.url+"/v2/ws", nil)
	require.NoError(r.t, err)
	answer.Body.Close()
	r.t.Cleanup(func() { c.Close() })
	require.NoError(r.t, c.SetReadDeadline(time.Now().Add(3*waitTimeout)))
	return &client{r.t, c}
}

// tally counts received pushes: trades and orders are numbered separately.
type tally struct{ trades, orders int }

// next takes a push; it must be the one after the last of its kind.
func (n *tally) next(push string) error {
	switch {
	case strings.Contains(push, fmt.Sprintf(`"t%06d"`, n.trades)):
		n.trades++
	case strings.Contains(push, fmt.Sprintf(`"o%06d`, n.orders)):
		n.orders++
	default:
		return fmt.Errorf("after %d trades and %d orders came %.120s", n.trades, n.orders, push)
	}
	return nil
}

// follow reads until a client has everything or the connection ends.
func (n *tally) follow(c *client, pause func()) error {
	for n.trades < pushedTrades || n.orders < pushedTrades {
		_, text, err := c.ReadMessage()
		if err != nil {
			return err
		}
		if err := n.next(string(text)); err != nil {
			return err
		}
		pause()
	}
	return nil
}

// pushAll publishes a trade, and an order of each of two accounts.
func (r *rig) pushAll(n int) {
	light, heavy := sampleOrder(), sampleOrder()
	light.Address, light.ID = other, fmt.Sprintf("o%06d", n)
	heavy.ID = light.ID + strings.Repeat("x", 60_000)
	r.feed.push(index.Update{Trades: []index.Trade{tradeOf(fmt.Sprintf("t%06d", n))}, Orders: []index.Order{light, heavy}})
}

// Case 52: sixty of a thousand clients do not read, read slowly or have vanished. The others hear
// every order and trade in order; a slow one hears them in order, too, as long as it is there; what
// waits for anybody is bounded, and those who do not keep up are closed.
func TestBehaviour52Crowd(t *testing.T) {
	before := runtime.GOMAXPROCS(4) // several workers write, whatever the machine has
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	cfg := Config{QueueBytes: 128 << 10}
	r := setup(t, cfg)
	var gone []*conn
	r.enter(goneClients, func() { r.dialSmallBuffer(64 << 10).ask(subHeavy) })
	gone = r.hub.connections()
	require.Len(t, gone, goneClients)
	var deaf, slow []*client
	r.enter(deafClients, func() { deaf = append(deaf, r.dialSmallBuffer(4<<10)) })
	r.enter(slowClients, func() { slow = append(slow, r.dialSmallBuffer(4<<10)) })
	for _, c := range append(deaf, slow...) {
		c.ask(subHeavy)
	}
	var good sync.WaitGroup
	failures := make(chan error, goodClients)
	r.enter(goodClients, func() {
		c := r.dial("/v2/ws")
		c.ask(subLight)
		good.Go(func() {
			failures <- new(tally).follow(c, func() { _ = c.SetReadDeadline(time.Now().Add(waitTimeout)) })
		})
	})
	heap := heapNow()
	var late sync.WaitGroup
	tallies := make([]tally, slowClients)
	for i, c := range slow {
		random := rand.New(rand.NewPCG(uint64(i), 0))
		late.Go(func() {
			_ = tallies[i].follow(c, func() { <-time.After(time.Duration(random.IntN(40)) * time.Millisecond) })
		})
	}
	most := 0
	for n := range pushedTrades {
		r.pushAll(n)
		r.eventually(func() bool { return r.hub.Stats().Rounds >= int64(n+1) })
		most = max(most, r.waitingMost())
	}
	good.Wait()
	for range goodClients {
		require.NoError(t, <-failures)
	}
	require.LessOrEqual(t, most, cfg.QueueBytes+70_000, "one entry more than the bound fits an empty queue")
	require.Less(t, heapNow()-heap, int64((deafClients+slowClients+goneClients)*3*cfg.QueueBytes+16<<20))
	for _, c := range deaf {
		c.readBacklog(t)
	}
	for _, c := range slow {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(3*time.Second)))
	}
	late.Wait()
	for _, n := range tallies {
		require.Positive(t, n.trades+n.orders)
	}
	r.eventually(func() bool { return r.hub.Stats().Slow >= deafClients+goneClients })
	r.eventually(func() bool { return r.hub.Stats().Connections <= goodClients+slowClients })
	for _, c := range gone {
		require.False(t, slices.Contains(r.hub.connections(), c))
	}
	t.Logf("%d closed as slow; at most %d KB waited for one of them", r.hub.Stats().Slow, most>>10)
}

// enter lets clients come in, and waits until the hub has them.
func (r *rig) enter(n int, one func()) {
	r.t.Helper()
	before := r.hub.Stats().Connections
	for range n {
		one()
	}
	r.eventually(func() bool { return r.hub.Stats().Connections == before+n })
}

// waitingMost is the most that waits for one connection, in bytes.
func (r *rig) waitingMost() (most int) {
	for _, c := range r.hub.connections() {
		c.mu.Lock()
		most = max(most, c.size)
		c.mu.Unlock()
	}
	return most
}

// readBacklog reads the system's buffer of a client that did not read: it is in order, and
// incomplete. (Its end may be late: the kernel probes a silent client ever more rarely.)
func (c *client) readBacklog(t *testing.T) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	n := &tally{}
	err := n.follow(c, func() {})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "came", "something was left out")
	require.Less(t, n.trades, pushedTrades)
}

func heapNow() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A client that vanished without a close is closed after a long silence, even if nothing is pushed
// to it.
func TestBehaviour46Vanished(t *testing.T) {
	r := setup(t, Config{})
	r.dialSmallBuffer(64 << 10).ask(subTrade)
	r.hub.expire(time.Now().Add(61 * time.Second))
	require.Equal(t, Stats{Connections: 1}, r.hub.Stats())
	r.hub.expire(time.Now().Add(121 * time.Second))
	r.eventually(func() bool { return r.hub.Stats() == Stats{} }) // its close frame was never answered
}
