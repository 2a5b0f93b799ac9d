package ws

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"gatewayd/exchangeapi/index"
)

// maxMerged bounds the updates that one round merges.
const maxMerged = 256

// connsPerWorker is the number of connections per worker.
const connsPerWorker = 32

// flushWorkers is the number of workers that write a round. One processor is left free, so that a
// burst does not delay requests. Where the clients share the machine this also costs less: they
// stay awake, and a write need not wake them.
func flushWorkers() int { return max(1, runtime.GOMAXPROCS(0)-1) }

// publisher turns updates into frames in queues. It belongs to one goroutine.
type publisher struct {
	hub      *Hub
	n        uint64 // of the round
	at       int64  // of the round, Unix milliseconds
	books    map[string]*bookState
	touched  []*conn
	scratch  [][]byte // room for joining, one for each worker
	data     []byte   // a payload
	envelope []byte   // a payload in its shape
}

func newPublisher(h *Hub) *publisher {
	p := &publisher{hub: h, scratch: make([][]byte, flushWorkers()), books: map[string]*bookState{}}
	for i := range p.scratch {
		p.scratch[i] = make([]byte, 0, maxJoined)
	}
	return p
}

// round pushes updates as if they were one: a burst is encoded, queued and written once, not update
// by update.
func (p *publisher) round(us []index.Update, lost bool) {
	p.n++
	p.at = p.hub.now().UnixMilli()
	defer p.hub.rounds.Add(1)
	if lost {
		p.resync()
	}
	pushes := p.gather(us)
	p.hub.table.mu.Lock()
	for _, b := range p.bundle(pushes) {
		p.queue(b)
	}
	p.sendSnapshots()
	p.hub.table.mu.Unlock()
	p.flush()
	clear(p.touched)
	p.touched = p.touched[:0]
}

// resync closes the connections that may have missed an order or a trade. A state that was lost is
// replaced by the next.
func (p *publisher) resync() {
	p.resetBooks()
	for _, c := range p.hub.connections() {
		if p.hub.table.wants(c, kind.lossless) {
			c.end(websocket.CloseServiceRestart, "pushes were lost: read again and subscribe again")
		}
	}
}

// lossless reports whether each push of the kind counts; the others are states, of which the newest
// counts.
func (k kind) lossless() bool { return k <= kindDepthUpdate }

// push is a payload for a topic. Of equal states only the newest counts.
type push struct {
	topic   string
	kind    kind
	state   string
	payload payload
}

// gather lists what the updates push, in the order of docs/exchange-rest.md 4.4, without the
// states that later updates have overtaken.
func (p *publisher) gather(us []index.Update) []push {
	var list [kinds][]push
	called, accounts := p.clientIDs(us)
	list[kindDepthUpdate] = p.depthUpdates(us)
	for _, u := range us {
		gatherAccounts(&list, u, called, accounts)
		for _, o := range u.Orders {
			o.ClientID = called[o.ID]
			gatherOrder(&list, order(o))
		}
		for _, t := range u.Trades {
			list[kindTrade] = append(list[kindTrade], push{topic: tradeTopic(t.Symbol), kind: kindTrade, payload: trades(t)})
		}
		for _, d := range u.Depths {
			list[kindDepth] = append(list[kindDepth], p.depths(d)...)
		}
		for _, t := range u.Tickers {
			list[kindTicker] = append(list[kindTicker], tickers(ticker(t))...)
		}
		for _, k := range u.Bars {
			name := klineTopic(k.Symbol, string(k.Interval))
			state := name + "@" + strconv.FormatInt(k.Time, 10)
			list[kindKline] = append(list[kindKline], push{topic: name, kind: kindKline, state: state, payload: bar(k)})
		}
	}
	var all []push
	for _, l := range list {
		all = append(all, newest(l)...)
	}
	return all
}

// clientIDsTimeout bounds the question for client order ids, for which all pushes wait. It is
// answered from memory but for an order's first push.
const clientIDsTimeout = time.Second

// clientIDs returns the client order IDs of orders with a subscriber whose owners have signed in.
func (p *publisher) clientIDs(us []index.Update) (called map[string]string, accounts map[string]bool) {
	if p.hub.accounts == nil {
		return nil, nil
	}
	ids, accounts := p.hub.table.wantedOrders(us)
	if len(ids) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), clientIDsTimeout)
	defer cancel()
	called, err := p.hub.accounts.ClientIDs(ctx, ids)
	if err != nil {
		p.hub.log.WithError(err).Warn("orders are pushed without their client order ids")
	}
	return called, accounts
}

// gatherOrder adds the pushes of an order's change: to its owner, and to the wallets' two lists.
// The list of open orders hears of an order's end, too, else it would keep the order.
func gatherOrder(list *[kinds][]push, o order) {
	add := func(k kind, name string, p payload) {
		list[kindOrder] = append(list[kindOrder], push{topic: name, kind: k, payload: p})
	}
	add(kindOrder, orderTopic(o.Address), o)
	add(kindOpen, openTopic(o.Symbol, o.Address), listedOrder{o})
	if o.closed() {
		add(kindHistory, historyTopic(o.Symbol, o.Address), listedOrder{o})
	}
}

// closed reports whether nothing can follow the order's status.
func (o order) closed() bool {
	switch o.Status {
	case index.Filled, index.Cancelled, index.PartiallyCancelled, index.Failed, index.Expired:
		return true
	}
	return false
}

// depths returns a book's pushes: the book, and the subscribed steps, which merge prices to so many
// decimals.
func (p *publisher) depths(d index.Depth) []push {
	name := depthTopic(d.Symbol)
	list := []push{{topic: name, kind: kindDepth, state: name, payload: depth(d)}}
	for step := range maxDepthStep + 1 {
		stepName := name + ".step" + strconv.Itoa(step)
		if !p.hub.table.has(stepName) {
			continue
		}
		merged, err := p.hub.books.Depth(d.Symbol, index.MaxDepth, &step)
		if err != nil {
			continue // the pair is gone since
		}
		list = append(list, push{topic: stepName, kind: kindDepthStep, state: stepName, payload: depth(merged)})
	}
	return list
}

// tickers is a ticker's pushes: for the pair, for its quote token and for the category of that.
func tickers(t ticker) []push {
	names := []string{tickerTopic(t.Symbol), quoteTopic(t.QuoteSymbol)}
	if c := category(int(t.QuoteType)); c != "" {
		names = append(names, categoryTopic(c))
	}
	list := make([]push, len(names))
	for i, name := range names {
		list[i] = push{topic: name, kind: kindTicker, state: name + "@" + t.Symbol, payload: t}
	}
	return list
}

// category names the kind of a quote token as topics do (quote types: docs/exchange-rules.md 2).
func category(quoteType int) string {
	switch quoteType {
	case 1:
		return "VITE"
	case 2:
		return "ETH"
	case 3:
		return "BTC"
	case 4:
		return "USDT"
	}
	return ""
}

// newest leaves out the states that a later push of the list overtakes.
func newest(list []push) []push {
	last := make(map[string]int)
	for i, p := range list {
		if p.state != "" {
			last[p.state] = i
		}
	}
	kept := list[:0]
	for i, p := range list {
		if p.state == "" || last[p.state] == i {
			kept = append(kept, p)
		}
	}
	return kept
}

// bundle is one queue entry of a group: a state, or all orders or trades of a round.
type bundle struct {
	group *group
	push
	payloads []payload
}

// bundle selects the pushes with a subscriber, and joins the orders and trades of a topic. The
// table is locked.
func (p *publisher) bundle(pushes []push) []bundle {
	var list []bundle
	at := make(map[*group]int)
	for _, one := range pushes {
		g := p.hub.table.groups[one.topic]
		if g == nil {
			continue
		}
		if i, found := at[g]; found && one.state == "" {
			list[i].payloads = append(list[i].payloads, one.payload)
			continue
		}
		at[g] = len(list)
		list = append(list, bundle{group: g, push: one, payloads: []payload{one.payload}})
	}
	return list
}

// queue encodes a bundle in each subscribed shape and queues it for all subscribers. The table is
// locked.
func (p *publisher) queue(b bundle) {
	for s, subs := range b.group.subs {
		switch {
		case len(subs) == 0:
		case shape(s) == binaryShape:
			p.queueBinary(b, subs)
		default:
			e := entry{frames: p.text(b, shape(s)), state: b.stateIn(shape(s))}
			for _, sub := range subs {
				if !sub.fresh {
					p.give(sub.conn, e)
				}
			}
		}
	}
}

// stateIn names the state in a shape: a connection may have it in several, and each is its own.
func (b bundle) stateIn(s shape) string {
	if b.state == "" {
		return ""
	}
	return b.state + "#" + strconv.Itoa(int(s))
}

// text encodes a bundle as text frames.
func (p *publisher) text(b bundle, s shape) []byte {
	var frames []byte
	for _, one := range b.payloads {
		p.data = one.appendJSON(p.data[:0])
		if s == commandShape {
			p.envelope = appendCommandPush(p.envelope[:0], b.topic, p.at, p.data)
		} else {
			p.envelope = appendOpTypePush(p.envelope[:0], p.data)
		}
		if frames == nil {
			frames = make([]byte, 0, len(b.payloads)*(len(p.envelope)+frameHeader))
		}
		frames = appendFrame(frames, textFrame, p.envelope)
	}
	return frames
}

// queueBinary encodes a bundle once and puts each client's id ahead of it.
func (p *publisher) queueBinary(b bundle, subs []*subscription) {
	bodies := make([][]byte, len(b.payloads))
	for i, one := range b.payloads {
		p.data = one.appendProto(p.data[:0])
		bodies[i] = appendBinaryBody(nil, b.topic, p.data)
	}
	e := entry{state: b.stateIn(binaryShape)}
	last := ""
	for _, sub := range subs {
		if sub.fresh {
			continue
		}
		if e.frames == nil || sub.clientID != last {
			e.frames, last = nil, sub.clientID
			for _, body := range bodies {
				e.frames = appendBinaryPush(e.frames, last, body)
			}
		}
		p.give(sub.conn, e)
	}
}

// give queues an entry and remembers that the connection has to be flushed.
func (p *publisher) give(c *conn, e entry) {
	c.push(e)
	if c.round != p.n {
		c.round = p.n
		p.touched = append(p.touched, c)
	}
}

// flush writes what the round has queued. The workers share the connections; none of them ever
// waits for a client.
func (p *publisher) flush() {
	if len(p.touched) <= connsPerWorker || len(p.scratch) == 1 {
		p.flushSome(p.touched, p.scratch[0])
		return
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for i := range p.scratch {
		workers.Go(func() {
			for {
				to := int(next.Add(connsPerWorker))
				from := to - connsPerWorker
				if from >= len(p.touched) {
					return
				}
				p.flushSome(p.touched[from:min(to, len(p.touched))], p.scratch[i])
			}
		})
	}
	workers.Wait()
}

func (p *publisher) flushSome(conns []*conn, scratch []byte) {
	for _, c := range conns {
		c.flush(scratch)
	}
}
