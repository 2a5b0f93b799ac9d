package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// drillGate stands between the daemon and one node, and fails as nodes do: it can be dead, hang, or answer something else.
type drillGate struct {
	node   atomic.Pointer[string]
	server *http.Server
	listen net.Listener
	fault  atomic.Pointer[nodeFault]
}

// nodeFault is what a gate does instead of passing requests on. Without both members the node is dead: connections end without an answer.
type nodeFault struct {
	hang bool                                                                // accept, and never answer
	lie  func(method string, result json.RawMessage) (json.RawMessage, bool) // what to answer instead, if anything
}

// maxGateBody bounds what is read of a request and of its answer.
const maxGateBody = 64 << 20

func openGate(node string) (*drillGate, error) {
	listen, err := net.Listen("tcp", anyPort)
	if err != nil {
		return nil, fmt.Errorf("listening for the daemon: %w", err)
	}
	g := &drillGate{listen: listen}
	g.goTo(node)
	g.server = &http.Server{Handler: g, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = g.server.Serve(listen) }() // ends with close
	return g, nil
}

func (g *drillGate) url() string { return "http://" + g.listen.Addr().String() }

func (g *drillGate) close() { _ = g.server.Close() }

// goTo has the gate ask another node.
func (g *drillGate) goTo(node string) { g.node.Store(&node) }

// fail lets the node fail from now on; nil lets it be well again.
func (g *drillGate) fail(f *nodeFault) { g.fault.Store(f) }

func (g *drillGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := g.fault.Load()
	switch {
	case fault == nil:
		g.pass(w, r, nil)
	case fault.hang:
		<-r.Context().Done()
	case fault.lie != nil:
		g.pass(w, r, fault.lie)
	default:
		panic(http.ErrAbortHandler) // the connection ends
	}
}

// pass asks the node and answers what it does, after lie has changed results.
func (g *drillGate) pass(w http.ResponseWriter, r *http.Request, lie func(string, json.RawMessage) (json.RawMessage, bool)) {
	answer, asked, status, err := g.ask(r)
	if err == nil && lie != nil {
		answer, err = changeResults(asked, answer, lie)
	}
	if err != nil {
		http.Error(w, "the node does not answer", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(answer) // a client that has gone wants no answer
}

func (g *drillGate) ask(r *http.Request) (answer, asked []byte, status int, err error) {
	if asked, err = io.ReadAll(io.LimitReader(r.Body, maxGateBody)); err != nil {
		return nil, nil, 0, err
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, *g.node.Load(), bytes.NewReader(asked))
	if err != nil {
		return nil, nil, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, 0, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxGateBody))
	return answer, asked, res.StatusCode, err
}

// rpcMessage is a JSON-RPC request or answer.
type rpcMessage struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// changeResults goes through the answers of one request or of a batch.
func changeResults(asked, answered []byte, lie func(string, json.RawMessage) (json.RawMessage, bool)) ([]byte, error) {
	requests, _, err := rpcMessages(asked)
	if err != nil {
		return nil, err
	}
	answers, batch, err := rpcMessages(answered)
	if err != nil {
		return nil, err
	}
	methods := map[string]string{}
	for _, q := range requests {
		methods[string(q.ID)] = q.Method
	}
	for i, a := range answers {
		if told, ok := lie(methods[string(a.ID)], a.Result); ok && a.Result != nil {
			answers[i].Result = told
		}
	}
	if batch {
		return json.Marshal(answers)
	}
	return json.Marshal(answers[0])
}

func rpcMessages(text []byte) (list []rpcMessage, batch bool, err error) {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("[")) {
		return list, true, json.Unmarshal(text, &list)
	}
	var one rpcMessage
	if len(text) == 0 {
		return nil, false, errors.New("no message")
	}
	err = json.Unmarshal(text, &one)
	return []rpcMessage{one}, false, err
}
