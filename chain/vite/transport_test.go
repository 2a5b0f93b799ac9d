package vite

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
)

func TestTransports(t *testing.T) {
	l := newLedger(t)
	l.deposit(t, l.inbox, 1, "")
	l.mine(t, 1)
	want := line(t, l.open(t), 1)
	require.Len(t, transfersIn(want), 1)
	for name, target := range map[string]string{"HTTP": newLiar(t, l).URL, "WebSocket": l.ws, "Unix socket": l.ipc} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, want, line(t, l.open(t, target), 1))
		})
	}
	require.Equal(t, want, line(t, l.open(t, l.ws, l.ipc, newLiar(t, l).URL), 1), "all at once")
}

// A node that closes the WebSocket at every request is reported to the operator by its number or
// host, never by its complete address.
func TestNodeThatEndsTheWebSocket(t *testing.T) {
	l := newLedger(t)
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upgrader := websocket.Upgrader{}
		if c, err := upgrader.Upgrade(w, r, nil); err == nil {
			_, _, _ = c.ReadMessage() // it ends anyway
			c.Close()
		}
	}))
	t.Cleanup(node.Close)
	log, hook := logtest.NewNullLogger()
	target := "ws" + strings.TrimPrefix(node.URL, "http") + "/secret-key"
	c := l.openWith(t, Config{Log: log, Timeout: 5 * time.Second}, l.url, target)
	for range 3 {
		answers := c.NodeInfo(t.Context())
		require.NoError(t, answers[0].Err)
		require.Error(t, answers[1].Err)
	}
	require.Len(t, hook.AllEntries(), 2)
	all := ""
	for _, entry := range hook.AllEntries() {
		text, err := entry.String()
		require.NoError(t, err)
		all += text
	}
	require.Contains(t, all, "ended the WebSocket 3 times")
	require.Contains(t, all, "node=2")
	require.Contains(t, all, "the node does not answer")
	require.NotContains(t, all, "secret-key")
}
