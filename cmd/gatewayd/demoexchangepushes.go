package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"gatewayd/exchangeapi/client"
)

// pushWatch hears the topics of a market and of accounts in all three shapes, and keeps what it heard.
type pushWatch struct {
	api    *client.Client
	log    *demoLog
	topics []string

	mu        sync.Mutex
	connected int
	heard     map[client.Shape]map[string][]string // what was read of each push, as JSON, by topic
	orders    map[client.Shape]map[string]client.Status
}

func newPushWatch(api *client.Client, log *demoLog, topics []string) *pushWatch {
	w := &pushWatch{
		api: api, log: log, topics: topics,
		heard: map[client.Shape]map[string][]string{}, orders: map[client.Shape]map[string]client.Status{},
	}
	for _, s := range allShapes() {
		w.heard[s], w.orders[s] = map[string][]string{}, map[string]client.Status{}
	}
	return w
}

func allShapes() []client.Shape { return []client.Shape{client.Command, client.OpType, client.Binary} }

// topicsOf are all topics that an exchange has for a market and accounts.
func topicsOf(symbol, quote, category string, accounts ...string) []string {
	var list []string
	for _, a := range accounts {
		list = append(list, "order."+a)
	}
	market := "market." + symbol
	list = append(list, market+".depth", market+".trade", market+".tickers",
		"market.quoteToken."+quote+".tickers", "market.quoteTokenCategory."+category+".tickers")
	for _, interval := range []string{"minute", "minute30", "hour", "hour6", "hour12", "day", "week"} {
		list = append(list, market+".kline."+interval)
	}
	return list
}

// streams are one connection for all topics in the shapes whose pushes name their topic, and one per topic in the one whose pushes do not.
func (w *pushWatch) streams() []*client.Stream {
	stream := func(s client.Shape, topics ...string) *client.Stream {
		return &client.Stream{URL: w.api.SocketURL(s), Shape: s, Topics: topics, ClientID: "demo", Handle: w.hear, Connected: w.begin}
	}
	list := []*client.Stream{stream(client.Command, w.topics...), stream(client.Binary, w.topics...)}
	for _, t := range w.topics {
		list = append(list, stream(client.OpType, t))
	}
	return list
}

// Run hears until ctx ends or a push is wrong.
func (w *pushWatch) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range w.streams() {
		g.Go(func() error { return s.Run(ctx) })
	}
	return g.Wait()
}

func (w *pushWatch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.connected++
}

// ready tells whether every stream has its topics.
func (w *pushWatch) ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.connected >= len(w.topics)+2
}

// hear takes one push. A status that may not follow the last one of its order is an error.
func (w *pushWatch) hear(p client.Push) error {
	value, text, err := readPush(p)
	if err != nil {
		return err
	}
	canon, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("push of %s: %w", p.Topic, err)
	}
	w.log.push(p, value, text)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard[p.Shape][p.Topic] = append(w.heard[p.Shape][p.Topic], string(canon))
	order, ok := value.(client.PushedOrder)
	if !ok {
		return nil
	}
	if p.Topic != "order."+order.Address {
		return fmt.Errorf("an order of %s was pushed to %s", order.Address, p.Topic)
	}
	last := w.orders[p.Shape][order.OrderID]
	if !follows(last, order.Status) {
		return fmt.Errorf("pushes of order %s (%s): %d %s must not follow %d %s", order.OrderID, p.Shape, order.Status, order.Status, last, last)
	}
	w.orders[p.Shape][order.OrderID] = order.Status
	return nil
}

// readPush reads a push by its topic and says it in a few words.
func readPush(p client.Push) (value any, text string, err error) {
	switch {
	case strings.HasPrefix(p.Topic, "order."):
		var o client.PushedOrder
		o, err = p.Order()
		value, text = o, fmt.Sprintf("%s %s at %s: %d %s, executed %s", sideWord(o.Side), o.Quantity, o.Price, o.Status, o.Status, o.ExecutedQuantity)
	case strings.HasSuffix(p.Topic, ".trade"):
		var list []client.PushedTrade
		list, err = p.Trades()
		for _, t := range list {
			text += fmt.Sprintf("%s at %s, taker %ss; ", t.Quantity, t.Price, sideWord(t.Side))
		}
		value = list
	case strings.HasSuffix(p.Topic, ".depth"):
		var d client.Depth
		d, err = p.Depth()
		value, text = d, "asks "+levelsText(d.Asks)+" bids "+levelsText(d.Bids)
	case strings.HasSuffix(p.Topic, ".tickers"):
		var t client.PushedTicker
		t, err = p.Ticker()
		value, text = t, fmt.Sprintf("%s last %s, high %s, low %s, volume %s", t.Symbol, t.ClosePrice, t.HighPrice, t.LowPrice, t.Quantity)
	default:
		var k client.PushedKline
		k, err = p.Kline()
		value, text = k, fmt.Sprintf("o %s h %s l %s c %s v %s", k.Open, k.High, k.Low, k.Close, k.Volume)
	}
	return value, text, err
}

func sideWord(s client.Side) string {
	if s == client.Sell {
		return "sell"
	}
	return "buy"
}

func levelsText(levels []client.Level) string {
	if len(levels) == 0 {
		return "-"
	}
	var list []string
	for _, l := range levels {
		list = append(list, l.Quantity.String()+"@"+l.Price.String())
	}
	return strings.Join(list, " ")
}

// follows says whether a status may come right after another (docs/exchange-rules.md 4.3). Unknown stands for an order that is new. Pending request is noted
// by the API when the node has taken a block; where the contracts are quicker than that (4.2), it is left out.
func follows(last, next client.Status) bool {
	return slices.Contains(map[client.Status][]client.Status{
		client.Unknown:        {client.PendingRequest, client.Received},
		client.PendingRequest: {client.Received, client.Failed},
		client.Received: {
			client.Open, client.PartiallyFilled, client.Filled, client.Cancelled, client.PartiallyCancelled, client.Failed,
		},
		client.Open:            {client.PartiallyFilled, client.Filled, client.PendingCancel},
		client.PartiallyFilled: {client.PartiallyFilled, client.Filled, client.PendingCancel},
		client.PendingCancel: {
			client.PendingCancel, client.Cancelled, client.PartiallyCancelled, client.Filled, client.Open, client.PartiallyFilled,
		},
	}[last], next)
}

// leadsTo says whether a status can come after another, with others in between that nobody looked at.
func leadsTo(from, to client.Status) bool {
	seen := map[client.Status]bool{from: true}
	for todo := []client.Status{from}; len(todo) > 0; todo = todo[1:] {
		if todo[0] == to {
			return true
		}
		for next := client.Unknown; next <= client.Expired; next++ {
			if !seen[next] && follows(todo[0], next) {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return false
}

// pushed tells whether every shape has pushed that status of an order last.
func (w *pushWatch) pushed(id string, status client.Status) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range allShapes() {
		if w.orders[s][id] != status {
			return false
		}
	}
	return true
}

// errUnequal says that shapes told different stories.
var errUnequal = errors.New("the shapes do not agree")

// agree is nil once every topic was pushed in every shape and all shapes say the same: of orders and trades each one, of what is a state the last.
func (w *pushWatch) agree() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, topic := range w.topics {
		want := w.heard[client.Command][topic]
		for _, s := range allShapes() {
			have := w.heard[s][topic]
			if len(want) == 0 || len(have) == 0 {
				return fmt.Errorf("%w: nothing was pushed of %s in shape %s", errUnequal, topic, s)
			}
			each := strings.HasPrefix(topic, "order.") || strings.HasSuffix(topic, ".trade")
			if each && !slices.Equal(want, have) || want[len(want)-1] != have[len(have)-1] {
				return fmt.Errorf("%w: %s: %d pushes in %s, %d in %s, or other ones", errUnequal, topic, len(want), client.Command, len(have), s)
			}
		}
	}
	return nil
}

// counts are how many pushes there were, by shape.
func (w *pushWatch) counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := map[string]int{}
	for s, topics := range w.heard {
		for _, list := range topics {
			n[s.String()] += len(list)
		}
	}
	return n
}

// last is the newest push of a topic in the first shape, as JSON; empty without one.
func (w *pushWatch) last(topic string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.heard[client.Command][topic]
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}
