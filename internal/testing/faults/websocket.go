package faults

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// serveSocket answers the requests of one WebSocket connection, each by the habit that the node has
// then.
func (n *Node) serveSocket(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	defer func() { _ = conn.Close() }()
	conn.SetReadLimit(maxNodeBody)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go n.endSocket(ctx, conn)
	var writing sync.Mutex
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		_, asked, err := conn.ReadMessage()
		if err != nil {
			cancel()
			return
		}
		serving.Go(func() {
			text, end := n.socketAnswer(ctx, asked)
			writing.Lock()
			defer writing.Unlock()
			if end || conn.WriteMessage(websocket.TextMessage, text) != nil {
				_ = conn.Close() // the connection ends
			}
		})
	}
}

// endSocket closes a connection when its habit requires it, or the node ends.
func (n *Node) endSocket(ctx context.Context, conn *websocket.Conn) {
	begin, tick := time.Now(), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	defer func() { _ = conn.Close() }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.ended:
			return
		case <-tick.C:
		}
		if f := n.fault.Load(); f.Dead || f.Habit != nil && f.Habit.CloseAfter > 0 && time.Since(begin) >= f.Habit.CloseAfter {
			return
		}
	}
}

// socketAnswer is the answer to one message; end closes the connection instead.
func (n *Node) socketAnswer(ctx context.Context, asked []byte) (text []byte, end bool) {
	var h Habit
	if f := n.fault.Load(); f.Habit != nil {
		h = *f.Habit
	}
	text, reply, err := h.answer(n.upstream(ctx), asked)
	switch {
	case err != nil:
		return nil, true
	case reply == nil:
		return text, false
	case reply.Hangs:
		<-ctx.Done()
		return nil, true
	case reply.Status == http.StatusOK:
		return []byte(reply.Body), false
	}
	var one struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(asked, &one) // a batch has none
	text, err = json.Marshal(Answer{Version: "2.0", ID: one.ID, Error: &ErrorObject{-reply.Status, http.StatusText(reply.Status)}})
	return text, err != nil || one.ID == nil
}
