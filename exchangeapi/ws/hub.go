// Package ws pushes events of the exchange to WebSocket clients: the topics of
// docs/exchange-pushes.md in the three shapes that clients use (docs/exchange-rest.md 1.12).
//
//	index ─▶ updates ─▶ round: queued updates, merged ─▶ frames, one per topic and shape
//	         after commit
//	      ─▶ queue ─▶ socket of each connection
//
// It owns connections, subscriptions and queues, and nothing that outlives them. It reads no chain
// and no database and computes no figures: an update of exchangeapi/index contains the complete
// content of a push.
//
// Promises. Pushes leave after the index's commit, and those of one update in the order orders,
// trades, depths, tickers, candles. Orders, trades and changes of books are all pushed, or the
// connection is closed with a reason: a slow client's, or those of all affected clients if this
// process itself fell behind. Depths, tickers and candles are complete states, so a newer one may
// replace an older one that was not sent yet.
package ws

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/gorilla/websocket"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/exchangeapi/index"
	"gatewayd/httpserver"
)

// feed is the index as the hub uses it: its updates, and the markets and books of topics.
type feed[S updates] interface {
	books
	Subscribe(capacity int) S
	// Fed returns nil while updates reach subscribers.
	Fed() error
}

// updates is a subscription to the index's updates.
type updates interface {
	Next(ctx context.Context) (index.Update, error)
	Close()
}

// books answers from the index's memory.
type books interface {
	HasMarket(symbol string) bool
	Depth(symbol string, limit int, precision *int) (index.Depth, error)
}

// Hub serves the WebSocket side of the exchange API. Handler serves while Run runs.
type Hub struct {
	cfg          Config
	books        books
	accounts     Accounts // nil for none
	log          *logrus.Entry
	subscribe    func() updates
	fed          func() error
	upgrader     websocket.Upgrader
	description  []byte        // AsyncAPI, in JSON
	snapshotsDue chan struct{} // capacity 1: a subscriber waits for a book
	now          func() time.Time

	table   table
	clients *httpserver.ConnLimit

	mu          sync.Mutex
	open        bool // Run runs
	unfed       bool // as of the last check of the feed
	clientConns int  // connections and handshakes
	conns       map[*conn]struct{}
	running     sync.WaitGroup // readers, and writers to slow clients

	slow      atomic.Int64
	overtaken atomic.Int64
	rounds    atomic.Int64
}

// New creates a hub that pushes the updates of the feed (*index.Index). Without accounts, no client
// can sign in, and orders have no client order IDs. It starts nothing.
func New[S updates](cfg Config, f feed[S], a Accounts, log *logrus.Entry) (*Hub, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("exchange websocket: %w", err)
	}
	cfg = cfg.withDefaults()
	doc, err := description(cfg)
	if err != nil {
		return nil, err
	}
	return &Hub{
		cfg:          cfg,
		books:        f,
		accounts:     a,
		log:          log,
		description:  doc,
		snapshotsDue: make(chan struct{}, 1),
		subscribe:    func() updates { return f.Subscribe(cfg.UpdatesBehind) },
		fed:          f.Fed,
		upgrader: websocket.Upgrader{
			ReadBufferSize:  256, // clients send little, and each connection holds this buffer
			WriteBufferSize: 256,
			WriteBufferPool: new(sync.Pool),
			// Any page may connect: no cookie is read, so a page can do nothing here in its visitor's name.
			CheckOrigin: func(*http.Request) bool { return true },
		},
		now:     time.Now,
		table:   table{groups: map[string]*group{}, most: cfg.Subscriptions},
		clients: httpserver.NewConnLimit(cfg.ClientConnections),
		conns:   map[*conn]struct{}{},
	}, nil
}

// Handler serves /ws, /v2/ws and /websocket, the homes of the three shapes (each serves all of
// them), and their description at /asyncapi.json. A test network's base path is the caller's to
// strip.
func (h *Hub) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, home := range homes() {
		mux.HandleFunc("GET "+path, h.serve(home))
	}
	mux.HandleFunc("GET /asyncapi.json", h.describe)
	mux.HandleFunc("GET /exchange.proto", serveProto)
	return mux
}

// homes are the paths of the shapes.
func homes() map[string]shape {
	return map[string]shape{"/v2/ws": commandShape, "/ws": opTypeShape, "/websocket": binaryShape}
}

// Stats contains the hub's present state and its counters since the start.
type Stats struct {
	Connections, Subscriptions int   // includes connections during the handshake
	QueueEntries, QueueBytes   int   // of all connections together
	Slow                       int64 // connections closed because their client was too slow
	Overtaken                  int64 // states that a newer one replaced in a slow client's queue
	Rounds                     int64 // rounds of pushes that are over
}

// Stats counts.
func (h *Hub) Stats() Stats {
	s := Stats{Slow: h.slow.Load(), Overtaken: h.overtaken.Load(), Rounds: h.rounds.Load()}
	h.mu.Lock()
	s.Connections = h.clientConns
	h.mu.Unlock()
	for _, c := range h.connections() {
		entries, bytes := c.queued()
		s.QueueEntries, s.QueueBytes = s.QueueEntries+entries, s.QueueBytes+bytes
	}
	h.table.mu.Lock()
	s.Subscriptions = h.table.count
	h.table.mu.Unlock()
	return s
}

// Run pushes until ctx ends; then it closes all connections and waits for them. Its error is the
// feed's.
func (h *Hub) Run(ctx context.Context) error {
	queued := make(chan feedUpdate, maxMerged) // what arrives during a round is the next round
	first := h.subscribe()
	h.setOpen(true)
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error { return h.follow(running, first, queued) })
	g.Go(func() error { return h.push(running, queued) })
	if h.accounts != nil {
		g.Go(func() error { return h.recheckKeys(running) })
	}
	err := g.Wait()
	h.setOpen(false)
	for _, c := range h.connections() {
		c.end(websocket.CloseGoingAway, "the service stops")
	}
	h.running.Wait()
	if ctx.Err() == nil {
		return err
	}
	return nil
}

func (h *Hub) setOpen(open bool) {
	h.mu.Lock()
	h.open = open
	h.mu.Unlock()
}

// feedUpdate is an update of the feed, or the loss of some.
type feedUpdate struct {
	update index.Update
	lost   bool
}

// follow reads the feed. If the hub was too slow for it, it subscribes again and reports the loss
// of updates.
func (h *Hub) follow(ctx context.Context, from updates, to chan<- feedUpdate) error {
	defer func() { from.Close() }()
	for {
		u, err := from.Next(ctx)
		n := feedUpdate{update: u}
		switch {
		case errors.Is(err, index.ErrLagged):
			from.Close()
			from, n = h.subscribe(), feedUpdate{lost: true}
		case err != nil:
			return fmt.Errorf("reading the exchange's updates: %w", err)
		}
		select {
		case to <- n:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// push is the loop that runs rounds and closes silent clients.
func (h *Hub) push(ctx context.Context, from <-chan feedUpdate) error {
	p := newPublisher(h)
	look := time.NewTicker(min(time.Second, h.cfg.Expiry/4+1))
	defer look.Stop()
	for {
		select {
		case n := <-from:
			p.round(waiting(n, from))
		case <-h.snapshotsDue:
			p.round(nil, false)
		case <-look.C:
			h.checkFeed()
			h.expire(h.now())
			h.wakeSnapshots()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wakeSnapshots wakes the publisher when a subscriber waits for a complete book.
func (h *Hub) wakeSnapshots() {
	h.table.mu.Lock()
	waiting := len(h.table.fresh) > 0
	h.table.mu.Unlock()
	if !waiting {
		return
	}
	select {
	case h.snapshotsDue <- struct{}{}:
	default:
	}
}

// waiting is n and what has come in since, as far as it fits into one round.
func waiting(n feedUpdate, from <-chan feedUpdate) (us []index.Update, lost bool) {
	for {
		lost = lost || n.lost
		us = append(us, n.update)
		if len(us) == maxMerged {
			return us, lost
		}
		select {
		case n = <-from:
		default:
			return us, lost
		}
	}
}

// expire ends the subscriptions of clients that have given no sign of life, and later the
// connections.
func (h *Hub) expire(now time.Time) {
	for _, c := range h.connections() {
		switch quiet := now.Sub(time.Unix(0, c.seen.Load())); {
		case quiet > h.cfg.Close:
			c.end(websocket.ClosePolicyViolation, "no sign of life")
		case quiet > h.cfg.Expiry:
			h.table.removeAll(c)
		}
	}
}

// checkFeed closes all connections and accepts none while no updates come in. Their clients connect
// again, and reach another process where there is one.
func (h *Hub) checkFeed() {
	err := h.fed()
	h.mu.Lock()
	began := err != nil && !h.unfed
	h.unfed = err != nil
	h.mu.Unlock()
	if err == nil {
		return
	}
	if began {
		h.log.WithError(err).Warn("WebSockets are closed until the exchange answers again")
	}
	for _, c := range h.connections() {
		c.end(websocket.CloseGoingAway, "no current data: connect again")
	}
}

// connections lists the open ones.
func (h *Hub) connections() []*conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*conn, 0, len(h.conns))
	for c := range h.conns {
		list = append(list, c)
	}
	return list
}

//go:embed asyncapi.yaml
var asyncapi []byte

//go:embed exchange.proto
var protoFile []byte

// serveProto serves the messages of the binary shape.
func serveProto(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	_, _ = w.Write(protoFile) // a client who is gone needs none
}

// description is asyncapi.yaml in JSON, with the messages of the binary shape in their place, and
// the limits of this server.
func description(cfg Config) ([]byte, error) {
	var doc map[string]any
	if err := yaml.Unmarshal(asyncapi, &doc); err != nil {
		return nil, fmt.Errorf("reading the description of the pushes: %w", err)
	}
	components, _ := doc["components"].(map[string]any)
	components["x-proto"] = string(protoFile)
	doc["x-limits"] = map[string]any{
		"connections": cfg.Connections, "clientConnections": cfg.ClientConnections, "topics": cfg.Topics, "signIns": maxSignIns,
		"messageBytes": cfg.MessageBytes, "messagesAMinute": cfg.MessagesAMin, "queueEntries": cfg.QueueEntries, "queueBytes": cfg.QueueBytes,
		"subscriptionSeconds": cfg.Expiry.Seconds(), "connectionSeconds": cfg.Close.Seconds(), "writeSeconds": cfg.WriteTimeout.Seconds(), "retrySeconds": retryAfter,
	}
	return json.Marshal(doc)
}

// describe serves the description of the three shapes and all topics.
func (h *Hub) describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	_, _ = w.Write(h.description) // a client who is gone needs none
}
