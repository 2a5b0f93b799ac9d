package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/lxzan/gws"

	"gatewayd/exchangeapi/index"
	"gatewayd/exchangeapi/ws"
)

// wsTrade is the trade of a push, the same for all hubs.
func wsTrade(id string) index.Trade {
	return index.Trade{
		Pair: index.Pair{Symbol: "VX_VITE", TradeSymbol: "VX", QuoteSymbol: "VITE", TradeToken: "tti_564954455820434f494e69b5", QuoteToken: "tti_5649544520544f4b454e6e40"},
		ID:   id, Price: "12.3456", Quantity: "1000.00", Amount: "12345.60000000", Time: 1_790_000_000, BuyFee: "12.34560000", SellFee: "12.34560000",
		BuyOrder: "00000300ffffffff4fed5fa0dfff005d94f2bc0000c4", SellOrder: "00000301000000004fed5fa0dfff005d94f2bc0000c5", BlockHeight: 1_234_567,
	}
}

// wsPush is the push as our hub prints it.
func wsPush(id string) []byte {
	t := wsTrade(id)
	return fmt.Appendf(nil, `{"code":0,"event":"push","timestamp":%d,"topic":"%s","data":[{"a":"%s","bf":"%s","bh":%d,"bid":"%s","id":"%s","p":"%s","q":"%s",`+
		`"qid":"%s","qs":"%s","s":"%s","tid":"%s","ts":"%s","sf":"%s","sid":"%s","side":%d,"t":%d}]}`,
		time.Now().UnixMilli(), wsTopic, t.Amount, t.BuyFee, t.BlockHeight, t.BuyOrder, t.ID, t.Price, t.Quantity,
		t.QuoteToken, t.QuoteSymbol, t.Symbol, t.TradeToken, t.TradeSymbol, t.SellFee, t.SellOrder, t.Side, t.Time)
}

const wsAnswer = `{"code":0,"event":"sub","topic":"[` + wsTopic + `]"}`

// publicTrades is an index that passes on to the hub the updates that it is given.
type publicTrades struct {
	updates chan index.Update
	wanted  chan struct{} // closed when the hub listens
}

// Fed is nil: the updates come from memory.
func (t *publicTrades) Fed() error { return nil }

// HasMarket knows all there are.
func (t *publicTrades) HasMarket(string) bool { return true }

// Depth is empty.
func (t *publicTrades) Depth(symbol string, _ int, _ *int) (index.Depth, error) {
	return index.Depth{Symbol: symbol}, nil
}

// Subscribe is for the one hub that there is, which asks once.
func (t *publicTrades) Subscribe(int) *publicTrades {
	close(t.wanted)
	return t
}

// Next waits for the next update.
func (t *publicTrades) Next(ctx context.Context) (index.Update, error) {
	select {
	case u := <-t.updates:
		return u, nil
	case <-ctx.Done():
		return index.Update{}, ctx.Err()
	}
}

// Close does nothing: the hub is closed first.
func (t *publicTrades) Close() {}

// ownHub is ours.
type ownHub struct {
	http.Handler
	hub    *ws.Hub
	trades *publicTrades
	stop   context.CancelFunc
	done   chan error
}

func newOwnHub(ctx context.Context, pushes int) (*ownHub, error) {
	t := &publicTrades{updates: make(chan index.Update, pushes), wanted: make(chan struct{})} // publishing never waits
	hub, err := ws.New(ws.Config{UpdatesBehind: pushes, Expiry: time.Hour}, t, nil, nil)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	h := &ownHub{hub.Handler(), hub, t, stop, make(chan error, 1)}
	go func() { h.done <- hub.Run(ctx) }()
	<-t.wanted
	return h, nil
}

func (h *ownHub) subscribers() int { return h.hub.Stats().Subscriptions }

func (h *ownHub) publish(id string) {
	h.trades.updates <- index.Update{Trades: []index.Trade{wsTrade(id)}}
}

func (h *ownHub) close() error {
	h.stop()
	return <-h.done
}

// gorillaHub is the usual hub on gorilla/websocket: two goroutines and a channel of 256 for each
// connection, and messages that are framed once.
type gorillaHub struct {
	mu       sync.Mutex
	channels []chan *websocket.PreparedMessage
}

// ServeHTTP takes a client in.
func (h *gorillaHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	link, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	pushes := make(chan *websocket.PreparedMessage, 256) // as usual
	go func() {
		for m := range pushes {
			if link.WritePreparedMessage(m) != nil {
				return
			}
		}
	}()
	go func() {
		defer func() { _ = link.Close() }() // the client may have gone
		for {
			if _, _, err := link.ReadMessage(); err != nil {
				return
			}
			h.subscribe(pushes)
		}
	}()
}

func (h *gorillaHub) subscribe(pushes chan *websocket.PreparedMessage) {
	answer, err := websocket.NewPreparedMessage(websocket.TextMessage, []byte(wsAnswer))
	if err != nil {
		panic(err) // a text is always prepared
	}
	pushes <- answer
	h.mu.Lock()
	defer h.mu.Unlock()
	h.channels = append(h.channels, pushes)
}

func (h *gorillaHub) subscribers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.channels)
}

func (h *gorillaHub) publish(id string) {
	m, err := websocket.NewPreparedMessage(websocket.TextMessage, wsPush(id))
	if err != nil {
		panic(err) // a text is always prepared
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.channels {
		c <- m
	}
}

func (h *gorillaHub) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.channels {
		close(c)
	}
	return nil
}

// gwsHub is lxzan/gws with its Broadcaster.
type gwsHub struct {
	gws.BuiltinEventHandler
	mu    sync.Mutex
	links []*gws.Conn
}

// ServeHTTP takes a client in.
func (h *gwsHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	link, err := gws.NewUpgrader(h, nil).Upgrade(w, r)
	if err != nil {
		return
	}
	go link.ReadLoop()
}

// OnMessage subscribes.
func (h *gwsHub) OnMessage(link *gws.Conn, m *gws.Message) {
	defer func() { _ = m.Close() }() // gives its buffer back
	if link.WriteString(wsAnswer) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.links = append(h.links, link)
}

func (h *gwsHub) subscribers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.links)
}

func (h *gwsHub) publish(id string) {
	b := gws.NewBroadcaster(gws.OpcodeText, wsPush(id))
	defer func() { _ = b.Close() }() // gives its buffer back
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, link := range h.links {
		if b.Broadcast(link) != nil {
			return
		}
	}
}

func (h *gwsHub) close() error { return nil }
