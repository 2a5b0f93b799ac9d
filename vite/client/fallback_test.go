package client

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// pickyNode ends a WebSocket at what it does not like. Over HTTP it takes everything.
type pickyNode struct {
	t       *testing.T
	mu      sync.Mutex
	ends    func(requests, bytes int) bool // over a WebSocket
	genesis map[string]string              // by transport, "ws" and "http"; over one that is missing it does not answer
	asked   map[string]int                 // requests that were answered, by transport
}

func (n *pickyNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !websocket.IsWebSocketUpgrade(r) {
		if n.genesis["http"] == "" {
			http.NotFound(w, r)
			return
		}
		var raw json.RawMessage
		require.NoError(n.t, json.NewDecoder(r.Body).Decode(&raw))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(n.answer("http", raw))
		return
	}
	upgrader := websocket.Upgrader{}
	c, err := upgrader.Upgrade(w, r, nil)
	require.NoError(n.t, err)
	defer c.Close()
	for {
		_, raw, err := c.ReadMessage()
		if err != nil {
			return
		}
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			list = []json.RawMessage{raw}
		}
		n.mu.Lock()
		ends := n.ends(len(list), len(raw))
		n.mu.Unlock()
		if ends {
			_ = c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Minute))
			return
		}
		if err := c.WriteMessage(websocket.TextMessage, n.answer("ws", raw)); err != nil {
			return
		}
	}
}

// likes changes what it ends the WebSocket at.
func (n *pickyNode) likes(ends func(requests, bytes int) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ends = ends
}

func (n *pickyNode) answered(over string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[over]
}

func (n *pickyNode) answer(over string, raw []byte) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	type call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	reply := func(c call) any {
		n.asked[over]++
		answer := map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": nil}
		if c.Method == "ledger_getSnapshotBlockByHeight" {
			answer["result"] = map[string]string{"hash": n.genesis[over]}
		}
		return answer
	}
	var one call
	var many []call
	var out any
	if json.Unmarshal(raw, &many) == nil {
		var list []any
		for _, c := range many {
			list = append(list, reply(c))
		}
		out = list
	} else {
		require.NoError(n.t, json.Unmarshal(raw, &one))
		out = reply(one)
	}
	text, err := json.Marshal(out)
	require.NoError(n.t, err)
	return text
}

// picky returns a client of such a node, its clock, and its messages. Its URL contains a secret.
func picky(t *testing.T, n *pickyNode) (c *Client, now *time.Time, told func() []string) {
	n.t, n.asked = t, map[string]int{}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	log, hook := logtest.NewNullLogger()
	c, err := Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/secret-key", Options{Timeout: 5 * time.Second, Log: log.WithField("node", 2)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	now = new(time.Time)
	*now = time.Now()
	c.fallback.now = func() time.Time { return *now }
	return c, now, func() (list []string) {
		for _, e := range hook.AllEntries() {
			text, err := e.String()
			require.NoError(t, err)
			require.NotContains(t, text, "secret-key")
			require.NotContains(t, text, "127.0.0.1")
			if e.Level == logrus.WarnLevel {
				require.Contains(t, text, "node=2")
				list = append(list, e.Message)
			}
		}
		hook.Reset()
		return list
	}
}

func TestSmallBatchesAfterCuts(t *testing.T) {
	n := &pickyNode{ends: func(requests, _ int) bool { return requests > 40 }, genesis: map[string]string{"ws": "a", "http": "a"}}
	c, now, told := picky(t, n)
	ask := func(blocks int) error {
		_, err := c.AccountBlocksByHash(t.Context(), make([]core.Hash, blocks))
		return err
	}
	require.Error(t, ask(100))
	require.NoError(t, ask(30), "a smaller one is answered, which says nothing about the large one")
	require.Error(t, ask(100))
	require.Empty(t, told())
	require.Error(t, ask(99))
	require.Equal(t, []string{"the exchange chain's node ended the WebSocket 3 times at the same request: it is asked in small batches now"}, told())
	require.NoError(t, ask(100))
	require.NoError(t, ask(200))

	*now = now.Add(fallbackFor)
	require.Error(t, ask(100), "as usual again")
	n.likes(func(int, int) bool { return false })
	require.NoError(t, ask(100))
	n.likes(func(requests, _ int) bool { return requests > 40 })
	require.Error(t, ask(100))
	require.Error(t, ask(100))
	require.Empty(t, told(), "one that went through ends the count")
}

func TestHTTPAfterCuts(t *testing.T) {
	large := func(_, bytes int) bool { return bytes > 3000 }
	param := strings.Repeat("x", 3000)
	ask := func(c *Client) error { return c.Call(t.Context(), nil, "m", param) }
	fail := func(c *Client) {
		for range cutsToFallBack {
			require.Error(t, ask(c))
		}
	}
	n := &pickyNode{ends: large, genesis: map[string]string{"ws": "a", "http": "a"}}
	c, now, told := picky(t, n)
	fail(c)
	require.Equal(t, []string{"the exchange chain's node ended the WebSocket 3 times at the same request: it is asked over HTTP now"}, told())
	over := n.answered("http")
	require.NoError(t, ask(c))
	require.Equal(t, over+1, n.answered("http"))
	*now = now.Add(fallbackFor)
	require.NoError(t, c.Call(t.Context(), nil, "m"))
	require.Equal(t, over+1, n.answered("http"))

	n = &pickyNode{ends: large, genesis: map[string]string{"ws": "a", "http": "b"}}
	c, _, told = picky(t, n)
	fail(c)
	require.Equal(t, []string{"the exchange chain's node ended the WebSocket 3 times at the same request, and it is not known over HTTP " +
		"(no address at which the same chain answers): it is asked in small batches"}, told(), "another chain's")
	fail(c)
	fail(c)
	require.Empty(t, told(), "nothing new")
	require.NoError(t, c.Call(t.Context(), nil, "m"), "the rest goes on")
}

// A node that goes away is no reason to ask it otherwise.
func TestNoFallbackFromANodeThatIsDown(t *testing.T) {
	n := &pickyNode{ends: func(int, int) bool { return false }, genesis: map[string]string{"ws": "a"}}
	n.t, n.asked = t, map[string]int{}
	server := httptest.NewServer(n)
	defer server.Close()
	log, hook := logtest.NewNullLogger()
	c, err := Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), Options{Log: log})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Call(t.Context(), nil, "m"))
	server.Listener.Close()
	n.likes(func(int, int) bool { return true })
	for range 3 * cutsToFallBack {
		require.Error(t, c.Call(t.Context(), nil, "m"))
	}
	require.Empty(t, hook.AllEntries())
}

func TestHTTPTargets(t *testing.T) {
	for target, want := range map[string][]string{
		"ws://10.0.0.1:41420":              {"http://10.0.0.1:48132", "http://10.0.0.1:41420"},
		"ws://127.0.0.1:1234":              {"http://127.0.0.1:1234"},
		"wss://node.example.org/gvite/ws":  {"https://node.example.org/gvite/ws", "https://node.example.org/gvite"},
		"wss://user:pw@node.example.org/x": {"https://user:pw@node.example.org/x"},
	} {
		require.Equal(t, want, httpTargets(target, ""))
	}
	require.Equal(t, []string{"http://a", "http://b"}, httpTargets("ws://b", "http://a"))
}
