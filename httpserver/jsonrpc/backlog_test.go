package jsonrpc

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// slow is a module whose calls wait.
type slow struct {
	begun   atomic.Int64
	release chan struct{}
}

func (s *slow) Wait() bool {
	s.begun.Add(1)
	<-s.release
	return true
}

func (s *slow) Quick() bool { return true }

// Ticks sends count numbers.
func (s *slow) Ticks(ctx context.Context, count int) (*gethrpc.Subscription, error) {
	notifier, _ := gethrpc.NotifierFromContext(ctx)
	sub := notifier.CreateSubscription()
	go func() {
		for i := range count {
			_ = notifier.Notify(sub.ID, i) // of a connection that is gone
		}
	}()
	return sub, nil
}

// talk is a client's side of a connection, message by message.
type talk interface {
	write(text string) error
	read() (string, error)
	Close() error
}

type frames struct{ *websocket.Conn }

func (f frames) write(text string) error { return f.WriteMessage(websocket.TextMessage, []byte(text)) }

func (f frames) read() (string, error) {
	_, text, err := f.ReadMessage()
	return string(text), err
}

type stream struct {
	net.Conn
	in *json.Decoder
}

func (s stream) write(text string) error {
	_, err := s.Write([]byte(text))
	return err
}

func (s stream) read() (string, error) {
	var text json.RawMessage
	err := s.in.Decode(&text)
	return string(text), err
}

// overEachWay runs a test over a WebSocket and over what Unix sockets speak, in a bubble.
func overEachWay(t *testing.T, test func(t *testing.T, module *slow, c talk)) {
	const maxMessage = 1 << 20
	ways := map[string]func(t *testing.T, s *Server) talk{
		"WebSocket": func(t *testing.T, s *Server) talk {
			dialer := websocket.Dialer{NetDialContext: s.Dial}
			c, answer, err := dialer.Dial("ws://127.0.0.1", nil)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			return frames{c}
		},
		"Unix socket": func(_ *testing.T, s *Server) talk {
			near, far := net.Pipe()
			conn := &messageConn{Conn: far, name: "far", limit: maxMessage, left: maxMessage, backlog: newBacklog()}
			go s.geth.ServeCodec(gethrpc.NewCodec(namedConn{conn}), 0)
			return stream{near, json.NewDecoder(near)}
		},
	}
	for way, dial := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				module := &slow{release: make(chan struct{})}
				geth := gethrpc.NewServer()
				require.NoError(t, geth.RegisterName("slow", module))
				s := New(geth, Config{
					Name: "test", MaxBody: maxMessage, MaxMessage: maxMessage, MaxBatch: 10, MaxBatchResponse: maxMessage, Stop: func() {},
					Guard: func(h http.Handler) http.Handler { return h }, Limit: func(l net.Listener) net.Listener { return l },
				})
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1) // 1: no reader waits for it if the test fails
				go func() { ended <- s.Run(ctx) }()
				c := dial(t, s)
				test(t, module, c)
				close(module.release)
				_ = c.Close() // the server may have closed it
				cancel()
				require.NoError(t, <-ended)
			})
		})
	}
}

const waitCall = `{"jsonrpc":"2.0","id":1,"method":"slow_wait"}`

// TestRequestsWaitForAnswers: a client that keeps sending has a few calls in flight, whatever a
// subscription sends meanwhile.
func TestRequestsWaitForAnswers(t *testing.T) {
	overEachWay(t, func(t *testing.T, module *slow, c talk) {
		require.NoError(t, c.write(`{"jsonrpc":"2.0","id":1,"method":"slow_subscribe","params":["ticks",100]}`))
		for range 101 {
			_, err := c.read()
			require.NoError(t, err)
		}
		const calls = 100
		go func() {
			for range calls {
				_ = c.write(waitCall) // fails when the test has ended early
			}
		}()
		synctest.Wait()
		require.EqualValues(t, maxOpen, module.begun.Load())
		for i := range int64(calls) {
			module.release <- struct{}{}
			text, err := c.read()
			require.NoError(t, err)
			require.Contains(t, text, `"result":true`)
			synctest.Wait()
			require.Equal(t, min(maxOpen+i+1, calls), module.begun.Load())
		}
	})
}

// TestEveryAnswerIsCounted: whatever is sent and however it is answered, nothing is waited for
// afterwards.
func TestEveryAnswerIsCounted(t *testing.T) {
	const quick = `{"jsonrpc":"2.0","id":1,"method":"slow_quick"}`
	for name, text := range map[string]string{
		"call": quick, "unknown": `{"jsonrpc":"2.0","id":1,"method":"slow_none"}`, "no version": `{"id":1,"method":"slow_quick"}`,
		"id null": `{"jsonrpc":"2.0","id":null,"method":"slow_quick"}`, "id an object": `{"jsonrpc":"2.0","id":{},"method":"slow_quick"}`,
		"no method": `{"jsonrpc":"2.0","id":1}`, "nothing": `{}`, "empty batch": `[]`, "no objects": `[1,null]`, "batch": `[` + quick + `,` + quick + `]`,
		"partly silent": `[{"jsonrpc":"2.0","method":"slow_quick"},` + quick + `]`, "large batch": `[` + strings.Repeat(quick+",", 20) + quick + `]`,
		"padded":           `{"jsonrpc":"2.0","id":1,"method":"slow_quick","params":[],"x":"` + strings.Repeat("x", 70_000) + `"}`,
		"other parameters": `{"jsonrpc":"2.0","id":1,"method":"slow_quick","params":[1]}`,
	} {
		t.Run(name, func(t *testing.T) {
			overEachWay(t, func(t *testing.T, _ *slow, c talk) {
				for range 3 * maxOpen {
					require.NoError(t, c.write(text))
					_, err := c.read()
					require.NoError(t, err)
				}
			})
		})
	}
}

// TestSilentRequests: what has no answer waits for none, and there may be so many.
func TestSilentRequests(t *testing.T) {
	for name, text := range map[string]string{
		"no id": `{"jsonrpc":"2.0","method":"slow_quick"}`, "batch": `[{"jsonrpc":"2.0","method":"slow_quick"}]`, "answer": `{"jsonrpc":"2.0","id":1,"result":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			overEachWay(t, func(t *testing.T, _ *slow, c talk) {
				for range maxSilent {
					require.NoError(t, c.write(text))
				}
				require.NoError(t, c.write(`{"jsonrpc":"2.0","id":1,"method":"slow_quick"}`))
				answer, err := c.read()
				require.NoError(t, err)
				require.Contains(t, answer, `"result":true`)
				_ = c.write(text) // the last bytes may find the connection closed
				_, err = c.read()
				require.Error(t, err)
			})
		})
	}
}
