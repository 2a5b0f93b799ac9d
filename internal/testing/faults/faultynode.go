// Package faults makes a program's surroundings fail, for the drill and for tests: a proxy before a
// node that fails as nodes do, and a disk that gets full, which only a child process sees.
package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Node is a proxy between a program and one node that fails as nodes do.
type Node struct {
	URL    string
	honest atomic.Pointer[url.URL]
	fault  atomic.Pointer[Fault]
	server *http.Server
	ended  chan struct{}
}

// Fault is a node's fault; the zero value is none.
type Fault struct {
	Dead    bool                      // connections end without an answer
	Hangs   bool                      // requests are taken and never answered
	Refuses func(request []byte) bool // with an internal error
	Delay   time.Duration             // before each answer
	Lie     Lie
	Refusal Refusal
	Habit   *Habit // of the endpoint, over HTTP and WebSocket
}

// Refusal is a method that a node refuses, in its own words; the zero value is none.
type Refusal struct{ Method, Text string }

// Lie answers a call with something else than its result.
type Lie func(method string, params []any, result json.RawMessage) any

// maxNodeBody bounds what is read of a request and of its answer.
const maxNodeBody = 64 << 20

// Open opens a proxy before the node at a URL, without a fault at first. Close it.
func Open(honest string) (*Node, error) {
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening before a node: %w", err)
	}
	n := &Node{URL: "http://" + listen.Addr().String(), ended: make(chan struct{})}
	n.Fail(Fault{})
	if err := n.GoTo(honest); err != nil {
		return nil, err
	}
	n.server = &http.Server{Handler: n, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = n.server.Serve(listen) }() // ends with close
	return n, nil
}

func (n *Node) Close() error {
	close(n.ended)
	return n.server.Close()
}

// GoTo switches the proxy to another node.
func (n *Node) GoTo(honest string) error {
	u, err := url.Parse(honest)
	if err != nil {
		return err
	}
	n.honest.Store(u)
	return nil
}

// SocketURL is its address for WebSocket connections.
func (n *Node) SocketURL() string { return "ws" + strings.TrimPrefix(n.URL, "http") }

func (n *Node) upstream(ctx context.Context) *Upstream {
	return &Upstream{ctx, n.honest.Load().String()}
}

// Fail gives it another fault from now on.
func (n *Node) Fail(f Fault) { n.fault.Store(&f) }

func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := n.fault.Load()
	if f.Dead {
		panic(http.ErrAbortHandler) // the connection ends
	}
	if websocket.IsWebSocketUpgrade(r) {
		n.serveSocket(w, r)
		return
	}
	asked, err := io.ReadAll(io.LimitReader(r.Body, maxNodeBody)) // then a client that gives up is noticed
	if err != nil {
		return
	}
	var late <-chan time.Time // never
	if !f.Hangs {
		late = time.After(f.Delay)
	}
	select {
	case <-late:
	case <-r.Context().Done():
		return
	case <-n.ended:
		return
	}
	if f.Refuses != nil && f.Refuses(asked) {
		http.Error(w, "not today", http.StatusInternalServerError)
		return
	}
	if f.Refusal.Method != "" && f.Refusal.answer(w, asked) {
		return
	}
	if f.Habit != nil {
		f.Habit.serve(w, n.upstream(r.Context()), asked)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(asked))
	n.proxy(asked, f.Lie).ServeHTTP(w, r)
}

// proxy passes a request on, and lies about the results.
func (n *Node) proxy(asked []byte, tell Lie) *httputil.ReverseProxy {
	p := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(n.honest.Load())
		r.Out.Header.Del("Accept-Encoding") // packed answers cannot be changed
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }}
	if tell == nil {
		return p
	}
	p.ModifyResponse = func(r *http.Response) error {
		text, err := io.ReadAll(io.LimitReader(r.Body, maxNodeBody))
		if err == nil {
			text, err = bend(asked, text, tell)
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		r.ContentLength = int64(len(text))
		r.Header.Set("Content-Length", strconv.Itoa(len(text)))
		return err
	}
	return p
}

// bend changes the results in the answer to one request or to a batch. Refusals stay what they are.
func bend(asked, answered []byte, tell Lie) ([]byte, error) {
	batch := bytes.HasPrefix(bytes.TrimSpace(asked), []byte("["))
	if !batch {
		asked, answered = inBrackets(asked), inBrackets(answered)
	}
	var requests []struct {
		ID     json.RawMessage
		Method string
		Params []any
	}
	if err := json.Unmarshal(asked, &requests); err != nil {
		return nil, err
	}
	var answers []map[string]json.RawMessage
	if err := json.Unmarshal(answered, &answers); err != nil {
		return nil, err
	}
	for _, a := range answers {
		for _, q := range requests {
			result, ok := a["result"]
			if !ok || !bytes.Equal(a["id"], q.ID) {
				continue
			}
			var err error
			if a["result"], err = json.Marshal(tell(q.Method, q.Params, result)); err != nil {
				return nil, err
			}
		}
	}
	if batch {
		return json.Marshal(answers)
	}
	return json.Marshal(answers[0])
}

// answer refuses a request, or a batch in which the method is.
func (f Refusal) answer(w http.ResponseWriter, asked []byte) bool {
	batch := bytes.HasPrefix(bytes.TrimSpace(asked), []byte("["))
	if !batch {
		asked = inBrackets(asked)
	}
	var requests []struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(asked, &requests) != nil {
		return false
	}
	var answers []any
	refuses := false
	for _, q := range requests {
		refuses = refuses || q.Method == f.Method
		answers = append(answers, map[string]any{"jsonrpc": "2.0", "id": q.ID, "error": map[string]any{"code": -32000, "message": f.Text}})
	}
	var answer any = answers
	if !batch && refuses {
		answer = answers[0]
	}
	if refuses {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // a client that is gone needs none
	}
	return refuses
}

func inBrackets(text []byte) []byte { return append(append([]byte("["), text...), ']') }
