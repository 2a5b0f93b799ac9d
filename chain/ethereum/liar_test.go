package ethereum_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// request and response are JSON-RPC messages as they pass through a liar.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params []any           `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
	Error   any             `json:"error,omitempty"`
}

// lie changes an honest node's answer; rpcError and raw replace it.
type lie func(q request, result any) any

// rpcError is a lie's refusal.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// raw is a lie's answer that is no JSON-RPC at all.
type raw struct {
	status int
	body   []byte
}

// liar is a proxy before an honest node.
type liar struct {
	t      *testing.T
	honest string
	url    string
	mu     sync.Mutex
	lie    lie
}

func newLiar(t *testing.T, honest string, tell lie) *liar {
	t.Helper()
	l := &liar{t: t, honest: honest, lie: tell}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

func (l *liar) tell(other lie) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lie = other
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	tell := l.lie
	l.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var questions []request
	batch := bytes.HasPrefix(bytes.TrimSpace(body), []byte("["))
	if !batch {
		body = append(append([]byte("["), body...), ']')
	}
	if err := json.Unmarshal(body, &questions); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l.answer(w, tell, body, questions, batch)
}

func (l *liar) answer(w http.ResponseWriter, tell lie, body []byte, questions []request, batch bool) {
	reply, err := http.Post(l.honest, "application/json", bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer reply.Body.Close()
	var answers []response
	if err := json.NewDecoder(reply.Body).Decode(&answers); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	for i, q := range questions {
		switch told := tell(q, answers[i].Result).(type) {
		case raw:
			w.WriteHeader(told.status)
			w.Write(told.body)
			return
		case rpcError:
			answers[i].Result, answers[i].Error = nil, told
		default:
			answers[i].Result = told
		}
	}
	var out any = answers
	if !batch {
		out = answers[0]
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out)
}

// about limits a lie to one method; other answers stay honest.
func about(method string, tell func(result any) any) lie {
	return func(q request, result any) any {
		if q.Method != method || result == nil {
			return result
		}
		return tell(result)
	}
}

// set changes fields of an object.
func set(fields ...any) func(any) any {
	return func(result any) any {
		object := result.(map[string]any)
		for i := 0; i < len(fields); i += 2 {
			object[fields[i].(string)] = fields[i+1]
		}
		return object
	}
}

// item applies a change to one element of a list; a negative index counts from the end.
func item(index int, change func(any) any) func(any) any {
	return func(result any) any {
		list := result.([]any)
		if len(list) > 0 {
			at := (index + len(list)) % len(list)
			list[at] = change(list[at])
		}
		return list
	}
}

// within applies a change to a field of an object.
func within(field string, change func(any) any) func(any) any {
	return func(result any) any {
		object := result.(map[string]any)
		object[field] = change(object[field])
		return object
	}
}

// without leaves out the last element of a list.
func without(result any) any {
	list := result.([]any)
	return list[:max(0, len(list)-1)]
}

func instead(told any) func(any) any { return func(any) any { return told } }

func TestLiarTellsTheTruthByDefault(t *testing.T) {
	b := setup(t)
	honest := newLiar(t, b.dev.URL(), func(_ request, result any) any { return result })
	config := b.config()
	config.Nodes = []string{honest.url}
	block, err := b.adapter(config).Block(t.Context(), b.height())
	require.NoError(t, err)
	require.Equal(t, b.newest(), block)
}
