package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	api "gatewayd/exchangeapi/client"
	"gatewayd/exchangeapi/index"
)

// bookClient is a WebSocket client that keeps the books of all markets from their updates and
// records the trades. It connects again whenever its connection ends.
type bookClient struct {
	mu          sync.Mutex
	connections []*bookConnection
}

// bookConnection contains the books and trades that one connection received, by symbol.
type bookConnection struct {
	books  map[string]*clientBook
	trades map[string][]string
}

// clientBook is quantities by side and price.
type clientBook struct {
	last   uint64
	levels map[string]string
}

// run connects again and again until ctx ends. Its error is an invalid push.
func (b *bookClient) run(ctx context.Context, base string) error {
	for ctx.Err() == nil {
		err := b.connect(ctx, "ws"+strings.TrimPrefix(base, "http")+"/v2/ws")
		var invalid invalidPush
		if errors.As(err, &invalid) {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return nil
}

// invalidPush is an error of the exchange, not of the connection.
type invalidPush struct{ error }

func (b *bookClient) connect(ctx context.Context, url string) error {
	c, answer, err := websocket.DefaultDialer.DialContext(ctx, url, nil)
	if err != nil {
		return err
	}
	_ = answer.Body.Close() // it is empty
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	defer c.Close()
	var topics []string
	for _, symbol := range exchangeMarkets {
		topics = append(topics, "market."+symbol+".depth.updates", "market."+symbol+".trade")
	}
	if err := c.WriteJSON(map[string]any{"command": "sub", "params": topics}); err != nil {
		return err
	}
	received := &bookConnection{map[string]*clientBook{}, map[string][]string{}}
	b.mu.Lock()
	b.connections = append(b.connections, received)
	b.mu.Unlock()
	for {
		var p struct {
			Event, Topic string
			Data         json.RawMessage
		}
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			return err
		}
		if err := c.ReadJSON(&p); err != nil {
			return err
		}
		if p.Event == "push" {
			if err := b.take(received, p.Topic, p.Data); err != nil {
				return invalidPush{fmt.Errorf("%s: %w: %s", p.Topic, err, p.Data)}
			}
		}
	}
}

// take applies a push as docs/exchange-api.md describes.
func (b *bookClient) take(c *bookConnection, topic string, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	symbol, isTrade := strings.CutSuffix(strings.TrimPrefix(topic, "market."), ".trade")
	if isTrade {
		trades, err := api.Push{Topic: topic, Data: data}.Trades()
		for _, one := range trades {
			c.trades[symbol] = append(c.trades[symbol], one.TradeID)
		}
		return err
	}
	symbol = strings.TrimSuffix(symbol, ".depth.updates")
	var u struct {
		api.Depth
		First, Last uint64
		Snapshot    bool
	}
	if err := json.Unmarshal(data, &u); err != nil {
		return err
	}
	book := c.books[symbol]
	switch {
	case u.Snapshot == (book != nil):
		return errors.New("the first push, and no other, has to be a snapshot")
	case book == nil:
		book = &clientBook{levels: map[string]string{}}
		c.books[symbol] = book
	case u.First != book.last+1:
		return fmt.Errorf("the update does not follow %d", book.last)
	}
	book.last = u.Last
	setLevels(book.levels, u.Asks, u.Bids)
	return nil
}

// book returns the levels of a market over the newest connection.
func (b *bookClient) book(symbol string) map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.connections) == 0 {
		return nil
	}
	if book := b.connections[len(b.connections)-1].books[symbol]; book != nil {
		return maps.Clone(book.levels)
	}
	return nil
}

// levelsOf is a book as a client keeps it.
func levelsOf(asks, bids []api.Level) map[string]string {
	levels := map[string]string{}
	setLevels(levels, asks, bids)
	return levels
}

// setLevels sets the quantities of prices; a level with quantity 0 is gone.
func setLevels(levels map[string]string, asks, bids []api.Level) {
	for side, list := range map[string][]api.Level{"ask ": asks, "bid ": bids} {
		for _, l := range list {
			levels[side+l.Price.String()] = l.Quantity.String()
			if l.Quantity.IsZero() {
				delete(levels, side+l.Price.String())
			}
		}
	}
}

// indexed is levels as a client reads them.
func indexed(t *testing.T, list []index.Level) (levels []api.Level) {
	t.Helper()
	for _, l := range list {
		levels = append(levels, api.Level{Price: number(t, l.Price), Quantity: number(t, l.Quantity)})
	}
	return levels
}

// check requires the book of an index that was built from the chain alone, and that each connection
// received consecutive trades of the chain: none is missing in between, and none came twice.
func (b *bookClient) check(t *testing.T, x *index.Index) {
	t.Helper()
	for _, symbol := range exchangeMarkets {
		d, err := x.Depth(symbol, index.MaxDepth, nil)
		require.NoError(t, err)
		levels := levelsOf(indexed(t, d.Asks), indexed(t, d.Bids))
		require.Equal(t, levels, b.book(symbol), "the book of %s", symbol)

		at, pushed := map[string]int{}, 0
		trades := allTrades(t, x, symbol) // newest first
		for i, one := range trades {
			at[one.ID] = len(trades) - i
		}
		for n, c := range b.connections {
			list := c.trades[symbol]
			pushed += len(list)
			for i, id := range list {
				require.Contains(t, at, id, "a trade that was pushed")
				require.Equal(t, at[list[0]]+i, at[id], "connection %d: trades of %s are missing or came twice", n, symbol)
			}
		}
		require.NotZero(t, pushed)
		t.Logf("%s: %d levels, %d trades pushed of %d, over %d connections", symbol, len(levels), pushed, len(trades), len(b.connections))
	}
}

// pushedTrades are those that any of the clients received.
func pushedTrades(clients []*bookClient) map[string]bool {
	all := map[string]bool{}
	for _, b := range clients {
		for _, c := range b.connections {
			for _, list := range c.trades {
				for _, id := range list {
					all[id] = true
				}
			}
		}
	}
	return all
}
