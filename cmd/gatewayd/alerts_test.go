package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/internal/testing/faults"
	"gatewayd/notify"
)

// receiver is a webhook's receiver that stores the events, in order.
type receiver struct {
	server *httptest.Server
	secret string // path of the file
	mu     sync.Mutex
	told   []notify.Event
	down   bool
}

// newReceiver listens until the test ends. It takes no event whose signature is wrong.
func newReceiver(t *testing.T) *receiver {
	t.Helper()
	secret, err := notify.NewSecret()
	require.NoError(t, err)
	r := &receiver{secret: filepath.Join(t.TempDir(), "secret")}
	require.NoError(t, os.WriteFile(r.secret, []byte(secret), 0o600))
	hook, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		body, err := io.ReadAll(q.Body)
		var e notify.Event
		if r.down || err != nil || hook.Verify(body, q.Header) != nil || json.Unmarshal(body, &e) != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r.told = append(r.told, e)
	}))
	t.Cleanup(r.server.Close)
	return r
}

// config names it as the receiver of conditions and of records that need an operator.
func (r *receiver) config() notify.Config {
	return notify.Config{Gateway: "main", Webhooks: []notify.Webhook{{Name: "office", URL: r.server.URL, SecretFile: r.secret}}}
}

func (r *receiver) setAway(now bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = now
}

// events are those that came after the first so many.
func (r *receiver) events(after int) []notify.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.told[after:])
}

func (r *receiver) await(t *testing.T, what string, after int, is func(notify.Event) bool) {
	t.Helper()
	waitFor(t, what, func() bool { return slices.ContainsFunc(r.events(after), is) })
}

// TestAlertsReachPeople: a webhook receives a dead node and a held deposit, although the receiver
// was away and the daemon was killed.
func TestAlertsReachPeople(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newFaultyEnv(t, func(_ *faultyEnv, c *config.Config) { c.Alerts = r.config() })
	idle := regexp.MustCompile(`webhook:office +0 `)
	waitFor(t, "the receiver", func() bool { return idle.MatchString(w.mustCommand(t, "alerts", "list")) })
	w.node.Fail(faults.Fault{Dead: true})
	r.await(t, "a dead node", 0, func(e notify.Event) bool {
		return e.Type == "condition.began" && e.Condition.Kind == "nodes_unreachable" && e.Condition.Stops
	})
	r.setAway(true)
	w.node.Fail(faults.Fault{})
	w.waitUntilWell(t)
	waitFor(t, "a receiver that is behind", func() bool { return strings.Contains(w.mustCommand(t, "alerts", "list"), "it answers 503") })
	out, ok := w.runCommand(t, "alerts", "test")
	require.False(t, ok, out)
	require.Contains(t, out, "it answers 503")
	w.kill(t)
	r.setAway(false)
	w.start(t)
	r.await(t, "the node's return", 0, func(e notify.Event) bool {
		return e.Type == "condition.over" && e.Condition.Kind == "nodes_unreachable"
	})
	require.Contains(t, w.mustCommand(t, "alerts", "test"), "ok     webhook:office")

	dai := w.token(t, "DAI")
	_, err := w.user.Faucet.Pay(t.Context(), dai.Asset, w.user.Eth.Address(), units(dai, 2000).Uint256().ToBig(), nil)
	require.NoError(t, err)
	stray := w.user.pay(t, dai.Asset, depositAddress(t, w.user), units(dai, 2000), "")
	r.await(t, "a held deposit", 0, func(e notify.Event) bool {
		row, _ := e.Record.(map[string]any)
		return e.Type == "record.attention" && e.Change.State == "held" && row["inTx"] == stray
	})
	seen := map[string]bool{}
	for _, e := range r.events(0) {
		require.False(t, seen[e.ID] && e.Type != "test", "%+v came twice, though each was taken at once", e)
		seen[e.ID] = true
	}
}
