package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/devnet/faultynode"
	"gatewayd/operator/notify"
)

// TestAlertsReachPeople: a dead node and a held deposit are told to a webhook, over a kill of the daemon, while the receiver was away.
func TestAlertsReachPeople(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret, err := notify.NewSecret()
	require.NoError(t, err)
	file := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(file, []byte(secret), 0o600))
	hook, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	var mu sync.Mutex
	var told []notify.Event
	down := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		var e notify.Event
		if down || err != nil || hook.Verify(body, r.Header) != nil || json.Unmarshal(body, &e) != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		told = append(told, e)
	}))
	t.Cleanup(server.Close)
	away := func(now bool) {
		mu.Lock()
		defer mu.Unlock()
		down = now
	}
	awaitTold := func(what string, is func(notify.Event) bool) {
		waitFor(t, what, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.ContainsFunc(told, is)
		})
	}
	w := newLimpWorld(t, func(_ *limpWorld, c *config.Config) {
		c.Alerts = notify.Config{Gateway: "main", Webhooks: []notify.Webhook{{Name: "office", URL: server.URL, SecretFile: file}}}
	})
	waitFor(t, "the receiver", func() bool { return strings.Contains(w.mustCommand(t, "alerts", "list"), "webhook:office  0 ") })
	w.node.Fail(faultynode.Fault{Dead: true})
	awaitTold("a dead node", func(e notify.Event) bool {
		return e.Type == "condition.began" && e.Condition.Kind == "nodes_unreachable" && e.Condition.Stops
	})
	away(true)
	w.node.Fail(faultynode.Fault{})
	w.well(t)
	waitFor(t, "a receiver that is behind", func() bool { return strings.Contains(w.mustCommand(t, "alerts", "list"), "it answers 503") })
	out, ok := w.operator(t, "alerts", "test")
	require.False(t, ok, out)
	require.Contains(t, out, "it answers 503")
	w.kill(t)
	away(false)
	w.start(t)
	awaitTold("the node's return", func(e notify.Event) bool {
		return e.Type == "condition.over" && e.Condition.Kind == "nodes_unreachable"
	})
	require.Contains(t, w.mustCommand(t, "alerts", "test"), "ok     webhook:office")

	dai := w.token(t, "DAI")
	_, err = w.user.Faucet.Pay(t.Context(), dai.Asset, w.user.Eth.Address(), units(dai, 2000).Uint256().ToBig(), nil)
	require.NoError(t, err)
	stray := w.user.pay(t, dai.Asset, depositAddress(t, w.user), units(dai, 2000), "")
	awaitTold("a held deposit", func(e notify.Event) bool {
		row, _ := e.Record.(map[string]any)
		return e.Type == "record.attention" && e.Change.State == "held" && row["inTx"] == stray
	})
	mu.Lock()
	defer mu.Unlock()
	seen := map[string]bool{}
	for _, e := range told {
		require.False(t, seen[e.ID] && e.Type != "test", "%+v came twice, though each was taken at once", e)
		seen[e.ID] = true
	}
}
