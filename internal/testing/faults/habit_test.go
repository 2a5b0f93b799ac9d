package faults

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// echo is a node whose answer to each call is the call's method.
func echo(t *testing.T) *Node {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var calls []Call
		if json.NewDecoder(r.Body).Decode(&calls) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var answers []Answer
		for _, c := range calls {
			a := Answer{Version: "2.0", ID: c.ID}
			a.Return(c.Method)
			answers = append(answers, a)
		}
		_ = json.NewEncoder(w).Encode(answers)
	}))
	t.Cleanup(server.Close)
	n, err := Open(server.URL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	return n
}

// TestHabitsOverBothTransports: a habit holds for single calls and batches, over HTTP and
// WebSocket, and changes while a connection is open.
func TestHabitsOverBothTransports(t *testing.T) {
	n := echo(t)
	conn, _, err := websocket.DefaultDialer.Dial(n.SocketURL(), nil)
	require.NoError(t, err)
	defer conn.Close()
	over := map[string]func(string) string{
		"http": func(ask string) string {
			r, err := http.Post(n.URL, "application/json", strings.NewReader(ask))
			require.NoError(t, err)
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			return string(text)
		},
		"websocket": func(ask string) string {
			require.NoError(t, conn.WriteMessage(websocket.TextMessage, []byte(ask)))
			_, text, err := conn.ReadMessage()
			require.NoError(t, err)
			return string(text)
		},
	}
	none := WithoutMethods("none", "b")
	for name, ask := range over {
		t.Run(name, func(t *testing.T) {
			n.Fail(Fault{Habit: &Habit{}})
			require.JSONEq(t, `{"jsonrpc":"2.0","id":7,"result":"b"}`, ask(`{"jsonrpc":"2.0","id":7,"method":"b","params":[]}`))
			n.Fail(Fault{Habit: &none})
			require.JSONEq(t, `[{"jsonrpc":"2.0","id":1,"result":"a"},{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"the method b does not exist/is not available"}}]`,
				ask(`[{"jsonrpc":"2.0","id":1,"method":"a","params":[]},{"jsonrpc":"2.0","id":2,"method":"b","params":[]}]`))
		})
	}
}

func TestSocketsAreClosed(t *testing.T) {
	n := echo(t)
	closes := ClosedSockets("closes", time.Millisecond)
	n.Fail(Fault{Habit: &closes})
	conn, _, err := websocket.DefaultDialer.Dial(n.SocketURL(), nil)
	require.NoError(t, err)
	defer conn.Close()
	_, _, err = conn.ReadMessage()
	require.Error(t, err)
}
