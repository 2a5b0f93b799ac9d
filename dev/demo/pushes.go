package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gatewayd/dev"
	"gatewayd/exchangeapi/client"
)

// pushes hears the topics of a market and of accounts in all three shapes, and keeps what it heard.
type pushes struct {
	log    *Log
	start  func(*client.Stream)
	topics []string

	mu        sync.Mutex
	connected int
	heard     map[source][]string // what was read of each push, as JSON
	statuses  map[source]client.Status
}

// source is a topic, or an order, in one shape.
type source struct {
	shape client.Shape
	name  string
}

var shapes = []client.Shape{client.Command, client.OpType, client.Binary}

func newPushes(log *Log, start func(*client.Stream)) *pushes {
	return &pushes{log: log, start: start, heard: map[source][]string{}, statuses: map[source]client.Status{}}
}

// topicsOf are all topics that an exchange has for a market and accounts.
func topicsOf(m client.Market, accounts ...string) []string {
	var list []string
	for _, a := range accounts {
		list = append(list, "order."+a)
	}
	market := "market." + m.Symbol
	list = append(list, market+".depth", market+".trade", market+".tickers",
		"market.quoteToken."+m.QuoteCurrency+".tickers", "market.quoteTokenCategory."+dev.DollarSymbol+".tickers")
	for _, interval := range []string{"minute", "minute30", "hour", "hour6", "hour12", "day", "week"} {
		list = append(list, market+".kline."+interval)
	}
	return list
}

// subscribe opens one connection for all topics in the shapes whose pushes name their topic, and
// one per topic in the other shape.
func (w *pushes) subscribe(ctx context.Context, api *client.Client, topics []string) error {
	w.topics = topics
	streams := 0
	open := func(s client.Shape, topics ...string) {
		streams++
		w.start(&client.Stream{URL: api.SocketURL(s), Shape: s, Topics: topics, ClientID: "demo", Handle: w.handle, Connected: func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.connected++
		}})
	}
	open(client.Command, topics...)
	open(client.Binary, topics...)
	for _, t := range topics {
		open(client.OpType, t)
	}
	return dev.Within(ctx, dev.Soon, "the WebSocket streams", func() (bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.connected >= streams, nil
	})
}

// handle takes one push.
func (w *pushes) handle(p client.Push) error {
	value, text, err := readPush(p)
	if err != nil {
		return err
	}
	canonical, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("push of %s: %w", p.Topic, err)
	}
	w.log.Push(p, value, text)
	w.mu.Lock()
	defer w.mu.Unlock()
	from := source{p.Shape, p.Topic}
	w.heard[from] = append(w.heard[from], string(canonical))
	if order, ok := value.(client.PushedOrder); ok {
		if p.Topic != "order."+order.Address {
			return fmt.Errorf("an order of %s was pushed to %s", order.Address, p.Topic)
		}
		w.statuses[source{p.Shape, order.OrderID}] = order.Status
	}
	return nil
}

// readPush reads a push by its topic and summarises it in a few words.
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

// hasStatus is true when every shape has last pushed that status of an order.
func (w *pushes) hasStatus(order string, status client.Status) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range shapes {
		if w.statuses[source{s, order}] != status {
			return false
		}
	}
	return true
}

// waitUntilEqual waits until every topic was pushed in every shape and all shapes agree: in each
// order and trade, and in the last state of everything else.
func (w *pushes) waitUntilEqual(ctx context.Context) error {
	var differs string
	err := dev.Within(ctx, dev.Soon, "the pushes of all shapes", func() (bool, error) {
		differs = w.difference()
		return differs == "", nil
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, differs)
	}
	return nil
}

func (w *pushes) difference() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, topic := range w.topics {
		want := w.heard[source{client.Command, topic}]
		for _, s := range shapes {
			have := w.heard[source{s, topic}]
			if len(want) == 0 || len(have) == 0 {
				return fmt.Sprintf("nothing was pushed of %s in shape %s", topic, s)
			}
			each := strings.HasPrefix(topic, "order.") || strings.HasSuffix(topic, ".trade")
			if each && !slices.Equal(want, have) || want[len(want)-1] != have[len(have)-1] {
				return fmt.Sprintf("%s: %d pushes in %s, %d in %s, or other ones", topic, len(want), client.Command, len(have), s)
			}
		}
	}
	return ""
}

// counts returns the number of pushes, by shape.
func (w *pushes) counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := map[string]int{}
	for from, list := range w.heard {
		n[from.shape.String()] += len(list)
	}
	return n
}
