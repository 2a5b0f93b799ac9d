package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// ErrRefused marks topics that the server does not take. Connecting again would not help.
var ErrRefused = errors.New("the topics are refused")

// pushMost is the largest push that is read: a book of a hundred levels a side has some ten thousand bytes.
const pushMost = 1 << 20

// Stream hears pushes of topics and connects again whenever the connection ends. The members are set before Run.
type Stream struct {
	URL    string   // "wss://host/v2/ws"
	Topics []string // see spec/exchange-api.md, "Topics"

	// Handle gets each push, one after the other. Its error ends Run.
	Handle func(Push) error
	// Connected is called each time the topics are subscribed: what happened before has to be read over REST. May be nil.
	Connected func()

	Ping   time.Duration // between signs of life; zero: 10 s
	Silent time.Duration // without a frame the connection is taken for dead; zero: 60 s
	// Retry is the time before the second attempt to connect; it doubles up to a minute. Zero: half a second.
	Retry time.Duration
}

// Push is a message about a topic. Data is what Order, Trades, Depth, Ticker or Kline reads.
type Push struct {
	Topic     string          `json:"topic"`
	Timestamp int64           `json:"timestamp"` // Unix milliseconds
	Data      json.RawMessage `json:"data"`
}

// frame is what the server sends: an answer or a push.
type frame struct {
	Code  int    `json:"code"`
	Event string `json:"event"`
	Msg   string `json:"msg"`
	Push
}

// handlerError is an error of Handle, which ends Run.
type handlerError struct{ error }

func (h handlerError) Unwrap() error { return h.error }

// Run hears pushes until ctx ends (then it is nil), Handle fails, or the topics are refused.
func (s *Stream) Run(ctx context.Context) error {
	pause := s.retry()
	for {
		subscribed, err := s.session(ctx)
		var handler handlerError
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the end that was asked for
		case errors.As(err, &handler):
			return handler.error
		case errors.Is(err, ErrRefused):
			return err
		case subscribed:
			pause = s.retry()
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, time.Minute)
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Stream) retry() time.Duration { return orElse(s.Retry, time.Second/2) }

func orElse(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// session is one connection, from dialling to its end. It says whether the topics were subscribed.
func (s *Stream) session(ctx context.Context) (subscribed bool, err error) {
	dialer := websocket.Dialer{HandshakeTimeout: 15 * time.Second}
	ws, answer, err := dialer.DialContext(ctx, s.URL, nil)
	if err != nil {
		return false, fmt.Errorf("connecting: %w", err)
	}
	answer.Body.Close()
	ctx, cancel := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	defer keeper.Wait()
	defer cancel()
	if err := ws.WriteJSON(map[string]any{"command": "sub", "params": s.Topics}); err != nil {
		_ = ws.Close() // it is broken
		return false, fmt.Errorf("subscribing: %w", err)
	}
	keeper.Go(func() { s.keep(ctx, ws) })
	return s.read(ws)
}

// keep gives signs of life and closes the connection when ctx ends.
func (s *Stream) keep(ctx context.Context, ws *websocket.Conn) {
	defer func() { _ = ws.Close() }()
	ticker := time.NewTicker(orElse(s.Ping, 10*time.Second))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = ws.SetWriteDeadline(time.Now().Add(orElse(s.Silent, time.Minute)))
			if ws.WriteJSON(map[string]string{"command": "ping"}) != nil {
				return // the reader sees the same
			}
		}
	}
}

// read hands over pushes until the connection ends.
func (s *Stream) read(ws *websocket.Conn) (subscribed bool, err error) {
	ws.SetReadLimit(pushMost)
	for {
		if err := ws.SetReadDeadline(time.Now().Add(orElse(s.Silent, time.Minute))); err != nil {
			return subscribed, err
		}
		var f frame
		if err := ws.ReadJSON(&f); err != nil {
			return subscribed, fmt.Errorf("reading pushes: %w", err)
		}
		switch {
		case f.Code != 0:
			return subscribed, fmt.Errorf("%w: code %d: %s", ErrRefused, f.Code, f.Msg)
		case f.Event == "sub":
			subscribed = true
			if s.Connected != nil {
				s.Connected()
			}
		case f.Event == "push":
			if err := s.Handle(f.Push); err != nil {
				return subscribed, handlerError{err}
			}
		}
	}
}
