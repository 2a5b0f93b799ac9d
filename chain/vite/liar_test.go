package vite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// lie changes what a node answers to a method: result is decoded JSON with numbers kept as they
// were written.
type lie func(method string, params []any, result any) any

// liar is a proxy between the adapter and the node. Without a lie it passes every call and counts.
type liar struct {
	*httptest.Server
	node string

	mu    sync.Mutex
	lie   lie
	serve http.HandlerFunc // instead of everything else
	lacks map[string]bool  // methods that it does not know
	calls map[string]int
}

func newLiar(t testing.TB, l *ledger) *liar {
	t.Helper()
	p := &liar{node: l.url, calls: make(map[string]int)}
	p.Server = httptest.NewServer(http.HandlerFunc(p.handle))
	t.Cleanup(p.Close)
	return p
}

// newListNode is one without chunks.
func newListNode(t testing.TB, l *ledger) *liar {
	t.Helper()
	p := newLiar(t, l)
	p.lacks = map[string]bool{"ledger_getChunks": true, "ledger_getChunksV2": true}
	return p
}

func (p *liar) tell(l lie) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lie = l
}

func (p *liar) serveInstead(h http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serve = h
}

// counted are the calls since the last time.
func (p *liar) counted() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := maps.Clone(p.calls)
	clear(p.calls)
	return calls
}

func (p *liar) handle(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	lie, serve := p.lie, p.serve
	p.mu.Unlock()
	if serve != nil {
		serve(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := post(p.node, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(p.bend(lie, decode(body), answer))
}

func post(url string, body []byte) (any, error) {
	resp, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return decode(answer), err
}

// ask puts a question with one text parameter to the node itself.
func (l *ledger) ask(t testing.TB, method, param string) any {
	t.Helper()
	answer, err := post(l.url, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":[%q]}`, method, param))
	require.NoError(t, err)
	return answer.(map[string]any)["result"]
}

func readAll(r io.Reader) string {
	text, err := io.ReadAll(r)
	if err != nil {
		return ""
	}
	return string(text)
}

func decode(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// bend lets the lie change each answer.
func (p *liar) bend(lie lie, request, answer any) any {
	if requests, ok := request.([]any); ok {
		answers := answer.([]any)
		for i := range requests {
			answers[i] = p.bend(lie, requests[i], answers[i])
		}
		return answers
	}
	asked, said := request.(map[string]any), answer.(map[string]any)
	method := asked["method"].(string)
	p.mu.Lock()
	p.calls[method]++
	p.mu.Unlock()
	if p.lacks[method] {
		delete(said, "result")
		said["error"] = map[string]any{"code": -32601, "message": "The method " + method + " does not exist/is not available"}
		return said
	}
	if _, failed := said["error"]; !failed && lie != nil {
		params, _ := asked["params"].([]any)
		said["result"] = lie(method, params, said["result"])
	}
	return said
}

// eachBlock changes every account block in a node's answers.
func eachBlock(change func(block map[string]any)) lie {
	return func(_ string, _ []any, result any) any {
		switch v := result.(type) {
		case []any:
			for _, item := range v {
				if b, ok := item.(map[string]any); ok && b["blockType"] != nil {
					change(b)
				}
			}
		case map[string]any:
			if v["blockType"] != nil {
				change(v)
			}
		}
		return result
	}
}

// onMethod restricts a lie to one method.
func onMethod(name string, l lie) lie {
	return func(method string, params []any, result any) any {
		if method != name {
			return result
		}
		return l(method, params, result)
	}
}

// set writes members of both generations of names.
func set(block map[string]any, value any, names ...string) {
	for _, name := range names {
		block[name] = value
	}
}

func TestLiarPassesOn(t *testing.T) {
	l := newLedger(t)
	p := newLiar(t, l)
	direct, passed := l.open(t), l.open(t, p.URL)
	l.deposit(t, l.inbox, 7, "")
	l.mine(t, 1)
	require.Equal(t, line(t, direct, 1), line(t, passed, 1))
	require.NotEmpty(t, p.counted())
	require.Empty(t, p.counted())
}
