package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// ErrRefused marks topics that the server does not take. Connecting again would not help.
var ErrRefused = errors.New("the topics are refused")

const (
	// maxPush is the largest push that is read: a book of a hundred levels a side has some ten
	// thousand bytes.
	maxPush = 1 << 20
	// maxTopics bounds the topics of one message: servers bound the size of a message.
	maxTopics = 200
	// dialTimeout bounds connecting, and one write.
	dialTimeout = 15 * time.Second
)

// Stream hears pushes of topics and connects again whenever the connection ends. The members are
// set before Run.
type Stream struct {
	URL    string // "wss://host/v2/ws", or the result of Client.SocketURL for the shape
	Shape  Shape
	Topics []string // see docs/exchange-pushes.md, "Topics"
	// ClientID is the client's name in the shapes OpType and Binary; empty: "client".
	ClientID string

	// Handle gets each push, one after the other, and has to keep up: the server leaves a client
	// who is too slow, and what happens until the stream has connected again is missed. Its error
	// ends Run.
	Handle func(Push) error
	// Connected is called each time the topics are subscribed: what happened before has to be read
	// over REST. May be nil.
	Connected func()

	Ping   time.Duration // between signs of life; zero: 10 s
	Silent time.Duration // without a frame the connection is taken for dead; zero: 60 s
	// Retry is the time before the second attempt to connect; it doubles up to a minute. Zero: half
	// a second.
	Retry time.Duration
}

// frame is a message of the server, in any shape: an answer or a push.
type frame struct {
	event  string // sub, pong, push ...
	code   int    // of an answer; zero is good
	msg    string
	topics string // of an answer: those that were taken, as the shape lists them
	push   Push
}

// handlerError is an error of Handle, which ends Run.
type handlerError struct{ error }

func (h handlerError) Unwrap() error { return h.error }

// Run hears pushes until ctx ends (then it is nil), Handle fails, or the topics are refused
// (ErrRefused). Topics that were taken once and are refused later are asked for again: a server
// that starts may not know all pairs yet.
func (s *Stream) Run(ctx context.Context) error {
	pause := s.retry()
	taken := false
	for {
		subscribed, err := s.session(ctx)
		taken = taken || subscribed
		var handler handlerError
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the end that was asked for
		case errors.As(err, &handler):
			return handler.error
		case errors.Is(err, ErrRefused) && !taken:
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

func (s *Stream) clientID() string {
	if s.ClientID == "" {
		return "client"
	}
	return s.ClientID
}

// session runs one connection, from dialling to its end. It reports whether the topics were
// subscribed.
func (s *Stream) session(ctx context.Context) (subscribed bool, err error) {
	dialer := websocket.Dialer{HandshakeTimeout: dialTimeout}
	ws, answer, err := dialer.DialContext(ctx, s.URL, nil)
	if err != nil {
		return false, fmt.Errorf("connecting: %w", err)
	}
	answer.Body.Close()
	ctx, cancel := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	defer keeper.Wait()
	defer cancel()
	keeper.Go(func() { s.writeLoop(ctx, ws) })
	return s.read(ws)
}

// writeLoop is the connection's one writer: it subscribes, pings, and closes the connection when
// ctx ends.
func (s *Stream) writeLoop(ctx context.Context, ws *websocket.Conn) {
	defer func() { _ = ws.Close() }() // the reader sees it
	for topics := range slices.Chunk(s.Topics, maxTopics) {
		if s.send(ws, opSub, topics) != nil {
			return
		}
	}
	ticker := time.NewTicker(orElse(s.Ping, 10*time.Second))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if s.send(ws, opPing, nil) != nil {
				return
			}
		}
	}
}

func (s *Stream) send(ws *websocket.Conn, op string, topics []string) error {
	if err := ws.SetWriteDeadline(time.Now().Add(dialTimeout)); err != nil {
		return err
	}
	kind, message := s.Shape.message(s.clientID(), op, topics)
	return ws.WriteMessage(kind, message)
}

// read hands over pushes until the connection ends.
func (s *Stream) read(ws *websocket.Conn) (subscribed bool, err error) {
	ws.SetReadLimit(maxPush)
	missing := s.Topics
	for {
		f, err := s.readFrame(ws)
		if err != nil {
			return subscribed, fmt.Errorf("reading pushes: %w", err)
		}
		switch {
		case f.event == opSub && f.code != 0:
			return subscribed, fmt.Errorf("%w: %s: code %d: %s", ErrRefused, f.topics, f.code, f.msg)
		case f.code != 0:
			return subscribed, fmt.Errorf("the server answers code %d: %s", f.code, f.msg)
		case f.event == opSub:
			if missing, err = s.checkAnswer(f.topics, missing); err != nil {
				return subscribed, err
			}
			if subscribed = len(missing) == 0; subscribed && s.Connected != nil {
				s.Connected()
			}
		case f.event == opPush:
			if err := s.Handle(s.withTopic(f.push)); err != nil {
				return subscribed, handlerError{err}
			}
		}
	}
}

// readFrame reads the next frame.
func (s *Stream) readFrame(ws *websocket.Conn) (frame, error) {
	if err := ws.SetReadDeadline(time.Now().Add(orElse(s.Silent, time.Minute))); err != nil {
		return frame{}, err
	}
	kind, data, err := ws.ReadMessage()
	if err != nil {
		return frame{}, err
	}
	return s.Shape.frame(kind, data)
}

// checkAnswer returns which of the topics that were asked for are still to be confirmed. A topic
// that the answer leaves out is an error: servers leave out silently what is no topic as long as
// one of a message is.
func (s *Stream) checkAnswer(list string, asked []string) (rest []string, err error) {
	n := min(maxTopics, len(asked))
	taken := strings.Split(strings.Trim(list, "[]"), ",")
	for i := range taken {
		taken[i] = strings.TrimSpace(taken[i])
	}
	for _, topic := range asked[:n] {
		if !slices.Contains(taken, topic) {
			return nil, fmt.Errorf("%w: %s is no topic of this exchange", ErrRefused, topic)
		}
	}
	return asked[n:], nil
}

// withTopic adds the topic to a push. The shape OpType does not send it, but with one topic there
// is no other.
func (s *Stream) withTopic(p Push) Push {
	if p.Topic == "" && len(s.Topics) == 1 {
		p.Topic = s.Topics[0]
	}
	return p
}
